"""What the documents show is what happens, and the files that they name exist. The reference has a test of its own."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import twincell

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


#: The parts of the guide that a reader would try: their language and their content.
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
#: A command and what it prints.
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: The project of the guide, before the change that the guide shows.
PRICES = """\
DISCOUNT = 10


def price(cost, discount=None):
    discount = DISCOUNT if discount is None else discount
    return cost * (100 - discount) / 100


def total(items):
    return sum([item.cost for item in items])
"""
TESTS = """\
from prices import price


def test_price():
    assert price(20) == 18
    assert price(20, discount=0) > 0
"""


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """The project before its last commit, and the environment of somebody who installed twincell."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("prices.py").write_text(PRICES, encoding="utf-8")
    Path("test_prices.py").write_text(TESTS, encoding="utf-8")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("HOME", str(tmp_path))
    # Some plugins that are installed here take seconds to import.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for role in ["AUTHOR", "COMMITTER"]:
        monkeypatch.setenv(f"GIT_{role}_NAME", "Reader")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "reader@example.com")
    subprocess.run(["git", "init", "-q"], check=True)
    commit()


def commit():
    """Commits all files of the current folder."""
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "commit", "-qm", "A step"], check=True)


def output_of(command, **options):
    """What a command prints, without spaces at the ends of lines and with plain ones elsewhere."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options)
    return "".join(line.replace("\xa0", " ").rstrip() + "\n" for line in done.stdout.splitlines())


def output_of_cell(cell):
    """What a cell with a magic of twincell prints in IPython."""
    options = ["--no-banner", "--colors=NoColor", "--ext", "twincell", "-c", cell]
    return re.sub(r"^Out\[\d+\]: *\n", "", output_of([sys.executable, "-m", "IPython", *options]))


#: Numbers that say how long the search took and how it went, which no reader relies on.
OF_THE_SEARCH = re.compile(r"\d+(?= executions| others| % likely| tried)|(?<=execution )\d+")


def assert_prints(source, shown, printed):
    """`...` in the guide stands for anything."""
    shown, printed = (OF_THE_SEARCH.sub("N", text) for text in (shown, printed))
    if not doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
        pytest.fail(f"The guide shows\n\n{shown}\nbut\n\n{source}\n\nprints\n\n{printed}", pytrace=False)


@pytest.mark.usefixtures("reader")
def test_the_guide_shows_what_its_cells_and_commands_print():
    cell = None
    for language, content in BLOCKS:
        if language == "console":
            for command, shown in COMMAND.findall(content):
                assert_prints(command, shown, output_of(command, shell=True))
        elif language == "text":
            assert_prints(cell, content, output_of_cell(cell))
        elif language == "diff":
            subprocess.run(["git", "apply"], input=content, text=True, check=True)
            commit()
        elif content.startswith("%%"):
            cell = content
        else:
            name, _, text = content.removeprefix("# ").partition("\n")
            Path(name).write_text(text, encoding="utf-8")


def test_the_guide_fits_on_a_few_pages():
    assert len(GUIDE.splitlines()) <= 200


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
        names = {}
        exec(code, names)
        assert names["twincell"] is twincell
        assert names["comparison"].verdict == "changing"
