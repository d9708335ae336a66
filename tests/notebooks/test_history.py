"""The notebook on histories runs through twincell's own kernel and shows what its text promises."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shown(shown_by):
    """What each cell showed, by the cell's id."""
    return shown_by("commits_that_carry_a_feature")


def test_the_slice_is_the_three_commits_of_the_vouchers(shown):
    assert shown["slice"].startswith("3 of 10 commits in stable..main keep the tests passing")
    needed = [line.partition(" ")[2] for line in shown["explain"].splitlines() if line and not line.startswith(" ")]
    assert needed == ["Add a table of vouchers", "Subtract vouchers", "Codes of vouchers have no case"]


def test_the_branch_passes_alone(shown):
    assert shown["move"].split() == [
        *"Codes of vouchers have no case".split(),
        *"Subtract vouchers".split(),
        *"Add a table of vouchers".split(),
        *"2 passed".split(),
    ]


def test_the_stable_branch_gets_what_it_lacks(shown):
    assert shown["onto"].startswith(
        "2 of 10 commits in stable~1..main keep the tests passing, with those that stable has"
    )
    assert "they apply to stable without conflicts, and the tests pass there" in shown["onto"]


def test_both_commits_are_needed_to_break_the_tests(shown):
    assert shown["bisect"].startswith("2 of 3 commits in main~3..main make the tests fail")


def test_the_call_changed_in_one_commit(shown):
    assert "since" in shown["blame"] and "Ten kilograms are still light" in shown["blame"]
