"""The pairs of the comparison with CrossHair: enough of them, and no label is wrong."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "crosshair"))

import brute  # noqa: E402
import pairs  # noqa: E402

PAIRS = pairs.read()


def test_there_are_enough_pairs_and_half_of_them_change_nothing():
    preserving = sum(pair.label == "preserving" for pair in PAIRS)
    assert len(PAIRS) >= 60
    assert 0.4 <= preserving / len(PAIRS) <= 0.6


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_label_is_what_brute_force_says(pair):
    shown = brute.difference(*pair.functions())
    assert (shown is not None) == (pair.label == "changing"), shown
