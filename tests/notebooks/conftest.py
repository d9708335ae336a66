"""The notebooks, and the module that runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(scope="session")
def quickstart():
    """The module that `make demo` runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(NOTEBOOKS))
        import run_quickstart

        yield run_quickstart
        del sys.modules["run_quickstart"]
