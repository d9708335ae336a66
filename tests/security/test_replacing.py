"""A stranger leaves a function as it is, and puts another in its place when the module is imported."""

from __future__ import annotations

import json

import pytest

from .test_trust import QUICK as OPTIONS
from .test_trust import report

OLD = """import os


def helper(amount):
    return amount + 1


def pay(amount):
    return amount * 2


class Till:
    def open(self, amount):
        return amount
"""

#: What stands below the functions in the new version. None of them changes a function's own text.
BELOW = {
    "globals": 'globals()["pay"] = lambda amount: 0',
    "namespace": 'vars(os)["getcwd"] = None',
    "code": "pay.__code__ = (lambda amount: 0).__code__",
    "defaults": "pay.__defaults__ = (5,)",
    "star": "from stranger import *",
    "import": "from os.path import basename as pay",
    "definition": "def pay(amount):\n    return 0",
    "lambda": "pay = lambda amount: 0",
    "assignment": "pay = helper",
    "branch": "if os.name:\n    pay = helper",
    "conditional": "if os.name:\n\n    def pay(amount):\n        return 0",
    "loop": "for pay in [helper]:\n    pass",
    "deletion": "del pay",
    "builtins": "import builtins\n\nbuiltins.len = lambda of: 0",
    "module": "os.getcwd = lambda: '/'",
    "setattr": "setattr(os, 'getcwd', None)",
    "method": "Till.open = lambda self, amount: 0",
    "class": "class Till:\n    def open(self, amount):\n        return 0",
    "called": "def setup():\n    global pay\n    pay = helper\n\n\nsetup()",
    "default": "def other(x=globals().update(pay=helper)):\n    return x",
    "body": "class Other:\n    globals()['pay'] = helper",
    "executed": "exec('def pay(amount): return 0')",
    "of a method": "class Setup:\n    def go(self):\n        globals()['pay'] = helper\n\n\nSetup().go()",
    "of a class method": "class Setup:\n    @classmethod\n    def go(cls):\n        Till.open = None\n\n\nSetup.go()",
    "of a property": "class Setup:\n    @property\n    def go(self):\n        globals()['pay'] = helper\n\n\n"
    "Setup().go",
    "of a closure": "def make():\n    def go():\n        globals()['pay'] = helper\n    return go\n\n\nmake()()",
    "by a decorator": "def setup(f):\n    pay.__code__ = f.__code__\n    return f\n\n\n"
    "@setup\ndef free(x):\n    return 0",
    "partial": "import functools\n\n\ndef go(f):\n    globals()['pay'] = f\n\n\nfunctools.partial(go, helper)()",
    "from a table": "def go():\n    globals()['pay'] = helper\n\n\nTABLE = {'a': go}\nTABLE['a']()",
    "by its name": "class Setup:\n    def go(self):\n        pay.__code__ = helper.__code__\n\n\n"
    "getattr(Setup(), 'go')()",
    "of a subclass": "class Base:\n    def __init_subclass__(cls):\n        globals()['pay'] = helper\n\n\n"
    "class Setup(Base):\n    pass",
    "of a metaclass": "class Meta(type):\n    def __init__(cls, *a):\n        globals()['pay'] = helper\n\n\n"
    "class Setup(metaclass=Meta):\n    pass",
    "by itself": "import sys\n\n\ndef go():\n    globals()['pay'] = helper\n\n\nsys.modules[__name__].go()",
    "in a circle": "def even(n):\n    return n or odd(n)\n\n\ndef odd(n):\n    globals()['pay'] = helper\n"
    "    even(1)\n\n\neven(0)",
    "imported by name": "import importlib\n\nimportlib.import_module('os').getcwd = helper",
}
#: One for each way in which they are found.
QUICK = ("globals", "code", "star", "definition", "assignment", "called", "class", "of a method", "of a closure")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in BELOW]
)
def test_a_function_that_is_replaced_is_not_called_the_same(person, name):
    base = person.commit({"shop.py": OLD})
    new = person.commit({"shop.py": f"{OLD}\n\n{BELOW[name]}\n"})
    status, found = report(person, "--git", f"{base}..{new}")
    assert found["verdict"] in ("changing", "inconclusive"), found
    assert status != 0


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "globals" else pytest.mark.long) for name in ("globals", "code", "star")],
)
def test_the_line_that_may_replace_functions_is_named(person, name):
    base = person.commit({"shop.py": OLD})
    new = person.commit({"shop.py": f"{OLD}\n\n{BELOW[name]}\n"})
    _, found = report(person, "--git", f"{base}..{new}")
    assert [(notice["line"], notice["side"]) for notice in found["notices"] if notice["kind"] == "may_replace"] == [
        (17, "new")
    ]


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made})


#: The second cell of a notebook, and what it becomes.
CELLS = {
    "code": "pay.__code__ = (lambda amount: 0).__code__",
    "globals": "globals()['pay'] = lambda amount: 0",
    "namespace": "import shop\n\nvars(shop)['pay'] = None",
}


@pytest.mark.parametrize("name", ["code", *(pytest.param(name, marks=pytest.mark.long) for name in list(CELLS)[1:])])
@pytest.mark.parametrize("place", ["same", pytest.param("added", marks=pytest.mark.long)])
def test_a_cell_that_replaces_a_function_of_an_earlier_one_is_not_called_the_same(person, name, place):
    pay = "def pay(amount):\n    return amount * 2\n"
    second = ["x = 1"]
    base = person.commit({"shop.ipynb": notebook(pay, *second)})
    new = [f"x = 1\n{CELLS[name]}"] if place == "same" else [*second, CELLS[name]]
    new = person.commit({"shop.ipynb": notebook(pay, *new)})
    status, found = report(person, "--git", f"{base}..{new}")
    assert found["verdict"] in ("changing", "inconclusive"), found
    assert status != 0


#: A file without any function, and the module whose functions it replaces.
PATCHES = {
    "import": ("import shop.tax\n\nshop.tax.rate = lambda: 0\n", "shop.tax"),
    "from": ("from shop import tax\n\ntax.rate = lambda: 0\n", "shop.tax"),
    "setattr": ("import os\n\nsetattr(os, 'getcwd', None)\n", "os"),
    "modules": ("import sys\n\nsys.modules['json'] = None\n", "json"),
}


def replaced(found: dict) -> list:
    notices = [notice for notice in found["notices"] if notice["kind"] == "may_replace"]
    return [(notice["place"]["file"], notice["line"], notice["target"]) for notice in notices]


@pytest.mark.parametrize(
    "name", ["import", *(pytest.param(name, marks=pytest.mark.long) for name in list(PATCHES)[1:])]
)
def test_a_file_without_functions_that_patches_others_is_named_with_its_target(person, name):
    text, target = PATCHES[name]
    tax = "def rate():\n    return 2\n"
    base = person.commit({"settings.py": "LIMIT = 3\n", "shop/__init__.py": "", "shop/tax.py": tax})
    new = person.commit({"settings.py": f"{text}LIMIT = 3\n"})
    status, found = report(person, "--git", f"{base}..{new}")
    assert replaced(found) == [("settings.py", 3, target)] and status != 0, found


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("conftest.py", True),
        pytest.param("sitecustomize.py", True, marks=pytest.mark.long),
        pytest.param("patches.py", True, marks=pytest.mark.long),
        pytest.param("alone.py", False, marks=pytest.mark.long),
    ],
)
def test_a_new_file_that_patches_others_is_named_if_something_runs_it(person, name, is_named):
    base = person.commit({"shop/__init__.py": "", "shop/tax.py": "def rate():\n    return 2\n", "main.py": "x = 1\n"})
    new = person.commit({name: PATCHES["import"][0], "main.py": "import patches\nx = 1\n"})
    done = person.run("compare", "--git", f"{base}..{new}", *OPTIONS, "--json")
    named = replaced(json.loads(done.stdout))
    assert ((name, 3, "shop.tax") in named) == is_named, done.stdout
