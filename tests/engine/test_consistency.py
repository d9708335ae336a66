"""The answers of an injected object fit together within an execution, so asking in another way is not a change."""

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING, compare, expect

SEEDS = range(3)

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
    "equality over three objects": (
        "def f(a, b, c):\n    if a.key == b.key and b.key == c.key:\n        return 'all'\n    return 'some'",
        "def f(a, b, c):\n    if a.key == b.key and c.key == a.key:\n        return 'all'\n    return 'some'",
    ),
    "order over three objects": (
        "def f(a, b, c):\n    return a.v - 1 < b.v - 1 < c.v - 1",
        "def f(a, b, c):\n    return a.v - 1 < b.v - 1 and b.v - 1 < c.v - 1 and a.v - 1 < c.v - 1",
    ),
    "order through a number": (
        "def f(a, b):\n    return a.size() > 3 and b.size() < 3",
        "def f(a, b):\n    return a.size() > 3 and b.size() < 3 and a.size() > b.size()",
    ),
    "an order that follows from that of a sum": (
        "def f(x):\n    n = x.count(1) - x.count(2)\n    return n < 5 and n + 1 < 6",
        "def f(x):\n    n = x.count(1) - x.count(2)\n    return n < 5",
    ),
    "pairs in order": (
        "def f(a, b):\n    return (a.x, a.y) < (b.x, b.y)",
        "def f(a, b):\n    return a.x < b.x or (a.x == b.x and a.y < b.y)",
    ),
    "a set of equal objects": (
        "def f(a, b):\n    return len({a.owner(), b.owner()}) == 1",
        "def f(a, b):\n    return a.owner() == b.owner()",
    ),
    "a key that equals another": (
        "def f(a, b):\n    seen = {a.id: 1}\n    seen[b.id] = 2\n    return len(seen)",
        "def f(a, b):\n    return 1 if a.id == b.id else 2",
    ),
    "an item that is looked for": (
        "def f(x, ys):\n    if isinstance(ys, str):\n        return None\n    return x in ys",
        "def f(x, ys):\n    if isinstance(ys, str):\n        return None\n    return any(y == x for y in ys)",
    ),
    "an item of a result that is looked for": (
        "def f(x, ys):\n    owners = ys.all()\n    if isinstance(owners, str):\n        return None\n"
        "    return x.owner in owners",
        "def f(x, ys):\n    owners = ys.all()\n    if isinstance(owners, str):\n        return None\n"
        "    for owner in owners:\n        if owner == x.owner:\n            return True\n    return False",
    ),
}

OTHER = {
    "an item that is looked for, and one that is not": (
        "def f(x, ys):\n    return x in ys",
        "def f(x, ys):\n    return any(y != x for y in ys)",
    ),
    "equality of two and of three objects": (
        "def f(a, b, c):\n    return a.owner() == b.owner()",
        "def f(a, b, c):\n    return a.owner() == b.owner() == c.owner()",
    ),
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


@over(SAME, seed=SEEDS)
def test_asking_otherwise_is_no_change(name, runs):
    expect_in(runs, PRESERVING, *SAME[name], context="function")


@over(OTHER, seed=SEEDS)
def test_asking_something_else_is_a_change(name, runs):
    expect_in(runs, CHANGING, *OTHER[name], context="function")


def test_an_object_equals_one_kind_of_nothing_at_most():
    old = "def f(x):\n    y = x.a + x.b\n    return y == 0 and y == ''"
    new = "def f(x):\n    y = x.a + x.b\n    y == 0\n    return False"
    comparison = compare(old, new, context="function")
    assert comparison.verdict != "changing", comparison.sentence


def test_a_format_of_a_moment_is_what_strftime_gives():
    old = "def f(moments):\n    return [moment.local().strftime('%a %H:%M') for moment in moments]\n"
    new = "def f(moments):\n    return [f'{moment.local():%a %H:%M}' for moment in moments]\n"
    # A number in place of a moment, which is tried later, has neither.
    expect(PRESERVING, old, new, budget=30)
    expect(CHANGING, old, new.replace("%H:%M", "%H.%M"), budget=30)


def test_what_refuses_a_name_is_no_value():
    module = "from zoneinfo import ZoneInfo\n\n\n"
    old = module + "def f(starts: list, zone: str):\n    tz = ZoneInfo(zone)\n    return [s.at(tz) for s in starts]\n"
    new = old.replace("[s.at(tz) for s in starts]", "list(map(lambda s: s.at(tz), starts))")
    comparison = expect(PRESERVING, old, new, context="module")
    assert "ZoneInfo('')" not in str(comparison.to_dict())
