"""What holds of every notebook as it is stored."""

from __future__ import annotations

import ast
import platform
import re
import sys

import nbformat
import pytest
import twincell
from IPython.core.inputtransformer2 import TransformerManager

from .conftest import NOTEBOOKS

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))
#: Notebooks whose cells take many seconds. What they show, smaller tests of the same functions show, too.
LONG = {"prefixes_for_incomplete_code", "tests_that_show_a_change"}


@pytest.fixture(params=ALL, ids=[path.stem for path in ALL])
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the network's probabilities differ in their last digits on other machines",
)
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.long] if path.stem in LONG else []) for path in ALL],
    ids=[path.stem for path in ALL],
)
def test_it_is_stored_with_the_outputs_of_a_run(path, executed, refresh):
    """`make notebooks` stores the outputs again."""
    ran = nbformat.writes(refresh.normalized(executed(path.stem))) + "\n"
    assert of_any_processor(ran) == of_any_processor(path.read_text(encoding="utf-8"))


def of_any_processor(text):
    """Without probabilities and without the numbers of executions that ran a line. Both differ by one between
    processors with and without some vector instructions."""
    return re.sub(r"[ ▸\d·–]*│", "│", re.sub(r"\d+(?=\s%)", "#", text))


def test_its_cells_use_what_there_is(notebook):
    """The small sister of a run, for a name that is not there any more."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.source.startswith("%%"):
            tree = ast.parse(TransformerManager().transform_cell(cell.source))
            used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
            names = {node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id == "twincell"}
            assert {name for name in names if not hasattr(twincell, name)} == set(), cell.source


def test_it_opens_under_the_kernel_of_twincell(notebook):
    assert notebook.metadata.kernelspec.name == "twincell"


def test_it_is_small_enough_for_a_diff(path):
    assert path.stat().st_size < 50_000


def test_links_in_its_text_lead_somewhere(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    assert links
    for link in links:
        path, _, section = link.partition("#")
        target = NOTEBOOKS / path
        assert target.exists(), link
        assert not section or section in sections(target.read_text(encoding="utf-8")), link


def sections(text):
    """The names by which links lead to the headings of a Markdown text."""
    headings = [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
