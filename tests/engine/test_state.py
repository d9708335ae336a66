"""What code changes outside of itself: twincell observes it, and the next execution does not see it."""

import pytest

from .snippets import CHANGING, PRESERVING, expect

MISSING = "import not_there_at_all as m\nfrom not_there_at_all import Gone\n"

#: A decorator that keeps something with the function.
COUNTED = """
import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        wrapper.calls = wrapper.__dict__.get("calls", 0) + 1
        return function(*arguments)

    return wrapper


class A:
    @counted
    def one(self):
        return 1

    def f(self, x):
        return x + {one}
"""

#: The same, in a dict that the decorator changes in place.
COUNTED_IN_PLACE = COUNTED.replace(
    'wrapper.calls = wrapper.__dict__.get("calls", 0) + 1',
    'wrapper.statistics["calls"] = wrapper.statistics.get("calls", 0) + 1',
).replace("    return wrapper\n", "    wrapper.statistics = {{}}\n    return wrapper\n")

#: A dict of a class that is also kept with a method.
SHARED = """
class A:
    calls = {{}}

    def one(self):
        A.one.calls["n"] = 1
        return 1

    one.calls = calls

    def f(self, x):
        return x + {one}
"""


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        # Kept with a method by its decorator.
        (COUNTED.format(one="1"), COUNTED.format(one="A.one(self)"), PRESERVING),
        (COUNTED_IN_PLACE.format(one="1"), COUNTED_IN_PLACE.format(one="A.one(self)"), PRESERVING),
        (SHARED.format(one="1"), SHARED.format(one="A.one(self)"), CHANGING),
        # Assigned to a module that is missing.
        (MISSING + "def f(x):\n    m.flag = 1\n", MISSING + "def f(x):\n    m.flag = 2\n", CHANGING),
        (
            MISSING + "def f(x):\n    flag = m.flag\n    m.flag = frozenset()\n    return 1\n",
            MISSING
            + "def f(x):\n    flag = m.flag\n    m.flag = frozenset()\n    return 1 + (type(flag) is frozenset)\n",
            PRESERVING,
        ),
        # Kept on the class that stands in for a missing exception type.
        (
            MISSING + "def f(x):\n    try:\n        raise Gone\n    except Gone as e:\n        return 1\n",
            MISSING + "def f(x):\n    try:\n        raise Gone\n    except Gone as e:\n"
            "        seen = getattr(type(e), 'seen', 1)\n        type(e).seen = 2\n        return seen\n",
            PRESERVING,
        ),
        # Kept in a slot of an object of the module.
        (
            "class A:\n    __slots__ = ('n',)\na = A()\na.n = 0\ndef f(x):\n    a.n += 1\n    return 0\n",
            "class A:\n    __slots__ = ('n',)\na = A()\na.n = 0\ndef f(x):\n    a.n += 1\n    return int(a.n > 1)\n",
            PRESERVING,
        ),
        (
            "class A:\n    __slots__ = ('n',)\ndef f(x):\n    a = A()\n    a.n = 1\n    return a\n",
            "class A:\n    __slots__ = ('n',)\ndef f(x):\n    a = A()\n    a.n = 2\n    return a\n",
            CHANGING,
        ),
    ],
)
def test_what_an_execution_leaves_behind_is_seen_and_is_gone_in_the_next(old, new, verdict):
    expect(verdict, old, new)
