"""Classes are used from outside: they are given what they declare, and what their decorators write is compared."""

import textwrap

import twincell

from .layers import expect_in, over, repeated
from .snippets import CHANGING, FEW, PRESERVING

TILL = """
    class Till:
        def __init__(self, name: str, cents: int = 0):
            self.name = name
            self.cents = cents

        def put(self, cents: int) -> int:
            self.cents += cents
            return self.cents

        def take(self, cents: int) -> int:
            if cents > self.cents:
                raise ValueError("too little")
            self.cents -= cents
            return self.cents
    """

SAME_FOR_WHAT_IS_DECLARED = {
    "arguments of methods": (
        TILL,
        """
        class Till:
            def __init__(self, name: str, cents: int = 0):
                self.name = name
                self.cents = cents

            def _move(self, by):
                self.cents += by
                return self.cents

            def put(self, cents: int) -> int:
                return self._move(cents)

            def take(self, cents: int) -> int:
                if cents > self.cents:
                    raise ValueError("too little")
                return self._move(-cents)
        """,
    ),
    "fields": (
        """
        from dataclasses import dataclass

        @dataclass
        class Line:
            count: int
            words: list[str]

            def text(self):
                found = ""
                for word in self.words:
                    found += word * self.count
                return found
        """,
        """
        from dataclasses import dataclass

        @dataclass
        class Line:
            count: int
            words: list[str]

            def text(self):
                return "".join(word * self.count for word in self.words)
        """,
    ),
    "another property": (
        TILL,
        TILL + "\n        @property\n        def euros(self):\n            return self.cents / 100\n",
    ),
    "another attribute of the class": (TILL, TILL.replace("class Till:", 'class Till:\n        unit = "cent"\n')),
}


@over(SAME_FOR_WHAT_IS_DECLARED, seed=range(3))
def test_a_class_that_does_the_same_for_what_it_declares_is_preserved(name, runs):
    old, new = map(textwrap.dedent, SAME_FOR_WHAT_IS_DECLARED[name])
    for run in runs:
        comparison = twincell.compare(old, new, **run, budget=FEW)
        assert comparison.verdict in ("likely_preserving", "identical"), comparison.sentence


POINT = """
    from dataclasses import dataclass, field

    @dataclass
    class Point:
        x: float
        y: float

        def norm(self) -> float:
            return (self.x**2 + self.y**2) ** 0.5
    """
CHANGED = {
    "frozen": (POINT, POINT.replace("@dataclass\n", "@dataclass(frozen=True)\n")),
    "ordered": (POINT, POINT.replace("@dataclass\n", "@dataclass(order=True)\n")),
    "without a text": (POINT, POINT.replace("@dataclass\n", "@dataclass(repr=False)\n")),
    "a field that is not compared": (
        POINT,
        POINT.replace("y: float\n", "y: float = field(compare=False, default=0)\n"),
    ),
    "no decorator": (POINT.replace("x: float\n", "x: float = 0\n"), POINT.replace("    @dataclass\n", "")),
    "an attribute of the class that is gone": (TILL.replace("class Till:", "class Till:\n        unit = 1\n"), TILL),
    "what is asked for by a key that was used before": (
        """
        class Store:
            def __init__(self):
                self._kept = {}

            def put(self, key, value):
                self._kept[key] = value

            def get(self, key):
                return self._kept.get(key)
        """,
        """
        class Store:
            def __init__(self):
                self._kept = {}

            def put(self, key, value):
                self._kept.setdefault(key, value)

            def get(self, key):
                return self._kept.get(key)
        """,
    ),
}


@over(CHANGED, seed=range(3))
def test_a_class_that_does_otherwise_is_changed(name, runs):
    expect_in(runs, CHANGING, *CHANGED[name])


@repeated(seed=range(3))
def test_what_the_code_of_a_class_cannot_do_with_a_value_is_no_refusal(runs):
    """Both fail on None, each in its own code; a class without the operator refuses all."""
    ordered = """
        class Key:
            def __init__(self, key: int | None = None):
                self.key = key

            def __lt__(self, other):
                return {}
        """
    old, new = (
        textwrap.dedent(ordered.format(test)) for test in ["self.key < other.key", "(self.key,) < (other.key,)"]
    )
    made = "from dataclasses import dataclass\n\n\n@dataclass{}\nclass Key:\n    key: int = 0\n"
    for run in runs:
        pairs = twincell.compare(old, new, **run, budget=FEW).to_dict()["pairs"]
        assert [pair["verdict"] for pair in pairs if pair["new"]["qualname"] == "Key"] == ["likely_preserving"]
    expect_in(runs, CHANGING, made.format(""), made.format("(order=True)"))
    expect_in(runs, CHANGING, made.format("(eq=False)"), made.format("(frozen=True)"))


def test_a_constructor_may_be_static_and_take_nothing():
    text = "class C:\n    @staticmethod\n    def __init__():\n        pass\n\n    def m(self, x):\n        return {}\n"
    assert twincell.compare(text.format("x"), text.format("[x]")).verdict == "changing"


@repeated(seed=range(8))
def test_members_that_changed_are_used_more_often(runs):
    others = "".join(f"    def part_{number}(self):\n        return {number}\n\n" for number in range(80))
    old = f"class Bar:\n{others}    def rest(self):\n        return None\n"
    new = old.replace("return None", "return self")
    expect_in(runs, CHANGING, old, new, function="Bar", budget=20)


def test_methods_of_a_class_that_starts_with_another_container_are_judged_by_it():
    old = (
        "class Bag:\n    def __init__(self):\n        self.items = []\n\n"
        "    def put(self, item):\n        self.items.append(item)\n\n"
        "    def has(self, item):\n        return item in self.items\n"
    )
    new = old.replace("[]", "{}").replace(".append(item)", "[item] = True")
    pairs = {pair["new"]["qualname"]: pair for pair in twincell.compare(old, new).pairs}
    assert pairs["Bag.put"]["decided_by"] == ["Bag"], pairs["Bag.put"]["sentence"]
    assert pairs["Bag.__init__"]["decided_by"] == [], pairs["Bag.__init__"]["sentence"]


LIMITER = """
    import time

    class RateLimiter:
        def __init__(self, rate, capacity, clock=time.monotonic):
            self.rate = rate
            self.capacity = capacity
            self.clock = clock
            self.tokens = capacity
            self.last = clock()

        def _refill(self):
            now = self.clock()
            elapsed = now - self.last
            self.tokens = min(self.capacity, self.tokens + elapsed * self.rate)
            self.last = now

        def allow(self, cost=1):
            self._refill()
            if self.tokens >= cost:
                self.tokens -= cost
                return True
            return False
    """
CACHE = """
    class Cache:
        def __init__(self, ttl, now):
            self.ttl = ttl
            self.now = now
            self.entries = {}
            self.hits = 0

        def _drop_old(self):
            now = self.now()
            for key in [key for key, (value, stamp) in self.entries.items() if now - stamp >= self.ttl]:
                del self.entries[key]

        def get(self, key, default=None):
            self._drop_old()
            if key in self.entries:
                self.hits += 1
                return self.entries[key][0]
            return default
    """


HELPED = {
    "numbers": (LIMITER, ">= cost", "> cost", "RateLimiter.allow", "self._refill()"),
    "entries": (CACHE, "hits += 1", "hits += 2", "Cache.get", "self._drop_old()"),
}


@over(HELPED, seed=range(5))
def test_what_other_methods_do_with_an_object_tells_what_it_holds(name, runs):
    code, was, is_now, method, helper = HELPED[name]
    code = textwrap.dedent(code)
    replaced = []
    for run in runs:
        comparison = twincell.compare(code, code.replace(was, is_now), function=method, **run)
        choices = comparison.to_dict()["pairs"][0]["witness"]["choices"]
        replaced += [comparison.sentence for choice in choices if choice["path"] == helper]
    # The helper mostly works on what was drawn, so nothing stands in for it.
    assert len(replaced) <= len(runs) // 2, replaced


CACHE = """
from collections import OrderedDict


class Cache:
    def __init__(self, size: int = 2):
        self.size = size
        self._data = OrderedDict()

    def get(self, key):
        try:
            value = self._data[key]
        except KeyError:
            return None
        self._data.move_to_end(key)
        return value

    def put(self, key, value):
        self._data[key] = value
        while len(self._data) > self.size:
            self._data.popitem(last=False)
"""


@repeated(seed=range(3))
def test_a_key_that_moves_in_an_ordered_dictionary_is_seen(runs):
    new = CACHE.replace("        self._data.move_to_end(key)\n", "")
    for run in runs:
        (changed,) = twincell.compare(CACHE, new, **run, function="Cache.get").to_dict()["pairs"]
        assert changed["verdict"] == "changing", changed["sentence"]
        assert [evidence["channel"] for evidence in changed["evidence"]] == ["arguments"], changed["evidence"]


HISTORY = """
class Edit:
    def __init__(self, position, text):
        self.position = position
        self.text = text

    def apply(self, buffer):
        return buffer[: self.position] + self.text + buffer[self.position :]


class Retry:
    def __init__(self, attempts, delays):
        self.attempts = attempts
        self.delays = delays or []

    def rounds(self):
        return sum(1 for _ in range(self.attempts)) + len(self.delays)

    def edited(self, position, buffer: str):
        return Edit(position, "x").apply(buffer)
"""


@repeated(seed=range(3))
def test_arguments_of_constructors_are_what_methods_do_with_what_keeps_them(runs):
    new = HISTORY.replace("sum(1 for _", "sum(2 for _").replace('"x"', '"y"')
    for run in runs:
        report = twincell.compare(HISTORY, new, **run).to_dict()
        pairs = {pair["old"]["qualname"]: pair for pair in report["pairs"]}
        # A bound of a slice and the argument of `range` are integers.
        for name, path in (("Retry.rounds", "self.attempts"), ("Retry.edited", "position")):
            assert pairs[name]["verdict"] == "changing", pairs[name]["sentence"]
            (chosen,) = (one["decision"] for one in pairs[name]["witness"]["choices"] if one["path"] == path)
            assert list(chosen["value"]) == ["int"], chosen


ENDLESS = """
class Queue:
    def __init__(self, most: int):
        self.most = most
        self.waiting = []

    def shrink(self, by: int):
        while len(self.waiting) > self.most:
            self.waiting.pop()
        return by + 1
"""


def test_code_that_goes_round_in_circles_on_invented_results_ends_early():
    """An empty list gives nothing away, however often it is asked: with a bound below zero, for all steps."""
    report = twincell.compare(ENDLESS, ENDLESS.replace("by + 1", "1 + by"), function="Queue").to_dict()
    (pair,) = (pair for pair in report["pairs"] if pair["old"]["qualname"] == "Queue")
    assert pair["verdict"] == PRESERVING, pair["sentence"]
    assert not any("steps" in one["old"] for one in pair["executions"])
