"""Fixes of real bugs with the tests that show them, from a data set or from the history of a project.

    python -m tests.measure.fixes bugsinpy FIXES.jsonl BUGSINPY PROJECT=CLONE [PROJECT=CLONE ...]
    python -m tests.measure.fixes mine FIXES.jsonl PROJECT=CLONE [PROJECT=CLONE ...] [--most N] [--since DATE]

`BUGSINPY` is a clone of the data set BugsInPy (https://github.com/soarsmu/BugsInPy), and `CLONE` one of the
project, also without a work tree. `mine` takes the newest commits that change source and tests, and keeps those
of which a test fails before. One row for each fix goes to FIXES: its two commits, the test modules of the version
before it, and which tests of the fix pass after it and not before it, run by plain pytest. All run in one
environment with the current versions of what the projects need, and with a plugin that brings back names which
newer versions have dropped.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .bugs import bugs, facts, git

#: What the tests of thefuck, tqdm and luigi import. Later versions of pytest refuse marks on fixtures.
NEEDS = (
    *("pytest<9", "pytest-mock", "mock", "nose", "six", "decorator", "psutil", "colorama", "pyte", "requests"),
    *("tornado", "python-daemon", "numpy", "pandas", "cached_property", "sqlalchemy<2", "hypothesis", "boto"),
)
#: What the tests of the projects import of which fixes were mined.
NEEDS_OF_MINED = (
    *("pytest<9", "hypothesis", "freezegun", "pytz", "simplejson", "cryptography", "email-validator", "markupsafe"),
    *("pretend", "cloudpickle", "attrs", "typing-extensions", "wcwidth", "ephemeral-port-reserve", "watchdog"),
    *("pytest-timeout", "trio", "babel", "itsdangerous", "python-dateutil", "cffi"),
)

SHIM = '''"""Names that newer versions of Python and pytest have dropped."""
import collections
import collections.abc
import inspect

import _pytest.nodes

if not hasattr(inspect, "ArgSpec"):
    inspect.ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = lambda function: inspect.ArgSpec(*inspect.getfullargspec(function)[:4])
if not hasattr(_pytest.nodes.Node, "get_marker"):
    _pytest.nodes.Node.get_marker = _pytest.nodes.Node.get_closest_marker
'''

#: Seconds after which the tests of a fix count as failed.
PATIENCE = 300


def environment(folder: Path, needs: tuple[str, ...] = NEEDS) -> Path:
    """A Python with the projects' needs and the shim."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *needs], check=True)
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Path(found.stdout.strip())
    (packages / "old_names.py").write_text(SHIM)
    about = packages / "old_names-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: old-names\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[pytest11]\nold_names = old_names\n")
    return python


def is_test(path: str) -> bool:
    """Whether a file is a test module, also one that pytest does not find by itself."""
    *folders, name = path.split("/")
    is_named = name.startswith(("test_", "tests_")) or name.endswith("_test.py")
    return name.endswith(".py") and is_named and bool({"test", "tests"} & set(folders)) and "perf" not in path


def test_files(clone: Path, commit: str) -> list[str]:
    """The test modules of a commit."""
    listed = (git(clone, "ls-tree", "-r", "--name-only", commit) or b"").decode().splitlines()
    return sorted(filter(is_test, listed))


def work_tree(clone: Path, folder: Path) -> Path:
    """A repository with the clone's objects, as twincell is used with one."""
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--shared", str(clone), str(folder)], check=True)
    return folder


@contextmanager
def checked_out(repository: Path, commit: str, files_of: str, files: list[str]) -> Iterator[Path]:
    """A work tree of a commit in which some files are those of another, where that has them."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / commit
        subprocess.run(
            ["git", "-C", str(repository), "worktree", "add", "-q", "--detach", str(tree), commit], check=True
        )
        there = [file for file in files if git(repository, "cat-file", "-e", f"{files_of}:{file}") is not None]
        if there:
            subprocess.run(["git", "-C", str(tree), "checkout", "-q", files_of, "--", *there], check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "-C", str(repository), "worktree", "remove", "--force", str(tree)], check=True)


def outcomes(tree: Path, python: Path, tests: list[str]) -> list[tuple[str, str]]:
    """What plain pytest says of tests: `PASSED` or `FAILED`, and the test's name."""
    command = [str(python), "-m", "pytest", "-q", "--tb=no", "-rA", "-p", "no:cacheprovider", *tests]
    environ = os.environ | {"TERM": "dumb", "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree)])}
    try:
        ran = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=environ, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return []
    said = [line.split(" ", 1) for line in ran.stdout.splitlines() if line.startswith(("PASSED ", "FAILED "))]
    return [(word, rest.split(" - ")[0].strip()) for word, rest in said]


def shown(repository: Path, commits: list[str], tests: list[str], python: Path) -> list[str]:
    """The tests of a fix that pass after it and not before it."""
    passed = []
    for commit in commits:
        with checked_out(repository, commit, commits[1], tests) as tree:
            passed.append({name for word, name in outcomes(tree, python, tests) if word == "PASSED"})
    return sorted(passed[1] - passed[0])


def recorded(bugsinpy: Path, project: str) -> Iterator[dict[str, Any]]:
    """The fixes of a project in the data set."""
    for number, commits, _ in bugs(bugsinpy, project):
        tests = facts(bugsinpy, project, number)["test_file"].split(";")
        yield {"project": project, "name": str(number), "commits": commits, "tests": [test for test in tests if test]}


def mined(clone: Path, project: str, since: str) -> Iterator[dict[str, Any]]:
    """The commits of a project that change source and tests, the newest first."""
    log = git(clone, "log", "--no-merges", "--format=%H %P", f"--since={since}", "HEAD") or b""
    for line in log.decode().splitlines():
        new, _, old = line.partition(" ")
        changed = (git(clone, "diff", "--name-only", "--diff-filter=AM", old, new) or b"").decode().splitlines()
        tests = list(filter(is_test, changed))
        sources = [path for path in changed if path.endswith(".py") and "test" not in path and "doc" not in path]
        if tests and sources:
            yield {"project": project, "name": new[:10], "commits": [old, new], "tests": tests}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("target/fixes"), help="for the environment and clones")
    jobs = parser.add_subparsers(dest="job", required=True)
    for job in ("bugsinpy", "mine"):
        one = jobs.add_parser(job)
        one.add_argument("file", type=Path)
        if job == "bugsinpy":
            one.add_argument("bugsinpy", type=Path)
        else:
            one.add_argument("--most", type=int, default=3, help="fixes of a project [default: 3]")
            one.add_argument("--tries", type=int, default=15, help="commits of a project that are tried [default: 15]")
            one.add_argument("--since", default="2022-01-01", help="the oldest commit [default: 2022-01-01]")
        one.add_argument("clones", nargs="+", metavar="PROJECT=CLONE")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.job == "bugsinpy":
        python = environment(folder / "environment")
    else:
        python = environment(folder / "environment-of-mined", NEEDS_OF_MINED)
    with arguments.file.open("a", encoding="utf-8") as file:
        for described in arguments.clones:
            project, _, clone = described.partition("=")
            repository = work_tree(Path(clone), folder / project)
            if arguments.job == "bugsinpy":
                found, most = recorded(arguments.bugsinpy, project), None
            else:
                candidates = mined(Path(clone), project, arguments.since)
                found, most = itertools.islice(candidates, arguments.tries), arguments.most
            kept = 0
            for fix in found:
                fix["shown"] = shown(repository, fix["commits"], fix["tests"], python)
                fix["modules"] = test_files(Path(clone), fix["commits"][0])
                if most is None or fix["shown"]:
                    file.write(json.dumps(fix) + "\n")
                    file.flush()
                    kept += 1
                print(project, fix["name"], f"{len(fix['shown'])} tests show it", sep="; ", flush=True)
                if kept == most:
                    break
    return 0


if __name__ == "__main__":
    sys.exit(main())
