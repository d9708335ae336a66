"""Imports of the code under test."""

from .recorded import IMPORTED, ONLY_PURE
from .standin import Standin


def imported(name, globals=None, locals=None, fromlist=(), level=0):
    """`import` of modules that may be missing here."""
    try:
        known = not ONLY_PURE or name in IMPORTED or name.partition(".")[0] in IMPORTED
        module = __import__(name, globals, locals, fromlist, level) if known and not level else None
        if module and all(wanted == "*" or hasattr(module, wanted) for wanted in fromlist or ()):
            return module
    except Exception:
        pass
    return Standin(name, bare=True) if fromlist else Standin(name.partition(".")[0])
