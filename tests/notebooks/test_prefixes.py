"""The notebook on prefixes runs through twincell's own kernel and shows what its text promises."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shown(executed):
    """What each cell showed, as lines, by the cell's id."""
    notebook = executed("prefixes_for_incomplete_code")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def text(output):
        return output.get("text", "") or output.get("data", {}).get("text/plain", "")

    return {cell["id"]: "".join(map(text, cell.outputs)).splitlines() for cell in cells}


def test_the_snippet_does_not_run_by_itself(shown):
    assert shown["snippet"] == ["name 'fetch_orders' is not defined"]


def test_prefixes_run_every_line(shown):
    first = shown["prefix"][0]
    assert first.startswith("# 12 of 12 lines run, with 2 prefixes")


def test_a_program_runs_without_twincell(shown):
    assert shown["program"][0] == "exit status 0"


def test_the_tree_has_three_levels(shown):
    levels = {line.split()[0]: int(line.split()[1]) for line in shown["tree"][1:4]}
    assert all(levels[level] > 0 for level in ("undefinedness", "error", "coverage"))


def test_each_step_is_worth_something(shown):
    rows = [line.rsplit(maxsplit=3) for line in shown["skip"][1:]]
    shares = {name: [int(share.strip("%")) for share in parts] for name, *parts in rows}
    everything = shares.pop("everything")
    assert everything == [100, 100, 100]
    assert sum(shares["without errors,coverage"]) < sum(shares["without coverage"]) < sum(everything)


def test_every_line_of_the_function_runs(shown):
    assert shown["function"][0].startswith("# 3 of 3 lines run")
