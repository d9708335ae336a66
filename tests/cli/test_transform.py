"""`twincell study FOLDER --transform COMMAND`: what a tool makes of real files."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import twincell

from ..command import run_here

MODULE = '''\
"""A module."""

import os


class Shelf:
    @property
    def empty(self):
        # ruff takes this comparison for another one.
        if self.books == None:
            return True
        return len(self.books) == 0

    def same(self):
        return self.books


def first(books):
    if not "x" in books:
        return None
    return books[0]


def untouched(books):
    return books
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for name in ["a.py", "deep/b.py", ".hidden/c.py"]:
        (folder / name).write_text(MODULE)
    (folder / "plain.py").write_text("def f():\n    return 1\n")
    return folder


def transform(folder: Path, command: str, *options: str) -> subprocess.CompletedProcess[str]:
    out = folder.parent / "out.jsonl"
    arguments = ["study", str(folder), "--transform", command, "--out", str(out), "--budget", "60", *options]
    return run_here(
        [sys.executable, "-m", "twincell", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder.parent,
    )


def rows(folder: Path, command: str) -> list[dict[str, Any]]:
    done = transform(folder, command)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder.parent / "out.jsonl").read_text().splitlines()]


def script(folder: Path, text: str) -> str:
    """A tool of the user's own."""
    path = folder.parent / "tool.py"
    path.write_text("import pathlib, sys\n" + text)
    return f"{sys.executable} {path}"


def test_functions_that_ruff_changes_are_compared(folder):
    found = rows(folder, f"{sys.executable} -m ruff check --fix --unsafe-fixes -q --select E711,E713 {{}}")
    assert [row["id"] for row in found] == [
        "a.py:Shelf.empty",
        "a.py:first",
        "deep/b.py:Shelf.empty",
        "deep/b.py:first",
    ]
    verdicts = {row["id"]: row["verdict"] for row in found}
    assert verdicts["a.py:first"] == "likely_preserving"
    assert [row["function"] for row in found[:2]] == ["Shelf.empty", "first"]
    assert {row["project"] for row in found} == {"library"}
    # The files themselves are as they were.
    assert (folder / "a.py").read_text() == MODULE and (folder / "deep/b.py").read_text() == MODULE


def test_a_batch_is_one_process_unless_the_file_stands_in_a_word(folder):
    for number in range(250):
        (folder / f"more{number}.py").write_text("def f():\n    return 1\n")
    log = folder.parent / "log"
    tool = script(folder, f"open({str(log)!r}, 'a').write(f'{{len(sys.argv) - 1}}\\n')\n")
    assert rows(folder, tool) == []
    assert log.read_text().split() == ["200", "53"]
    for file in folder.glob("more*.py"):
        file.unlink()
    log.unlink()
    assert rows(folder, f"{tool} --file={{}}") == []
    assert log.read_text().split() == ["1"] * 3


def test_the_settings_of_the_folder_count(folder):
    (folder / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["E713"]\n')
    found = rows(folder, f"{sys.executable} -m ruff check --fix -q")
    assert [row["function"] for row in found] == ["first", "first"]


def test_what_is_no_python_any_more_is_told(folder):
    tool = script(folder, "for name in sys.argv[1:]:\n    pathlib.Path(name).write_text('def f(:')\n")
    done = transform(folder, tool)
    assert done.returncode == 3 and "none of the 3 rows is a change; the first: what the command made" in done.stderr
    found = [json.loads(line) for line in (folder.parent / "out.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in found] == ["inconclusive"] * 3
    assert found[0]["reason"].startswith("what the command made of a.py is not valid Python: line 1")


def test_one_file_that_the_command_cannot_take_does_not_cost_the_others(folder):
    tool = script(
        folder,
        "if any('deep' in name for name in sys.argv):\n"
        "    print('cannot')\n"
        "    sys.exit(3)\n"
        "for name in sys.argv[1:]:\n"
        "    path = pathlib.Path(name)\n"
        "    path.write_text(path.read_text().replace('books[0]', 'books[1]'))\n",
    )
    found = rows(folder, tool)
    assert [(row["id"], row["verdict"]) for row in found] == [
        ("a.py:first", "changing"),
        ("deep/b.py", "inconclusive"),
    ]
    assert found[1]["reason"] == "deep/b.py: the command ended with status 3: cannot"


def test_names_are_no_options_and_what_is_said_without_a_change_is_told(folder):
    (folder / "--config=x.py").write_text(MODULE)
    tool = script(folder, "print(*sys.argv[1:])\nsys.exit(1)\n")
    done = transform(folder, tool)
    assert done.returncode == 0
    said = "twincell: the command changed nothing and ended with status 1: ./--config=x.py a.py deep/b.py plain.py"
    assert said in done.stderr


def test_a_command_that_cannot_work_is_an_error(folder):
    tool = script(folder, "print('first')\nprint('no such option')\nsys.exit(2)\n")
    for command, expected in [
        (tool, "twincell: the command ended with status 2: first / no such option (it ran on copies"),
        ("no-such-tool {}", "the command no-such-tool cannot be run: No such file or directory"),
        ("ruff 'check", "a quote is not closed"),
        ("", "the command is empty: give one"),
    ]:
        done = transform(folder, command)
        assert done.returncode == 3, command
        assert expected in done.stderr, done.stderr


def test_the_library_gives_dictionaries_and_says_what_failed(folder):
    tool = script(
        folder,
        "for name in sys.argv[1:]:\n"
        "    path = pathlib.Path(name)\n"
        "    if 'deep' in name:\n"
        "        path.write_text('def f(:')\n"
        "    else:\n"
        "        path.write_text(path.read_text().replace('books[0]', 'books[1]'))\n",
    )
    changes = twincell.transform(folder, tool)
    [change] = changes
    assert (change["id"], change["function"], change["project"]) == ("a.py:first", "first", "library")
    assert change["new"] == change["old"].replace("books[0]", "books[1]")
    [failed] = changes.failed
    assert failed["id"] == "deep/b.py" and failed["reason"].startswith(
        "what the command made of deep/b.py is not valid Python"
    )
    study = twincell.study(twincell.transform(folder, tool), budget=60, progress=False)
    assert [(row["id"], row["verdict"]) for row in study] == [("a.py:first", "changing"), ("deep/b.py", "inconclusive")]
    for arguments, expected in [
        ((folder, "no-such-tool"), "the command no-such-tool cannot be run"),
        ((folder, "ruff 'check"), "a quote is not closed"),
        ((folder / "nowhere", "ruff"), "cannot read .*nowhere: No such file"),
    ]:
        with pytest.raises(twincell.TwincellError, match=expected):
            list(twincell.transform(*arguments))


def test_paths_are_those_of_the_folder_that_one_is_in(folder):
    script(
        folder,
        "for name in sys.argv[2:]:\n    path = pathlib.Path(name)\n"
        "    path.write_text(path.read_text().replace('1', pathlib.Path(sys.argv[1]).read_text()))\n",
    )
    (folder.parent / "settings.txt").write_text("2")
    [row] = rows(folder, f"{sys.executable} tool.py settings.txt")
    assert (row["id"], row["verdict"], row["reason"]) == ("plain.py:f", "changing", "f(): 1 -> 2")
    # What is named is a copy, too.
    assert [row["id"] for row in rows(folder, "sed -i s/1/3/ library/plain.py")] == ["plain.py:f"]
    assert (folder / "plain.py").read_text() == "def f():\n    return 1\n"


def test_what_changed_beside_functions_is_compared_and_what_is_not_is_told(folder):
    (folder / "a.py").write_text(
        "import os\n\nLIMIT = 10\n\n\nclass P:\n    size = 3\n\n\ndef f(x):\n    return x + LIMIT\n\n\n"
        "def g(x):\n    return P.size\n\n\ndef gone(x):\n    return x\n"
    )
    (folder / "deep" / "b.py").write_text("import os\n\n\ndef same(x):\n    return x\n")
    edits = "s/10/20/; s/size = 3/size = 4/; s/def gone/def new/; s/^import os/import sys/"
    found = rows(folder, f"sed -i '{edits}'")
    assert [row["id"] for row in found] == ["a.py:gone", "a.py:P", "a.py:the snippet"]
    assert {row["verdict"] for row in found[1:]} == {"changing"}
    assert found[0]["reason"] == "the command removed a.py:gone"
    output = transform(folder, f"sed -i '{edits}'").stdout
    assert "the command was given 3 files and changed 2, 1 of them only where nothing is compared" in output
    output = transform(folder, "true").stdout
    assert "the command was given 3 files and changed none" in output


def test_a_file_that_is_no_python_is_refused(folder):
    notes = folder / "notes.jsonl"
    notes.write_text("{}\n")
    done = transform(notes, "true")
    assert (done.returncode, "notes.jsonl is not a Python file: give one" in done.stderr) == (3, True)


def test_other_programs_get_the_name_the_line_the_values_and_a_test(folder):
    options = ["--sarif", "x.sarif", "--junit", "x.xml", "--markdown", "x.md"]
    done = transform(folder, "sed -i 's/books.0./books[1]/'", *options)
    assert done.returncode == 0, done.stderr
    results = json.loads((folder.parent / "x.sarif").read_text())["runs"][0]["results"]
    [place, _] = [result["locations"][0] for result in results]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a.py"
    assert place["physicalLocation"]["region"]["startLine"] == 1 + MODULE.splitlines().index("    return books[0]")
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "first"
    assert "first(books=" in results[0]["message"]["text"]
    text = (folder.parent / "x.md").read_text()
    assert "`first` a.py:" in text and "def test_first" in text and "<code>a.py::first</code>" in text
    assert "changing: a.py:first: first(books=" in done.stdout
    assert "def test_first" in (folder.parent / "x.xml").read_text()
