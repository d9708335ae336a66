"""`examples=` of the library: calls as they are."""

import datetime

import pytest
import twincell

OLD = "def f(a, b=1):\n    return a\n"
NEW = "def f(a, b=1):\n    return a or None\n"


def first(**options):
    found = twincell.compare(OLD, NEW, predictor="frequency", budget=10, **options)
    return found.to_dict()["pairs"][0]["executions"][0]


@pytest.mark.parametrize(
    "examples",
    [[("x",)], [{"a": "x"}], {"f": [["x"]]}, {"f": [{"a": "x", "b": datetime.date(2024, 1, 31)}]}],
)
def test_calls_are_tuples_or_dicts_for_any_function_or_one(examples):
    execution = first(examples=examples)
    assert execution["old"] == "returned 'x'" and execution["example"] == {"file": {"label": "examples", "line": 1}}


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ([3], "example 1 is int: give a tuple of arguments, or a dict by name"),
        ({"f": [(1,), "x"]}, "example 2 of f is str"),
        ({"f": 3}, "examples are a list of calls"),
        ({3: []}, "examples are a list of calls"),
    ],
)
def test_other_things_are_refused(examples, said):
    with pytest.raises(TypeError) as caught:
        first(examples=examples)
    assert str(caught.value).startswith(said)


def test_a_path_names_a_file(tmp_path):
    path = tmp_path / "calls.json"
    path.write_text('{"f": [["x"]]}')
    assert first(examples=path)["example"] == first(examples=str(path))["example"]
    with pytest.raises(twincell.TwincellError, match="cannot read .*no.json: No such file"):
        first(examples=tmp_path / "no.json")


def test_a_value_that_is_no_data_is_drawn():
    execution = first(examples=[{"a": "x", "b": open}])
    assert execution["old"] == "returned 'x'" and execution["example"]
