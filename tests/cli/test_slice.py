"""`twincell slice`: the commits of a range that keep given tests passing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..command import run_here
from ..history import git, shop


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return shop(tmp_path / "project")


def slice_of(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twincell", "slice", "--repository", str(repository), *arguments]
    return run_here([*command, "--python", sys.executable], capture_output=True, text=True, timeout=300)


def test_a_feature_is_found_with_the_reasons(repository: Path, tmp_path: Path) -> None:
    before = git(repository, "status", "--porcelain"), git(repository, "for-each-ref")
    table = tmp_path / "slice.md"
    page = tmp_path / "slice.html"
    outputs = ["--json", "--markdown", str(table), "--html", str(page)]
    ran = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests", *outputs)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = json.loads(ran.stdout)
    staying = [unit["subject"] for unit in found["units"] if "stays" in unit["state"]]
    assert staying == ["Add a tax", "Use the tax"]
    assert found["format"] == 1 and found["is_minimal"] and found["ended"] == "minimal"
    assert "Use the tax" in table.read_text(encoding="utf-8") and "Use the tax" in page.read_text(encoding="utf-8")
    assert (git(repository, "status", "--porcelain"), git(repository, "for-each-ref")) == before
    # A branch and patches with the tests of the end pass.
    patches = tmp_path / "patches"
    ran = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests", "--branch", "alone", "--patches", str(patches))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert git(repository, "log", "--format=%s", "alone").split("\n")[:2] == ["Use the tax", "Add a tax"]
    tests = repository / "tests"
    git(repository, "worktree", "add", "-q", str(tmp_path / "alone"), "alone")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tests)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "alone")}
    assert run_here(command, cwd=tmp_path, env=environment, capture_output=True).returncode == 0
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "patched"), "HEAD~5")
    mails = sorted(str(path) for path in patches.iterdir())
    git(tmp_path / "patched", "am", "-q", "--keep-cr", "--keep-non-patch", *mails)
    assert git(tmp_path / "patched", "diff", "alone") == ""
    # What ran is kept.
    told = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests").stdout
    assert told.startswith("2 of 5 commits in HEAD~5..HEAD keep the tests passing\n"), told
    commit = git(repository, "rev-parse", "HEAD~3").strip()
    told = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests", "--explain", commit[:10]).stdout
    assert told.startswith(f"{commit[:8]} Add a tax\n") and "No module named 'tax'" in told, told


def test_an_early_end_is_said(repository: Path) -> None:
    ran = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests", "--budget", "2")
    assert ran.returncode == 2 and "the budget of runs ended the search" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["HEAD~5..HEAD", "--tests", "none"], "none"),
        (["HEAD~5..HEAD", "--tests", "tests", "--jobs", "0"], "--jobs cannot be 0: give a whole number from 1 to 64"),
        (["HEAD~5..HEAD", "--tests", "tests", "--scheme", "best"], "--scheme cannot be 'best': give combined, neg"),
        (["HEAD..HEAD~1", "--tests", "tests"], "HEAD..HEAD~1 "),
        (["HEAD~5..HEAD~1", "--tests", "shop.py"], "pytest found no tests"),
    ],
)
def test_what_cannot_be_sliced_is_one_line(repository: Path, arguments: list[str], said: str) -> None:
    ran = slice_of(repository, *arguments)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert said in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr
