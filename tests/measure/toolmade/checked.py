"""Whether a tool made a correct change, found out without twincell: names, and the package's own tests."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from .changes import Change, combined
from .packages import Package, failing


def undefined(text: str) -> Counter[str]:
    """What Ruff says of names that are undefined, read before they are bound, or bound twice."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--target-version", "py310"]
    command += ["--select", "F811,F821,F823", "--output-format", "concise", "--stdin-filename", "module.py", "-"]
    ran = subprocess.run(command, input=text, capture_output=True, text=True)
    return Counter(line.partition(": ")[2] for line in ran.stdout.splitlines() if line.startswith("module.py"))


def has_its_names(change: Change) -> bool:
    return not undefined(change.new) - undefined(change.old)


def correct(package: Package, root: Path, changes: list[Change], work: Path) -> list[Change]:
    """The changes under which the package's tests pass as before."""
    copy = work / f"{package.name}-tested"
    shutil.copytree(root, copy)
    expected = failing(package, copy)
    if expected is None:
        raise SystemExit(f"the tests of {package.name} do not run here; are its requirements installed?")
    wrong = set(_failing(package, copy, changes, expected))
    shutil.rmtree(copy)
    return [change for change in changes if change not in wrong]


def _apply(copy: Path, changes: list[Change]) -> list[Change]:
    """Writes as many of the changes as fit into one copy of the package, and returns them."""
    tested = []
    for file in sorted({change.file for change in changes}):
        text, applied = combined([change for change in changes if change.file == file])
        (copy / file).write_text(text, encoding="utf-8")
        tested += applied
    return tested


def _failing(package: Package, copy: Path, changes: list[Change], expected: frozenset[str]) -> list[Change]:
    """Those that make tests fail, found by halves."""
    if not changes:
        return []
    _restore(copy, changes)
    applied = _apply(copy, changes)
    failed = failing(package, copy, expected)
    _restore(copy, changes)
    # Those that did not fit beside the others have their own run.
    found = _failing(package, copy, [change for change in changes if change not in applied], expected)
    if failed is not None and not failed:
        return found
    if len(applied) == 1:
        return found + applied
    middle = len(applied) // 2
    halves = [applied[:middle], applied[middle:]]
    return found + [change for half in halves for change in _failing(package, copy, half, expected)]


def _restore(copy: Path, changes: list[Change]) -> None:
    for change in changes:
        (copy / change.file).write_text(change.old, encoding="utf-8")
