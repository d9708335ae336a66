"""The page of figures: its commands exist, and `make figures` knows its marked regions."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measure import figures
from tests.measure.figures import CHANGES, MEASUREMENTS, Row, regions, with_measured, with_rows

ROOT = Path(__file__).parents[2]
PAGE = figures.PAGE.read_text(encoding="utf-8")
LAB = sorted((ROOT / "docs" / "lab").glob("*.md"))
COMMANDS = sorted(set(re.findall(r"^\|.*\| `([^`]+)` \|$", PAGE, re.MULTILINE)))
#: Programs that come with twincell's tools and not with the repository.
INSTALLED = {"pytest", "twincell"}


def is_module(name):
    path = ROOT.joinpath(*name.split("."))
    return name in INSTALLED or path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


def missing(command):
    """What a command names that the repository does not have."""
    program, *words = shlex.split(command.removeprefix("time "))
    lacks = [word for word in words if word.startswith(("tests/", "notebooks/")) and not (ROOT / word).exists()]
    if program == "python" and words[0] == "-m":
        lacks += [] if is_module(words[1]) else [words[1]]
    elif program == "python":
        lacks += [] if (ROOT / words[0]).is_file() else [words[0]]
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        lacks += [] if words[0] in targets else [words[0]]
    elif program == "cargo":
        lacks += [] if is_bench(words) else [command]
    elif program != "twincell":
        lacks += [program]
    return lacks


def is_bench(words):
    """Whether `cargo bench -p CRATE [--bench NAME]` names a crate of the workspace and one of its benchmarks."""
    crate, *name = (words[at + 1] for at, word in enumerate(words) if word in ("-p", "--bench"))
    for manifest in [*ROOT.glob("*/Cargo.toml"), *ROOT.glob("core/*/Cargo.toml")]:
        if f'name = "{crate}"' in manifest.read_text(encoding="utf-8"):
            return all((manifest.parent / "benches" / f"{bench}.rs").is_file() for bench in name)
    return False


def test_the_page_has_a_command_in_every_row():
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("| figure |", "|---"))]
    assert len(rows) > 50
    assert [row for row in rows if not re.search(r"\| `[^`]+` \|$", row) or row.count(" | ") < 3] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_names_what_exists(command):
    assert missing(command) == []


def test_a_command_that_names_nothing_is_noticed():
    commands = ["python -m tests.measure.nothing", "python tests/nothing.py", "make nothing", "cargo bench -p nothing"]
    assert all(map(missing, commands))
    assert missing("python -m pytest tests/nothing.py") == ["tests/nothing.py"]


def test_subcommands_of_the_page_are_known():
    pytest.importorskip("twincell")
    told = subprocess.run([sys.executable, "-m", "twincell", "--help"], capture_output=True, text=True, check=True)
    known = set(re.findall(r"^  ([a-z]+) ", told.stdout, re.MULTILINE))
    assert {command for text in COMMANDS for command in re.findall(r"^(?:time )?twincell ([a-z]+)", text)} <= known


def test_every_marked_region_is_one_that_make_figures_knows():
    assert set(regions(PAGE)) == {measurement.region for measurement in MEASUREMENTS}
    assert PAGE.count("<!-- figures: ") == PAGE.count("<!-- end -->") == len(regions(PAGE))


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda measurement: measurement.name)
def test_a_measurement_has_rows_in_its_region(measurement):
    assert f"| `{measurement.command}` |" in regions(PAGE)[measurement.region]
    assert missing(measurement.command.replace(CHANGES, "")) == []


def test_rows_of_a_command_replace_those_that_it_had():
    table = "| figure |\n|---|\n| a | `x` |\n| b | `x` |\n| c | `y` |"
    assert with_rows(table, "x", ["| d | `x` |"]) == "| figure |\n|---|\n| d | `x` |\n| c | `y` |"
    with pytest.raises(ValueError, match="no row of the page has the command z"):
        with_rows(table, "z", [])


def test_a_measurement_changes_its_own_rows_only():
    mining = next(measurement for measurement in MEASUREMENTS if measurement.name == "mining")
    page = with_measured(PAGE, mining, [Row("commits a second", "7")], "today")
    assert "| commits a second | 7 | | today | `python -m tests.measure.history 5000` |" in page
    others = [line for line in page.splitlines() if mining.command not in line]
    assert others == [line for line in PAGE.splitlines() if mining.command not in line]


def test_the_lab_diary_lists_its_pages():
    listed = re.findall(r"\]\((2[^)]+)\)", (ROOT / "docs" / "lab" / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [page.name for page in LAB if page.name != "README.md"]
