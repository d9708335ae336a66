"""What tools make of classes and imports: methods that are extracted, inlined and renamed, quoted types, other names of
exceptions. In both contexts the behavior is the same, and a real change beside it is found."""

from .layers import over, sample
from .snippets import CHANGING, FEW, IDENTICAL, PRESERVING, compare

CONTEXTS = ["function", "module"]

CAST = """
import typing as t
from typing import cast

def first(token):
    return cast(str, token["raw"]) + "x"

def second(token):
    return t.cast(str, token["raw"]).replace("a", "b")
"""

STATIC = """
import typing as t

class Stream:
    @staticmethod
    def push():
        if not isinstance(out.stream, Stream):
            out.stream = t.cast(t.TextIO, Stream())
        current.set(1)
"""

COUNTER = """
from collections import Counter as Count

def most(words):
    return Count(words).most_common(1)
"""

NAMED_COUNTER = COUNTER.replace("return Count(words)", "counts = Count(words)\n    return counts")

TIMEOUT = """
import socket

def run(job):
    try:
        return job.run()
    except socket.timeout as error:
        job.drop(error)
"""

BOUND = """
class Bound{head}:
    def bind(self, name, parent):
        super().bind(name, parent)
        if self.field:
            self.field = clone(self.field)
            self.field.bind(name, self)
"""

EXTRACTED = """
class Bound{head}:
    def bind(self, name, parent):
        super().bind(name, parent)
        if self.field:
            self._bind_field(name)

    def _bind_field(self, name):
        self.field = clone(self.field)
        self.field.bind(name, self)
"""

INHERITED = """
class Base(Missing):
    def _check(self, value):
        if self.many and not is_collection(value):
            raise self.error("type", value)

class Derived(Base):
    def load(self, value):
        self._check(value)
        return [value]
"""

INLINED = """
class Base(Missing):
    pass

class Derived(Base):
    def load(self, value):
        if self.many and not is_collection(value):
            raise self.error("type", value)
        return [value]
"""

SETTER = """
class Builder:
    def _get(self, name, make):
        found = getattr(self, name)
        if found is None:
            found = make()
            setattr(self, name, found)
        return found

    def _set(self, name, value):
        self._input = None
        setattr(self, name, value)

    @property
    def files(self):
        return self._get("_files", Files)

    @files.setter
    def files(self, value):
        self._set("_files", value)

    def add(self, key, value):
        self.files.add_file(key, value)
"""

WITHOUT_SET = SETTER.replace(
    """    def _set(self, name, value):
        self._input = None
        setattr(self, name, value)

""",
    "",
).replace('        self._set("_files", value)', '        self._input = None\n        setattr(self, "_files", value)')

PASSED_ON = """
class Request(Missing):
    def _stream(self, size):
        return self.make(size)

    def parser(self):
        return self.parser_class(stream=self._stream, size=self.size)
"""

TOKEN = """
def render(token, children):
    text = "".join(children)
    parent = token.get("parent")
    if parent:
        return text if parent["tight"] else text + "."
    return text + "!"
"""

EXTRACTED_TOKEN = """
def render(token, children):
    parent, text = _extracted(token, children)
    if parent:
        return text if parent["tight"] else text + "."
    return text + "!"

def _extracted(token, children):
    text = "".join(children)
    parent = token.get("parent")
    return parent, text
"""

ITEM = """
from types import SimpleNamespace

def parse(match):
    item = _marker(match)
    return item.text.strip()

def _marker(match):
    return SimpleNamespace(text=match.group("list"))
"""

RENAMED = PASSED_ON.replace("_stream", "_stream_now")

GUARDED = """
class Parser:
    def __init__(self, known):
        self.known = known

    def process(self, option, state):
        try:
            self._match(option, state)
        except NoSuchOption:
            state.rest.append(option)

    def _match(self, option, state):
        if option not in self.known:
            raise NoSuchOption(option)
        state.options.append(option)
"""

# `B.load` has the new name of `A.fetch` in both versions, and is another method.
NAMESAKE = """
class A:
    def fetch(self, x):
        return [x]

    def run(self, x, other):
        return other.use(self.fetch(x))


class B:
    def load(self, x):
        if not x.ok:
            raise Refused(x)
        return x

    def run(self, x):
        try:
            return self.load(x)
        except Refused:
            return None
"""

HEADS = [
    "(Base)",
    "(Base[T], metaclass=abc.ABCMeta)",
    "(Base, table=True)",
    "(metaclass=Meta)",
    "(a.Base, metaclass=M, x=1)",
]

CASES = {
    "a quoted type": (CAST, CAST.replace("cast(str", 'cast("str"'), '"x"', '"y"'),
    "a quoted type in a static method": (STATIC, STATIC.replace("t.TextIO", '"t.TextIO"'), "set(1)", "set(2)"),
    "an import of what only computes": (COUNTER, NAMED_COUNTER, "(1)", "(2)"),
    "another name of an exception": (TIMEOUT, TIMEOUT.replace("socket.timeout", "TimeoutError"), "(error)", "(job)"),
    "a method of a base that is inlined": (INHERITED, INLINED, "[value]", "[value, 1]"),
    "a method of a setter that is inlined": (SETTER, WITHOUT_SET, "(key, value)", "(key, None)"),
    "a method that is passed on": (PASSED_ON, RENAMED, "self.size", "self.size + 1"),
    "a method that fails": (GUARDED, GUARDED.replace("_match", "_match_long"), "rest.append(option)", "rest.append(1)"),
    "a namesake of a renamed method": (
        NAMESAKE,
        NAMESAKE.replace("fetch", "load").replace("return self.load(x)", "y = self.load(x)\n            return y"),
        "return y", "return [y]",
    ),
    "a value of a wrong class": (TOKEN, EXTRACTED_TOKEN, '"!"', '"?"'),
    "an attribute of a wrong class": (
        ITEM, ITEM.split("def _marker")[0].replace("_marker(match)", 'SimpleNamespace(text=match.group("list"))'),
        ".strip()", ".strip() + 'x'",
    ),
    **{
        f"a method of class Bound{head}": (
            BOUND.format(head=head), EXTRACTED.format(head=head), "bind(name, self)", "bind(name, None)",
        )
        for head in HEADS
    },
}  # fmt: skip


# Of the heads of classes, the first and the last.
QUICK = [name for name in CASES if not any(name.endswith(f"Bound{head}") for head in HEADS[1:-1])]


def verdicts(comparison):
    return {pair["verdict"] for pair in comparison.to_dict()["pairs"]}


@over(CASES, QUICK, context=CONTEXTS)
def test_the_same_behavior(name, runs):
    old, new, *_ = CASES[name]
    for run in runs:
        assert verdicts(compare(old, new, **run, budget=FEW)) <= {PRESERVING, IDENTICAL}


@over(CASES, QUICK[1::3], context=CONTEXTS)
def test_a_change_beside_it(name, runs):
    old, new, what, instead = CASES[name]
    assert new.count(what)
    for run in runs:
        assert CHANGING in verdicts(compare(old, new.replace(what, instead), **run))


KEYWORDS = """
class Kept(Base, metaclass=Meta, table=True):
    def run(self, name):
        return self._norm(name)

    def _norm(self, name):
        return [name]
"""

HOLD = {
    "an exception": (
        TIMEOUT.replace("job.drop(error)", "return 1"), TIMEOUT.replace("job.drop(error)", "return 2"),
    ),
    "a counter": (COUNTER, COUNTER.replace("(1)", "(2)")),
    "a class with keywords": (KEYWORDS, KEYWORDS.replace("return [name]", "return (name,)")),
    "a method that is passed on": (PASSED_ON, RENAMED.replace("self.size", "self.size + 1")),
}  # fmt: skip


@sample(HOLD, ["a counter", "a class with keywords"])
def test_a_reproducer_of_a_method_or_function_holds(name):
    found = [
        pair
        for pair in compare(*HOLD[name], context="function").to_dict()["pairs"]
        # A test of a class cannot derive it from what is missing.
        if pair["verdict"] == CHANGING and pair["new"]["qualname"] not in ("Kept", "Request")
    ]
    assert found and all(pair["reproducer"]["holds"] for pair in found), [pair["reproducer"] for pair in found]
