"""Statements of SQLAlchemy differ by their SQL and parameters, which reports show."""

import pytest

from .layers import sample
from .snippets import CHANGING, PRESERVING, expect

pytest.importorskip("sqlalchemy")

HEAD = (
    "from sqlalchemy import delete, select\n"
    "from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column\n\n"
    "class Base(DeclarativeBase):\n    pass\n\n"
    "class User(Base):\n    __tablename__ = 'users'\n"
    "    id: Mapped[int] = mapped_column(primary_key=True)\n    age: Mapped[int]\n    name: Mapped[str]\n\n"
)

# name: (the head of the function, old's expression, new's, and one that differs).
PAIRS = {
    "a condition": (
        "def f(limit: int = 10):",
        "select(User).where(User.age > 18).limit(limit)",
        "select(User).limit(limit).filter(User.age > 18)",
        "select(User).where(User.age >= 18).limit(limit)",
    ),
    "an order": (
        "def f():",
        "select(User.id).order_by(User.name)",
        "select(User.id).order_by(User.__table__.c.name)",
        "select(User.id).order_by(User.name.desc())",
    ),
    "a parameter": (
        "def f(days: int):",
        "delete(User).where(User.age > days)",
        "delete(User).filter(User.age > days)",
        "delete(User).where(User.age > days + 1)",
    ),
    "what no SQL shows": (
        "def f():",
        "select(User.id).with_for_update(skip_locked=True)",
        "select(User.id).with_for_update(nowait=False, skip_locked=True)",
        "select(User.id).with_for_update(nowait=True)",
    ),
    "an expression": ("def f():", "User.age > 18", "18 < User.age", "User.age > 19"),
    "an argument": (
        "def f(session: Session):",
        "session.execute(delete(User).where(User.age > 7))",
        "session.execute(delete(User).filter(User.age > 7))",
        "session.execute(delete(User).where(User.age < 7))",
    ),
}


@sample(PAIRS, ["an argument"])
def test_statements_differ_by_their_sql(name):
    head, old, new, other = PAIRS[name]

    def text(body):
        return f"{HEAD}{head}\n    return {body}\n"

    expect(PRESERVING, text(old), text(new), context="module", function="f", budget=20)
    expect(CHANGING, text(old), text(other), context="module", function="f", budget=40)


def test_the_report_shows_the_sql():
    old = f"{HEAD}def f():\n    return select(User.id).where(User.age > 18)\n"
    comparison = expect(CHANGING, old, old.replace("> 18", ">= 18"), context="module", function="f", budget=10)
    assert "SELECT users.id FROM users WHERE users.age > :age_1" in str(comparison.evidence[0]["old"])
