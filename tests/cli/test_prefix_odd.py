"""`twincell prefix` on hostile and odd input: it ends, says what is wrong in one line, and harms nothing."""

from __future__ import annotations

import json

import pytest

from .test_compare import twincell


def search(folder, code, *arguments):
    """The result for a text, as JSON."""
    (folder / "odd.py").write_bytes(code if isinstance(code, bytes) else code.encode())
    done = twincell("prefix", "odd.py", "--predictor", "frequency", "--json", *arguments, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    assert "panicked" not in done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (b"x = = 1\n", "line 1"),
        (b"def f(:\n", "line 1"),
        (b"x = 1\n  y = 2\n", "line 2"),
        (b"return 1\n", "line 1"),
        (b"a\0b\n", ""),
        (b"\xff\xfe\xfa", ""),
        (b"x = " + b"(" * 5000 + b")" * 5000, ""),
        (b"if x:\n" + b"".join(b" " * depth + b"if x:\n" for depth in range(1, 300)) + b" " * 300 + b"y\n", ""),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(tmp_path, code, said):
    (tmp_path / "odd.py").write_bytes(code)
    done = twincell("prefix", "odd.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1 and said in done.stderr and "odd.py" in done.stderr, done.stderr


@pytest.mark.parametrize("code", ["", "\n\n", "# only a comment\n", '"""Only a docstring."""\n', "\ufeff\n", "pass"])
def test_nothing_to_run_is_whole(tmp_path, code):
    tree = search(tmp_path, code)
    assert tree["covered"] == tree["lines"] and tree["problem"] is None


def test_five_thousand_lines_end_with_a_result(tmp_path):
    code = "".join(f"value_{number} = source.item_{number % 7} + {number}\n" for number in range(5000))
    tree = search(tmp_path, code, "--deadline", "20")
    assert len(tree["lines"]) == 5000 and tree["nodes"]


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    n = 1\n",
        "import itertools\nfor i in itertools.count():\n    x = i\n",
        "def f():\n    f()\nf()\n",
        "x = []\nwhile True:\n    x.append('a' * 10_000_000)\n",
        "import time\ntime.sleep(10_000)\n",
        "y = 10 ** 10 ** 8\n",
        "import threading\nthreading.Event().wait()\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "import ctypes\nctypes.string_at(0)\n",
    ],
)
def test_code_that_does_not_end_by_itself_leaves_a_result(tmp_path, code):
    tree = search(tmp_path, code, "--deadline", "6", "--timeout", "1", "--memory", "256")
    assert tree["nodes"] and set(tree["covered"]) <= set(tree["lines"])


def test_code_that_exits_in_the_middle_goes_on_where_a_call_leaves(tmp_path):
    for leave in ("exit()", "import sys; sys.exit(3)", "raise SystemExit", "quit(1)"):
        tree = search(tmp_path, f"x = 1\n{leave}\ny = missing\n")
        assert 1 in tree["covered"] and (3 in tree["covered"]) == ("raise" not in leave), leave


def test_code_that_exits_on_a_condition_does_exit(tmp_path):
    tree = search(tmp_path, "def leave():\n    exit()\n    x = 1\nif 1 + 1 == 2:\n    leave()\ny = 2\n")
    assert {3, 6}.isdisjoint(tree["covered"])


def test_code_that_deletes_and_writes_files_finds_none_of_the_users(tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    code = (
        "import os, pathlib, shutil, subprocess, sys\n"
        f"for act in (lambda: os.remove({str(victim)!r}), lambda: shutil.rmtree({str(tmp_path)!r}),\n"
        f"            lambda: pathlib.Path({str(victim)!r}).write_text('theirs'),\n"
        f"            lambda: subprocess.run(['rm', '-rf', {str(tmp_path)!r}])):\n"
        "    try:\n        act()\n    except BaseException:\n        missing += 1\n"
    )
    tree = search(tmp_path, code)
    assert tree["nodes"] and victim.read_text() == "mine"


def test_code_that_reaches_for_the_worker_does_not_forge_a_result(tmp_path):
    code = (
        "import os, sys\n"
        "for number in range(3, 64):\n    try:\n        os.write(number, b'forged' * 100)\n"
        "    except OSError:\n        pass\n"
        "sys.settrace(None)\nsys.modules.clear()\nnot_reached = missing.thing\n"
    )
    tree = search(tmp_path, code)
    assert set(tree["covered"]) <= set(tree["lines"])


def test_control_characters_of_code_never_reach_the_terminal(tmp_path):
    (tmp_path / "odd.py").write_text("raise ValueError(name + '\\x1b[2J\\u202e')\n")
    done = twincell("prefix", "odd.py", "--predictor", "frequency", cwd=tmp_path)
    assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr


def test_lines_end_in_any_way(tmp_path):
    for end in (b"\r\n", b"\r"):
        assert search(tmp_path, b"x = missing" + end + b"y = x" + end)["lines"] == [1, 2]


def test_parts_of_a_search_can_be_left_out(tmp_path):
    code = (
        "if item.code == 'x-77':\n    a = item.b + 1\n"
        "elif len(item.name) > 30 and item.size == 12345:\n    b.c\n"
        "else:\n    c = nowhere.go(item)\n"
    )
    steps = lambda *arguments: {node["guidance"] for node in search(tmp_path, code, *arguments)["nodes"]}  # noqa: E731
    assert steps() == {"undefinedness", "error", "coverage"}
    assert "coverage" not in steps("--disable", "coverage") and "error" not in steps("--disable", "errors")
    assert steps("--disable", "errors,coverage", "--disable", "solver") == {"undefinedness"}


def test_an_old_spelling_works_and_says_what_to_write(tmp_path):
    (tmp_path / "odd.py").write_text("x = missing\n")
    done = twincell("prefix", "odd.py", "--predictor", "uniform", "--skip", "errors", "--rounds", "0", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == [
        " --skip is the old spelling of --disable errors",
        " --rounds is the old spelling of --budget 0",
    ]
    assert "--skip" not in twincell("prefix", "--help", cwd=tmp_path).stdout
    both = twincell("prefix", "odd.py", "--rounds", "1", "--budget", "1", cwd=tmp_path)
    assert (both.returncode, both.stderr.count("\n")) == (3, 1)


def test_an_unknown_technique_is_answered_with_the_known_ones(tmp_path):
    done = twincell("prefix", "odd.py", "--disable", "luck", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        3,
        "twincell: --disable cannot be 'luck': give some of errors, coverage, solver, with commas\n",
    )


def test_lines_without_a_run_are_told_as_ranges(tmp_path):
    """A long text that ends early would else fill a terminal with numbers."""
    (tmp_path / "odd.py").write_text(
        "x = 1\nraise ValueError\n" + "\n".join(f"y{number} = 1" for number in range(1200))
    )
    done = twincell("prefix", "odd.py", "--predictor", "frequency", cwd=tmp_path)
    assert done.stdout.splitlines()[0].startswith("# 2 of 1,202 lines run"), done.stdout
    assert "# not reached: lines 3-1202\n" in done.stdout


def test_what_runs_as_it_is_counts_also_where_names_are_known(tmp_path):
    """Text whose first prefix has an import is run without it, too."""
    rows = tmp_path / "rows.jsonl"
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets" / "one.py").write_text("import os\nz = 1\nsys.exit(z)\n")
    done = twincell("prefix", "--study", str(rows), "--predictor", "frequency", "snippets", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    row = json.loads(rows.read_text())
    assert (round(row["as_is"], 2), row["error_before"], row["coverage"]) == (0.67, "NameError", 1.0)


@pytest.mark.parametrize(
    "code",
    [
        "class A(Base):\n    formats = Base.formats + ('pdf',)\nprint(A.formats)\n",
        "import asyncio\nasync def main():\n    async for row in rows(1):\n        print(row)\nasyncio.run(main())\n",
        "try:\n    link = db.connect(DSN)\nexcept db.OperationalError:\n    print('down')\nelse:\n    link.close()\n",
        "import asyncio\nasync def main():\n    print([row.name async for row in rows][0])\nasyncio.run(main())\n",
    ],
)
def test_missing_things_have_what_classes_loops_and_handlers_expect_of_them(tmp_path, code):
    tree = search(tmp_path, code)
    assert tree["covered"] == tree["lines"]
