"""The notebook on impact runs through twincell's own kernel and shows what its text promises."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shown(shown_by):
    """What each cell showed, by the cell's id."""
    return shown_by("reach_of_a_change")


def test_the_number_of_letters_is_impacted_by_the_tax(shown):
    assert shown["impact"].startswith("1 statement changed, and ")
    assert "the attribute sent" in shown["why"] and "the global RATE of tax.py" in shown["why"]


def test_what_no_entry_reaches_is_not_impacted(shown):
    assert "and no other statement may see other values" in shown["entry"]


def test_what_is_not_followed_is_named(shown):
    assert "not followed: texts that run as code: report.py:" in shown["open"]
    assert "dynamic_code" in shown["open"]
