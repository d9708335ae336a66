"""The notebook on amplified tests runs through twincell's own kernel and shows what its text promises."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shown(shown_by):
    """What each cell showed, by the cell's id."""
    return shown_by("tests_that_show_a_change")


def test_the_project_passes_its_tests_on_both_sides(shown):
    assert shown["project"] == "before: 3 passed\nafter:  3 passed\n"


def test_assertions_alone_find_nothing(shown):
    assert shown["alone"].startswith("# no test shows the change")


def test_other_inputs_show_both_changes(shown):
    assert shown["search"].startswith("# no test of the project shows the change; 2 new tests do")
    assert "# shipping(10) gave 9.9, gives 4.9" in shown["search"]
    assert "# total([10, 20], voucher='FRIEND') gave 30, gives 25" in shown["search"]


def test_the_tests_pass_on_one_side_and_fail_on_the_other(shown):
    assert shown["forms"] == "after:         5 passed\nbefore:        2 failed, 3 passed\n"


def test_injected_values_show_what_no_test_runs(shown):
    assert shown["injected"].startswith("# no test runs the change; with injected values, 1 test shows it")
