"""Changes of every format that a study reads give the same findings, and bad rows are rows."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import twincell

from ..command import run_here

KEPT = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
CHANGED = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"
REFACTORED = "def f(a, b):\n    return a if a > b else b\n"
ROWS = [
    {"id": "swapped", "old": KEPT, "new": CHANGED, "label": "changing", "project": "p"},
    {"id": "shorter", "old": KEPT, "new": REFACTORED, "label": "preserving", "project": "p"},
    {"id": "long", "old": KEPT, "new": KEPT + "#" * (10 << 20), "label": "preserving", "project": "p"},
    {"id": "broken", "old": KEPT, "new": "def f(:\n", "label": None, "project": None},
]
VERDICTS = ["changing", "likely_preserving", "inconclusive", "inconclusive"]


def study(source: str | Path, out: str | Path, text: str | None = None) -> list[dict[str, Any]]:
    out = Path(out)
    command = [
        sys.executable,
        "-m",
        "twincell",
        "study",
        str(source),
        "--out",
        str(out),
        "--budget",
        "60",
    ]
    done = run_here(command, capture_output=True, text=True, timeout=300, input=text)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def check(rows: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    assert [row["verdict"] for row in rows] == VERDICTS
    assert "the field `new` has 10.0 MiB; at most 1 MiB can be compared" in rows[2]["reason"]
    assert "not valid Python" in rows[3]["reason"]


def lines() -> str:
    return "".join(json.dumps(row) + "\n" for row in ROWS)


def test_json_lines_and_a_list_of_objects(tmp_path):
    path = tmp_path / "changes.json"
    path.write_text(json.dumps(ROWS, indent=2))
    check(study(path, str(tmp_path / "out.jsonl")))
    # The name says little: what is in it counts.
    path.write_text(lines())
    check(study(path, str(tmp_path / "out.jsonl")))


def test_standard_input_and_pipes(tmp_path):
    check(study("-", str(tmp_path / "out.jsonl"), text=lines()))
    path = tmp_path / "changes.jsonl"
    path.write_text(lines())
    command = f"{sys.executable} -m twincell study <(cat {path}) --out {tmp_path / 'piped.jsonl'} --budget 60"
    assert subprocess.run(["bash", "-c", command], capture_output=True, timeout=300).returncode == 0
    check([json.loads(line) for line in (tmp_path / "piped.jsonl").read_text().splitlines()])


def test_tables(tmp_path):
    for name, separator in [("a.csv", ","), ("a.tsv", "\t")]:
        with (tmp_path / name).open("w", newline="") as file:
            table = csv.DictWriter(file, list(ROWS[0]), delimiter=separator)
            table.writeheader()
            table.writerows(ROWS)
        check(study(tmp_path / name, str(tmp_path / "out.jsonl")))


def test_a_folder_of_pairs(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for row in ROWS[:2]:
        (folder / f"{row['id']}_old.py").write_text(row["old"])
        (folder / f"{row['id']}_new.py").write_text(row["new"])
    rows = study(folder, str(tmp_path / "out.jsonl"))
    assert {row["id"]: row["verdict"] for row in rows} == {"swapped": "changing", "shorter": "likely_preserving"}


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    for compression in ["snappy", "zstd", "none"]:
        parquet.write_table(arrow.Table.from_pylist(ROWS), tmp_path / "a.parquet", compression=compression)
        check(study(tmp_path / "a.parquet", str(tmp_path / "out.jsonl")))


def test_what_changeguard_published(tmp_path):
    rows = [
        {
            "repo": "p",
            "sha": "0" * 40,
            "new_file": "a.py",
            "old_function": "\n\n" + KEPT,
            "new_function": "\n" + new,
            "annotation": f"semantics_{label}",
            "old_changed_lines": [[2, 4]],
        }
        for new, label in [(CHANGED, "changing"), (REFACTORED, "preserving")]
    ]
    path = tmp_path / "annotated_changes.json"
    path.write_text(json.dumps(rows))
    out = tmp_path / "out.jsonl"
    assert [row["verdict"] for row in study(path, str(out))] == ["changing", "likely_preserving"]
    assert [row["label"] for row in twincell.load_study(out, path).rows] == ["changing", "preserving"]


def test_what_is_no_input_is_told(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "a.parquet").write_text("no parquet")
    (tmp_path / "a.xlsx").write_text("")
    for source, expected in [
        ("empty", "there are no pairs of Python files in"),
        ("a.csv", "there is no column `old` with the text of the function (known names are old, old_function, "),
        ("a.parquet", "cannot read"),
        ("a.xlsx", "changes are not read from .xlsx; give .jsonl, .json, .csv, .tsv, .parquet, a folder of pairs"),
        ("none.jsonl", "No such file or directory"),
    ]:
        command = [sys.executable, "-m", "twincell", "study", str(tmp_path / source), "--out", str(tmp_path / "out")]
        done = run_here(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 3
        assert expected in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_list_that_breaks_off_ends_the_study_after_what_was_found(tmp_path):
    path, out = tmp_path / "changes.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps(ROWS[:2])[:-1])
    command = [sys.executable, "-m", "twincell", "study", str(path), "--out", str(out), "--budget", "60"]
    done = run_here(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "the list has no end, `]` is missing" in done.stderr
    assert len(out.read_text().splitlines()) == 2


class TestObjects:
    """Labels of a study show what was read of Python's objects."""

    RESULTS = [
        {
            "id": row["id"],
            "verdict": "changing",
            "reason": "r",
            "evidence": [],
            "executions": 1,
            "coverage": 1.0,
            "changed_lines_reached": 1.0,
            "milliseconds": 1.0,
            "reproducer": None,
        }
        for row in ROWS
    ]

    @pytest.fixture
    def results(self, tmp_path: Path) -> Path:
        path = tmp_path / "results.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in self.RESULTS))
        return path

    def labels(self, results: Path, changes: Any) -> list[str | None]:
        return [row["label"] for row in twincell.load_study(results, changes).rows]

    EXPECTED = ["changing", "preserving", None, None]

    def test_dictionaries_and_generators(self, results):
        assert self.labels(results, ROWS) == self.EXPECTED
        assert self.labels(results, (row for row in ROWS)) == self.EXPECTED
        assert self.labels(results, [(KEPT, CHANGED), [KEPT, lambda x: x], 3, {"old": 3}]) == [None] * 4

    def test_frames(self, results):
        arrow = pytest.importorskip("pyarrow")
        table = arrow.Table.from_pylist(ROWS)
        assert self.labels(results, table) == self.EXPECTED
        encoded = table.set_column(3, "label", table["label"].dictionary_encode())
        assert self.labels(results, encoded) == self.EXPECTED
        assert self.labels(results, table.to_reader(max_chunksize=1)) == self.EXPECTED

    def test_frames_of_pandas(self, results):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        assert self.labels(results, pandas.DataFrame(ROWS)) == self.EXPECTED
        assert self.labels(results, pandas.DataFrame(ROWS).astype({"label": "category"})) == self.EXPECTED

    def test_frames_of_polars(self, results):
        polars = pytest.importorskip("polars")
        assert self.labels(results, polars.DataFrame(ROWS)) == self.EXPECTED
        assert self.labels(results, polars.DataFrame(ROWS).cast({"label": polars.Categorical})) == self.EXPECTED

    def test_what_is_wrong_is_told(self, results):
        mistakes = [(3, "changes are an int: give a path"), ({"old": ""}, "changes are a single dict: give")]
        for changes, expected in mistakes:
            with pytest.raises(twincell.TwincellError, match=expected):
                twincell.load_study(results, changes)

        def broken() -> Any:
            yield ROWS[0]
            raise RuntimeError("my own")

        with pytest.raises(RuntimeError, match="my own"):
            twincell.load_study(results, broken())
