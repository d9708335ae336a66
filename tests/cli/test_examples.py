"""Examples and recorded inputs on the command line."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.test_compare import git, twincell

from ..command import run_here

OLD = "def price(cost, rate):\n    return cost * rate\n"
NEW = "def price(cost, rate):\n    return cost * rate if cost != 7654321 else 0\n"
TEST = "from shop.price import price\n\n\ndef test_price():\n    assert price(7654321, 2) != 1\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"old.py": OLD, "new.py": NEW}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def compare(files, *options):
    return twincell("compare", "--predictor", "frequency", *options, "old.py", "new.py", cwd=files)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("calls.py", "\nprice(7654321, 2)\n"),
        ("calls.json", '{"price":\n[[7654321, 2]]}'),
        ("calls.jsonl", '\n{"function": "price", "args": [7654321], "kwargs": {"rate": 2}}\n'),
    ],
)
def test_an_example_of_a_file_is_the_witness(files, name, text):
    (files / name).write_text(text)
    done = compare(files, "--examples", name, "--json")
    assert done.returncode == 1, done.stderr
    pair = json.loads(done.stdout)["pairs"][0]
    assert pair["witness"]["example"] == {"file": {"label": name, "line": 2}}
    assert f"on the example in {name}, line 2: " in pair["sentence"]
    assert pair["reproducer"]["holds"] is True


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("calls.py", "price(1)\nprice(\n", "calls.py, line "),
        ("calls.json", '{\n"price": [1,}', "calls.json, line 2: expected value"),
        ("calls.json", "[3]", "calls.json, line 1: a call is {"),
        ("none.py", None, "cannot read none.py: No such file or directory"),
    ],
)
def test_bad_files_are_answered_in_one_line(files, name, text, said):
    if text is not None:
        (files / name).write_text(text)
    done = compare(files, "--examples", name)
    assert done.returncode == 3
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_policy_names_no_examples(files):
    (files / "twincell.toml").write_text('examples = "calls.py"\n')
    done = compare(files)
    assert done.returncode == 3 and "examples" in done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a test that passes the one telling value."""
    for folder in ("shop", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "shop/__init__.py").write_text("")
    (tmp_path / "shop/price.py").write_text(OLD)
    (tmp_path / "tests/test_price.py").write_text(TEST)
    (tmp_path / "conftest.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "shop/price.py").write_text(NEW)
    return tmp_path


def record(project, *command, **environment):
    arguments = [sys.executable, "-m", "twincell", "record", "--", *command]
    environment = {**os.environ, **environment}
    return run_here(arguments, cwd=project, env=environment, capture_output=True, text=True, timeout=120)


def lines(project):
    return [json.loads(line) for line in (project / "recorded.jsonl").read_text().splitlines()]


def test_a_range_names_examples_that_no_changed_file_has(project):
    (project / "calls.py").write_text("price(7654321, 2)\npirce(1, 2)\n")
    found = []
    for options in [("--json",), ()]:
        done = twincell(
            "compare", "--predictor", "frequency", "--git", "HEAD", "--examples", "calls.py", *options, cwd=project
        )
        assert done.returncode == 1, done.stderr
        found.append(done.stdout)
    said = "examples not used, since no changed file has their function: pirce"
    assert said in json.loads(found[0])["notes"]
    assert said in found[1]


def test_what_tests_pass_is_recorded_and_shows_the_change(project):
    done = record(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "recorded 1 call of 1 function in recorded.jsonl" in done.stderr
    [line] = lines(project)
    assert line["kwargs"] == {"cost": 7654321, "rate": 2} and line["file"] == "shop/price.py"
    assert line["test"] == "tests/test_price.py::test_price"
    options = ["--predictor", "frequency", "--recorded", "recorded.jsonl", "--json"]
    done = twincell("compare", *options, "--git", "HEAD", cwd=project)
    assert done.returncode == 1, done.stderr
    [file] = [file for file in json.loads(done.stdout)["files"] if file["path"] == "shop/price.py"]
    witness = file["comparison"]["pairs"][0]["witness"]
    assert witness["example"] == {"recorded": {"test": "tests/test_price.py::test_price"}}


def test_the_command_runs_as_without_twincell(project, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 1\n")
    code = "import sys, sitecustomize; print(theirs, sitecustomize.__file__); sys.exit(7)"
    done = record(project, sys.executable, "-c", code, PYTHONPATH=str(site))
    assert done.returncode == 7
    assert done.stdout == f"1 {site / 'sitecustomize.py'}\n"
    assert "nothing was recorded" in done.stderr


def test_processes_that_the_command_starts_are_recorded(project):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'from shop.price import price; price(3, 4)'])"
    record(project, sys.executable, "-c", code)
    assert [line["kwargs"] for line in lines(project)] == [{"cost": 3, "rate": 4}]


VALUES = '''
import collections, dataclasses, datetime, decimal, enum, pathlib


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Cart:
    size: int


class Box:
    def __init__(self, size):
        self.size = size


class Hidden:
    def __init__(self, size):
        self.twice = 2 * size


class Liar:
    """Tells nothing true of itself, and must not be asked."""

    def __getattribute__(self, name):
        print("asked for", name)

    __repr__ = __eq__ = __hash__ = __len__ = __iter__ = None


def show(value):
    return 1


def count(start):
    yield start
    yield start


if __name__ == "__main__":
    for value in [
        None, 1.5, float("nan"), "a\\ud800", b"\\xff", (1, [2]), {1}, {1: 2}, {"$a": 1},
        datetime.date(2024, 1, 31), decimal.Decimal("1.10"), pathlib.Path("a"),
        Color.RED, Cart(3), Box(4), Hidden(5), Liar(), print, 2**70, "x" * 10_000,
    ]:
        show(value)
    list(count(8))
'''


def test_values_are_written_as_data_and_never_asked(project):
    (project / "shop/values.py").write_text(VALUES)
    done = record(project, sys.executable, "-c", "import runpy; runpy.run_module('shop.values', run_name='__main__')")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    written = [line["kwargs"]["value"] for line in lines(project) if line["function"] == "show"]
    assert written == [
        None,
        1.5,
        {"$float": "nan"},
        {"$bytes": "\xff"},
        {"$tuple": [1, [2]]},
        {"$set": [1]},
        {"$dict": [[1, 2]]},
        {"$dict": [["$a", 1]]},
        {"$call": "datetime.date", "args": [2024, 1, 31]},
        {"$call": "decimal.Decimal", "args": ["1.10"]},
        {"$call": "pathlib.Path", "args": ["a"]},
        {"$name": "Color.RED"},
        {"$call": "Cart", "args": [], "kwargs": {"size": 3}},
        {"$call": "Box", "args": [], "kwargs": {"size": 4}},
    ]
    assert [line["kwargs"] for line in lines(project) if line["function"] == "count"] == [{"start": 8}]


def test_calls_of_one_function_are_bounded(project):
    code = "from shop.price import price\nfor cost in range(1000): price(cost, 1); price(cost, 1)"
    record(project, sys.executable, "-c", code)
    assert len(lines(project)) == 20


@pytest.mark.parametrize(
    ("command", "said"),
    [(["no-such-command"], "cannot run no-such-command: No such file or directory"), ([], "required")],
)
def test_a_command_that_cannot_run_is_named(project, command, said):
    done = record(project, *command)
    assert done.returncode == 3 and said in done.stderr
