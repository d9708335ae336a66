"""The answers of builtins, of real values and of injected objects agree, so that code written in another way sees the
same; and each such refactoring with a slip in it is a change."""

from .layers import expect_in, over, sample
from .snippets import CHANGING, PRESERVING, expect

# name: (one way, another way, the other way with a slip).
WAYS = {
    "int raises no KeyError": (
        """
        def f(headers):
            try:
                return int(headers['size'])
            except KeyError:
                return 0
        """,
        """
        def f(headers):
            try:
                size = headers['size']
            except KeyError:
                return 0
            return int(size)
        """,
        """
        def f(headers):
            size = headers['size']
            return int(size)
        """,
    ),
    "float raises no AttributeError": (
        """
        def f(item):
            try:
                return float(item.price)
            except AttributeError:
                return 0.0
        """,
        """
        def f(item):
            try:
                price = item.price
            except AttributeError:
                return 0.0
            return float(price)
        """,
        """
        def f(item):
            try:
                price = item.price
            except AttributeError:
                return None
            return float(price)
        """,
    ),
    "a file is iterated, or its lines are read": (
        """
        def f(path):
            with open(path) as file:
                return [line for line in file]
        """,
        """
        def f(path):
            with open(path) as file:
                return list(file.readlines())
        """,
        """
        def f(path):
            with open(path) as file:
                return list(file.readlines())[1:]
        """,
    ),
    "str raises no OSError": (
        """
        def f(stream):
            try:
                name = str(stream)
                data = stream.read()
            except OSError:
                return None
            return name, data
        """,
        """
        def f(stream):
            name = str(stream)
            try:
                data = stream.read()
            except OSError:
                return None
            return name, data
        """,
        """
        def f(stream):
            name = str(stream)
            data = stream.read()
            return name, data
        """,
    ),
    "a sum raises no KeyError": (
        """
        def f(totals, key, more):
            try:
                return totals[key] + more
            except KeyError:
                return more
        """,
        """
        def f(totals, key, more):
            try:
                own = totals[key]
            except KeyError:
                return more
            return own + more
        """,
        """
        def f(totals, key, more):
            own = totals[key]
            return own + more
        """,
    ),
    "at most is less or equal": (
        "def f(x):\n    return x.count <= 5\n",
        "def f(x):\n    return x.count < 5 or x.count == 5\n",
        "def f(x):\n    return x.count < 5 or x.count == 4\n",
    ),
    "at most is equal or less": (
        "def f(x):\n    return x.count <= 5\n",
        "def f(x):\n    return x.count == 5 or x.count < 5\n",
        "def f(x):\n    return x.count < 5\n",
    ),
    "at least for texts": (
        "def f(x):\n    return 1 if x.name >= 'm' else 2\n",
        "def f(x):\n    return 1 if x.name == 'm' or x.name > 'm' else 2\n",
        "def f(x):\n    return 1 if x.name > 'm' else 2\n",
    ),
    "more is neither less nor equal": (
        "def f(a):\n    n = a.b * 2\n    return n > 10\n",
        "def f(a):\n    n = a.b * 2\n    return not (n < 10 or n == 10)\n",
        "def f(a):\n    n = a.b * 2\n    return not n < 10\n",
    ),
    "an item by its index or unpacked": (
        """
        def f(pair):
            one = pair[0]
            other = pair[1]
            return one.x, other.y
        """,
        """
        def f(pair):
            one, other = pair
            return one.x, other.y
        """,
        """
        def f(pair):
            other, one = pair
            return one.x, other.y
        """,
    ),
    "items by their index or one after the other": (
        """
        def f(parts):
            found = []
            for index in range(len(parts)):
                found.append((index, parts[index].name))
            return found
        """,
        """
        def f(parts):
            return [(index, part.name) for index, part in enumerate(parts)]
        """,
        """
        def f(parts):
            return [(index, part.name) for index, part in enumerate(parts, 1)]
        """,
    ),
    "pairs by their index or zipped": (
        """
        def f(a, b):
            return [a[i] + b[i] for i in range(min(len(a), len(b)))]
        """,
        """
        def f(a, b):
            return [x + y for x, y in zip(a, b)]
        """,
        """
        def f(a, b):
            return [x - y for x, y in zip(a, b)]
        """,
    ),
    "the last item": (
        "def f(items):\n    items.sort()\n    return items[-1]\n",
        "def f(items):\n    items.sort()\n    return items[len(items) - 1]\n",
        "def f(items):\n    items.sort()\n    return items[len(items) - 2]\n",
    ),
    "the first item of a slice": (
        """
        def f(items):
            if len(items) > 0:
                return items[0]
            return None
        """,
        """
        def f(items):
            for item in items[:1]:
                return item
            return None
        """,
        """
        def f(items):
            for item in items[1:]:
                return item
            return None
        """,
    ),
    "items from the last to the first": (
        "def f(parts):\n    return [part.name for part in reversed(parts)]\n",
        "def f(parts):\n    return [part.name for part in parts[::-1]]\n",
        "def f(parts):\n    return [part.name for part in parts[:]]\n",
    ),
    "the first of a list that the code made": (
        """
        def f(rows):
            found = [row for row in rows if row.ok]
            if len(found) == 0:
                return None
            return found[0]
        """,
        """
        def f(rows):
            found = [row for row in rows if row.ok]
            return found[0] if found else None
        """,
        """
        def f(rows):
            found = [row for row in rows if row.ok]
            return found[-1] if found else None
        """,
    ),
}


@over(WAYS, seed=range(3), context=["function", "module"])
def test_two_ways_to_say_the_same_are_no_change(name, runs):
    one, other, _ = WAYS[name]
    expect_in(runs, PRESERVING, one, other)


# One of each kind: what fails, files, comparisons, items, slices.
@sample(
    WAYS,
    [
        "int raises no KeyError",
        "str raises no OSError",
        "a file is iterated, or its lines are read",
        "at most is less or equal",
        "more is neither less nor equal",
        "an item by its index or unpacked",
        "the first item of a slice",
        "the first of a list that the code made",
    ],
)
def test_a_slip_in_the_other_way_is_a_change(name):
    one, _, slip = WAYS[name]
    expect(CHANGING, one, slip)
