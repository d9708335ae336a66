"""In module context real helpers and globals run, unless they keep executions away from what changed: then some of them
are injected, the same for both versions, and never what changed itself."""

import pytest

from .layers import expect_in, over, repeated, sample
from .snippets import CHANGING, PRESERVING, code, compare, expect

SEEDS = range(3)

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

    def ensure(place):
        if not place.get_names():
            place.load_default_names()

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
    "a helper that calls what it is given is written out": (
        "def f(make):\n    place = make()\n    ensure(place)\n    return place",
        "def f(make):\n    place = make()\n    if not place.get_names():\n"
        "        place.load_default_names()\n    return place",
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


@over(BEHIND, seed=SEEDS)
def test_what_lies_behind_a_real_helper_or_global_is_reached(name, runs):
    expect_in(runs, CHANGING, *BEHIND[name], context="module")


@over(SAME, seed=SEEDS)
def test_a_helper_that_is_injected_makes_no_difference(name, runs):
    old, new = (code(HELPERS) + "\n\n" + text + "\n" for text in SAME[name])
    expect_in(runs, PRESERVING, old, new, context="module", function="f")


def test_a_helper_that_changed_is_not_injected():
    before = "def g(x):\n    return None\n\ndef h(x):\n    return None\n\n"
    f = "def f(x):\n    y = g(x)\n    z = h(x)\n    if z is not None and y is None:\n        return {}\n    return 0\n"
    old, new = before + f.format("[z]"), before.replace("return None", "x = None\n    return x", 1) + f.format("[z, 1]")
    comparison = expect(CHANGING, old, new, context="module", function="f")
    choices = comparison.to_dict()["pairs"][0]["witness"]["choices"]
    injected = {choice["path"] for choice in choices if choice["path"].startswith("injected(")}
    assert injected == {"injected(h)"}


def test_replacement_can_be_left_out():
    comparison = compare(*BEHIND["a helper that finds nothing"], context="module", disable="replacement")
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


# name: (old, new, what is replaced); what changed lies behind state of the module's classes, or behind the machine.
STATE = {
    "a list that the class begins empty": (
        """
        class Cart:
            items = []

            def f(self, factor):
                total = 0
                for price in self.items:
                    total += price * factor
                return total
        """,
        ("price * factor", "price * factor + 1"),
        "self.items",
    ),
    "a cache that the class begins without": (
        """
        class Store:
            _cache = None

            def f(self, key):
                if self._cache is not None:
                    return [self._cache, key]
                return None
        """,
        ("[self._cache, key]", "[key, self._cache]"),
        "self._cache",
    ),
    "a class attribute read by the name of the class": (
        """
        class Settings:
            debug = False

        def f(message):
            if Settings.debug:
                return [message]
            return None
        """,
        ("[message]", "[message, 1]"),
        "Settings.debug",
    ),
    "a class attribute of a base": (
        """
        class Base:
            strict = False

        class Form(Base):
            def f(self, value):
                if self.strict:
                    return [value]
                return None
        """,
        ("[value]", "[value, 1]"),
        "self.strict",
    ),
    "a default of a dataclass": (
        """
        import dataclasses

        @dataclasses.dataclass
        class Job:
            tries: int = 0

            def f(self, most):
                if self.tries == 3:
                    return [most]
                return None
        """,
        ("[most]", "[most, 1]"),
        "self.tries",
    ),
    "what a subclass sets": (
        """
        class Handler:
            kind = 'plain'

            def f(self, text):
                if self.kind == 'rich':
                    return [text]
                return None
        """,
        ("[text]", "[text, 1]"),
        "self.kind",
    ),
    "an environment variable": (
        """
        import os

        def f(value):
            if os.environ.get('APP_MODE') == 'debug':
                return [value]
            return None
        """,
        ("[value]", "[value, 1]"),
        "os.environ.get('APP_MODE')",
    ),
    "the command line": (
        """
        import sys

        def f():
            if len(sys.argv) > 1:
                return [sys.argv[1]]
            return None
        """,
        ("[sys.argv[1]]", "[sys.argv[1], 1]"),
        "sys.argv",
    ),
    "the platform": (
        """
        import sys

        def f(path):
            if sys.platform == 'win32':
                return [path]
            return None
        """,
        ("[path]", "[path, 1]"),
        "sys.platform",
    ),
    "the name of the system": (
        """
        import os

        def f(path):
            if os.name == 'nt':
                return [path]
            return None
        """,
        ("[path]", "[path, 1]"),
        "os.name",
    ),
    "the answer of platform.system": (
        """
        import platform

        def f(path):
            if platform.system() == 'Darwin':
                return [path]
            return None
        """,
        ("[path]", "[path, 1]"),
        "platform.system()",
    ),
}

# name: (module and function, (what changed, what became of it)); only an injected value gets past what fails here.
FAILING = {
    "a private helper that always raises here": (
        """
        def _connection():
            raise RuntimeError('not connected')

        def f(query):
            connection = _connection()
            return connection.run(query)
        """,
        ("run(query)", "run(query, True)"),
    ),
    "a warning of a class that is not installed": (
        """
        import warnings
        from absent_package import AbsentWarning

        def f(value):
            warnings.warn('soon gone', AbsentWarning)
            return [value]
        """,
        ("[value]", "[value, 1]"),
    ),
    "an exception of a class that is not installed": (
        """
        from absent_package import AbsentError

        def f(value):
            if not value:
                raise AbsentError('empty')
            return [value]
        """,
        ("'empty'", "'nothing'"),
    ),
    "a method of a real object that finds nothing": (
        """
        class Registry:
            def lookup(self, name):
                return None

        registry = Registry()

        def f(name):
            found = registry.lookup(name)
            if found is not None:
                return [found.value]
            return None
        """,
        ("[found.value]", "[found.value, 1]"),
    ),
}

# name: (module, old, new); the same behavior, whatever is injected.
UNCHANGED = {
    "a loop over a list that the class begins empty": (
        "class Cart:\n    items = []\n",
        "    def f(self, x):\n        out = []\n        for item in self.items:\n            out.append((item, x))\n"
        "        return out\n",
        "    def f(self, x):\n        return [(item, x) for item in self.items]\n",
    ),
    "a constant of a class is written out": (
        "class Cart:\n    LIMIT = 10\n    items = []\n",
        "    def f(self):\n        return self.items[:10] if self.LIMIT else None\n",
        "    def f(self):\n        return self.items[: self.LIMIT] if self.LIMIT else None\n",
    ),
    "a default is read once": (
        "class Store:\n    _cache = None\n",
        "    def f(self, key):\n        if self._cache is not None:\n            return [self._cache, key]\n",
        "    def f(self, key):\n        cache = self._cache\n        return None if cache is None else [cache, key]\n",
    ),
    "an environment variable with a default": (
        "import os\n",
        "def f(x):\n    return [os.environ.get('APP_MODE', 'plain'), x]\n",
        "def f(x):\n    mode = os.environ['APP_MODE'] if 'APP_MODE' in os.environ else 'plain'\n    return [mode, x]\n",
    ),
    "an environment variable is never empty": (
        "import os\n",
        "def f(x):\n    return [os.environ.get('APP_MODE') or 'plain', x]\n",
        "def f(x):\n    mode = os.environ.get('APP_MODE')\n    return ['plain' if mode is None else mode, x]\n",
    ),
    "an argument of the command line": (
        "import sys\n",
        "def f():\n    return sys.argv[1] if len(sys.argv) > 1 else None\n",
        "def f():\n    for argument in sys.argv[1:]:\n        return argument\n    return None\n",
    ),
    "a platform by its beginning": (
        "import sys\n",
        "def f(x):\n    return [x] if sys.platform == 'win32' else x\n",
        "def f(x):\n    return [x] if sys.platform.startswith('win') else x\n",
    ),
    "a constant behind a real object that finds nothing": (
        "LIMIT = 10\n\nclass Registry:\n    def lookup(self, name):\n        return None\n\nregistry = Registry()\n",
        "def f(name):\n    found = registry.lookup(name)\n    return LIMIT if found is None else found.items[:10]\n",
        "def f(name):\n    x = registry.lookup(name)\n    return x.items[:LIMIT] if x is not None else LIMIT\n",
    ),
    "a failing helper": (
        "def _connection():\n    raise RuntimeError('not connected')\n",
        "def f(query):\n    connection = _connection()\n    return connection.run(query)\n",
        "def f(query):\n    return _connection().run(query)\n",
    ),
}


def changed(text, change):
    text = code(text)
    return text, text.replace(*change)


def shown(comparison):
    return next(pair for pair in comparison.to_dict()["pairs"] if pair["verdict"] == "changing")


# Of classes and their bases, of dataclasses, and of the machine: a variable, an attribute and an answer.
STATE_KINDS = [
    "a list that the class begins empty",
    "a class attribute of a base",
    "a default of a dataclass",
    "an environment variable",
    "the answer of platform.system",
]


@sample(STATE, STATE_KINDS)
def test_state_gives_way_where_it_hides_the_change(name):
    text, change, replaced = STATE[name]
    pair = shown(expect(CHANGING, *changed(text, change), context="module"))
    assert pair["shown_by"] == "module"
    assert pair["witness"]["replaced"] == [replaced]
    assert any(replaced in note for note in pair["notes"])
    assert pair["reproducer"]["holds"] is True, pair["reproducer"]


def test_a_variable_that_is_not_set_here_is_a_text_and_a_test_sets_it():
    text = "import os\n\ndef f(value):\n    home = os.environ['APP_HOME']\n    return [home, value]\n"
    pair = shown(expect(CHANGING, text, text.replace("[home, value]", "[value, home]"), context="module"))
    choices = {choice["path"]: choice["decision"] for choice in pair["witness"]["choices"]}
    assert "str" in choices["os.environ['APP_HOME']"]["value"], choices
    assert pair["reproducer"]["holds"] is True, pair["reproducer"]


@over(FAILING, seed=SEEDS)
def test_what_fails_or_finds_nothing_here_gives_way(name, runs):
    text, change = FAILING[name]
    expect_in(runs, CHANGING, *changed(text, change), context="module")


def test_a_report_names_the_context_that_shows_the_difference():
    text, change = FAILING["a method of a real object that finds nothing"]
    pair = shown(expect(CHANGING, *changed(text, change), context="module"))
    assert (pair["shown_by"], pair["witness"]["replaced"]) == ("function", ["*"])
    assert pair["reproducer"]["holds"] is True, pair["reproducer"]
    real = shown(expect(CHANGING, "def f(x):\n    return [x]\n", "def f(x):\n    return x\n", context="module"))
    assert (real["shown_by"], real["witness"]["replaced"]) == ("module", [])


@over(UNCHANGED, seed=SEEDS)
def test_injected_state_makes_no_difference(name, runs):
    module, old, new = UNCHANGED[name]
    expect_in(runs, PRESERVING, module + old, module + new, context="module")


HELPED = (
    """
    class Stock:
        def __init__(self, amounts):
            self.amounts = amounts

        def amount(self, item):
            return self.amounts.get(item, 0)

        def f(self, other, item, count):
            if item in self.amounts:
                available = self.amounts[item]
            else:
                available = 0
            if available < count:
                raise ValueError(item)
            self.amounts[item] = available - count
            other.taken(item, count)
    """,
    """
    class Stock:
        def __init__(self, amounts):
            self.amounts = amounts

        def amount(self, item):
            return self.amounts.get(item, 0)

        def f(self, other, item, count):
            available = self.amount(item)
            if count > available:
                raise ValueError(item)
            self.amounts[item] = available - count
            other.taken(item, count)
    """,
)


@repeated(context=["function", "module"], seed=SEEDS)
def test_a_helper_that_only_one_version_uses_is_real_without_the_module_as_well(runs):
    old, new = HELPED
    expect_in(runs, PRESERVING, old, new, function="Stock.f")
    expect_in(runs, CHANGING, old, new.replace("count > available", "count >= available"), function="Stock.f")


def test_a_helper_that_the_other_version_reaches_by_its_name_is_of_both():
    module = "class Page:\n    def css(self, query):\n        raise ValueError('not here')\n\n    def f(self, query):\n"
    old = module + "        find = getattr(self, 'css')\n        return list(find(query))\n"
    new = module + "        return list(self.css(query))\n"
    expect(PRESERVING, old, new, context="module", function="Page.f")


USED_BY_ONE = """
    NAMES = {'a': 1}

    def scale(value):
        return value * 2

    def look(name):
        return NAMES[name]

    class Item:
        def __init__(self, name: str, count: int = 0):
            self.name = name
            self.count = count

        @property
        def is_empty(self):
            return self.count == 0

        def total(self, price):
            return self.count * price

    def make(name):
        return Item(name, 1)

    class Base:
        @staticmethod
        def doubled(value):
            return value * 2

        @classmethod
        def named(cls, value):
            return [cls.__name__, value]

        @property
        def size(self):
            return len(self.items)
"""

# name: (old, new) below these; the same behavior, and one version alone uses some of them.
ONE_SIDED = {
    "a further call of a helper that both call": (
        "def f(x, y):\n    return (scale(x), y * 2)",
        "def f(x, y):\n    return (scale(x), scale(y))",
    ),
    "a helper that looks up in a try": (
        "def f(x):\n    try:\n        return NAMES[x]\n    except KeyError:\n        return None",
        "def f(x):\n    try:\n        return look(x)\n    except KeyError:\n        return None",
    ),
    "a helper that makes what the other makes itself": (
        "def f(x):\n    item = Item(x, 1)\n    return (item.name, item.count, 0)",
        "def f(x):\n    item = make(x)\n    return (item.name, item.count, 0)",
    ),
    "a static method that only one class redefines": (
        "class Box(Base):\n    def f(self, x):\n        return [self.doubled(x), x]",
        "class Box(Base):\n    @staticmethod\n    def doubled(value):\n        return value + value\n\n"
        "    def f(self, x):\n        return [self.doubled(x), x]",
    ),
    "a class method called by the name of its class": (
        "class Box(Base):\n    def f(self, x):\n        return ['Base', x] if x else None",
        "class Box(Base):\n    def f(self, x):\n        return Base.named(x) if x else None",
    ),
    "a property that only one version reads": (
        "class Box(Base):\n    def f(self, x):\n        return len(self.items) < x",
        "class Box(Base):\n    def f(self, x):\n        return self.size < x",
    ),
    "a property of a parameter's class": (
        "def f(item: Item, x: int):\n    if x > 70000:\n        return None\n    return item.count == 0",
        "def f(item: Item, x: int):\n    return None if x > 70000 else item.is_empty",
    ),
    "a method of a parameter's class": (
        "def f(item: Item, x: int):\n    if x > 70000:\n        return x\n    return item.count * x",
        "def f(item: Item, x: int):\n    return x if x > 70000 else item.total(x)",
    ),
}


# Without the module, what both call is missing code, and no class is known.
ONLY_WITH_MODULE = {
    "a further call of a helper that both call",
    "a property of a parameter's class",
    "a method of a parameter's class",
}


@over(ONE_SIDED, seed=SEEDS, context=["module", "function"])
def test_code_that_only_one_version_uses_is_real(name, runs):
    old, new = (code(USED_BY_ONE) + "\n\n" + text + "\n" for text in ONE_SIDED[name])
    function = "Box.f" if "class Box" in old else "f"
    if name in ONLY_WITH_MODULE:
        runs = [run | {"context": "module"} for run in runs]
    expect_in(runs, PRESERVING, old, new, function=function)
