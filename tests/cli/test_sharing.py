"""What other programs get from a comparison; the hook and the GitHub Action that use it run for real."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from ..command import run_here
from .test_compare import CHANGED, ORIGINAL, RENAMED, git, twincell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit with three functions in two files."""
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(f"import os\n\n\n{ORIGINAL}")
    (tmp_path / "b.py").write_text(ORIGINAL)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "begin")
    return tmp_path


@pytest.fixture
def changed(repository: Path) -> Path:
    """As it was, with a change in one file and a refactoring in the other, not committed."""
    (repository / "src" / "a.py").write_text(f"import os\n\n\n{CHANGED}")
    (repository / "b.py").write_text(RENAMED)
    return repository


def test_every_format_tells_of_the_same_change(changed):
    done = twincell(
        *("compare", "--git", "HEAD", "--sarif", "x.sarif", "--junit", "x.xml", "--markdown", "x.md"), cwd=changed
    )
    assert done.returncode == 1, done.stderr
    [result] = json.loads((changed / "x.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("src/a.py", 5)
    assert (result["ruleId"], result["level"]) == ("behavior-changed", "warning")
    suites = ElementTree.parse(changed / "x.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    assert suites.find("testsuite[@name='src/a.py']/testcase/failure") is not None
    text = (changed / "x.md").read_text()
    assert text.startswith("### twincell: 1 changing, 1 ") and "`retries` src/a.py:5" in text
    assert "def test_retries" in text


def test_annotations_name_file_and_line_and_nothing_else_is_printed(changed):
    done = twincell("compare", "--git", "HEAD", "--github", cwd=changed)
    first, last = done.stdout.splitlines()
    assert first.startswith("::warning file=src/a.py,line=5,title=Behavior changed::retries(")
    assert last.startswith("twincell: 1 changing, 1 ")


@pytest.mark.parametrize(("verdict", "status"), [("changing", 1), ("inconclusive", 1), ("never", 0)])
def test_what_fails_is_chosen(changed, verdict, status):
    assert twincell("compare", "--git", "HEAD", "--fail-on", verdict, cwd=changed).returncode == status


def test_an_undecided_change_fails_only_where_that_is_asked_for(tmp_path):
    (tmp_path / "old.py").write_text("def f(x):\n    if x != x and x is None:\n        return 1\n    return 2\n")
    (tmp_path / "new.py").write_text("def f(x):\n    if x != x and x is None:\n        return 3\n    return 2\n")
    of = {
        verdict: twincell("compare", "old.py", "new.py", "--fail-on", verdict, cwd=tmp_path).returncode
        for verdict in ("changing", "inconclusive")
    }
    assert of == {"changing": 0, "inconclusive": 2}


def hook_named(name: str) -> dict[str, str]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return next(hook for hook in hooks if hook["id"] == name)


def hook_entry() -> str:
    hook = hook_named("twincell")
    return hook["entry"].replace("twincell ", f"{shlex.quote(sys.executable)} -m twincell ", 1)


def test_the_hook_stops_a_commit_that_changes_behavior_and_no_other(changed):
    hook = changed / ".git" / "hooks" / "pre-commit"
    # As pre-commit does it: the files of the commit are arguments.
    definition = hook_named("twincell")
    (changed / "tool").write_text("#!/usr/bin/env python3\n")
    git(changed, "add", "tool")
    files = f"$(git diff --cached --name-only | grep -E {shlex.quote(definition['files'])})"
    hook.write_text(f"#!/bin/sh\nexec {hook_entry()} {files}\n")
    hook.chmod(0o755)
    commit = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"]
    done = subprocess.run([*commit, "b.py"], cwd=changed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([*commit, "-a"], cwd=changed, capture_output=True, text=True)
    assert done.returncode == 1
    assert "≠ changing" in done.stdout + done.stderr
    subject = subprocess.run(["git", "log", "-1", "--format=%s"], cwd=changed, capture_output=True, text=True)
    assert subject.stdout == "x\n"


def test_the_hook_lets_the_first_commit_pass(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text(ORIGINAL)
    git(tmp_path, "add", "-A")
    done = subprocess.run([*shlex.split(hook_entry()), "a.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("is_shallow", [False, True])
def test_the_action_compares_annotates_and_writes_a_summary(changed, tmp_path_factory, is_shallow):
    git(changed, "commit", "-q", "-a", "-m", "change")
    folder = tmp_path_factory.mktemp("runner")
    if is_shallow:
        git(folder, "clone", "-q", "--depth=1", f"file://{changed}", "checkout")
        checkout = folder / "checkout"
    else:
        checkout = changed
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    [compare] = [step for step in steps if step["name"] == "Compare"]
    (folder / "twincell").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m twincell "$@"\n')
    (folder / "twincell").chmod(0o755)
    old = subprocess.run(["git", "rev-parse", "HEAD~1"], cwd=changed, capture_output=True, text=True).stdout.strip()
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        **{"OLD": "0" * 40 if is_shallow else old, "PATHS": "src\nb.py", "FAIL_ON": "changing", "OPTIONS": "--seed 2"},
        **{"SARIF": "x.sarif", "JUNIT": "", "FILES": "https://host.example/a/b/blob/1", "RUNNER_TEMP": str(folder)},
        **{"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "output")},
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", compare["run"]]
    done = subprocess.run(script, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=src/a.py,line=5,title=Behavior changed::")
    summary = (folder / "summary").read_text()
    assert "twincell: 1 changing" in summary and "](<https://host.example/a/b/blob/1/src/a.py#L5>)" in summary
    assert "status=1\n" in (folder / "output").read_text()
    assert json.loads((checkout / "x.sarif").read_text())["version"] == "2.1.0"


TESTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2])\n"


@pytest.fixture
def tested(tmp_path):
    """A repository with a test, and a change of what it tests that is not committed."""
    git(tmp_path, "init", "-q")
    (tmp_path / "shop.py").write_text("def total(prices):\n    return sum(prices)\n")
    (tmp_path / "test_shop.py").write_text(TESTS)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "shop.py").write_text("def total(prices):\n    return sum(prices) + 1\n")
    return tmp_path


def test_the_second_hook_shows_tests_and_stops_no_commit(tested):
    git(tested, "add", "-A")
    entry = hook_named("twincell-amplify")["entry"]
    command = [sys.executable, "-m", *shlex.split(entry), "--python", sys.executable]
    done = run_here(command, cwd=tested, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "total([1, 2]) gave 3, gives 4" in done.stdout


def test_the_action_makes_tests_where_it_is_asked_to(tested, tmp_path_factory):
    git(tested, "commit", "-q", "-a", "-m", "two")
    folder = tmp_path_factory.mktemp("runner")
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    [amplify] = [step for step in steps if step["name"] == "Amplify"]
    (folder / "twincell").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m twincell "$@"\n')
    (folder / "twincell").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        **{"OLD": "HEAD~1", "OPTIONS": f"--python {sys.executable}", "RUNNER_TEMP": str(folder)},
        **{"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "output")},
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", amplify["run"]]
    done = subprocess.run(script, cwd=tested, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "### twincell: no test of the project shows the change; 1 new test does" in (folder / "summary").read_text()
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
    git(tested, "apply", "--check", outputs["patch"])


def test_no_step_of_the_action_puts_what_it_is_given_into_its_script():
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert all("${{" not in step["run"] for step in steps)


def test_a_study_tells_other_programs_of_its_rows_and_fails_where_asked(tmp_path):
    rows = [
        ("same", "def f(x): return x + 1", "def f(y): return y + 1"),
        ("off", "def f(x): return x", "def f(x): return 2"),
    ]
    changes = [{"id": name, "old": old, "new": new, "file": "src/a.py"} for name, old, new in rows]
    (tmp_path / "changes.jsonl").write_text("".join(json.dumps(change) + "\n" for change in changes))
    command = ["study", "changes.jsonl", "--out", "out.jsonl", "--sarif", "x.sarif", "--junit", "x.xml"]
    done = twincell(*command, "--markdown", "x.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [result] = json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["results"]
    assert result["partialFingerprints"] == {"function/v1": "src/a.py::off"}
    assert ElementTree.parse(tmp_path / "x.xml").getroot().get("failures") == "1"
    assert (tmp_path / "x.md").read_text().startswith("### twincell: 1 changing, 1 identical")
    assert twincell(*command, "--fail-on", "changing", cwd=tmp_path).returncode == 1
