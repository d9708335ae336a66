"""In module context real helpers and globals run, unless they keep executions away from what changed: then some of them
are injected, the same for both versions, and never what changed itself."""

import pytest

from .snippets import CHANGING, PRESERVING, code, compare, expect

SEEDS = (0, 1, 2)

# name: (old, new); what changed lies behind what a real helper or global never gives here.
BEHIND = {
    "a helper that finds nothing": (
        """
        _stack = []

        def current():
            return _stack[-1] if _stack else None

        def f(default=None):
            context = current()
            if context is not None:
                return context.color
            return default
        """,
        """
        _stack = []

        def current():
            return _stack[-1] if _stack else None

        def f(default=None):
            context = current()
            return default
        """,
    ),
    "a generator that yields nothing": (
        """
        class Node:
            def tokens(self):
                for child in vars(self).get('children', ()):
                    yield from child.tokens()

            def f(self, limit):
                total = 0
                for token in self.tokens():
                    total += len(str(token))
                return total < limit
        """,
        """
        class Node:
            def tokens(self):
                for child in vars(self).get('children', ()):
                    yield from child.tokens()

            def f(self, limit):
                total = 0
                for token in self.tokens():
                    total += len(str(token)) + 100
                return total < limit
        """,
    ),
    "an abstract method": (
        """
        class Complete:
            def words(self, prefix):
                raise NotImplementedError

            def f(self, prefix):
                found = self.words(prefix)
                return [word for word in found]
        """,
        """
        class Complete:
            def words(self, prefix):
                raise NotImplementedError

            def f(self, prefix):
                found = self.words(prefix)
                return [(word, prefix) for word in found]
        """,
    ),
    "a switch that is off": (
        """
        LEGACY = False

        def f(text):
            if LEGACY:
                return text.strip()
            return text
        """,
        """
        LEGACY = False

        def f(text):
            if LEGACY:
                return text.strip() + '!'
            return text
        """,
    ),
    "what the caller sets later": (
        """
        handler = None

        def f(event):
            if handler is None:
                raise RuntimeError('no handler')
            return handler(event)
        """,
        """
        handler = None

        def f(event):
            if handler is None:
                raise RuntimeError('no handler')
            return handler(event, True)
        """,
    ),
    "an error of a helper that never fails here": (
        """
        class ParseError(Exception):
            pass

        def parse(text):
            if len(str(text)) > 100000:
                raise ParseError
            return str(text)

        def f(text):
            try:
                return parse(text)
            except ParseError:
                return None
        """,
        """
        class ParseError(Exception):
            pass

        def parse(text):
            if len(str(text)) > 100000:
                raise ParseError
            return str(text)

        def f(text):
            try:
                return parse(text)
            except ParseError:
                return ''
        """,
    ),
}

HELPERS = """
    LIMIT = 10
    NAMES = {'a': 1}

    def scale(value, factor=2, offset=0):
        return value * factor + offset

    def first(items):
        for item in items:
            return item
        return None

    class Box:
        def __init__(self, items):
            self.items = items

        @property
        def size(self):
            return len(self.items)

        def total(self):
            return sum(self.items)
"""

# name: (old, new) below the helpers; nothing changed.
SAME = {
    "an argument is named": (
        "def f(x):\n    return scale(x, 3, 1)",
        "def f(x):\n    return scale(x, offset=1, factor=3)",
    ),
    "a result is kept": (
        "def f(xs):\n    return (first(xs), first(xs), LIMIT)",
        "def f(xs):\n    found = first(xs)\n    return (found, found, LIMIT)",
    ),
    "a helper is written out": (
        "def f(xs):\n    return first(xs)",
        "def f(xs):\n    for item in xs:\n        return item\n    return None",
    ),
    "a helper is called at another place": (
        "def f(x, y):\n    a = scale(x)\n    if y:\n        return a\n    return None",
        "def f(x, y):\n    if y:\n        return scale(x)\n    return None",
    ),
    "a global is read once": (
        "def f(x):\n    return x in NAMES and NAMES[x] < LIMIT",
        "def f(x):\n    names = NAMES\n    return x in names and names[x] < LIMIT",
    ),
    "another class is made the same": (
        "def f(xs):\n    box = Box(list(xs))\n    return box.size > LIMIT",
        "def f(xs):\n    return Box([x for x in xs]).size > LIMIT",
    ),
}


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_lies_behind_a_real_helper_or_global_is_reached(name, seed):
    expect(CHANGING, *BEHIND[name], seed=seed, context="module")


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_helper_that_is_injected_makes_no_difference(name, seed):
    old, new = (code(HELPERS) + "\n\n" + text + "\n" for text in SAME[name])
    expect(PRESERVING, old, new, seed=seed, context="module", function="f")


def test_a_helper_that_changed_is_not_injected():
    before = "def g(x):\n    return None\n\ndef h(x):\n    return None\n\n"
    f = "def f(x):\n    y = g(x)\n    z = h(x)\n    if z is not None and y is None:\n        return {}\n    return 0\n"
    old, new = before + f.format("[z]"), before.replace("return None", "x = None\n    return x", 1) + f.format("[z, 1]")
    comparison = expect(CHANGING, old, new, context="module", function="f")
    choices = comparison.to_dict()["pairs"][0]["witness"]["choices"]
    injected = {choice["path"] for choice in choices if choice["path"].startswith("injected(")}
    assert injected == {"injected(h)"}


def test_replacement_can_be_left_out():
    comparison = compare(*BEHIND["a helper that finds nothing"], context="module", without="replacement")
    assert comparison.verdict != "changing"


# A constant may be written out.
CONSTANTS = {
    "a number": ("LIMIT = 10", "items[:10]", "items[:LIMIT]"),
    "a text": ("LIMIT = 'a'", "items.get('a')", "items.get(LIMIT)"),
    "a table": ("LIMIT = {'a': 1}", "items[{'a': 1}['a'] :]", "items[LIMIT['a'] :]"),
}


@pytest.mark.parametrize("constant, written, named", CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_that_gets_its_name_is_no_change(constant, written, named):
    def text(found):
        return f"{constant}\ndef f(x, items):\n    if x == LIMIT:\n        return {found}\n    return items\n"

    expect(PRESERVING, text(written), text(named), function="f", context="module")


def test_a_number_that_the_module_rebinds_is_no_constant():
    def text(found):
        return (
            "depth = 0\n\ndef enter():\n    global depth\n    depth += 1\n\n"
            f"def f(x):\n    if depth > 0:\n        return {found}\n    return x\n"
        )

    expect(CHANGING, text("[x]"), text("[x, x]"), function="f", context="module")
