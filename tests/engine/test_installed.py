"""Classes of installed packages that declare their fields get real objects, and so do rows of SQLAlchemy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .snippets import CHANGING, PRESERVING, expect

PACKAGE = {
    "__init__.py": "from .models import Bin, Label, Opening, Part, Point, Tag\n",
    "levels.py": "import enum\n\nclass Level(enum.IntEnum):\n    LOW = 1\n    HIGH = 2\n",
    "models.py": """
from dataclasses import dataclass, field
from typing import NamedTuple

import attrs
from pydantic import BaseModel

from .levels import Level


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Part:
    sku: str
    level: Level
    count: int

    def __post_init__(self):
        if not isinstance(self.count, int):
            raise TypeError('a stand-in cannot be counted')


@dataclass
class Bin:
    parts: list[Part] = field(default_factory=list)


@attrs.define
class Label:
    text: str
    width: int = 10


class Tag(BaseModel):
    name: str
    rank: int


class Opening:
    def __init__(self, path):
        self.file = open(path)
""",
}

PROGRAM = """
import json, sys, twincell
found = []
for old, new in json.load(sys.stdin):
    comparison = twincell.compare(old, new, predictor='frequency', budget=60, jobs=1)
    pair = comparison.pairs[0]
    found.append([comparison.verdict, pair['reason'], comparison.reproducer, pair['paths']])
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory):
    """Compares pairs where a package is installed."""
    folder = tmp_path_factory.mktemp("environment") / "site-packages"
    (folder / "depot").mkdir(parents=True)
    for name, text in PACKAGE.items():
        (folder / "depot" / name).write_text(text)

    def compare(*pairs: tuple[str, str]) -> list[tuple[str, str, str, list[dict]]]:
        command = [sys.executable, "-c", PROGRAM]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        run = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, env=environment)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return compare


# class: (old's expression, new's, and one that differs). Stand-ins would tell the first two apart.
CLASSES = {
    "Point": ("x.x - x.y + len(x)", "2 - x[1] + x[0]", "x[1] - x[0] + 2"),
    "Part": ("x.level >= 2 and x.count + x.count", "x.level > 1 and 2 * x.count", "x.level > 2 and 2 * x.count"),
    "Bin": (
        "sum(p.count for p in x.parts if p.level == 2)",
        "sum(p.count * (p.level - 1) for p in x.parts)",
        "sum(p.count for p in x.parts)",
    ),
    "Label": ("x.text.ljust(x.width)", "x.text + ' ' * (x.width - len(x.text))", "x.text.rjust(x.width)"),
    "Tag": ("(x.name, x.rank)", "tuple(x.model_dump().values())", "(x.name, -x.rank)"),
}


def test_classes_that_declare_their_fields_are_made_from_them(installed, tmp_path: Path):
    text = "from depot import {}\n\ndef f(x: {}):\n    return {}\n"
    pairs = []
    for name, (old, new, other) in CLASSES.items():
        before = text.format(name, name, old)
        pairs += [(before, text.format(name, name, new)), (before, text.format(name, name, other))]
    found = installed(*pairs)
    for number, name in enumerate(CLASSES):
        same, other = found[2 * number], found[2 * number + 1]
        assert (same[0], other[0]) == (PRESERVING, CHANGING), (name, same[1], other[1])
        assert f"{name}(" in other[2], other[2]


def test_an_alias_a_test_of_the_class_and_a_dotted_name_mean_it_as_well(installed):
    body = "    return x.level >= 2 and x.count + x.count\n"
    texts = [
        "from depot import Part as P\n\ndef f(x: P):\n",
        "import depot.models\n\ndef f(x: depot.models.Part):\n",
        "from depot import Part\n\ndef f(x):\n    if not isinstance(x, Part):\n        return None\n",
    ]
    for verdict, *rest in installed(*((text + body, text + body.replace(">= 2", "> 1")) for text in texts)):
        assert verdict == PRESERVING, rest[0]
        values = [value["value"] for path in rest[2] if path["path"] == "x" for value in path["injected"]]
        assert any(value.startswith(("Part(sku=", "P(sku=")) for value in values), values


def test_other_classes_of_packages_stay_objects(installed):
    text = "from depot import Opening\n\ndef f(x: Opening):\n    return x.file\n"
    ((_, _, _, paths),) = installed((text, text.replace("x.file", "(x.file, 1)")))
    assert {value["value"] for path in paths if path["path"] == "x" for value in path["injected"]} == {"<object>"}


ROWS = """
from sqlalchemy import Boolean, Column, Integer, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = 'orders'
    id: Mapped[int] = mapped_column(primary_key=True)
    amount: Mapped[int]
    code = Column(String(10), nullable=True)
    paid = Column(Boolean, default=False)


def f(order: Order):
    return {}
"""


def test_rows_have_the_columns_that_they_map():
    pytest.importorskip("sqlalchemy")
    old = ROWS.format("None if order.paid else order.amount + order.amount")
    expect(PRESERVING, old, ROWS.format("2 * order.amount if not order.paid else None"), function="f", budget=20)
    comparison = expect(CHANGING, old, ROWS.format("3 * order.amount if not order.paid else None"), function="f")
    assert "Order(" in comparison.reproducer


@pytest.mark.long
def test_what_a_row_holds_is_compared_and_what_sessions_keep_in_it_is_not():
    pytest.importorskip("sqlalchemy")
    head = ROWS.split("def f(")[0] + "def f(order: Order):\n"
    old = head + "    order.amount += 1\n    return order\n"
    expect(PRESERVING, old, head + "    order.amount = 1 + order.amount\n    return order\n", function="f")
    comparison = expect(CHANGING, old, head + "    order.amount += 2\n    return order\n", function="f")
    assert "_sa_instance_state" not in str(comparison.evidence)
