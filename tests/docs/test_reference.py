"""The reference says all of the options, commands, exit statuses and fields."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
import twincell
from twincell._study import COLUMNS, PREFIX_COLUMNS
from twincell._twincell import magic_flags, option_table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "reference").glob("*.md"))
REFERENCE = "".join(page.read_text(encoding="utf-8") for page in PAGES)


def load_generate():
    """The script of `make reference`, which is part of no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = load_generate()
COMMANDS = generate.commands()


@pytest.mark.parametrize("document", generate.DOCUMENTS, ids=lambda path: path.name)
def test_generated_tables_are_those_of_the_program(document):
    stored = document.read_text(encoding="utf-8")
    assert stored == generate.generated(stored), f"{document.relative_to(ROOT)}: run make reference"


def test_every_generated_table_has_rows():
    for document in generate.DOCUMENTS:
        for subject, content in generate.REGION.findall(document.read_text(encoding="utf-8")):
            assert content.count("\n| ") >= 3, subject


def test_the_reference_has_every_option():
    table = generate.options()
    assert table in REFERENCE
    for option in option_table():
        assert f"`--{option['name']}" in table
        assert option["help"] in table


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_has_every_flag_of_a_command(command):
    flags = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", generate.help_of(command), re.MULTILINE)) - {"--help"}
    assert flags
    assert not [flag for flag in flags if not re.search(rf"`{flag}[ `]", REFERENCE)]


@pytest.mark.parametrize("magic", generate.MAGICS)
def test_the_reference_has_every_flag_of_the_magics(magic):
    flags = magic_flags(magic)
    assert flags
    assert not [flag for flag in flags if not re.search(rf"`{flag}[ `]", REFERENCE)]


def test_the_reference_has_every_command():
    assert {"compare", "amplify", "prefix", "study", "doctor"} <= set(COMMANDS)
    for command in COMMANDS:
        assert f"`twincell {command} " in REFERENCE or f"`twincell {command}`" in REFERENCE
        assert f"<!-- generated: arguments of {command} -->" in REFERENCE


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_has_every_exit_status(command):
    """Every number after `Exit status` has a cell of its own, and every word of the help is in one."""
    said = " ".join(generate.help_of(command).split()).split("Exit status: ")[1]
    (row,) = re.findall(rf"^\| `{command}` \|(.*)\|$", generate.exit_statuses(), re.MULTILINE)
    cells = dict(zip(generate.STATUSES, [cell.strip() for cell in row.split("|")], strict=True))
    for status in re.findall(r"(?<![\d.])(\d+) \w", said.split(" --fail-on turns")[0]):
        assert cells[status]
        assert f"{status} {cells[status]}" in said


def test_rows_of_studies_have_the_fields_of_the_tables():
    """The types of the library, from which the tables come, name the columns that frames have."""
    for name, columns in [("Finding", COLUMNS), ("PrefixRow", PREFIX_COLUMNS)]:
        assert field_names(name) == columns


def test_results_have_the_fields_of_the_tables(tmp_path):
    comparison = twincell.compare("def f(a):\n    return a or 1\n", "def f(a):\n    return a\n")
    assert list(comparison.evidence[0]) == field_names("Evidence")
    assert list(twincell.predict("def f(a):\n    return a or 1\n")[0]) == field_names("Prediction")
    assert list(twincell.predict("def f(a):\n    return a\n\ndef g(:\n").errors[0]) == field_names("WrongPlace")
    tree = twincell.prefix("print(a)\n", budget=0).to_dict()
    assert list(tree) == field_names("PrefixTree")
    assert list(tree["nodes"][0]) == field_names("PrefixNode")
    changes = tmp_path / "changes.jsonl"
    changes.write_text(json.dumps({"old": "def f(): return 1", "new": "def f(): return 2"}) + "\n")
    assert list(twincell.study(changes, progress=False).rows[0]) == field_names("Finding")


def field_names(name):
    """The fields that the table of a result lists."""
    return re.findall(r"^\| `(\w+)` \|", generate.fields(name), re.MULTILINE)


def test_the_index_names_every_page():
    index = (DOCS / "reference" / "README.md").read_text(encoding="utf-8")
    assert all(f"]({page.name})" in index for page in PAGES if page.name != "README.md")


def test_python_in_the_reference_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)
    assert blocks
    for code in blocks:
        names = {}
        exec(code, names)
        assert names["comparison"].verdict == "changing"


def test_the_script_writes_only_what_is_out_of_date(tmp_path, monkeypatch, capsys):
    stale = "# A page\n\n<!-- generated: magics -->\nold\n<!-- end -->\n\nText.\n"
    pages = [tmp_path / "docs" / name for name in ["stale.md", "fresh.md"]]
    pages[0].parent.mkdir()
    pages[0].write_text(stale, encoding="utf-8")
    pages[1].write_text(generate.generated(stale), encoding="utf-8")
    monkeypatch.setattr(generate, "FOLDER", tmp_path / "docs")
    monkeypatch.setattr(generate, "DOCUMENTS", pages)
    generate.main()
    assert capsys.readouterr().out == "docs/stale.md\n"
    assert pages[0].read_text(encoding="utf-8") == pages[1].read_text(encoding="utf-8") != stale
    assert generate.magics() in pages[0].read_text(encoding="utf-8")
