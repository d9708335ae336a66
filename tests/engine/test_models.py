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


PLAIN = """
from abc import ABC, abstractmethod

class Cart:
    def __init__(self, owner: str, prices: list[int] | None = None):
        self.owner = owner
        self._prices = list(prices or [])

    def total(self):
        return sum(self._prices)

class Shape(ABC):
    @abstractmethod
    def area(self): ...

class Square(Shape):
    def __init__(self, side: int):
        if side < 0:
            raise ValueError("no side")
        self.side = side

    def area(self):
        return self.side ** 2

class Strip(Shape):
    def __init__(self, length: int):
        self.length = length

    def area(self):
        return self.length

"""

# name: (parameters, old's statement, new's, and one that differs).
OBJECTS = {
    "made through its constructor": (
        "cart: Cart",
        "return cart.total() * 2 if cart.owner else 0",
        "return 0 if not cart.owner else 2 * cart.total()",
        "return cart.total() if cart.owner else 0",
    ),
    "of a class that inherits from an abstract one": (
        "shape: Shape",
        "return shape.area() + 1",
        "return 1 + shape.area()",
        "return shape.area() + (2 if isinstance(shape, Strip) else 1)",
    ),
    "of the classes that are tested for": (
        "shape",
        "return shape.side ** 2 if isinstance(shape, Square) else shape.length if isinstance(shape, Strip) else 0",
        "match shape:\n        case Square(side=s): return s * s\n        case Strip(length=n): return n\n    return 0",
        "return shape.side * 2 if isinstance(shape, Square) else shape.length if isinstance(shape, Strip) else 0",
    ),
    "known by what is asked of it": (
        "cart",
        "return f'{cart.owner}: {cart.total()}'",
        "return cart.owner + ': ' + str(cart.total())",
        "return f'{cart.owner}: {cart.total() + 1}'",
    ),
}


@pytest.mark.parametrize("parameters, old, new, other", OBJECTS.values(), ids=OBJECTS)
def test_objects_of_classes_with_constructors_are_real(parameters, old, new, other):
    def text(body):
        return f"{PLAIN}def f({parameters}):\n    {body}\n"

    expect(PRESERVING, text(old), text(new), context="module", function="f")
    expect(CHANGING, text(old), text(other), context="module", function="f")


def test_a_best_one_that_begins_as_none_does_not_make_items_none():
    old = DATACLASS + (
        "def f(items: list[Item]):\n    best = None\n    for item in items:\n"
        "        if best is None or item.price < best.price:\n            best = item\n    return best\n"
    )
    new = DATACLASS + "def f(items: list[Item]):\n    return min(items, key=lambda item: item.price, default=None)\n"
    expect(PRESERVING, old, new, context="module", function="f")


def test_members_of_an_enumeration_are_real_without_the_module():
    head = (
        "from dataclasses import dataclass, replace\nfrom enum import Enum\n\n"
        "class Unit(Enum):\n    CELSIUS = 'C'\n    KELVIN = 'K'\n\n"
        "@dataclass\nclass Measure:\n    value: float\n    unit: Unit\n\n"
    )
    old = (
        "def f(measure: Measure):\n    if measure.unit is Unit.CELSIUS:\n        return measure\n"
        "    if measure.unit is Unit.KELVIN:\n        return Measure(measure.value - 273.15, Unit.CELSIUS)\n"
        "    raise TypeError(measure.unit)\n"
    )
    new = (
        "def f(measure: Measure):\n    match measure.unit:\n        case Unit.CELSIUS:\n            return measure\n"
        "        case Unit.KELVIN:\n            value = measure.value - 273.15\n"
        "        case other:\n            raise TypeError(other)\n"
        "    return replace(measure, value=value, unit=Unit.CELSIUS)\n"
    )
    expect(PRESERVING, head + old, head + new, function="f")
    expect(CHANGING, head + old, head + new.replace("- 273.15", "- 273"), function="f")
