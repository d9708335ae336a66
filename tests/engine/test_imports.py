"""A class, function or value is the same one, however it is imported, also where nobody has it installed."""

from .layers import combinations, expect_in, over, repeated, sample
from .snippets import CHANGING, FEW, IDENTICAL, PRESERVING, compare

CONTEXTS = ["function", "module"]

# name: (how old imports, how new imports, old's expression, new's).
SAME = {
    "from a module, and through its package": ("from a.b import C", "import a.b", "C(x).size", "a.b.C(x).size"),
    "from a module, and through the module": ("from a.b import C", "from a import b", "C(x)", "b.C(x)"),
    "through the module, and from it": ("from a import b", "from a.b import C", "b.C(x)", "C(x)"),
    "by another name": ("from a.b import C", "from a.b import C as D", "C(x)", "D(x)"),
    "a module by another name": ("import a.b", "import a.b as ab", "a.b.C(x)", "ab.C(x)"),
    "a package by another name": ("import numpy as np", "import numpy", "np.array(x)", "numpy.array(x)"),
    "from a package by another name": ("import numpy as np", "from numpy import array", "np.array(x)", "array(x)"),
    "with the name of its module": ("from tqdm import tqdm", "import tqdm", "tqdm(x).total", "tqdm.tqdm(x).total"),
    "relative": ("from .models import C", "from . import models", "C(x)", "models.C(x)"),
    "in a text": ("from a.b import C", "import a.b", "str(C(x)) + repr(C)", "str(a.b.C(x)) + repr(a.b.C)"),
    "its name": ("from a.b import C", "import a.b", "C.__name__", "a.b.C.__name__"),
    "a class asked about": ("from a.b import C", "import a.b", "isinstance(x, C)", "isinstance(x, a.b.C)"),
    "a constant": ("from a.b import LIMIT", "import a.b", "x.n > LIMIT", "x.n > a.b.LIMIT"),
    "a mark": ("from a.b import MISSING", "from a import b", "x is MISSING", "x is b.MISSING"),
    "of the standard library": ("from os import path", "import os", "path.join(x.a, 'b')", "os.path.join(x.a, 'b')"),
    "a class with the name of its module": (
        "from datetime import datetime",
        "import datetime",
        "datetime.fromtimestamp(x.n)",
        "datetime.datetime.fromtimestamp(x.n)",
    ),
}


def at_the_top(how, expression):
    return f"{how}\n\ndef f(x):\n    return {expression}\n"


def inside(how, expression):
    return f"def f(x):\n    {how}\n    return {expression}\n"


@over(
    SAME,
    [
        "from a module, and through its package",
        "by another name",
        "from a package by another name",
        "relative",
        "in a text",
        "its name",
        "a class asked about",
        "a constant",
        "a class with the name of its module",
        "of the standard library",
    ],
    context=CONTEXTS,
)
def test_the_same_thing_imported_another_way_is_no_change(name, runs):
    how_old, how_new, old, new = SAME[name]
    expect_in(runs, PRESERVING, at_the_top(how_old, old), at_the_top(how_new, new), function="f")


@sample(SAME, ["from a module, and through its package", "a mark"])
def test_the_same_thing_imported_another_way_within_the_function_is_no_change(name):
    how_old, how_new, old, new = SAME[name]
    comparison = compare(inside(how_old, old), inside(how_new, new), function="f", budget=FEW)
    assert comparison.verdict in (PRESERVING, IDENTICAL), comparison.sentence


@repeated(context=CONTEXTS)
def test_something_else_of_the_same_module_is_a_change(runs):
    old, new = at_the_top("from a.b import C", "C(x)"), at_the_top("from a import b", "b.D(x)")
    expect_in(runs, CHANGING, old, new, function="f")


@repeated(context=CONTEXTS[::-1])
def test_an_exception_class_imported_another_way_is_raised_and_caught_alike(runs):
    raises = "from a.b import Broken\n\ndef f(x):\n    raise Broken(x.n)\n"
    other = "from a import b\n\ndef f(x):\n    raise b.Broken(x.n)\n"
    expect_in(runs, PRESERVING, raises, other, function="f")
    attempt = "def f(x):\n    try:\n        return x.run()\n    except {}:\n        return 3\n"
    catches = "from a.b import Broken\n\n" + attempt.format("Broken")
    other = "from a import b\n\n" + attempt.format("b.Broken")
    expect_in(runs, PRESERVING, catches, other, function="f")
    expect_in(runs, CHANGING, catches, other.replace("return 3", "return 4"), function="f")


def test_a_class_that_only_one_version_can_import_is_injected_in_both():
    old = "from .models import Thing\n\ndef f(x):\n    total = Thing(x.n).total()\n    return total\n"
    defines = "class Thing:\n    def __init__(self, n):\n        self.n = n\n    def total(self):\n        return 3\n\n"
    new = defines + "def f(x):\n    return Thing(x.n).total()\n"
    runs = combinations(context=CONTEXTS)
    expect_in(runs, PRESERVING, old, new, function="f", budget=FEW)
    expect_in(runs, CHANGING, old, new.replace("Thing(x.n)", "Thing(x.m)"), function="f")
