"""The notebook about studies goes the whole way, from a git history that it makes to results that are kept."""

from __future__ import annotations

import re

import pytest


@pytest.fixture(scope="module")
def outputs(executed):
    """The outputs of each cell, by the cell's id."""
    cells = executed("study_of_refactorings").cells
    return {cell["id"]: cell.outputs for cell in cells if cell.cell_type == "code"}


def lines(outputs, cell: str) -> list[str]:
    return "".join(output.get("text", "") for output in outputs[cell]).splitlines()


def test_only_what_calls_itself_a_clean_up_is_mined(outputs):
    assert [line.split()[0] for line in lines(outputs, "mine")] == ["clean", "ship", "label", "total", "limit", "names"]


def test_what_changed_is_told_from_what_did_not(outputs):
    verdicts = {line.split()[0]: line.split()[1] for line in lines(outputs, "rows")}
    assert {name for name, verdict in verdicts.items() if verdict == "changing"} == {"ship", "limit"}
    assert verdicts["total"] == verdicts["names"] == verdicts["clean"] == "likely_preserving"


def test_the_study_its_plot_and_a_comparison_show_themselves(outputs):
    assert "text/html" in outputs["study"][0]["data"]
    assert outputs["plot"][0]["data"]["image/svg+xml"].startswith("<svg")
    assert "limit(" in outputs["open"][0]["data"]["text/plain"]


def test_two_runs_are_compared_and_results_are_kept(outputs):
    assert outputs["diff"][0]["data"]["image/svg+xml"].startswith("<svg")
    (network, found), (chance, late) = (line.split(": ", 1) for line in lines(outputs, "numbers"))
    assert (network, chance) == ("the network", "chance")
    # Where several values have to be numbers at once, the network needs fewer executions.
    by_network, by_chance = (
        [int(text) for text in re.findall(r"(?:median|most) (\d+)", line)] for line in (found, late)
    )
    assert all(few <= many for few, many in zip(by_network, by_chance, strict=True)) and by_network < by_chance
    assert lines(outputs, "save") == ["['study.html', 'study.parquet']"]
