"""`Comparison.replay`: an execution again, as it was or with other values."""

import re

import pytest
import twincell
from twincell import _widget

from tests.processes import interrupted_at_work

OLD = "def size(limit, app):\n    if limit is not None:\n        return limit\n    return app.size\n"
NEW = "def size(limit, app):\n    return limit or app.size\n"
SAME = "def size(limit, app):\n    return app.size if limit is None else limit\n"


@pytest.fixture(scope="module")
def comparison():
    return twincell.compare(OLD, NEW, predictor="frequency")


def test_every_execution_does_again_what_it_did(comparison):
    executions = comparison.pairs[0]["executions"]
    assert len(executions) > 5
    for execution in executions:
        again = comparison.replay(execution["number"])
        assert again["execution"] == execution["number"]
        if execution["number"] != comparison.pairs[0]["witness"]["execution"]:
            assert (again["old"]["outcome"], again["new"]["outcome"]) == (execution["old"], execution["new"])


def test_the_one_that_is_shown_is_the_witness(comparison):
    again = comparison.replay()
    assert again["differs"]
    assert again["evidence"] == comparison.pairs[0]["evidence"]
    assert [value["path"] for value in again["values"]] == [
        injection["path"] for injection in comparison.pairs[0]["witness"]["injections"]
    ]


def test_another_value_is_injected(comparison):
    again = comparison.replay(changes={"limit": "7"})
    assert (again["old"]["outcome"], again["new"]["outcome"]) == ("returned 7", "returned 7")
    assert not again["differs"] and again["execution"] is None
    [limit] = [value for value in again["values"] if value["path"] == "limit"]
    assert limit["value"] == "7" and limit["changed"]
    assert comparison.replay(changes={"limit": "0"})["differs"]


def test_a_difference_of_another_execution_has_a_test_of_its_own(comparison):
    reproducer = comparison.replay(changes={"limit": "0"}, then="reproduce")["reproducer"]
    assert "assert size(0, app) == 0" in reproducer


def test_values_are_made_small(comparison):
    small = comparison.replay(changes={"limit": "{}"}, then="shrink")
    assert small["differs"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"execution": 99999}, "execution 99999 is not kept"),
        ({"pair": 4}, "there is no pair 4"),
        ({"changes": {"limit": "open('x')"}}, "the value for limit cannot be read"),
        ({"changes": {"limit": "[1, "}}, "the value for limit cannot be read"),
        ({"changes": {"limit": "{[]: 1}"}}, "the value for limit cannot be read"),
        (
            {"changes": {"size": "1"}},
            "nothing was injected under size, nor under what it begins with; there are: limit, app",
        ),
        ({"changes": {"limit.unit": "1"}}, "which has no limit.unit: put object() in its place first"),
        ({"then": "explode"}, "it can be 'show', 'shrink' or 'reproduce'"),
        ({"changes": {"limit": "7"}, "then": "shrink"}, "both versions do the same on these values"),
    ],
)
def test_what_cannot_be_repeated_is_an_error(comparison, asked, message):
    with pytest.raises(twincell.TwincellError, match=re.escape(message)):
        comparison.replay(**asked)


def test_an_object_is_replaced_and_given_attributes(comparison):
    def outcomes(**changes):
        again = comparison.replay(changes={path.replace("__", "."): value for path, value in changes.items()})
        return again["old"]["outcome"], again["new"]["outcome"]

    assert outcomes(limit="0", app__size="20") == ("returned 0", "returned 20")
    assert outcomes(limit="'x'", app="None") == ("returned 'x'", "returned 'x'")
    # What is replaced with an object can have attributes, and what nobody reads changes nothing.
    assert outcomes(limit="object()", app__other="1")[0].startswith("returned <")


def test_attributes_go_on_from_what_was_read():
    old = "def f(self, x):\n    return self.shop.rate if x else getattr(self, 'tax', None)\n"
    comparison = twincell.compare(old, old.replace("'tax'", "'toll'"), predictor="frequency")
    again = comparison.replay(changes={"x": "0", "self.tax": "5", "self.toll": "6"})
    assert (again["old"]["outcome"], again["new"]["outcome"]) == ("returned 5", "returned 6")
    again = comparison.replay(changes={"x": "1", "self.shop.rate": "7"})
    assert (again["old"]["outcome"], again["new"]["outcome"]) == ("returned 7", "returned 7")


def test_values_of_a_person_become_the_example(comparison):
    example = comparison.with_example({"limit": "0", "app.size": "123"})
    assert example.sentence == "size(limit=0, app): 0 -> 123, where app.size = 123"
    assert example.verdict == "changing" and "assert size(0, app) == 0" in example.reproducer
    pair = example.pairs[0]
    assert pair["witness"]["chosen"] == ["app.size", "limit"]
    assert [(one["old"], one["new"]) for one in pair["evidence"]] == [("0", "123")]
    # The comparison itself stays, and work goes on from the new example.
    assert comparison.sentence != example.sentence
    assert example.replay(changes={"app.size": "5"})["new"]["outcome"] == "returned 5"
    assert "123" in example.to_html()
    with pytest.raises(twincell.TwincellError, match="both versions do the same"):
        comparison.with_example({"limit": "7"})


def test_a_difference_that_a_person_finds_changes_the_verdict():
    old = "def f(x):\n    return x\n"
    new = "def f(x):\n    return 0 if hash(x) == hash((17, 4, 'needle')) else x\n"
    comparison = twincell.compare(old, new, predictor="frequency", budget=20)
    assert comparison.verdict == "likely_preserving"
    example = comparison.with_example({"x": "(17, 4, 'needle')"})
    assert example.verdict == "changing" and example.sentence.startswith("f(x=(17, 4, 'needle'))")
    both = twincell.compare(
        old + "def g(x):\n    return 1\n", new + "def g(x):\n    return 2\n", predictor="frequency", budget=20
    )
    assert both.sentence == "Behavior changed in 1 of 2 functions: g."
    both = both.with_example(
        {"x": "(17, 4, 'needle')"}, pair=[pair["new"]["qualname"] for pair in both.pairs].index("f")
    )
    assert both.sentence == "Behavior changed in 2 of 2 functions: f, g."


def test_a_view_shows_the_example_that_a_person_chose():
    view = _widget.view_class()(twincell.compare(OLD, NEW, predictor="frequency"))
    seen = []
    view.on_example = seen.append
    refused = view._carry_out({"do": "headline", "execution": 1, "changes": {"nothing": "0"}})
    assert not refused["ok"] and "nothing was injected" in refused["error"] and not seen
    before = view.state["sentence"]
    number = view.state["pairs"][0]["shown"]["execution"]
    path = view.state["pairs"][0]["shown"]["values"][0]["path"]
    detail = view._carry_out({"do": "replay", "execution": number, "changes": {}})["detail"]
    assert view._carry_out({"do": "headline", "execution": number, "handle": detail["handle"]}) == {"ok": True}
    assert view.state["sentence"] == view.comparison.sentence == before and seen == [view.comparison]
    assert view._carry_out({"do": "replay", "execution": number, "changes": {path: "7"}})["ok"]


def test_a_witness_says_where_its_executions_part_and_which_inputs_matter():
    old = "def f(x: int, y: int, z: int):\n    if x < y:\n        z += 1\n    return z\n"
    witness = twincell.compare(old, old.replace("<", "<="), predictor="frequency").pairs[0]["witness"]
    assert witness["parting"] == {"old_line": 3, "new_line": 3, "old_hits": 0, "new_hits": 1}
    weights = {one["path"]: one["gone"] / one["tried"] for one in witness["input_weights"]}
    assert weights == {"x": 1, "y": 1, "z": 0} and list(weights)[2] == "z"
    together = witness["varied_together"]
    assert together["paths"] == ["x", "y"]
    for x, row in zip(together["values"][0], together["outcomes"], strict=True):
        assert [outcome == "differs" for outcome in row] == [x == y for y in together["values"][1]]


def test_nothing_that_ran_is_nothing_to_repeat():
    identical = twincell.compare(OLD, OLD.replace("size(", "size("))
    with pytest.raises(twincell.TwincellError, match="nothing was executed"):
        identical.replay()


def test_paths_say_what_was_expected_and_what_was_injected():
    pair = twincell.compare(OLD, SAME, budget=60, predictor="frequency").pairs[0]
    [limit] = [path for path in pair["paths"] if path["path"] == "limit"]
    assert sum(limit["predicted"]) == pytest.approx(1, abs=1e-3)
    assert sum(value["count"] for value in limit["injected"]) == len(pair["executions"])
    counts = [value["count"] for value in limit["injected"]]
    assert counts == sorted(counts, reverse=True)


def test_executions_name_the_lines_that_they_ran():
    pair = twincell.compare(OLD, NEW, predictor="frequency").pairs[0]
    for execution in pair["executions"]:
        old, new = pair["line_sets"][execution["lines"]]
        assert set(old) in ({2, 3}, {2, 4}) and new == [2]
    assert pair["old"]["branches"] == [
        {
            "line": 2,
            "taken": sum(3 in pair["line_sets"][one["lines"]][0] for one in pair["executions"]),
            "not_taken": sum(4 in pair["line_sets"][one["lines"]][0] for one in pair["executions"]),
        }
    ]


def test_a_module_that_cannot_be_evaluated_whole_has_tests_of_its_executions(tmp_path):
    module = "import not_installed_here\n\nLIMIT = 3\n\n\n"
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text(module + OLD)
    new.write_text(module + NEW)
    comparison = twincell.compare(old, new, predictor="frequency")
    assert comparison.pairs[0]["reproducer"]["holds"]
    assert "def test_size" in comparison.replay(then="reproduce")["reproducer"]


def test_an_interrupt_ends_a_replay():
    sums = "def f(x: int):\n    return {}sum(range(x))\n"
    comparison = twincell.compare(sums.format(""), sums.format("1 + "), timeout=20, predictor="frequency")
    with pytest.raises(KeyboardInterrupt), interrupted_at_work():
        comparison.replay(changes={"x": "10000000000"})
