"""A version that goes on where the other one ends soon."""

import pytest

from .snippets import CHANGING, INCONCLUSIVE, PRESERVING, compare, expect

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


@pytest.mark.parametrize("seed", range(2))
def test_a_loop_that_no_longer_ends_is_a_change(seed):
    inner = COUNT.replace("            at += 1", "                at += 1")
    comparison = expect(CHANGING, COUNT, inner, seed=seed)
    assert "new goes on until its steps are used up" in comparison.sentence
    assert [evidence["channel"] for evidence in comparison.evidence] == ["exception"]
    assert "does not end" in comparison.to_dict()["pairs"][0]["reproducer"]["why_not"]


def test_so_is_one_that_ends_at_last():
    comparison = expect(CHANGING, COUNT.replace("            at += 1", "                at += 1"), COUNT)
    assert "old goes on until its steps are used up" in comparison.sentence


def test_a_loop_that_asks_missing_code_may_only_lack_an_answer():
    comparison = expect(INCONCLUSIVE, READ, READ.replace("break", "continue"), budget=40)
    assert not comparison.to_dict()["pairs"][0]["witness"] or not comparison.evidence


def test_a_version_that_needs_a_few_steps_more_is_no_other():
    old = """
        def f(n: int):
            total = 0
            for i in range(abs(n) * 1000):
                total += i
            return total
    """
    new = """
        def f(n: int):
            total = 0
            i = 0
            while True:
                if i >= abs(n) * 1000:
                    break
                total += i
                i += 1
            return total
    """
    assert compare(old, new).verdict == PRESERVING
