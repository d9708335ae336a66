"""A stranger leaves a function as it is, and puts another in its place when the module is imported."""

from __future__ import annotations

import pytest

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
}
#: One for each way in which they are found.
QUICK = ("globals", "code", "star", "definition", "assignment", "called", "class")


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
