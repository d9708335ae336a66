"""The answers of an injected object fit together within an execution, so asking in another way is not a change."""

import pytest

from .snippets import CHANGING, PRESERVING, compare, expect

SEEDS = (0, 1, 2)

SAME = {
    "a remainder that is zero": (
        "def f(ns):\n    return [n for n in ns.items if n % 2 == 0], [n for n in ns.items if n % 2]",
        "def f(ns):\n    return [n for n in ns.items if not n % 2], [n for n in ns.items if n % 2 != 0]",
    ),
    "a result compared with zero": (
        "def f(x):\n    if x.count(1) - x.count(2):\n        return 1\n    return 2",
        "def f(x):\n    if x.count(1) - x.count(2) != 0:\n        return 1\n    return 2",
    ),
    "a length": (
        "def f(x):\n    first = x.items.copy()\n    return 1 if len(first) > 0 else 2",
        "def f(x):\n    first = x.items.copy()\n    return 2 if len(first) == 0 else 1",
    ),
    "what a mapping holds": (
        "def f(x, y):\n    for key, value in x.items():\n        y[key] = value\n    return y",
        "def f(x, y):\n    for key in x:\n        y[key] = x[key]\n    return y",
    ),
    "the keys of a mapping": (
        "def f(x):\n    return [name for name in x.keys()]",
        "def f(x):\n    return [name for name in x]",
    ),
    "the values of a mapping": (
        "def f(x):\n    return sum(1 for value in x.values() if value)",
        "def f(x):\n    return sum(1 for key in x if x[key])",
    ),
    "bounds that follow from others": (
        "def f(x):\n    y = x.a + x.b\n    if y > 5 and y > 3:\n        return 1\n    return 2",
        "def f(x):\n    y = x.a + x.b\n    if y > 5:\n        return 1\n    return 2",
    ),
    "a bound and zero": (
        "def f(x):\n    y = x.a - x.b\n    if y > 0 or y < 0:\n        return 1\n    return 2",
        "def f(x):\n    y = x.a - x.b\n    return 1 if y != 0 else 2",
    ),
}

OTHER = {
    "keys and values of a mapping": (
        "def f(x):\n    return [key for key in x if x[key]]",
        "def f(x):\n    return [key for key, value in x.items() if key]",
    ),
    "zero and not zero": (
        "def f(x):\n    return 1 if (x.a - x.b) == 0 else 2",
        "def f(x):\n    return 1 if (x.a - x.b) != 0 else 2",
    ),
    "at least and more than": (
        "def f(x):\n    y = x.a - x.b\n    return 1 if y > 5 else 2",
        "def f(x):\n    y = x.a - x.b\n    return 1 if y >= 5 else 2",
    ),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("seed", SEEDS)
def test_asking_otherwise_is_no_change(name, seed):
    expect(PRESERVING, *SAME[name], seed=seed, context="function")


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("seed", SEEDS)
def test_asking_something_else_is_a_change(name, seed):
    expect(CHANGING, *OTHER[name], seed=seed, context="function")


def test_an_object_equals_one_kind_of_nothing_at_most():
    old = "def f(x):\n    y = x.a + x.b\n    return y == 0 and y == ''"
    new = "def f(x):\n    y = x.a + x.b\n    y == 0\n    return False"
    comparison = compare(old, new, context="function")
    assert comparison.verdict != "changing", comparison.sentence
