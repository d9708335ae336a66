"""The quickstart runs through twincell's own kernel and says what its text promises."""

import pytest


@pytest.fixture(scope="module")
def comparisons(quickstart, executed):
    return quickstart.comparisons(executed("quickstart"))


@pytest.mark.parametrize(
    ("cell", "verdict", "channels"),
    [
        ("zero", "changing", {"return"}),
        ("rename", "likely_preserving", set()),
        ("message", "changing", {"exception"}),
        ("stored", "changing", {"calls"}),
        ("last", "changing", {"return"}),
    ],
)
def test_each_comparison_has_the_verdict_that_the_text_explains(comparisons, cell, verdict, channels):
    comparison = comparisons[cell]
    assert comparison["verdict"] == verdict, comparison["sentence"]
    assert channels <= {one["channel"] for pair in comparison["pairs"] for one in pair["evidence"]}


def test_the_swallowed_zero_is_what_the_first_sentence_names(comparisons):
    assert "discount=0" in comparisons["zero"]["sentence"]


def test_the_refactoring_ran_every_changed_line(comparisons):
    (pair,) = comparisons["rename"]["pairs"]
    for version in (pair["old"], pair["new"]):
        assert version["changed_lines_reached"] == version["changed_lines"] > 0


def test_the_library_says_the_same_as_the_magics(executed):
    (cell,) = [cell for cell in executed("quickstart").cells if cell["id"] == "python"]
    shown = "".join(output.get("text", "") for output in cell.outputs)
    assert shown.startswith("changing\ncalls: audit.record('closed', "), shown
