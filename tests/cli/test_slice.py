"""`twincell slice`: the commits of a range that keep given tests passing."""

from __future__ import annotations

import json
import os
import random
import signal
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
    tip, end = (git(repository, "rev-parse", name).strip() for name in ("alone", "HEAD"))
    assert ran.stdout.endswith(
        f"\nmade the branch alone with 2 commits, the last one is {tip}\n"
        f"its tests are those of {end[:8]}: git checkout {end[:8]} -- tests\n"
    )
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
    told = slice_of(repository, "HEAD~5..HEAD", "--tests", "tests", "--explain", commit[:10], "--json").stdout
    (unit,) = json.loads(told)["units"]
    assert (unit["commit"], unit["stays"]) == (commit, True) and "tests_fail" in unit["state"]["stays"]


def everything_of(repository: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(repository.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kills", [pytest.param(2), pytest.param(20, marks=pytest.mark.long)])
def test_a_killed_search_goes_on_and_ends_the_same(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    def program(cache: str) -> subprocess.Popen[str]:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache))
        command = [sys.executable, "-m", "twincell", "slice", "--repository", str(repository), "HEAD~5..HEAD"]
        command += ["--tests", "tests", "--json", "--python", sys.executable]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def end(process: subprocess.Popen[str]) -> dict[str, object]:
        found = json.loads(process.communicate(timeout=300)[0])
        return {**found, "seconds": 0}

    before = everything_of(repository)
    whole = end(program("whole"))
    moments = random.Random(1)
    for _ in range(kills):
        process = program("killed")
        try:
            # Wherever it is then, what it kept is whole.
            process.wait(timeout=moments.uniform(0.05, 4))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert end(program("killed")) == whole
    assert everything_of(repository) == before


def test_a_branch_that_has_a_part_gets_the_rest(repository: Path, tmp_path: Path) -> None:
    tax = git(repository, "rev-parse", "HEAD~3").strip()
    git(repository, "checkout", "-q", "-b", "stable", "HEAD~5")
    git(repository, "cherry-pick", tax)
    (repository / "more.py").write_text("X = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "More")
    git(repository, "checkout", "-q", "-")
    arguments = ["HEAD~5..HEAD", "--tests", "tests", "--onto", "stable"]
    ran = slice_of(repository, *arguments, "--json", "--branch", "moved", "--patches", str(tmp_path / "patches"))
    tip = git(repository, "rev-parse", "moved").strip()
    said = f"made the branch moved with 1 commit, the last one is {tip}\n"
    assert (ran.returncode, ran.stderr) == (0, said)
    found = json.loads(ran.stdout)
    assert (found["tests"]["differing"], found["end"]) == (["tests"], git(repository, "rev-parse", "HEAD").strip())
    told = slice_of(repository, *arguments).stdout
    assert f"\n  its tests are those of {found['end'][:8]}: git checkout {found['end'][:8]} -- tests\n" in told, told
    # So the command gives the branch the tests that decide.
    git(repository, "worktree", "add", "-q", str(tmp_path / "moved"), "moved")
    git(tmp_path / "moved", "checkout", "-q", found["end"][:8], "--", "tests")
    assert git(tmp_path / "moved", "diff", "HEAD", "--name-only") == "tests/test_shop.py\n"
    assert [unit["subject"] for unit in found["units"] if "stays" in unit["state"]] == ["Use the tax"]
    goes = next(unit["state"]["goes"] for unit in found["units"] if unit["subject"] == "Add a tax")
    commit = git(repository, "rev-parse", "stable~1").strip()
    assert goes == {"in_target": {"commit": commit, "known_by": "lines"}}
    assert (found["target"]["name"], found["target"]["applied"]) == ("stable", "passes")
    assert git(repository, "rev-parse", "moved~1") == git(repository, "rev-parse", "stable")
    assert [patch.name for patch in (tmp_path / "patches").iterdir()] == ["0001-Use-the-tax.patch"]
    told = slice_of(repository, *arguments, "--explain", "HEAD~3").stdout
    assert "stable has it as " in told, told


def test_the_commits_that_break_a_test_are_found(repository: Path) -> None:
    (repository / "tax.py").write_text("def tax(n):\n    return 3 * n\n")
    git(repository, "commit", "-qam", "Raise the tax")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "commit", "-qam", "Say more")
    ran = slice_of(repository, "HEAD~2..HEAD", "--tests", "tests", "--bisect")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("1 of 2 commits in HEAD~2..HEAD make the tests fail\n"), ran.stdout
    assert "without it, tests/test_shop.py::test_price passes" in ran.stdout
    ran = slice_of(repository, "HEAD~2..HEAD", "--tests", "tests", "--bisect", "--onto", "HEAD")
    assert (ran.returncode, ran.stdout) == (3, "") and "either --bisect or --onto" in ran.stderr


def test_a_clean_up_is_told_by_a_comparison(repository: Path) -> None:
    (repository / "tax.py").write_text("def tax(n):\n    twice = n * 2\n    return twice\n")
    git(repository, "commit", "-qam", "Clean up")
    ran = slice_of(repository, "HEAD~6..HEAD", "--tests", "tests", "--compare", "--explain", "HEAD")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "it goes: the functions that it changes do the same before and after it" in ran.stdout, ran.stdout


def test_what_cannot_be_written_is_said_before_the_search(repository: Path, tmp_path: Path) -> None:
    arguments = ["HEAD~5..HEAD", "--tests", "none"]
    for output in (["--html", str(tmp_path / "no" / "page.html")], ["--markdown", str(repository)]):
        ran = slice_of(repository, *arguments, *output)
        assert ran.returncode == 3 and ran.stderr.startswith(f"twincell: cannot write {output[1]}: "), ran.stderr
    (tmp_path / "file").write_text("")
    ran = slice_of(repository, *arguments, "--patches", str(tmp_path / "file" / "patches"))
    assert ran.returncode == 3 and "patches: not a directory" in ran.stderr.lower(), ran.stderr
    ran = slice_of(repository, *arguments, "--html", str(tmp_path / "one"), "--markdown", str(tmp_path / "one"))
    assert ran.returncode == 3 and "another option or the input uses this file" in ran.stderr
    assert not (tmp_path / "one").exists()


def test_patches_take_the_place_of_those_of_another_slice_only(repository: Path, tmp_path: Path) -> None:
    patches = tmp_path / "patches"
    patches.mkdir()
    (patches / "0007-Gone.patch").write_text("From 1\n-- \ntwincell\n\n")
    (patches / "notes.txt").write_text("kept")
    arguments = ["HEAD~5..HEAD", "--tests", "tests", "--patches", str(patches)]
    assert slice_of(repository, *arguments).returncode == 0
    names = ["0001-Add-a-tax.patch", "0002-Use-the-tax.patch", "notes.txt"]
    assert sorted(path.name for path in patches.iterdir()) == names
    (patches / "0001-Mine.patch").write_text("From 1\n-- \n2.39.5\n\n")
    ran = slice_of(repository, *arguments)
    assert (ran.returncode, ran.stdout) == (3, "") and "0001-Mine.patch is a patch that no slice wrote" in ran.stderr


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
        (["HEAD~5..HEAD", "--tests", "tests", "--explain", "nothing"], "nothing is not a revision"),
        (["HEAD~5..HEAD", "--tests", "tests", "--bisect"], "none of the tests (1) fails"),
    ],
)
def test_what_cannot_be_sliced_is_one_line(repository: Path, arguments: list[str], said: str) -> None:
    ran = slice_of(repository, *arguments)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert said in ran.stderr and ran.stderr.count("\n") == 1, ran.stderr
