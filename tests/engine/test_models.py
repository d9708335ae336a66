"""Objects of classes that declare their fields are made as callers make them."""

import pytest

from .snippets import CHANGING, PRESERVING, expect

DATACLASS = """
from dataclasses import dataclass, field, replace
from decimal import Decimal

@dataclass(frozen=True)
class Item:
    name: str
    price: Decimal
    quantity: int = 1

@dataclass
class Order:
    items: list[Item] = field(default_factory=list)
    paid: bool = False

"""
NAMED = """
from typing import NamedTuple

class Point(NamedTuple):
    x: int
    y: int = 0

"""
ENUM = """
from enum import Enum

class Level(Enum):
    LOW = 1
    HIGH = 2

"""
PYDANTIC = """
from pydantic import BaseModel

class User(BaseModel):
    name: str
    age: int = 0

"""
ATTRS = """
import attrs

@attrs.define
class Account:
    _owner: str
    balance: int = 0

"""

# name: (the module, parameters, old's expression, new's, and one that differs).
PAIRS = {
    "a dataclass": (
        DATACLASS,
        "item: Item",
        "Item(name=item.name, price=item.price, quantity=item.quantity + 1)",
        "replace(item, quantity=item.quantity + 1)",
        "replace(item, quantity=item.quantity)",
    ),
    "dataclasses in a dataclass": (
        DATACLASS,
        "order: Order",
        "sum((i.price * i.quantity for i in order.items), Decimal(0))",
        "sum([i.quantity * i.price for i in order.items], Decimal(0))",
        "sum((i.price for i in order.items), Decimal(0))",
    ),
    "a named tuple": (NAMED, "p: Point", "p.x * 10 + p.y", "p[0] * 10 + p[1]", "p.x + p.y * 10"),
    "a member of an enumeration": (
        ENUM,
        "level: Level",
        "level is Level.HIGH",
        "level == Level.HIGH",
        "level == Level.LOW",
    ),
    "a model of pydantic": (
        PYDANTIC,
        "user: User",
        "user.model_copy(update={'age': user.age + 1})",
        "User(name=user.name, age=user.age + 1)",
        "User(name=user.name, age=user.age)",
    ),
    "a class of attrs": (
        ATTRS,
        "account: Account",
        "attrs.evolve(account, balance=account.balance - 1)",
        "Account(owner=account._owner, balance=account.balance - 1)",
        "Account(owner=account._owner, balance=account.balance)",
    ),
}


@pytest.mark.parametrize("module, parameters, old, new, other", PAIRS.values(), ids=PAIRS)
def test_objects_with_declared_fields_are_real(module, parameters, old, new, other):
    for library in ["pydantic", "attrs"]:
        if f" {library}" in module:
            pytest.importorskip(library)

    def text(expression):
        return f"{module}def f({parameters}):\n    return {expression}\n"

    expect(PRESERVING, text(old), text(new), context="module", function="f")
    expect(CHANGING, text(old), text(other), context="module", function="f")


def test_an_object_that_the_code_changes_is_a_changed_argument():
    old = DATACLASS + "def f(order: Order):\n    order.paid = True\n    return len(order.items)\n"
    new = old.replace("    order.paid = True\n", "")
    pair = expect(CHANGING, old, new, context="module", function="f").to_dict()["pairs"][0]
    assert pair["evidence"][0]["channel"] == "arguments"
