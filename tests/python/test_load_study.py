"""`twincell.load_study`: the results of `twincell study` as an object that a notebook shows."""

import json

import pytest
import twincell

RESULT = {
    "id": "a",
    "verdict": "changing",
    "reason": "both ran",
    "evidence": [],
    "executions": 3,
    "coverage": 1.0,
    "changed_lines_reached": 1.0,
    "milliseconds": 2.0,
    "reproducer": "holds",
}


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(RESULT) + "\n" + json.dumps({**RESULT, "id": 2, "verdict": "inconclusive"}) + "\n")
    return path


def test_results_are_rows_with_the_labels_of_their_changes(results, tmp_path):
    changes = tmp_path / "changes.jsonl"
    # In another order, and with one that the study did not have: labels go by id.
    rows = ['{"id": "b", "old": "", "new": "", "label": "changing"}', '{"old": "", "new": ""}']
    changes.write_text("\n".join([*rows, '{"id": "a", "old": "", "new": "", "label": "preserving"}\n']))
    study = twincell.load_study(results, changes)
    assert len(study) == 2
    assert [(row["id"], row["verdict"], row["label"]) for row in study.rows] == [
        ("a", "changing", "preserving"),
        (2, "inconclusive", None),
    ]
    assert repr(study).endswith("changes.jsonl: 2 changes, 1 changing, 1 inconclusive")
    assert "a" in study and "b" not in study


def test_without_a_front_end_it_is_a_table(results):
    bundle = twincell.load_study(results)._repr_mimebundle_()
    assert bundle["text/html"].count("<tr>") == 5 and "<script" not in bundle["text/html"]
    assert "data-twincell-packed" in twincell.load_study(results).to_html()


def test_what_is_no_result_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text("{}\n")
    with pytest.raises(twincell.TwincellError, match="line 1 of .* is not a result of a study"):
        twincell.load_study(path)
    with pytest.raises(twincell.TwincellError, match="cannot read"):
        twincell.load_study(tmp_path / "none.jsonl")
