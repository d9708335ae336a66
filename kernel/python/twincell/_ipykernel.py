"""Lets code that imports ipykernel find what it needs in this kernel, whether ipykernel is installed or not.

`_ipykernel_modules` is the package `ipykernel` here. Where ipykernel is installed, modules that this folder does not
have are its own: they concern other processes (`ipykernel.kernelspec`) or no kernel at all.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

MODULES = Path(__file__).with_name("_ipykernel_modules")
#: Modules that packages look for in `sys.modules` without importing them.
EXPECTED = ("zmqshell", "iostream", "kernelapp", "ipkernel")


def install() -> None:
    """Puts the package into `sys.modules`."""
    installed = PathFinder.find_spec("ipykernel")
    path = [str(MODULES), *((installed and installed.submodule_search_locations) or ())]
    spec = spec_from_file_location("ipykernel", MODULES / "__init__.py", submodule_search_locations=path)
    assert spec is not None and spec.loader is not None, "the package comes with this file"
    package = sys.modules["ipykernel"] = module_from_spec(spec)
    spec.loader.exec_module(package)
    for name in EXPECTED:
        importlib.import_module(f"ipykernel.{name}")
