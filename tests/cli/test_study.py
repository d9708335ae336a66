"""`twincell study`: files in, findings out."""

import base64
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from ..command import run_here

KEPT = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
CHANGED = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"
REFACTORED = "def f(a, b):\n    return a if a > b else b\n"
FIELDS = (
    "id verdict reason evidence executions coverage changed_lines_reached milliseconds reproducer "
    "label project commit date file function kind first_difference complexity sandbox_lacks key"
).split()


def change(name: str, old: str, new: str, label: str, **more: str) -> str:
    return json.dumps({"id": name, "old": old, "new": new, "label": label, **more})


LINES = [
    change("changed", KEPT, CHANGED, "changing"),
    change("refactored", KEPT, REFACTORED, "preserving"),
    change("comment", KEPT, KEPT.replace("return b", "return b  # the larger one"), "preserving"),
    change("broken", KEPT, "def f(a, b:\n    return a\n", "changing"),
    "no JSON",
    change(
        "decorated", "@property\ndef f(self):\n    return 1\n", "@property\ndef f(self):\n    return 2\n", "changing"
    ),
]


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    path = tmp_path / "changes.jsonl"
    path.write_text("\n".join(LINES) + "\n")
    return path


def study(changes: Path, out: str = "out.jsonl", *options: str) -> tuple[list[dict], subprocess.CompletedProcess[str]]:
    results = changes.parent / out
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(results), *options]
    done = run_here(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in results.read_text().splitlines()], done


def test_every_line_is_answered_in_order(changes):
    rows, done = study(changes)
    assert [row["id"] for row in rows] == ["changed", "refactored", "comment", "broken", 5, "decorated"]
    assert all(list(row) == FIELDS for row in rows)
    verdicts = [row["verdict"] for row in rows]
    assert verdicts == ["changing", "likely_preserving", "identical", "inconclusive", "inconclusive", "changing"]
    assert "not valid Python" in rows[3]["reason"]
    assert rows[0]["evidence"] and not rows[1]["evidence"]
    assert rows[1]["changed_lines_reached"] == 1.0
    assert "precision 1.000   recall 0.667" in done.stdout


def test_the_number_of_jobs_changes_nothing(changes):
    def timeless(rows: list[dict]) -> list[dict]:
        return [{**row, "milliseconds": None} for row in rows]

    alone, _ = study(changes, "one.jsonl", "--jobs", "1", "--seed", "9", "--budget", "40")
    together, _ = study(changes, "many.jsonl", "--jobs", "4", "--seed", "9", "--budget", "40")
    assert timeless(alone) == timeless(together)


def test_module_context_takes_the_function_from_its_module(tmp_path):
    helper = "LIMIT = {limit}\n\n\ndef other():\n    return LIMIT\n\n\n"
    old, new = "def f(a):\n    return a + LIMIT\n", "def f(a):\n    return LIMIT + a\n"
    path = tmp_path / "modules.jsonl"
    modules = {"old_module": helper.format(limit=1) + old, "new_module": helper.format(limit=2) + new}
    path.write_text(change("limit", old, new, "changing", function="f", **modules))
    rows, _ = study(path, "module.jsonl", "--context", "module")
    assert rows[0]["verdict"] == "changing"


def test_an_unwritable_output_ends_with_3(changes, tmp_path):
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(tmp_path / "no" / "out.jsonl")]
    done = run_here(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "cannot write" in done.stderr


def failing(*arguments: object) -> str:
    command = [sys.executable, "-m", "twincell", *map(str, arguments)]
    done = run_here(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stdout
    return done.stderr


def test_what_cannot_be_a_study_is_said(changes, tmp_path):
    out = tmp_path / "out.jsonl"
    changes.write_text("This is a text.\nIt has two lines.\n")
    assert "none of the 2 rows is a change; the first: line 1 is not a change: it is not JSON" in failing(
        "study", changes, "--out", out
    )
    changes.write_text(LINES[0] + "\n")
    assert "/bin/ls" in failing("study", changes, "--out", out, "--python", "/bin/ls")
    assert "give a name that ends in .jsonl" in failing("mine", tmp_path, "--out", tmp_path / "m.csv")


def test_results_are_thrown_away_only_where_the_study_begins(changes, tmp_path):
    rows, _ = study(changes)
    assert "cannot write" in failing(
        "study", changes, "--out", tmp_path / "out.jsonl", "--fresh", "--html", tmp_path / "no" / "x.html"
    )
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == len(rows)


def test_the_summary_names_what_changed_and_what_could_not_be_compared(changes):
    method = "".join("    " + line + "\n" for line in KEPT.splitlines())
    changes.write_text(
        "\n".join([*LINES, change("method", method, "    " + REFACTORED.replace("    ", "        "), ""), LINES[1]])
        + "\n"
    )
    rows, done = study(changes)
    assert rows[6]["verdict"] == "likely_preserving"
    lines = done.stdout.splitlines()
    assert "changing: decorated: f(): 1 -> 2" in lines
    assert any(line.startswith("1 change was not compared: broken: new is not valid Python") for line in lines)
    assert any(line.startswith("1 row is not a change: line 5 is not a change: it is not JSON") for line in lines)
    assert "2 rows are the same as another row" in lines and "earlier run" not in done.stdout


def test_the_input_is_not_overwritten(changes):
    before = changes.read_text()
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(changes)]
    assert run_here(command, capture_output=True, timeout=60).returncode == 3
    assert changes.read_text() == before


def test_changes_of_one_id_keep_their_reproducers_apart_and_are_named(changes):
    changes.write_text("\n".join([change("a", KEPT, CHANGED, "changing"), change("a", KEPT, CHANGED, "breaking")]))
    _, done = study(changes, "out.jsonl", "--reproducers", str(changes.parent / "tests"))
    assert sorted(path.name for path in (changes.parent / "tests").iterdir()) == ["test_a-line2.py", "test_a.py"]
    assert "twincell: the id a occurs 2 times (lines 1, 2)\n" in done.stderr
    assert (
        "twincell: the label breaking does not count (line 2): known labels are changing, preserving and unclear\n"
        in done.stderr
    )


def unpacked(text: str) -> dict:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_a_page_holds_every_change_and_its_comparison(changes):
    page = changes.parent / "study.html"
    rows, done = study(changes, "out.jsonl", "--html", str(page))
    assert f"page written to {page}" in done.stdout
    text = page.read_text()
    [packed] = re.findall(r'<script type="text/plain" data-twincell-packed>(.*?)</script>', text)
    state = unpacked(packed)
    assert [row["verdict"] for row in state["rows"]] == [row["verdict"] for row in rows]
    apart = re.findall(r'<script type="text/plain" data-twincell-comparison="(\d+)">(.*?)</script>', text)
    kept = {int(number): unpacked(comparison) for number, comparison in apart}
    assert kept and sorted(kept) == [number for number, row in enumerate(state["rows"]) if row["kept"]]
    assert all(comparison["verdict"] == rows[number]["verdict"] for number, comparison in kept.items())
