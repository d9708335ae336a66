"""A version that goes on where the other one ends soon."""

import pytest

from .layers import over, sample
from .snippets import CHANGING, INCONCLUSIVE, compare, expect

COUNT = """
    def f(items: list, most: int):
        found = 0
        at = 0
        while at < len(items):
            if items[at] > most:
                found += 1
            at += 1
        return found
"""
COUNTDOWN = """
    def f(n: int):
        while n > 0:
            n -= 1
        return n
"""
READ = """
    def f(stream):
        lines = []
        while True:
            line = stream.step()
            if line.is_last:
                break
            lines.append(line)
        return lines
"""


def outcomes(comparison):
    """How both versions end in the execution that is shown."""
    witness = comparison.to_dict()["pairs"][0]["witness"]
    return witness["old"]["outcome"], witness["new"]["outcome"]


ENDLESS = {"stopped": {"reason": "steps"}}


NO_LONGER = {
    "of a number": (COUNTDOWN, COUNTDOWN.replace("n -= 1", "n += 1")),
    "over items": (COUNT, COUNT.replace("            at += 1", "                at += 1")),
}


@over(NO_LONGER, ["of a number"], seed=range(2))
def test_a_loop_that_no_longer_ends_is_a_change(name, runs):
    for run in runs:
        comparison = expect(CHANGING, *NO_LONGER[name], **run)
        old, new = outcomes(comparison)
        assert "returned" in old and new == ENDLESS
        assert [evidence["channel"] for evidence in comparison.evidence] == ["exception"]
        # Neither would its test end.
        assert comparison.to_dict()["pairs"][0]["reproducer"]["source"] is None


@pytest.mark.long
def test_so_is_one_that_ends_at_last():
    comparison = expect(CHANGING, COUNT.replace("            at += 1", "                at += 1"), COUNT)
    old, new = outcomes(comparison)
    assert old == ENDLESS and "returned" in new
    assert not comparison.to_dict()["pairs"][0]["reproducer"]["source"]


@pytest.mark.long
def test_a_snippet_that_does_not_end_has_no_reproducer():
    old, new = "n = abs(size)\nwhile n > 0:\n    n += 1\n", "n = abs(size)\nwhile n > 0:\n    n -= 1\n"
    comparison = expect(CHANGING, old, new)
    assert not comparison.to_dict()["pairs"][0]["reproducer"]["source"]


def test_a_loop_that_asks_missing_code_may_only_lack_an_answer():
    comparison = expect(INCONCLUSIVE, READ, READ.replace("break", "continue"), budget=10)
    assert not comparison.evidence


SLOW = """
    def f(n: int):
        total = 0
        for i in range(n):
            total += i
        return total
"""
SLOWER = """
    def f(n: int):
        total = 0
        i = 0
        while True:
            if i >= n:
                break
            total += i
            i += 1
        return total
"""
SAME = {
    "in many steps and in more": (SLOW.replace("(n)", "(abs(n) * 1000)"), SLOWER.replace(">= n", ">= abs(n) * 1000")),
    "in steps and in one call": (SLOW, "def f(n: int):\n    return sum(range(n))\n"),
    "fifty thousand steps and a call": (
        SLOW.replace("(n)", "(50_000 + n)"),
        "def f(n: int):\n    return sum(range(50_000 + n))\n",
    ),
    "in steps and in a comprehension": (
        "def f(n: int):\n    found = []\n    for i in range(n):\n        found.append(i)\n    return found\n",
        "def f(n: int):\n    return [i for i in range(n)]\n",
    ),
}


@sample(SAME, ["in steps and in one call"])
def test_a_version_that_is_only_slower_is_no_other(name):
    assert compare(*SAME[name], budget=20).verdict != CHANGING
