"""The notebook for teaching runs through twincell's own kernel and shows what its text promises."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def shown(executed):
    """What each cell printed, as lines, by the cell's id."""
    notebook = executed("teaching_learning_guided_execution")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell["id"]: "".join(output.get("text", "") for output in cell.outputs).splitlines() for cell in cells}


def test_neither_version_runs_by_itself(shown):
    assert "missing 3 required positional arguments" in shown["versions"][0]


def test_every_path_has_predicted_classes_and_injected_values(shown):
    for lines in (shown["predicted"], shown["injected"]):
        paths = {line.split()[0]: line for line in lines}
        assert {"limit", "request.retries", "request.meta['delay']"} <= paths.keys()
    assert any("request.retries" in line and " int " in line for line in shown["predicted"])


def test_a_limit_of_zero_is_what_changed(shown):
    zero, three, none = shown["replay"]
    outcomes = [line.partition("old ")[2].split(" new ") for line in (zero, three, none)]
    differs = [old.strip() != new.strip() for old, new in outcomes]
    assert differs == [True, False, False], shown["replay"]


def test_the_search_reaches_more_in_fewer_executions(shown):
    with_it, without_it = shown["search"]
    assert "changing" in with_it and "100% of the lines" in with_it
    executions = [int(line.split(" executions")[0].split()[-1]) for line in (with_it, without_it)]
    assert executions[0] < executions[1]


def test_the_network_makes_more_executions_usable_than_chance(shown):
    rows = {line.split()[0]: line for line in shown["predictors"]}
    usable = {name: int(rows[name].split("%")[0].split()[-1]) for name in ("neural", "frequency", "uniform")}
    assert usable["neural"] > usable["uniform"]
    assert "4 of 4" in rows["neural"]
