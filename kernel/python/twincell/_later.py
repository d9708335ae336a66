"""Modules that are loaded when they are first used, and not when others import them.

asyncio imports `ssl`, and with it OpenSSL, for connections that few notebooks make: a tenth of a kernel's memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module. Whoever wants something of it gets that of the module itself, which is loaded for it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())

    def _load(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return import_module(self.__name__)


@contextmanager
def later(*names: str) -> Iterator[None]:
    """What is imported meanwhile gets these modules later. Imports of them afterwards load them as ever."""
    stand_ins = {name: _Later(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
            package, _, child = name.rpartition(".")
            if package in sys.modules and child not in vars(sys.modules[package]):
                setattr(sys.modules[package], child, stand_in)
