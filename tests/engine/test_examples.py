"""Examples run first, as they were given, and are shown where they show the difference."""

import json

import pytest
import twincell

# Only a cost of 1234567 tells them apart.
OLD = '''\
def price(cost, rate=0.5, *more, flag=None, **options):
    """The price.

    {docstring}
    """
    if cost == 1234567 + len(more) + len(options):
        return rate
    return cost
'''
NEW = OLD.replace("return rate", "return [rate, flag]")


def compared(old=OLD, new=NEW, docstring="", **options):
    old, new = (text.replace("{docstring}", docstring) for text in (old, new))
    return twincell.compare(
        old, new, predictor="frequency", budget=40, **{"disable": "observation,directed", **options}
    )


def source(comparison):
    return comparison.to_dict()["pairs"][0]["witness"].get("example")


def witness(comparison):
    """The decisions of the witness."""
    shown = comparison.to_dict()["pairs"][0]["witness"]
    return {choice["path"]: choice["decision"] for choice in shown["choices"]}


def test_a_doctest_is_found_by_itself_and_named():
    found = compared(docstring=">>> price(1234567, 0.25)\n    0.25")
    assert found.verdict == "changing"
    assert source(found) == {"docstring": {"version": "new", "line": 4}}
    assert witness(found)["cost"] == {"value": {"int": 1234567}}
    assert witness(found)["flag"] == "default"
    execution = found.to_dict()["pairs"][0]["executions"][0]
    assert execution["example"] == {"docstring": {"version": "new", "line": 4}}


@pytest.mark.parametrize(
    "call",
    [(1234568, 0.25, "further"), {"cost": 1234568, "rate": 0.25, "unknown": 3}],
    ids=["further arguments", "keywords"],
)
def test_arguments_reach_their_parameters(call):
    found = compared(examples=[call])
    assert found.verdict == "changing"
    assert source(found) == {"file": {"label": "examples", "line": 1}}
    assert found.evidence[0]["old"] == "0.25"


def test_what_an_example_passes_is_neither_shrunk_nor_unlikely():
    rows = [{"cost": 17, "tags": ["b", "a"]}, {"cost": 4, "tags": []}]
    old = "def total(rows):\n    return sum(row['cost'] for row in rows)\n"
    new = "def total(rows):\n    return sum(row['cost'] for row in rows if row['tags'])\n"
    found = compared(old, new, examples=[(rows,)])
    assert found.verdict == "changing"
    assert (found.evidence[0]["old"], found.evidence[0]["new"]) == ("21", "17")
    assert found.evidence[0]["edge_case"] is False and found.evidence[0]["probability"] == 1.0


def test_values_of_libraries_and_of_the_module_are_made(tmp_path):
    module = "import dataclasses, datetime\n\n@dataclasses.dataclass\nclass Cart:\n    size: int\n\n\n"
    old = module + "def due(cart, day):\n    return day.year + cart.size\n"
    new = module + "def due(cart, day):\n    return day.year + cart.size + (cart.size == 12345 and day.month == 7)\n"
    calls = tmp_path / "calls.py"
    calls.write_text(
        "import datetime as dt\nfrom shop import Cart, due\n\n"
        "cart = Cart(12345)\nassert due(cart, dt.date(2024, 7, 1))\n"
    )
    found = compared(old, new, examples=calls)
    assert found.verdict == "changing"
    assert source(found) == {"file": {"label": str(calls), "line": 5}}
    assert (found.evidence[0]["old"], found.evidence[0]["new"]) == ("14369", "14370")


def test_methods_get_the_arguments_of_calls_on_objects():
    text = "class Cart:\n    def __init__(self, size):\n        self.size = size\n\n"
    text += "    def of(self, text):\n        return {0}\n"
    old, new = text.replace("{0}", "text"), text.replace("{0}", "text.replace('secret phrase', '')")
    found = compared(old, new, docstring="", examples={"Cart.of": [("a secret phrase",)]}, function="Cart.of")
    assert found.verdict == "changing" and source(found)


def test_what_cannot_be_used_is_noted_and_the_rest_runs(tmp_path):
    calls = tmp_path / "calls.py"
    calls.write_text("price(1, nothing=2)\nprise(3)\nprice(1234567, rate=load())\n")
    old = OLD.replace(", *more, flag=None, **options", "").replace(" + len(more) + len(options)", "")
    new = old.replace("return rate", "return [rate]")
    found = compared(old, new, examples=calls)
    notes = found.to_dict()["pairs"][0]["notes"]
    assert all(any(f"{calls}, line {line}" in note for note in notes) for line in (1, 2, 3)), notes
    assert found.verdict == "changing" and source(found) == {"file": {"label": str(calls), "line": 3}}


def test_the_same_examples_give_the_same_report():
    def report():
        pair = compared(examples=[(1, 0.5), (2, 0.25), (3, float("nan"))], seed=5).to_dict()["pairs"][0]
        executions = [{key: one[key] for key in one if key != "microseconds"} for one in pair["executions"]]
        return executions, pair["reason"], pair["witness"]["choices"]

    one, other = report(), report()
    assert json.dumps(one) == json.dumps(other)
    assert [line["example"]["file"]["line"] for line in one[0][:3]] == [1, 2, 3]


def test_a_declared_type_does_not_keep_an_example_out():
    old = "def f(x: int):\n    return str(x)\n"
    new = "def f(x: int):\n    return str(x).strip()\n"
    found = compared(old, new, examples=[(" a ",)])
    assert found.verdict == "changing" and witness(found)["x"] == {"value": {"str": " a "}}
