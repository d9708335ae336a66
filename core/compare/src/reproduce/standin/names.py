"""The globals of the code under test."""

import builtins

from .answers import answer
from .recorded import PURE, RENAMED


class Names(dict):
    """The globals of the code under test. A missing one is a stand-in."""

    def __missing__(self, name):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if name in PURE:
            module = __import__(PURE[name] or name)
            return getattr(module, name) if PURE[name] else module
        if name in ("__annotations__", "__classdict__", "__path__"):
            raise KeyError(name)
        return answer(RENAMED.get(name, name))
