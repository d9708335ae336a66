"""Where results of `twincell study` go: a study that was killed or stopped goes on where it was."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import twincell

from ..command import run_here

OLD = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
NEW = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"
#: Slow to compare: nothing is found until the budget is spent.
KEPT = "def f(a, b):\n    return a if a > b else b\n"
ENDINGS = ["jsonl", "sqlite", "parquet"]


def change(number: int, new: str = NEW, **more: object) -> dict:
    """Each is a different function, so none is found among the results of the others."""
    return {
        "id": f"c{number}",
        "old": OLD.replace("f(", f"f{number}("),
        "new": new.replace("f(", f"f{number}("),
        **more,
    }


def write(path: Path, changes: list) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in changes))
    return path


def command(changes: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(out), *options]


def study(changes: Path, out: Path, *options: str) -> str:
    done = run_here(command(changes, out, *options), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def taken_up(output: str) -> int:
    [count] = [line.split()[0] for line in output.splitlines() if "have results from an earlier run" in line] or ["0"]
    return int(count)


def ids(out: Path) -> list[str]:
    return [row["id"] for row in twincell.load_study(out).rows]


def stored(out: Path) -> int:
    """Rows that a kill would leave."""
    journal = out if out.suffix == ".sqlite" else out.with_name(out.name + ".partial")
    if out.suffix == ".jsonl":
        return len(out.read_bytes().splitlines()) if out.exists() else 0
    try:
        with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM findings").fetchone()[0]
    except sqlite3.Error:
        return 0


def begun(changes: Path, out: Path, rows: int, *options: str) -> subprocess.Popen[bytes]:
    """A study that has stored that many rows, and goes on."""
    running = subprocess.Popen(
        command(changes, out, "--jobs", "1", *options), stdout=subprocess.DEVNULL, start_new_session=True
    )
    until = time.monotonic() + 120
    while stored(out) < rows:
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    return running


#: A small search: what these tests look at is the file.
QUICK = ("--budget", "20")


def begun_of_many(folder: Path, ending: str) -> tuple[Path, Path, int, subprocess.Popen[bytes]]:
    """A study that has stored three rows and waits for more changes: all its changes in a file, of which the last three
    have not come yet, its results, the number of changes, and its process."""
    out = folder / f"out.{ending}"
    options = ["--jobs", "1", *QUICK]
    running = subprocess.Popen(
        command(Path("-"), out, *options), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    given = 0
    # Some formats commit with the next row, so rows come as long as they are not seen.
    while stored(out) < 3:
        assert running.poll() is None
        running.stdin.write(json.dumps(change(given)).encode() + b"\n")
        running.stdin.flush()
        given += 1
        time.sleep(0.02)
    many = given + 3
    return write(folder / "changes.jsonl", [change(number) for number in range(many)]), out, many, running


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_killed_study_goes_on_where_it_was(tmp_path, ending):
    changes, out, many, running = begun_of_many(tmp_path, ending)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    # What a kill leaves can be looked at.
    assert 3 <= len(ids(out)) < many
    output = study(changes, out, *QUICK)
    assert 3 <= taken_up(output) < many
    assert ids(out) == [f"c{number}" for number in range(many)]
    assert taken_up(study(changes, out, *QUICK)) == many
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changes.jsonl", out.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupted_study_has_written_what_it_found(tmp_path, ending):
    changes, out, many, running = begun_of_many(tmp_path, ending)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changes.jsonl", out.name]
    found = len(ids(out))
    assert 3 <= found < many
    assert taken_up(study(changes, out, *QUICK)) == found
    assert ids(out) == [f"c{number}" for number in range(many)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_only_what_changed_is_compared_again(tmp_path, ending):
    rows = [change(0), change(1, label="changing"), "no JSON", change(3), change(3), {"id": "half", "old": ""}]
    changes, out = write(tmp_path / "changes.jsonl", rows), tmp_path / f"out.{ending}"
    assert taken_up(study(changes, out)) == 0
    assert [row["verdict"] for row in twincell.load_study(out).rows] == [
        *["changing"] * 2,
        "inconclusive",
        *["changing"] * 2,
        "inconclusive",
    ]
    before = out.read_bytes()
    assert taken_up(study(changes, out, "--jobs", "1")) == 6
    if ending == "jsonl":
        assert out.read_bytes() == before
    # Another name and label, another text, one that has gone, and one in another place.
    rows = [change(3), change(0, label="preserving") | {"id": "named"}, change(1) | {"new": OLD}]
    write(changes, rows)
    assert taken_up(study(changes, out)) == 2
    loaded = twincell.load_study(out).rows
    assert [(row["id"], row["label"], row["verdict"]) for row in loaded] == [
        ("c3", None, "changing"),
        ("named", "preserving", "changing"),
        ("c1", None, loaded[2]["verdict"]),
    ]
    # Options that change results make all of them others.
    assert taken_up(study(changes, out, "--seed", "3")) == 0
    assert len(ids(out)) == 3
    assert taken_up(study(changes, out, "--seed", "3", "--fresh")) == 0


def test_formats_hold_the_same(tmp_path):
    changes = write(
        tmp_path / "changes.jsonl", [change(0, project="p", commit="c"), "no JSON", change(2, label="changing")]
    )
    rows = {}
    for ending in ENDINGS:
        out = tmp_path / f"out.{ending}"
        study(changes, out)
        rows[ending] = [{**row, "id": str(row["id"]), "milliseconds": 0} for row in twincell.load_study(out).rows]
    # The number of a line is an id like any other, but a column has one type.
    assert rows["jsonl"] == rows["sqlite"] == rows["parquet"]


def test_a_second_study_does_not_write_to_the_same_file(tmp_path):
    changes, out = (
        write(tmp_path / "changes.jsonl", [change(number, KEPT) for number in range(30)]),
        tmp_path / "out.jsonl",
    )
    running = begun(changes, out, 1)
    try:
        refused = run_here(command(changes, out), capture_output=True, text=True, timeout=60)
    finally:
        running.kill()
        running.wait()
    assert refused.returncode == 3 and "another study is writing to" in refused.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_something_else_is_refused(tmp_path, ending):
    changes, out = write(tmp_path / "changes.jsonl", [change(0)]), tmp_path / f"out.{ending}"
    out.write_text("my notes\n")
    refused = run_here(command(changes, out), capture_output=True, text=True, timeout=60)
    assert refused.returncode == 3 and "--fresh" in refused.stderr and refused.stderr.count("\n") == 1
    assert out.read_text() == "my notes\n"
    study(changes, out, "--fresh")
    assert ids(out) == ["c0"]


def test_results_need_a_name_that_says_their_format(tmp_path):
    changes = write(tmp_path / "changes.jsonl", [change(0)])
    refused = run_here(command(changes, tmp_path / "out.csv"), capture_output=True, text=True, timeout=60)
    assert refused.returncode == 3 and "give a name that ends in .jsonl, .sqlite or .parquet" in refused.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_another_input_would_drop_is_set_aside(tmp_path, ending):
    changes, out = write(tmp_path / "changes.jsonl", [change(0), change(1)]), tmp_path / f"out.{ending}"
    study(changes, out, "--budget", "20")
    write(changes, [change(2)])
    done = run_here(command(changes, out, "--budget", "20"), capture_output=True, text=True, timeout=300)
    before = tmp_path / f"out.before.{ending}"
    told = f"2 earlier rows belong to other changes or other options: the earlier results are in {before}"
    assert told in done.stderr
    assert (ids(out), sorted(ids(before))[:2]) == (["c2"], ["c0", "c1"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_input_without_a_change_leaves_the_results_as_they_are(tmp_path, ending):
    changes, out = write(tmp_path / "changes.jsonl", [change(0), change(1)]), tmp_path / f"out.{ending}"
    study(changes, out, "--budget", "20")
    for rows, said in [([], "there is no change to compare"), (["nonsense"], "none of the 1 rows is a change")]:
        write(changes, rows)
        done = run_here(command(changes, out, "--budget", "20"), capture_output=True, text=True, timeout=300)
        assert done.returncode == 3 and said in done.stderr, done.stderr
        assert {"c0", "c1"} <= set(ids(out))
