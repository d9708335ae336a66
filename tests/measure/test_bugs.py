"""The study of real bugs: which changes a fix becomes, and what is said of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measure.parts import changed

ROOT = Path(__file__).parents[2]

BUGGY = """\
import os


def last(items):
    return items[0]


def total(items):
    return sum(items)
"""
FIXED = BUGGY.replace("items[0]", "items[-1]")
PATCH = """\
diff --git a/pkg/lists.py b/pkg/lists.py
--- a/pkg/lists.py
+++ b/pkg/lists.py
@@ -2,5 +2,5 @@


 def last(items):
-    return items[0]
+    return items[-1]

diff --git a/tests/test_lists.py b/tests/test_lists.py
--- a/tests/test_lists.py
+++ b/tests/test_lists.py
@@ -0,0 +1 @@
+from pkg.lists import last
"""
INFO = 'python_version="3.8"\nbuggy_commit_id="{}"\nfixed_commit_id="{}"\n'
NOWHERE = "0" * 40

PARTS = {
    "a_changed_function": ("def f():\n    return 1\n", "def f():\n    return 2\n", ["f"]),
    "a_changed_decorator": ("def f():\n    return 1\n", "@cache\ndef f():\n    return 1\n", ["f"]),
    "a_comment": ("def f():\n    return 1\n", "def f():\n    return 1  # one\n", []),
    "a_docstring": ("def f():\n    return 1\n", "def f():\n    'One.'\n    return 1\n", []),
    "an_annotation": ("def f(x):\n    return 1\n", "def f(x: int) -> int:\n    return 1\n", []),
    "an_import": ("import os\n", "import os, sys\n", []),
    "a_constant": ("X = 1\n", "X = 2\n", ["the snippet"]),
    "a_constant_that_a_function_reads": (
        "X = 1\ndef f():\n    return X\ndef g():\n    return 1\n",
        "X = 2\ndef f():\n    return X\ndef g():\n    return 1\n",
        ["f", "the snippet"],
    ),
    "a_method": ("class A:\n    def f(s):\n        return 1\n", "class A:\n    def f(s):\n        return 2\n", ["A.f"]),
    "an_attribute": ("class A:\n    x = 1\n", "class A:\n    x = 2\n", ["A"]),
    "an_added_method": ("class A:\n    x = 1\n", "class A:\n    x = 1\n    def f(s):\n        return 2\n", ["A"]),
    "a_function_under_a_condition": (
        "if X:\n    def f():\n        return 1\n",
        "if X:\n    def f():\n        return 2\n",
        ["f"],
    ),
    "a_setter": (
        "class A:\n    @property\n    def f(s):\n        return 1\n    @f.setter\n    def f(s, v):\n        s.v = v\n",
        "class A:\n    @property\n    def f(s):\n        return 1\n    @f.setter\n    def f(s, v):\n        s.w = v\n",
        ["A"],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_that_a_fix_changed(name):
    old, new, expected = PARTS[name]
    assert [part for part, _, _ in changed(old, new)] == expected


def git(folder, *arguments):
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    ran = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def committed(folder, files):
    """The commit of a repository after these files were written."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "a commit")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def clones(tmp_path):
    """A project with one bug, recorded three times: with both commits, without the fixed one, without the buggy one."""
    project, bugsinpy = tmp_path / "project", tmp_path / "bugsinpy"
    project.mkdir()
    bugsinpy.mkdir()
    buggy = committed(project, {"pkg/lists.py": BUGGY})
    fixed = committed(project, {"pkg/lists.py": FIXED, "tests/test_lists.py": "from pkg.lists import last\n"})
    recorded = {1: (buggy, fixed), 2: (buggy, NOWHERE), 3: (NOWHERE, fixed)}
    files = {f"projects/pkg/bugs/{number}/bug.info": INFO.format(*both) for number, both in recorded.items()}
    files |= {f"projects/pkg/bugs/{number}/bug_patch.txt": PATCH for number in recorded}
    committed(bugsinpy, files)
    return bugsinpy, project


def bugs(*arguments):
    command = [sys.executable, "-m", "tests.measure.bugs", *map(str, arguments)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_study_is_made_and_judged(clones, tmp_path):
    bugsinpy, project = clones
    file = tmp_path / "bugs.jsonl"
    assert bugs("make", file, bugsinpy, f"pkg={project}") == "pkg: 3 bugs, 3 changes\n"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"pkg-{number}:pkg/lists.py:last" for number in (1, 2, 3)]
    assert {(row["old_module"], row["new_module"]) for row in rows} == {(BUGGY, FIXED)}
    said = bugs("judge", file, "--context", "module", "--same-packages", "--check").split("\n")
    assert "context module: 3 bugs, 3 changes" in said
    shown = "shown 3/3 (100.0%), with observable evidence 3/3 (100.0%)"
    held = "reproducers hold 3/3 changing verdicts (100.0%) and 3/3 that are offered"
    assert f"  pkg       {shown}, {held}" in said
