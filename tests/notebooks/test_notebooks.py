"""What holds of every notebook as it is stored."""

from __future__ import annotations

import nbformat
import pytest

from .conftest import NOTEBOOKS

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.fixture(params=ALL, ids=[path.stem for path in ALL])
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_it_is_stored_without_outputs(notebook):
    """Outputs hold times and injected values, which every improvement would change; the README shows a picture."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert notebook.metadata.kernelspec.name == "twincell"


def test_links_in_its_text_lead_somewhere(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    assert links and all((NOTEBOOKS / link).exists() for link in links)
