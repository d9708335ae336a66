"""Inputs that code is written for are tried, and what no caller would notice makes no difference."""

import textwrap

import twincell

from .layers import expect_in, over
from .snippets import PRESERVING

CHANGED = {
    "what a pattern of the module finds": (
        """
        import re

        TAG = re.compile(r"<(?P<name>[a-z]+)(?: id=(\\d+))?>")

        def names(text: str):
            return [found.group("name") for found in TAG.finditer(text)]
        """,
        """
        import re

        TAG = re.compile(r"<(?P<name>[a-z]+)(?: id=(\\d+))?>")

        def names(text: str):
            return [found.group(0) for found in TAG.finditer(text)]
        """,
    ),
    "what a pattern of the function replaces": (
        """
        import re

        def mask(text):
            number = re.compile("[0-9]{3}-[0-9]{4}")
            return number.sub("###", text.strip())
        """,
        """
        import re

        def mask(text):
            number = re.compile("[0-9]{3}-[0-9]{4}")
            return number.sub("##", text.strip())
        """,
    ),
    "lines in which a pattern is found": (
        """
        import re

        def marks(text):
            found = []
            for line in text.splitlines():
                if re.fullmatch(r"\\[(\\w+)\\] .{3,}", line):
                    found.append(line[1])
            return found
        """,
        """
        import re

        def marks(text):
            found = []
            for line in text.splitlines():
                if re.fullmatch(r"\\[(\\w+)\\] .{3,}", line):
                    found.append(line[0])
            return found
        """,
    ),
    "a number with a unit": (
        """
        def seconds(text):
            units = {"s": 1, "m": 60, "h": 3600}
            if text and text[-1] in units:
                return int(text[:-1]) * units[text[-1]]
            return int(text)
        """,
        """
        def seconds(text):
            units = {"s": 1, "m": 60, "h": 360}
            if text and text[-1] in units:
                return int(text[:-1]) * units[text[-1]]
            return int(text)
        """,
    ),
    "values of an enumeration": (
        """
        from enum import Enum

        class Level(Enum):
            LOW = "low level"
            MIDDLE = "middle level"
            HIGH = "high level"

        NEXT = {Level.LOW: Level.MIDDLE, Level.MIDDLE: Level.HIGH, Level.HIGH: Level.HIGH}

        def after(text: str):
            return NEXT[Level(text)].value
        """,
        """
        from enum import Enum

        class Level(Enum):
            LOW = "low level"
            MIDDLE = "middle level"
            HIGH = "high level"

        NEXT = {Level.LOW: Level.MIDDLE, Level.MIDDLE: Level.HIGH, Level.HIGH: Level.LOW}

        def after(text: str):
            return NEXT[Level(text)].value
        """,
    ),
    "a generator that nobody uses up": (
        """
        def lines(source):
            try:
                for line in source:
                    yield line
            finally:
                source.close()
        """,
        """
        def lines(source):
            try:
                for line in source:
                    yield line
            except Exception:
                source.close()
                raise
            else:
                source.close()
        """,
    ),
    "a file that stays open": (
        """
        def lines(path):
            with open(path) as source:
                for line in source:
                    yield line
        """,
        """
        def lines(path):
            source = open(path)
            for line in source:
                yield line
            source.close()
        """,
    ),
    "what a loop looked for": (
        "for name in names:\n    if name > limit:\n        break\n",
        "for name in names:\n    if name >= limit:\n        break\n",
    ),
}


@over(CHANGED, seed=range(3))
def test_what_only_likely_inputs_show_is_found(name, runs):
    old, new = map(textwrap.dedent, CHANGED[name])
    for run in runs:
        pairs = twincell.compare(old, new, **run).to_dict()["pairs"]
        assert any(pair["verdict"] == "changing" for pair in pairs), [pair["sentence"] for pair in pairs]


PRESERVED = {
    "a default in place of a guard": (
        """
        def least(basket):
            return min(basket.items, key=lambda item: item[1])[0] if len(basket.items) else None
        """,
        """
        def least(basket):
            return min(basket.items, key=lambda item: item[1], default=(None,))[0]
        """,
    ),
    "with written out": (
        """
        def lines(path):
            with open(path) as source:
                for line in source:
                    yield line.strip()
        """,
        """
        def lines(path):
            source = open(path)
            try:
                for line in source:
                    yield line.strip()
            finally:
                source.close()
        """,
    ),
    "a lock by hand": (
        """
        def add(self, item):
            with self.lock:
                self.items.append(item)
        """,
        """
        def add(self, item):
            self.lock.acquire()
            try:
                self.items.append(item)
            finally:
                self.lock.release()
        """,
    ),
    "what a loop leaves behind": (
        """
        kept = []
        for key, value in pairs:
            kept.append((value, key))
        kept
        """,
        """
        kept = []
        for key, value in pairs:
            kept += [(value, key)]
        for key in []:
            pass
        kept
        """,
    ),
}


@over(PRESERVED, seed=range(3))
def test_what_no_caller_would_notice_is_preserved(name, runs):
    expect_in(runs, PRESERVING, *PRESERVED[name])
