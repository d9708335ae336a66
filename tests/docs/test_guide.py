"""What the documents say about options, commands and files is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import twincell
from twincell._twincell import magic_flags, option_table

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(option):
    """One option as the guide's table has it."""
    allowed = f" ({option['allowed']})" if option["allowed"] else ""
    default = option["default"] or option["absent"]
    study = "yes" if "study" in option["jobs"] else ""
    name = f"--{option['name']} {option['placeholder']}".strip()
    cells = [f"`{name}`", default, option["help"] + allowed, study]
    return re.sub(" +", " ", "| " + " | ".join(cells) + " |")


def test_the_guide_has_every_option_as_the_table_has_it():
    rows = [line for line in GUIDE.splitlines() if re.match(r"\| `--[a-z-]+( [A-Z]+)?` \| .*\| (yes )?\|$", line)]
    assert rows == [row(option) for option in option_table()]


def help_of(*command):
    command = [sys.executable, "-m", "twincell", *command, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("command", ["compare", "study", "doctor"])
def test_the_guide_knows_every_flag_of_a_command(command):
    for flag in set(re.findall(r"--[a-z-]+", help_of(command))) - {"--help"}:
        assert f"`{flag}" in GUIDE or f" {flag} " in GUIDE, flag


def test_the_guide_knows_every_flag_of_the_magics():
    for flag in magic_flags("%%compare") + magic_flags("%compare") + magic_flags("%autocompare"):
        assert flag in GUIDE


def test_the_guide_knows_every_command_and_exit_status():
    commands = re.findall(r"^  ([a-z]+) ", help_of(), re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        assert f"`twincell {command} " in GUIDE or f"`twincell {command}`" in GUIDE
    said = dict(re.findall(r"(\d) ([a-z ]+?)[,.]", help_of("compare").split("Exit status:")[1]))
    assert said == dict(re.findall(r"^\| (\d) \| ([a-z ]+?) \|", GUIDE, re.MULTILINE))


@pytest.mark.parametrize("document", [README, GUIDE], ids=["README", "guide"])
def test_python_in_the_documents_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"^```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL):
        names = {}
        exec(code, names)
        assert names["twincell"] is twincell
        assert names["comparison"].verdict == "changing"
