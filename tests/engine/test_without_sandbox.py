"""Where the system does not enforce the sandbox, no foreign code runs, unless the user says so. Both systems are made
with a filter of system calls, which answers as a kernel without Landlock or without seccomp does."""

import ctypes
import json
import platform
import struct
import subprocess
import sys

import pytest
from twincell import load_study

from .layers import SANDBOX

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)

LANDLOCK_CREATE_RULESET, SECCOMP, ENOSYS = 444, 317, 38
OLD, NEW = "def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n"


def refuse(number):
    """Makes this process, and what it starts, find no system call of this number."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]

    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | ENOSYS), (0x06, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(38, 1, 0, 0, 0) == 0
    assert library.prctl(22, 2, ctypes.byref(Program(len(steps), code)), 0, 0) == 0


def twincell(tmp_path, number, *arguments):
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text(NEW)
    return subprocess.run(
        [sys.executable, "-m", "twincell", *arguments],
        cwd=tmp_path,
        preexec_fn=lambda: refuse(number),
        capture_output=True,
        text=True,
        check=False,
    )


COMPARE = ["compare", "old.py", "new.py", "--predictor", "uniform", "--budget", "20"]


@pytest.mark.parametrize(
    ("number", "name"), [(LANDLOCK_CREATE_RULESET, "Landlock"), pytest.param(SECCOMP, "seccomp", marks=SANDBOX)]
)
def test_nothing_runs_until_the_user_says_so(number, name, tmp_path):
    refused = twincell(tmp_path, number, *COMPARE)
    assert refused.returncode == 3, refused
    [line] = refused.stderr.strip().splitlines()
    assert f"no {name}" in line and "--unsafe" in line
    allowed = twincell(tmp_path, number, *COMPARE, "--unsafe")
    assert allowed.returncode == 1 and "changed" in allowed.stdout, allowed
    assert f"ran without a complete sandbox, as --unsafe allows: no {name}" in " ".join(allowed.stdout.split())
    as_json = twincell(tmp_path, number, *COMPARE, "--unsafe", "--json")
    lacks = json.loads(as_json.stdout)["sandbox"]["lacks"]
    assert [lack["mechanism"] for lack in lacks] == [name.lower()]


STUDY = ["study", "changes.jsonl", "--predictor", "uniform", "--budget", "20"]


def write_changes(tmp_path):
    changes = [{"id": "changed", "old": OLD, "new": NEW}, {"id": "same", "old": OLD, "new": OLD + "# a comment\n"}]
    (tmp_path / "changes.jsonl").write_text("".join(json.dumps(change) + "\n" for change in changes))


@pytest.mark.parametrize("ending", ["jsonl", *(pytest.param(other, marks=SANDBOX) for other in ("sqlite", "parquet"))])
def test_a_study_is_refused_as_well_and_says_in_each_row_what_was_missing(ending, tmp_path):
    write_changes(tmp_path)
    study = [*STUDY, "--out", f"results.{ending}"]
    refused = twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study)
    assert refused.returncode == 3 and "no Landlock" in refused.stderr, refused
    views = ["--html", "page.html", "--sarif", "x.sarif", "--junit", "x.xml", "--markdown", "x.md"]
    allowed = twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study, "--unsafe", *views)
    mark = "ran without a complete sandbox, as --unsafe allows: no Landlock"
    assert allowed.returncode == 0 and mark in allowed.stdout, allowed
    results = load_study(tmp_path / f"results.{ending}")
    assert [row["sandbox_lacks"] for row in results.rows] == [["landlock"], None]
    assert results.summary()["without_sandbox"] == 1 and mark in str(results.summary())
    for view in ["page.html", "x.xml", "x.md"]:
        assert mark in (tmp_path / view).read_text()
    run = json.loads((tmp_path / "x.sarif").read_text())["runs"][0]
    assert run["properties"]["sandbox"] == {"ran": 1, "incomplete": 1, "lacks": ["landlock"]}


@SANDBOX
def test_a_safe_study_takes_up_no_row_of_an_unsafe_one(tmp_path):
    write_changes(tmp_path)
    study = [*STUDY, "--out", "results.jsonl"]
    assert twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study, "--unsafe").returncode == 0
    refused = twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study)
    assert refused.returncode == 3 and "no Landlock" in refused.stderr, refused
    safe = subprocess.run([sys.executable, "-m", "twincell", *study], cwd=tmp_path, capture_output=True, text=True)
    assert safe.returncode == 0 and "sandbox" not in safe.stdout, safe
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [row["sandbox_lacks"] for row in rows] == [[], None]


@SANDBOX
def test_a_finished_study_starts_no_worker(tmp_path):
    write_changes(tmp_path)
    study = [*STUDY, "--out", "results.jsonl"]
    assert subprocess.run([sys.executable, "-m", "twincell", *study], cwd=tmp_path, check=False).returncode == 0
    rows = (tmp_path / "results.jsonl").read_text()
    again = twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study)
    assert again.returncode == 0 and "2 of them have results from an earlier run" in again.stdout, again
    assert (tmp_path / "results.jsonl").read_text() == rows
    more = twincell(tmp_path, LANDLOCK_CREATE_RULESET, *study, "--seed", "7")
    assert more.returncode == 3 and "no Landlock" in more.stderr, more
    assert (tmp_path / "results.jsonl").read_text() == rows


def test_the_doctor_says_what_is_missing(tmp_path):
    said = twincell(tmp_path, LANDLOCK_CREATE_RULESET, "doctor", "--predictor", "uniform")
    assert "no Landlock" in said.stdout + said.stderr


def test_a_complete_sandbox_is_in_the_report_and_nowhere_else(tmp_path):
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text(NEW)
    run = [sys.executable, "-m", "twincell", *COMPARE]
    said = subprocess.run([*run, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    sandbox = json.loads(said.stdout)["sandbox"]
    assert sandbox["lacks"] == [] and sandbox["filesystem"].startswith("Landlock")
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "sandbox" not in said.stdout
