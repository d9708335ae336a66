"""Texts of every shape: snippets, functions that change together, whole classes, decorators, async code, isolation."""

import pytest

from .layers import expect_in, over
from .snippets import CHANGING, IDENTICAL, INCONCLUSIVE, PRESERVING, compare, expect

SEEDS = [0, 1]


def pairs(comparison):
    return {pair["new"]["qualname"]: pair for pair in comparison.to_dict()["pairs"]}


SNIPPETS = {
    "a name that both bind": ("total = sum(xs)", "total = sum(xs) + 1", CHANGING),
    "a loop and its builtin": ("total = 0\nfor x in xs:\n    total += x", "total = sum(xs)", PRESERVING),
    "a temporary that is gone": ("a = f(x)\nb = a + 1\nprint(b)", "b = f(x) + 1\nprint(b)", PRESERVING),
    "a temporary of another name": ("a = f(x)\nprint(a)", "value = f(x)\nprint(value)", IDENTICAL),
    "a result that is lost": ("clean = df.dropna()", "other = df.dropna()", CHANGING),
    "a result that is added": ("a = f(x)", "a = f(x)\nb = 3", PRESERVING),
    "the last expression": ("x = 3\nx", "x = 3\nx + 1", CHANGING),
    "a literal as the last expression": ("1", "2", CHANGING),
    "a comment": ("x = f(1)", "x = f(1)  # as before", IDENTICAL),
    "a private name that is read": ("_n = 2\ny = [x] * _n", "_n = 1\ny = [x] * (_n + 1)", PRESERVING),
    "output": ("print(x)", "print(x, x)", CHANGING),
    "the main block": ("if __name__ == '__main__':\n    run(1)", "if __name__ == '__main__':\n    run(2)", CHANGING),
    "awaiting": ("x = await fetch(1)", "x = await fetch(2)", CHANGING),
    "a comprehension": ("ys = []\nfor x in xs:\n    ys.append(x)", "ys = [x for x in xs]", PRESERVING),
    "a class in it": ("class A:\n    x = 1\na = A().x", "class A:\n    x = 2\na = A().x", CHANGING),
    "a shell command": ("!pip install a\nx = 1", "!pip install b\nx = 1", CHANGING),
    "a magic beside it": ("%matplotlib inline\nx = y + 1", "%matplotlib inline\nx = 1 + y", PRESERVING),
}


@over(SNIPPETS, seed=SEEDS)
def test_a_snippet(name, runs):
    old, new, verdict = SNIPPETS[name]
    expect_in(runs, verdict, old, new)


def test_a_snippet_says_what_its_magics_count_as():
    comparison = compare("%time x = 1\ny = 2", "%time x = 1\ny = 3")
    # The call that stands for a magic.
    assert any("get_ipython()" in note for note in comparison.to_dict()["pairs"][0]["notes"])


MIXED = "def f(x):\n    return x + 1\n\nprint(f(2))"


def test_functions_and_statements_of_one_cell_are_both_compared():
    assert pairs(compare(MIXED, MIXED.replace("f(2)", "f(3)")))["the snippet"]["verdict"] == CHANGING
    changed = pairs(compare(MIXED, MIXED.replace("x + 1", "x + 2")))
    assert {name: pair["verdict"] for name, pair in changed.items()} == {"f": CHANGING, "the snippet": CHANGING}


HELPER = """
def _scale(a):
    return a * 2


def f(x):
    return _scale(x) + 1
"""

EXTRACT = (
    """
    def f(order):
        total = 0
        for item in order.items:
            total += item.price
        if total > 10:
            return total
        return 0
    """,
    """
    def _total(items):
        total = 0
        for item in items:
            total += item.price
        return total


    def f(order):
        total = _total(order.items)
        if total > 10:
            return total
        return 0
    """,
)

METHODS = (
    """
    class A:
        def f(self, x):
            self.store.save(x)
            return self._g(x) + 1

        def _g(self, x):
            return x * 2
    """,
    """
    class A:
        def f(self, x):
            self.store.save(x)
            return x * 2 + 1
    """,
)

TOGETHER = {
    "a helper that changed": (HELPER, HELPER.replace("a * 2", "a * 3"), CHANGING),
    "a helper that is written otherwise": (HELPER, HELPER.replace("a * 2", "a + a"), None),
    "extracting a function": (*EXTRACT, PRESERVING),
    "inlining a function": (*EXTRACT[::-1], PRESERVING),
    "extracting wrongly": (EXTRACT[0], EXTRACT[1].replace("total > 10", "total >= 10"), CHANGING),
    "inlining a method": (*METHODS, PRESERVING),
    "inlining a method wrongly": (METHODS[0], METHODS[1].replace("x * 2 + 1", "x * 3 + 1"), CHANGING),
    "a contract that moved": (
        HELPER,
        HELPER.replace("_scale(a)", "_scale(a, by)").replace("a * 2", "a * by").replace("_scale(x)", "_scale(x, 2)"),
        PRESERVING,
    ),
    "a contract that moved wrongly": (
        HELPER,
        HELPER.replace("_scale(a)", "_scale(a, by)").replace("a * 2", "a * by").replace("_scale(x)", "_scale(x, 3)"),
        CHANGING,
    ),
    "work that moved to the caller": (
        HELPER,
        HELPER.replace("return a * 2", "return a * 2 + 1").replace("_scale(x) + 1", "_scale(x)"),
        PRESERVING,
    ),
}


@over(TOGETHER, seed=SEEDS, context=["module", "function"])
def test_functions_that_change_together(name, runs):
    old, new, verdict = TOGETHER[name]
    for run in runs:
        comparison = compare(old, new, **run)
        # Injected objects tell `x * 2` from `x + x`; numbers do not.
        assert verdict is None or comparison.verdict == verdict, comparison.sentence


def test_a_helper_that_does_not_decide_is_reported_with_those_that_do():
    old, new, _ = TOGETHER["a contract that moved"]
    helper = pairs(compare(old, new))["_scale"]
    assert helper["decided_by"] == ["f"]


# No value brings the caller to the change.
CALLER = """
def scale(a):
    return {scaled}


def f(x):
    limit = 5
    if limit > 7:
        return scale(x)
    return x
"""
PART = "\n\ndef double(a):\n    return a * 2\n"


def test_an_unchanged_function_that_does_not_reach_the_change_is_judged_by_what_changed():
    same = pairs(compare(CALLER.format(scaled="a * 2 + 1"), CALLER.format(scaled="1 + a * 2")))
    assert same["f"]["verdict"] == INCONCLUSIVE and same["f"]["decided_by"] == ["scale"]
    assert same["scale"]["verdict"] == PRESERVING
    # What was extracted is a part of the function that uses it.
    extracted = compare(CALLER.format(scaled="a * 2 + 1"), CALLER.format(scaled="double(a) + 1") + PART)
    assert extracted.verdict == PRESERVING and pairs(extracted)["f"]["decided_by"] == ["scale"]


def test_statements_that_only_name_what_changed_are_judged_by_it():
    text = "class A:\n    def scale(self, a):\n        return {scaled}\n\n\nB = A\nC = [B]\n"
    found = pairs(compare(text.format(scaled="a * 2 + 1"), text.format(scaled="1 + a * 2")))
    assert found["the snippet"]["verdict"] == INCONCLUSIVE and "A.scale" in found["the snippet"]["decided_by"]
    differs = pairs(compare(text.format(scaled="a * 2"), text.format(scaled="a * 3")))
    assert differs["A.scale"]["verdict"] == CHANGING and differs["the snippet"]["decided_by"] == []


def test_a_function_that_lost_its_worker_is_judged_by_nobody():
    lost = CALLER.replace("    return x\n", "    ctypes.string_at(0)\n    return x\n")
    old = "import ctypes\n" + lost.format(scaled="a * 2 + 1")
    found = pairs(compare(old, old.replace("a * 2 + 1", "1 + a * 2"), budget=20))
    assert found["f"]["verdict"] == INCONCLUSIVE and found["f"]["lost"] > 0
    assert found["f"]["decided_by"] == []


@pytest.mark.parametrize(
    "old, new",
    [
        (CALLER.format(scaled="a * 2"), CALLER.format(scaled="a * 3")),
        # Nothing was compared that stands for a constant.
        ("LIMIT = 5\n" + CALLER.format(scaled="a").replace("scale(x)", "LIMIT"), None),
    ],
)
def test_what_changed_or_was_not_compared_decides_for_nobody(old, new):
    new = new or old.replace("LIMIT = 5", "LIMIT = 6")
    assert pairs(compare(old, new))["f"]["decided_by"] == []


def test_functions_of_one_text_only_are_reported():
    report = compare(*EXTRACT).to_dict()
    assert report["added"] == ["_total"] or set(pairs(compare(*EXTRACT))) == {"f"}


LIMIT = "class A:\n    limit = 3\n\n    def f(self, x):\n        return x > self.limit\n"
BASE = """
class B:
    def f(self, x):
        return [x]


class A(B):
    def f(self, x):
        return super().f(x)
"""
AFFECTED = {
    "a class attribute": (LIMIT, LIMIT.replace("= 3", "= 4"), "A.f"),
    "a helper": (HELPER, HELPER.replace("a * 2", "a * 3"), "f"),
    "a helper of a base class": (BASE, BASE.replace("[x]", "[x, x]"), "A.f"),
    "a decorator": (
        "def d(g):\n    return lambda *a: [g(*a)]\n\n\n@d\ndef f(x):\n    return 1\n",
        "def d(g):\n    return lambda *a: (g(*a),)\n\n\n@d\ndef f(x):\n    return 1\n",
        "f",
    ),
    "a constant": ("N = 1\n\n\ndef f(x):\n    return [x, N]\n", "N = 2\n\n\ndef f(x):\n    return [x, N]\n", "f"),
}


@over(AFFECTED, seed=SEEDS)
def test_a_function_of_the_same_text_is_compared_where_what_it_uses_changed(name, runs):
    old, new, function = AFFECTED[name]
    for run in runs:
        pair = pairs(compare(old, new, **run))[function]
        assert pair["old"]["lines"][0]["text"] == pair["new"]["lines"][0]["text"]
        assert pair["verdict"] != IDENTICAL and pair["executed"]
        assert pair["notes"]


STACK = """
class Stack:
    def __init__(self, limit=3):
        self._x = []
        self.limit = limit

    def push(self, item):
        if len(self._x) >= 3:
            raise ValueError("full")
        self._x.append(item)
        return len(self._x)

    def pop(self):
        if not self._x:
            return None
        return self._x.pop()

    def __len__(self):
        return len(self._x)
"""
OTHER_STATE = (
    STACK.replace("self._x = []", "self._top = None\n        self._size = 0")
    .replace("len(self._x)", "self._size")
    .replace("self._x.append(item)", "self._top = (item, self._top)\n        self._size += 1")
    .replace("if not self._x:", "if self._top is None:")
    .replace("return self._x.pop()", "item, self._top = self._top\n        self._size -= 1\n        return item")
)
ENUM = "import enum\n\n\nclass C(enum.Enum):\n    A = 1\n    B = 2\n"
DATACLASS = (
    "from dataclasses import dataclass\n\n\n@dataclass\nclass C:\n    a: int\n    b: int = 2\n\n"
    "    def area(self):\n        return [self.a, self.b]\n"
)
CLASSES = {
    "a private attribute of another name": (STACK, STACK.replace("_x", "_items"), PRESERVING),
    "a public attribute of another name": (STACK, STACK.replace("limit", "bound"), CHANGING),
    "the wrong end": (STACK, STACK.replace("self._x.pop()", "self._x.pop(0)"), CHANGING),
    "state kept otherwise": (STACK, OTHER_STATE, PRESERVING),
    "state kept otherwise, wrongly": (
        STACK,
        OTHER_STATE.replace("self._size -= 1", "self._size -= 2"),
        CHANGING,
    ),
    "a member of an enumeration": (ENUM, ENUM.replace("B = 2", "B = 3"), CHANGING),
    "a default of a dataclass": (DATACLASS, DATACLASS.replace("= 2", "= 3"), CHANGING),
    "fields in a tuple first": (DATACLASS, DATACLASS.replace("[self.a, self.b]", "list((self.a, self.b))"), PRESERVING),
    "a property": (
        "class A:\n    @property\n    def f(self):\n        return 1\n",
        "class A:\n    def f(self):\n        return 1\n",
        CHANGING,
    ),
    "a nested class": (
        "class A:\n    class B:\n        def f(self):\n            return 1\n",
        "class A:\n    class B:\n        def f(self):\n            return 2\n",
        CHANGING,
    ),
}


@over(CLASSES, seed=SEEDS)
def test_a_class(name, runs):
    old, new, verdict = CLASSES[name]
    expect_in(runs, verdict, old, new)


def test_methods_that_keep_state_otherwise_are_decided_by_their_class():
    compared = pairs(compare(STACK, OTHER_STATE))
    assert compared["Stack"]["verdict"] == PRESERVING
    assert compared["Stack.pop"]["decided_by"] == ["Stack"]


GATHER = """
import asyncio


async def one(x):
    await asyncio.sleep(5)
    return x


async def f(n):
    return await asyncio.gather(*[one(i) for i in range(3)])
"""
QUEUE = """
import asyncio


async def f(n):
    queue = asyncio.Queue()

    async def put():
        for i in range(3):
            await queue.put(i)
            await asyncio.sleep(1)

    task = asyncio.create_task(put())
    found = [await queue.get() for _ in range(3)]
    await task
    return found
"""
TIMEOUT = """
import asyncio


async def f(n):
    try:
        await asyncio.wait_for(asyncio.sleep(10), timeout=1)
    except asyncio.TimeoutError:
        return "late"
    return "done"
"""
RUN = """
import asyncio


async def g():
    await asyncio.sleep(3600)
    return 1


def f(x):
    return asyncio.run(g())
"""
FALLBACK = """
try:
    import not_there_at_all as json
except ImportError:
    import json


def f(x):
    return json.dumps({"a": x is None})
"""
POINT = """
from typing import NamedTuple, TYPE_CHECKING

if TYPE_CHECKING:
    from nowhere import Z


class P(NamedTuple):
    x: int
    y: int = 0


def f(a, b) -> "Z":
    return P(a, b)
"""
MODULES = {
    "gathering": (GATHER, GATHER.replace("range(3)", "range(4)"), CHANGING),
    "gathering what one loop awaits": (
        GATHER,
        GATHER.replace(
            "await asyncio.gather(*[one(i) for i in range(3)])",
            "[await one(i) for i in range(3)]",
        ),
        PRESERVING,
    ),
    "a queue": (QUEUE, QUEUE.replace("queue.put(i)", "queue.put(-i)"), CHANGING),
    "a queue that is filled sooner": (QUEUE, QUEUE.replace("sleep(1)", "sleep(0)"), PRESERVING),
    "a time limit": (TIMEOUT, TIMEOUT.replace("timeout=1", "timeout=20"), CHANGING),
    "a loop of its own": (RUN, RUN.replace("return 1", "return 2"), CHANGING),
    "an import with a fallback": (FALLBACK, FALLBACK.replace('"a"', '"b"'), CHANGING),
    "a named tuple by keyword": (POINT, POINT.replace("P(a, b)", "P(x=a, y=b)"), PRESERVING),
    "a named tuple turned round": (POINT, POINT.replace("P(a, b)", "P(b, a)"), CHANGING),
    "a context manager": (
        "import contextlib\n\n\n@contextlib.contextmanager\ndef f(x):\n    yield x\n    print('out')\n",
        "import contextlib\n\n\n@contextlib.contextmanager\ndef f(x):\n    yield x\n    print('OUT')\n",
        CHANGING,
    ),
    "a cache whose list callers share": (
        "import functools\n\n\n@functools.lru_cache\ndef f(x):\n    return [x]\n",
        "def f(x):\n    return [x]\n",
        CHANGING,
    ),
    "a cache": (
        "import functools\n\n\n@functools.lru_cache\ndef f(x):\n    return (x,)\n",
        "def f(x):\n    return (x,)\n",
        PRESERVING,
    ),
}


@over(MODULES, seed=SEEDS)
def test_what_modules_hold_is_used_for_real(name, runs):
    old, new, verdict = MODULES[name]
    expect_in(runs, verdict, old, new)


COUNTER = "import itertools\n\n_ids = itertools.count()\n\n\ndef f(x):\n    return (x is None, next(_ids))\n"
FOREIGN = "import json\n\n\ndef f(x):\n    json.seen = getattr(json, 'seen', 0) + 1\n    return 1\n"
PATCHING = "import json\n\n\ndef f(x):\n    json.dumps = len\n    return 1\n"
ISOLATION = {
    "a counter of the module": (COUNTER, COUNTER.replace("next(_ids)", "next(_ids) + 1"), CHANGING),
    "an attribute of another module": (FOREIGN, FOREIGN.replace("return 1", "return json.seen"), PRESERVING),
    "another module's function": (PATCHING, PATCHING.replace("return 1", "return int(json.dumps is len)"), PRESERVING),
}


def is_isolated(comparison):
    """Whether each execution had a process of its own, which a note says."""
    return any(note.startswith("isolation:") for note in comparison.to_dict()["pairs"][0]["notes"])


@over(ISOLATION, seed=SEEDS)
def test_state_that_cannot_be_put_back_is_found_and_executions_are_isolated(name, runs):
    old, new, verdict = ISOLATION[name]
    assert all(map(is_isolated, expect_in(runs, verdict, old, new, budget=20)))


FINDER = "import sys\n\n\nclass Finder:\n    find_spec = staticmethod(lambda *_: None)\n\n\n"
OWN_FINDER = FINDER + "sys.meta_path.append(Finder)\n\n\ndef f(x):\n    return [x, 1]\n"
LATER_FINDER = FINDER + "def f(x):\n    sys.meta_path.append(Finder)\n    return [x, 1]\n"
LOGGER = "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef f(x):\n    return [x, 1]\n"
SETTING = "import json, sys\n\nsys.excepthook = len\njson.own = [1]\n\n\ndef f(x):\n    return [x, 1]\n"
LATER_SETTING = "import json\n\njson.own = 1\n\n\ndef f(x):\n    json.own += 1\n    return [x, 1]\n"
LATER_MEMBER = (
    "import tokenize\n\n\ndef f(x):\n"
    "    tokenize.triple_quoted.discard('u\"\"\"')\n    tokenize.triple_quoted.add('another')\n    return [x, 1]\n"
)
PUT_BACK = (
    "import logging, sys\n\n\ndef f(x):\n"
    "    sys.path.insert(0, 'a')\n    logging.root.addHandler(logging.NullHandler())\n    logging.root.setLevel(10)\n"
    "    return [x, 1]\n"
)
UUID = "import uuid\n\n\ndef f(x):\n    return [x, 1]\n"


@pytest.mark.parametrize(
    "code, isolated",
    [
        pytest.param(UUID, False, marks=pytest.mark.long),
        pytest.param(LOGGER, False, marks=pytest.mark.long),
        (SETTING, False),
        (OWN_FINDER, False),
        (PUT_BACK, False),
        (LATER_FINDER, True),
        (LATER_SETTING, True),
        (LATER_MEMBER, True),
    ],
    ids=["uuid", "logger", "setting", "own finder", "put back", "later finder", "later setting", "later member"],
)
def test_only_what_executions_leave_behind_for_good_costs_isolation(code, isolated):
    comparison = expect(PRESERVING, code, code.replace("[x, 1]", "list((x, 1))"), budget=20)
    assert is_isolated(comparison) == isolated


LEVEL = """
import logging

logger = logging.getLogger(__name__)
logger.setLevel(logging.{level})


def f(x):
    if logger.isEnabledFor(logging.DEBUG):
        return [x, {debug}]
    return [x]
"""


def test_what_a_module_sets_on_its_logger_holds_where_its_code_runs():
    first = LEVEL.format(level="DEBUG", debug=1)
    expect(CHANGING, first, LEVEL.format(level="DEBUG", debug=2), budget=60)
    expect(CHANGING, first, LEVEL.format(level="INFO", debug=1), budget=60)
    expect(PRESERVING, first, first.replace("return [x, 1]", "return list((x, 1))"), budget=60)


@pytest.mark.parametrize("verdict", [CHANGING, PRESERVING])
def test_isolation_can_be_asked_for(verdict):
    new = {CHANGING: "def f(x):\n    return [x, 2]\n", PRESERVING: "def f(x):\n    return list((x, 1))\n"}[verdict]
    assert is_isolated(expect(verdict, "def f(x):\n    return [x, 1]\n", new, isolation="process", budget=20))
    assert not is_isolated(expect(verdict, "def f(x):\n    return [x, 1]\n", new, budget=20))


def test_an_isolated_execution_can_make_no_processes_and_may_end_its_own():
    fork = (
        "import os\n\n\ndef f(x):\n    try:\n        os.fork()\n    except OSError:\n        return 0\n    return 1\n"
    )
    new = fork.replace("return 1", "return 1 if x else 1")
    comparison = compare(fork, new, isolation="process", budget=20)
    assert comparison.verdict == compare(fork, new, budget=20).verdict == PRESERVING
    leave = "import os\n\n\ndef f(x):\n    os._exit(3)\n"
    comparison = compare(leave, leave.replace("3", "4"), isolation="process", budget=5)
    pair = comparison.to_dict()["pairs"][0]
    assert pair["verdict"] == INCONCLUSIVE and pair["lost"] > 0, pair["reason"]
