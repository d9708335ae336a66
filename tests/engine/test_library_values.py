"""A parameter that is declared as a date, a path or another value type of the standard library gets real values."""

import pytest

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING, expect

# name: (the import, the declared type, old's expression, new's, and one that differs).
TYPES = {
    "a date": ("from datetime import date", "date", "x.weekday() >= 5", "x.isoweekday() > 5", "x.weekday() > 5"),
    "a date or None": (
        "from datetime import date\nfrom typing import Optional",
        "Optional[date]",
        "x and x.weekday() >= 5",
        "x and x.isoweekday() > 5",
        "x and x.weekday() > 5",
    ),
    "a datetime": (
        "import datetime",
        "datetime.datetime",
        "x.date().isoformat()",
        "x.strftime('%Y-%m-%d')",
        "x.strftime('%Y-%d-%m')",
    ),
    "a time": ("from datetime import time", "time", "x.hour * 60 + x.minute", "x.minute + 60 * x.hour", "x.hour"),
    "a timedelta": (
        "from datetime import timedelta",
        "timedelta",
        "x.days * 86400 + x.seconds",
        "x.seconds + 86400 * x.days",
        "x.seconds",
    ),
    "a decimal": ("from decimal import Decimal", "Decimal", "x + x", "2 * x", "x * x"),
    "a fraction": (
        "from fractions import Fraction",
        "Fraction",
        "x.numerator / x.denominator",
        "float(x)",
        "float(abs(x))",
    ),
    "a path": ("from pathlib import Path", "Path", "x.stem + x.suffix", "x.name", "x.stem"),
    "a joined path": ("import pathlib", "pathlib.Path", "str(x / 'a')", "str(x.joinpath('a'))", "str(x)"),
    "a time of a shift": (
        "from datetime import time",
        "time",
        "x >= time(6) and x < time(14)",
        "time(6) <= x < time(14)",
        "time(6) <= x <= time(14)",
    ),
    "a counter": (
        "from collections import Counter",
        "Counter[str]",
        "x.most_common(1)",
        "sorted(x.items(), key=lambda e: -e[1])[:1]",
        "x.most_common(2)",
    ),
    "a queue": (
        "from collections import deque",
        "deque[int]",
        "x[-1] if x else 0",
        "list(x)[-1] if len(x) else 0",
        "0",
    ),
    "a stream": ("import io", "io.StringIO", "x.getvalue().upper()", "x.getvalue().swapcase().upper()", "x.getvalue()"),
    "an address": ("import ipaddress", "ipaddress.IPv4Address", "str(x)", "format(x)", "int(x)"),
    "a UUID": ("from uuid import UUID", "UUID", "x.hex", "str(x).replace('-', '')", "str(x)"),
}


def function(imports, declared, expression):
    return f"{imports}\n\ndef f(x: {declared}):\n    return {expression}\n"


# Each class once, alone or in another type.
@over(
    TYPES,
    [
        "a date or None",
        "a datetime",
        "a timedelta",
        "a decimal",
        "a path",
        "a time of a shift",
        "a counter",
        "a queue",
        "a stream",
        "a UUID",
    ],
    context=["function", "module"],
)
def test_a_declared_type_of_the_standard_library_gets_real_values(name, runs):
    imports, declared, old, new, other = TYPES[name]
    text = function(imports, declared, old)
    expect_in(runs, PRESERVING, text, function(imports, declared, new), function="f")
    for comparison in expect_in(runs, CHANGING, text, function(imports, declared, other), function="f"):
        reproducer = comparison.to_dict()["pairs"][0]["reproducer"]
        assert reproducer["holds"], reproducer


def test_a_class_of_the_same_name_is_another_one():
    text = "from shapes import Path\n\ndef f(x: Path):\n    return {}\n"
    expect(CHANGING, text.format("x.name"), text.format("x.stem + x.suffix"), function="f")


UNTYPED = """import calendar
from datetime import date, timedelta

def f(day):
    {}
"""


def test_a_date_is_known_by_what_is_asked_of_it():
    old = UNTYPED.format("return date(day.year, day.month, 1)")
    expect(PRESERVING, old, UNTYPED.format("return day.replace(day=1)"), context="module", function="f")
    expect(CHANGING, old, UNTYPED.format("return date(day.year, 1, 1)"), context="module", function="f")


DAYS = """from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

GRACE = 13
RATES = {{"standard": 3, "reduced": 2}}

def f({}):
    return {}
"""

# name: (parameters, old's expression, and one that differs only where values are exactly so far apart, or such texts).
CLOSE = {
    "a limit in a constant": ("due: date, today: date", "(today - due).days > GRACE", "(today - due).days >= GRACE"),
    "an anniversary": (
        "born: date, day: date",
        "day.year - born.year - ((day.month, day.day) < (born.month, born.day))",
        "day.year - born.year - ((day.month, day.day) <= (born.month, born.day))",
    ),
    "a key of a constant": ("kind: str", "RATES.get(kind, 1)", "RATES.get(kind, 1) if kind != 'reduced' else 5"),
}


@pytest.mark.parametrize("parameters, old, other", CLOSE.values(), ids=CLOSE)
def test_values_come_close_to_each_other_and_to_constants(parameters, old, other):
    expect(CHANGING, DAYS.format(parameters, old), DAYS.format(parameters, other), context="module", function="f")


@pytest.mark.long
def test_days_far_apart_need_many_steps_and_end():
    old = DAYS.format("start: date, end: date", "count(start, end)") + (
        "\ndef count(start, end):\n    number = 0\n    while start < end:\n        number += 1\n"
        "        start += timedelta(days=1)\n    return number\n"
    )
    new = DAYS.format("start: date, end: date", "max((end - start).days, 0)")
    expect(PRESERVING, old, new, context="module", function="f")


def test_zones_are_named_as_they_are():
    old = DAYS.format("moment: datetime, zones", "[str(ZoneInfo(zone)) for zone in zones]")
    new = DAYS.format("moment: datetime, zones", "list(map(str, map(ZoneInfo, zones)))")
    expect(PRESERVING, old, new, context="module", function="f")
