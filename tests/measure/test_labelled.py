"""Pairs with labels: how they are judged, and what is printed."""

from collections import Counter

from tests.measure.labelled import judged, table

OLD = "from shop.rates import rate\n\n\ndef total(price: int):\n    return price + price * rate()\n"
FILES = {"shop/__init__.py": "", "shop/rates.py": "def rate():\n    return 2\n"}


def outcome(label: str, new: str, function: str = "total") -> str:
    pair = {"label": label, "old": OLD, "new": new, "function": function, "path": "shop/price.py", "files": FILES}
    return judged(pair).outcome


def test_a_pair_is_judged_in_its_repository() -> None:
    same = OLD.replace("price + price * rate()", "price * 3")
    assert outcome("preserving", same) == "right"
    assert outcome("changing", same) == "missed"
    other = OLD.replace("price + price * rate()", "price * 4")
    assert outcome("changing", other) == "right"
    assert outcome("preserving", other) == "false alarm"


def test_what_cannot_be_compared_is_an_error() -> None:
    assert outcome("changing", "def total(:\n") == "error"
    assert outcome("changing", OLD.replace("price +", "2 +"), function="other") == "error"


def test_the_table_has_a_row_for_all() -> None:
    lines = table({"dates": Counter(right=2, missed=1), "models": Counter({"false alarm": 1})}).splitlines()
    assert lines[2:] == [
        "| dates | 3 | 2 | 0 | 1 | 0 | 0 |",
        "| models | 1 | 0 | 1 | 0 | 0 | 0 |",
        "| all | 4 | 2 | 1 | 1 | 0 | 0 |",
    ]
