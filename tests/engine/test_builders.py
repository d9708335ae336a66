"""What an unknown callable makes of other values is something else for whoever gets it."""

import pytest

from .layers import over
from .snippets import CHANGING, FEW, IDENTICAL, PRESERVING, compare, expect

# Each with the other value in place of the hole.
BUILT = {
    "returned": ("def f(text):\n    return Page(text, {})\n", "'old'", "'new'"),
    "stored": ("def f(self, text):\n    self.page = Page(text, {})\n", "1", "2"),
    "in a list": ("def f(texts):\n    return [Page(text, {}) for text in texts]\n", "True", "False"),
    "made by a method, with a keyword": (
        "def f(self, text):\n    return self.factory.make(text, color={})\n",
        "'red'",
        "'blue'",
    ),
}


@pytest.mark.parametrize("text, old, new", BUILT.values(), ids=BUILT)
def test_other_values_for_the_same_callable_are_observable(text, old, new):
    comparison = expect(CHANGING, text.format(old), text.format(new))
    assert comparison.evidence[0]["strength"] == "observable", comparison.evidence
    assert comparison.to_dict()["pairs"][0]["reproducer"]["holds"]


CALL_PATTERNS = {
    "another callable": ("def f(text):\n    return Page(text)\n", "def f(text):\n    return Leaf(text)\n"),
    "another callable within": (
        "def f(text):\n    return Page(first(text))\n",
        "def f(text):\n    return Page(last(text))\n",
    ),
    "one argument more": ("def f(text):\n    return Page(text)\n", "def f(text):\n    return Page(text, True)\n"),
    "a result that only decides": (
        "def f(text):\n    if check(text, 1):\n        return 1\n    return 2\n",
        "def f(text):\n    if check(text, 2):\n        return 1\n    return 2\n",
    ),
}


@pytest.mark.parametrize("old, new", CALL_PATTERNS.values(), ids=CALL_PATTERNS)
def test_an_exchanged_call_stays_a_call_pattern(old, new):
    comparison = compare(old, new)
    assert {evidence["strength"] for evidence in comparison.evidence} <= {"call_pattern"}, comparison.evidence


SAME_VALUES = {
    "a positional argument": (
        "def f(text):\n    return Page(text, size=3)\n",
        "def f(text):\n    return Page(text, 3)\n",
    ),
    "variables": (
        "def f(text):\n    return Page(text.strip(), 3)\n",
        "def f(text):\n    clean = text.strip()\n    size = 3\n    page = Page(clean, size)\n    return page\n",
    ),
    "formatted differently": (
        "def f(name, n):\n    return Page('%s-%s' % (name, n))\n",
        "def f(name, n):\n    return Page(f'{name}-{n}')\n",
    ),
    "a dictionary": (
        "def f(name, n):\n    return Page(dict(name=name, n=n))\n",
        "def f(name, n):\n    return Page({'name': name, 'n': n})\n",
    ),
    "a list": (
        "def f(rows):\n    return Page(list(row.name for row in rows))\n",
        "def f(rows):\n    return Page([row.name for row in rows])\n",
    ),
    "keywords from a dictionary": (
        "def f(name, n):\n    return Page(name=name, n=n)\n",
        "def f(name, n):\n    return Page(**{'n': n, 'name': name})\n",
    ),
    "unpacked": (
        "def f(name, n):\n    return Page(name, n)\n",
        "def f(name, n):\n    args = (name, n)\n    return Page(*args)\n",
    ),
}


@over(SAME_VALUES, seed=[0, 1])
def test_the_same_values_passed_in_another_way_are_no_change(name, runs):
    for run in runs:
        comparison = compare(*SAME_VALUES[name], **run, budget=FEW)
        assert comparison.verdict in (PRESERVING, IDENTICAL), comparison.sentence
