"""Ruff's safe fixes: one change for each function that they alter."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .changes import Change, bare, functions
from .packages import Package

#: Every rule, without those that only concern layout, comments and annotations.
RULES = ["--select", "ALL", "--ignore", "ANN,COM,D,E,ERA,I,Q,W,TD,FIX,CPY"]


def fixed(root: Path, source: str) -> None:
    """Applies the safe fixes to a copy of the package."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--fix", "--no-unsafe-fixes"]
    command += ["--no-cache", "--target-version", "py310", *RULES, str(root / source)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        raise SystemExit(f"ruff failed: {ran.stderr}")


def changes(package: Package, before: dict[str, str], after: dict[str, str]) -> Iterator[Change]:
    """One change for each function whose syntax tree differs, from the modules before and after the fixes."""
    for file, old in before.items():
        new_lines, old_lines = after[file].splitlines(keepends=True), old.splitlines(keepends=True)
        later = {function.qualname: function for function in functions(ast.parse(after[file]))}
        for function in functions(ast.parse(old)):
            other = later.get(function.qualname)
            if other is None or bare(function.node) == bare(other.node):
                continue
            (start, end), (first, last) = function.lines, other.lines
            text = "".join(old_lines[:start] + new_lines[first:last] + old_lines[end:])
            yield Change(package.name, file, "ruff", function.qualname, old, text)
