"""Which cases of a table run in the gate, and which only at night (`long`), or when the sandbox changed (`sandbox`).

A case has one combination of seed, context and predictor in the gate. At night it has all of them, as a statistic.
"""

import itertools

import pytest

from .snippets import PRESERVING, compare, expect, reason

#: Of cases that show the same as one in the gate does, by another attack on the sandbox.
SANDBOX = pytest.mark.sandbox

#: Seeds of a statistic of its own: at least 14 of these 16.
SEEDS = range(16)


def combinations(**axes):
    """All options that take one value of each axis."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def over(cases, gate=None, **axes):
    """Gives a test `name` and `runs`, which are options: one combination in the gate, all of them at night.

    The cases take turns, so that every combination is somewhere in the gate. It has all cases, or those that are named.
    """
    every = combinations(**axes)
    gate = cases if gate is None else gate
    assert set(gate) <= set(cases), set(gate) - set(cases)
    gate = [pytest.param(name, [every[number % len(every)]], id=name) for number, name in enumerate(gate)]
    night = [pytest.param(name, every, id=f"{name}, in all ways", marks=pytest.mark.long) for name in cases]
    return pytest.mark.parametrize(("name", "runs"), gate + night)


def repeated(**axes):
    """Gives a test `runs`, which are options: the first combination in the gate, all of them at night."""
    every = combinations(**axes)
    night = pytest.param(every, id="in all ways", marks=pytest.mark.long)
    return pytest.mark.parametrize("runs", [pytest.param(every[:1], id="in one way"), night])


def sample(cases, gate, others=pytest.mark.long):
    """Gives a test `name`: of those in `gate` there, and of the others where their mark says."""
    assert set(gate) <= set(cases), set(gate) - set(cases)
    cases = [pytest.param(name, id=name, marks=[others] * (name not in gate)) for name in cases]
    return pytest.mark.parametrize("name", cases)


def expect_in(runs, verdict, old, new, **options):
    """The comparisons, which have this verdict: all that should preserve, and at least 14 of 16 that should change.

    Within the gate, a version that changes nothing is run as often as `snippets.expect` does.
    """
    if len(runs) == 1:
        return [expect(verdict, old, new, **options | runs[0])]
    found = [compare(old, new, **options | run) for run in runs]
    others = [(run, one.verdict, reason(one)) for run, one in zip(runs, found, strict=True) if one.verdict != verdict]
    assert len(others) <= (0 if verdict == PRESERVING else len(runs) // 8), others
    return [one for one in found if one.verdict == verdict]
