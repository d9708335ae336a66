"""The notebooks, and the modules that run and store them."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(scope="session")
def modules():
    """The modules that `make demo` and `make notebooks` run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(NOTEBOOKS))
        import refresh
        import run_quickstart

        yield run_quickstart, refresh
        del sys.modules["run_quickstart"], sys.modules["refresh"]


@pytest.fixture(scope="session")
def quickstart(modules):
    return modules[0]


@pytest.fixture(scope="session")
def refresh(modules):
    return modules[1]


@pytest.fixture(scope="session")
def executed(quickstart):
    """Gives a notebook by its name after it ran. It runs once."""
    return functools.cache(lambda name: quickstart.run(NOTEBOOKS / f"{name}.ipynb"))


@pytest.fixture(scope="session")
def shown_by(executed):
    """Gives what each code cell of a notebook showed as text, by the cell's id."""

    def text(output):
        return output.get("text", "") or output.get("data", {}).get("text/plain", "")

    def shown(name):
        cells = [cell for cell in executed(name).cells if cell.cell_type == "code"]
        return {cell["id"]: "".join(map(text, cell.outputs)) for cell in cells}

    return shown
