"""Puts IPython's debugger in the place of Python's `pdb`: it has completion and colors, and *Stop* ends it.

Both are large, and most sessions debug nothing. So this happens when the first of them is imported.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

OURS = "IPython.core.debugger"


def install() -> None:
    """Waits for the import of a debugger."""
    if "pdb" in sys.modules:
        _replace()
    else:
        sys.meta_path.insert(0, _Waiting())


class _Waiting(MetaPathFinder):
    """Finds the two debuggers as Python does, and replaces one by the other after both were executed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in ("pdb", OURS):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_replace(module: ModuleType) -> None:
                execute(module)
                # IPython's imports Python's, so it is the second one to be ready, whichever is imported first.
                if name == OURS:
                    sys.meta_path.remove(self)
                    _replace()
                elif OURS not in sys.modules:
                    importlib.import_module(OURS)

            spec.loader.exec_module = execute_and_replace  # type: ignore[method-assign]
        return spec


def _replace() -> None:
    import pdb

    from IPython.core import debugger

    debugger.Pdb = debugger.InterruptiblePdb  # type: ignore[misc]
    pdb.Pdb = debugger.InterruptiblePdb  # type: ignore[assignment, misc]
    pdb.set_trace = debugger.set_trace
