"""`super()` is what Python makes of it: functions of the code's own bases run for real, and what classes written in C
inherit has one name, however the code reaches it."""

import sys

import pytest

from .snippets import CHANGING, PRESERVING, code, compare, reason

BASE = """
    class Base:
        def __init__(self, name, style{default}):
            self.name = name
            self.style = style

        def line(self, text):
            return [self.style, text]


    class Parser(Base):
    """

CONFIG = """
    class Config(dict):
        def __init__(self, root, defaults=None):
            {call}
            self.root = root
    """

STACK = """
    class Stack(list):
        def push(self, item):
            {call}
            return self
    """

PATHS = """
    class Base:
        def convert(self, item):
            return item.strip()


    class Paths(Base):
        def split(self, text: str):
            {body}
    """

MIXIN = """
    class Named:
        def __init__(self, name, size):
            super().__init__({handed})
            self.name = name
    """

COPY = """
    class Line:
        def __init__(self, first: int, last: int):
            self.first = first
            self.last = last

        def copy(self):
            return {made}
    """

MOVED = """
    import argparse


    class Parser(argparse.ArgumentParser):
        def one(self, data, more):
            if data and more:
                self.error("only one")
    """


def own(line):
    return code(BASE.format(default='="plain"')) + f"    def __init__(self, name):\n        {line}\n"


SAME = {
    "a method of an own base": (
        own("super().__init__(name)"),
        own("super(Parser, self).__init__(name, style='plain')"),
        "Parser.__init__",
    ),
    "a method of an own base by the name of the base": (
        own("Base.__init__(self, name)"),
        own("super().__init__(name, 'plain')"),
        "Parser.__init__",
    ),
    "the constructor of a builtin base": (
        CONFIG.format(call="dict.__init__(self, defaults or {})"),
        CONFIG.format(call="super().__init__(defaults or {})"),
        "Config.__init__",
    ),
    "a method of a builtin base": (
        STACK.format(call="list.append(self, item)"),
        STACK.format(call="super(Stack, self).append(item)"),
        "Stack.push",
    ),
    "the class of an object": (
        COPY.format(made="self.__class__(self.first, self.last)"),
        COPY.format(made="type(self)(last=self.last, first=self.first)"),
        "Line.copy",
    ),
    "an own method that only calls the inherited one": (
        MOVED,
        MOVED + "\n        def error(self, message):\n            super().error(message)\n",
        "Parser.one",
    ),
}

OTHER = {
    "an argument of an own base": (
        own("super().__init__(name)"),
        own("super().__init__(name, style='bold')"),
        "Parser.__init__",
    ),
    "an argument of a builtin base": (
        CONFIG.format(call="super().__init__(defaults or {})"),
        CONFIG.format(call="super().__init__()"),
        "Config.__init__",
    ),
    "a method of a builtin base": (
        STACK.format(call="super().append(item)"),
        STACK.format(call="super().extend(item)"),
        "Stack.push",
    ),
    "what is handed to the next class, which is not known": (
        MIXIN.format(handed="size"),
        MIXIN.format(handed="name"),
        "Named.__init__",
    ),
    "the class of an object": (
        COPY.format(made="type(self)(self.first, self.last)"),
        COPY.format(made="type(self)(self.last, self.first)"),
        "Line.copy",
    ),
}


def verdict(old, new, function):
    comparison = compare(old, new, context="module", function=function)
    return comparison.verdict, reason(comparison)


@pytest.mark.parametrize("name", SAME)
def test_the_same_inherited_code_is_the_same(name):
    found, why = verdict(*SAME[name])
    assert found == PRESERVING, why


@pytest.mark.parametrize("name", OTHER)
def test_other_inherited_code_is_a_change(name):
    found, why = verdict(*OTHER[name])
    assert found == CHANGING, why


def test_a_comprehension_asks_as_python_does():
    old = PATHS.format(body="return [super().convert(item) for item in text.split(':')]")
    new = PATHS.format(body="convert = super().convert; return [convert(item) for item in text.split(':')]")
    found, why = verdict(old, new, "Paths.split")
    # Before Python 3.12, a comprehension is a function of its own, in which there is no `self`.
    assert found == (CHANGING if sys.version_info < (3, 12) else PRESERVING), why


HANDED_ON = """
    class Bar:
        def __init__(self, items=None, total=None, disable=False):
            self.items = items
            if disable:
                self.total = {total}
                return
            self.total = total


    def bar_range(*args, **kwargs):
        return Bar(range(3), **kwargs)
    """


def test_keywords_are_those_of_what_they_are_handed_on_to():
    found, why = verdict(HANDED_ON.format(total=0), HANDED_ON.format(total=1), "bar_range")
    assert found == CHANGING, why
    found, why = verdict(HANDED_ON.format(total="0"), HANDED_ON.format(total="1 - 1"), "bar_range")
    assert found == PRESERVING, why


THREADS = """
    import threading


    class Bar:
        def __init__(self, total):
            self.total = total
            self.monitor = threading.Thread(target=int{name})


    def show(total):
        {first}
        return Bar(total)
    """


def test_the_number_in_the_name_of_a_thread_is_no_behavior():
    old = THREADS.format(name="", first="pass")
    found, why = verdict(old, THREADS.format(name="", first="Bar(0)"), "show")
    assert found == PRESERVING, why
    named = THREADS.format(name=", name='watch'", first="pass")
    found, why = verdict(old, named, "Bar.__init__")
    assert found == CHANGING, why


def test_lines_of_a_constructor_that_calls_super_are_seen_where_others_call_it():
    old = code(
        """
        class ParseError(ValueError):
            def __init__(self, text, line=None):
                super().__init__(f"cannot parse {text!r}")
                self.__line = line


        def half(text):
            if len(text) % 2:
                raise ParseError(text)
            return text[: len(text) // 2]
        """
    )
    new = old.replace('f"cannot parse {text!r}"', 'f"cannot parse {text!r}" if line is None else f"line {line}"')
    pairs = {pair["new"]["qualname"]: pair for pair in compare(old, new).pairs}
    assert pairs["half"]["verdict"] == "likely_preserving", pairs["half"]["sentence"]
    for version in ("old", "new"):
        assert pairs["half"][version]["changed_lines_reached"] == pairs["half"][version]["changed_lines"] > 0
    assert pairs["ParseError.__init__"]["verdict"] == "changing"
