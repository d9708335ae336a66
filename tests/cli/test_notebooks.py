"""`twincell compare` of notebooks: two files, and what changed in a repository."""

import json
from pathlib import Path
from typing import Any

import pytest
import twincell as library

from tests.cli.test_compare import twincell
from tests.cli.test_repository import repository

LOAD = "import math\nRATES = {'food': 0.5, 'other': 1}\n\ndef rate(kind):\n    return RATES.get(kind, 1)\n"
PRICE = "def price(kind: str, cost: int):\n    return cost + cost * rate(kind)\n"
SAME = "def price(kind: str, cost: int):\n    return cost * (1 + rate(kind))\n"
OTHER = "def price(kind: str, cost: int):\n    return cost - cost * rate(kind)\n"
TEXT = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Prices"]}


def notebook(*cells: str | dict[str, Any], ids: bool = True, output: str = "") -> str:
    outputs = [{"output_type": "stream", "name": "stdout", "text": [output]}] if output else []
    made = []
    for number, cell in enumerate(cells):
        if isinstance(cell, str):
            cell = {"cell_type": "code", "metadata": {"seen": output}, "outputs": outputs, "source": cell}
            cell["execution_count"] = len(output)
            if ids:
                cell["id"] = f"cell{number}"
        made.append(cell)
    return json.dumps({"nbformat": 4, "nbformat_minor": 5 if ids else 4, "metadata": {}, "cells": made}, indent=1)


def report(tmp_path: Path, old: str, new: str, *arguments: str) -> dict[str, Any]:
    (tmp_path / "old.ipynb").write_text(old)
    (tmp_path / "new.ipynb").write_text(new)
    done = twincell("compare", "old.ipynb", "new.ipynb", "--json", *arguments, cwd=tmp_path)
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def pairs(comparison: dict[str, Any]) -> dict[tuple[int, str], str]:
    return {(pair["cell"]["new"], pair["new"]["qualname"]): pair["verdict"] for pair in comparison["pairs"]}


def test_a_cell_runs_after_the_earlier_cells_of_its_version(tmp_path: Path) -> None:
    old, load = notebook(TEXT, LOAD, PRICE), LOAD.replace("RATES.get(kind, 1)", "RATES.get(kind, RATES['other'])")
    found = report(tmp_path, old, notebook(TEXT, load, SAME))
    assert pairs(found) == {(2, "rate"): "likely_preserving", (3, "price"): "likely_preserving"}
    found = report(tmp_path, old, notebook(TEXT, LOAD, OTHER))
    assert pairs(found) == {(3, "price"): "changing"}
    assert found["sentence"].startswith("In cell 3: price(")
    assert found["pairs"][0]["new"]["first_line"] == 1
    assert found["pairs"][0]["reproducer"]["holds"]


def test_a_cell_that_stayed_the_same_counts_where_it_uses_what_changed(tmp_path: Path) -> None:
    use = "def unrelated(x: int):\n    return x + 1\n"
    found = report(tmp_path, notebook(LOAD, PRICE, use), notebook(LOAD.replace("0.5", "0.25"), PRICE, use))
    assert pairs(found) == {(1, "rate"): "changing", (1, "the snippet"): "changing", (2, "price"): "changing"}
    assert found["verdict"] == "changing"


@pytest.mark.parametrize("ids", [True, False])
def test_cells_are_matched_wherever_they_stand(tmp_path: Path, ids: bool) -> None:
    first = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "import os\nprint(os.sep)\n"}
    old = notebook(LOAD, PRICE, ids=ids)
    new = json.loads(notebook(LOAD, OTHER, ids=ids))
    new["cells"].insert(0, {**first, "id": "new"} if ids else first)
    found = report(tmp_path, old, json.dumps(new))
    assert pairs(found) == {(3, "price"): "changing"}
    assert found["pairs"][0]["cell"] == {"old": 2, "new": 3}
    assert (found["added"], found["removed"]) == (["cell 1"], [])
    found = report(tmp_path, json.dumps(new), old)
    assert (found["added"], found["removed"]) == ([], ["cell 1"])


def test_outputs_and_metadata_are_no_change(tmp_path: Path) -> None:
    found = report(tmp_path, notebook(LOAD, PRICE), notebook(LOAD, PRICE, output="1" * 100))
    assert set(pairs(found).values()) == {"identical"}
    assert found["verdict"] == "identical"


def test_statements_and_magics_of_a_cell_are_compared(tmp_path: Path) -> None:
    old = notebook(LOAD, "%matplotlib inline\ntotal = 2 * rate('food')\n", "%%bash\nls\n", "%%time\ntotal + 1\n")
    new = notebook(LOAD, "%matplotlib inline\ntotal = 3 * rate('food')\n", "%%bash\nls -l\n", "%%time\ntotal + 1\n")
    found = report(tmp_path, old, new)
    assert pairs(found)[2, "the snippet"] == "changing"
    assert (3, "the snippet") not in pairs(found)
    assert any("magics and shell commands count as calls" in note for note in found["pairs"][0]["notes"])


def test_text_names_the_cell_and_its_lines(tmp_path: Path) -> None:
    for name, cell in (("old", PRICE), ("new", OTHER)):
        (tmp_path / f"{name}.ipynb").write_text(notebook(TEXT, LOAD, "\n\n" + cell, cell.replace("price", "again")))
    done = twincell("compare", "old.ipynb", "new.ipynb", "--sarif", "out.sarif", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("new.ipynb, cell 3, line 4  ≠ changing  price("), done.stdout
    assert "\nnew.ipynb, cell 4, line 2  ≠ changing  again(" in done.stdout, done.stdout
    done = twincell("compare", "old.ipynb", "new.ipynb", "--verbose", cwd=tmp_path)
    assert "Behavior changed in 2 of 2 parts of the cells: price (cell 3), again (cell 4)." in done.stdout
    assert " 4" in next(line for line in done.stdout.splitlines() if "cost - cost" in line)
    (result, _) = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_a_cell_that_is_no_python_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    old, new = notebook(LOAD, PRICE, "x = 1\n"), notebook(LOAD, SAME, "x = = 1\n")
    found = report(tmp_path, old, new)
    assert pairs(found) == {(2, "price"): "likely_preserving"}
    assert found["verdict"] == "inconclusive"
    assert any(
        note.startswith("cell 3 was not compared: new.ipynb, cell 3 is not valid Python: line 1, column 5")
        for note in found["pairs"][0]["notes"]
    )


@pytest.mark.parametrize(
    "old, expected",
    [
        ("{", "old.ipynb: it is not a notebook: "),
        ('{"nbformat": 3, "worksheets": []}', "old.ipynb: its format is 3, and only 4 is read"),
        ('{"nbformat": 4, "cells": []}', "the notebooks old.ipynb and new.ipynb have no code in common"),
        ("[" * 100_000, "old.ipynb: it is not a notebook: "),
        (notebook("x = " + "(" * 5000), "old.ipynb, cell 1 cannot be read"),
    ],
    ids=["no JSON", "an old format", "no cells", "depth", "a deep cell"],
)
def test_what_cannot_be_compared_is_one_line(tmp_path: Path, old: str, expected: str) -> None:
    (tmp_path / "old.ipynb").write_text(old)
    (tmp_path / "new.ipynb").write_text(notebook(LOAD))
    done = twincell("compare", "old.ipynb", "new.ipynb", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and expected in done.stderr, done.stderr


def test_a_notebook_and_a_file_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook(LOAD))
    (tmp_path / "a.py").write_text(LOAD)
    done = twincell("compare", "a.py", "a.ipynb", cwd=tmp_path)
    assert done.stderr == "twincell: a.ipynb is a notebook and a.py is not: give two notebooks, or two Python files\n"


def test_git_compares_notebooks_and_goes_on_after_a_broken_one(tmp_path: Path) -> None:
    old = {"a.ipynb": notebook(LOAD, PRICE), "b.ipynb": notebook(LOAD), "c.py": PRICE}
    new = {"a.ipynb": notebook(LOAD, OTHER, output="3"), "b.ipynb": "<<<<<<< HEAD\n", "c.py": OTHER}
    folder = repository(tmp_path, old, new)
    done = twincell("compare", "--git", "HEAD~1..HEAD", "--json", cwd=folder)
    files = {file["path"]: file for file in json.loads(done.stdout)["files"]}
    assert files["a.ipynb"]["comparison"]["verdict"] == "changing"
    assert files["b.ipynb"]["error"].startswith("b.ipynb at HEAD: it is not a notebook: ")
    assert files["c.py"]["comparison"]["verdict"] == "changing"


def test_the_repository_is_there_for_notebooks(tmp_path: Path) -> None:
    tax = "def rate(kind):\n    return {'food': 0.5}.get(kind, 1)\n"
    load = "from shop.tax import rate\n"
    old = {"shop/__init__.py": "", "shop/tax.py": tax, "a.ipynb": notebook(load, PRICE)}
    folder = repository(tmp_path, old, {"a.ipynb": notebook(load, SAME)})
    done = twincell("compare", "--git", "HEAD~1..HEAD", "--json", cwd=folder)
    (pair,) = json.loads(done.stdout)["files"][0]["comparison"]["pairs"]
    assert pair["verdict"] == "likely_preserving"
    (folder / "b.ipynb").write_text(old["a.ipynb"])
    comparison = library.compare(folder / "b.ipynb", folder / "a.ipynb")
    assert comparison.verdict == "likely_preserving"
    assert "real, from the repository: shop.tax" in comparison.pairs[0]["notes"]


def test_the_library_compares_notebooks_and_repeats_executions(tmp_path: Path) -> None:
    (tmp_path / "old.ipynb").write_text(notebook(TEXT, LOAD, PRICE))
    (tmp_path / "new.ipynb").write_text(notebook(TEXT, LOAD, OTHER))
    comparison = library.compare(tmp_path / "old.ipynb", tmp_path / "new.ipynb")
    assert comparison.verdict == "changing"
    assert comparison.replay()["differs"]
    named = library.compare(tmp_path / "old.ipynb", tmp_path / "new.ipynb", function="rate")
    assert named.verdict == "identical"
    with pytest.raises(library.TwincellError, match="no function is called nothing in both"):
        library.compare(tmp_path / "old.ipynb", tmp_path / "new.ipynb", function="nothing")


def test_a_cell_of_imports_that_changed_leaves_the_others(tmp_path: Path) -> None:
    old = notebook("import math\n", PRICE)
    found = report(tmp_path, old, notebook("import math\nimport json\n", PRICE))
    assert found["verdict"] == "identical"
    assert pairs(found) == {(2, "price"): "identical"}


def test_a_cell_of_another_language_that_changed_is_named(tmp_path: Path) -> None:
    found = report(tmp_path, notebook("%%bash\nls\n", PRICE), notebook("%%bash\nrm -r build\n", PRICE))
    assert found["verdict"] == "inconclusive"
    assert found["sentence"].startswith("Not compared: cell 1. ")
    assert found["pairs"][0]["notes"] == ["cell 1 changed and was not compared: it is not Python"]


def test_only_what_is_no_python_changed(tmp_path: Path) -> None:
    found = report(tmp_path, notebook(PRICE, "x = 1\n"), notebook(PRICE, "x = = 1\n"))
    assert found["verdict"] == "inconclusive"
    assert found["sentence"].startswith("Not compared: cell 2. ")


def test_a_cell_that_awaits_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    wait = "import asyncio\nasync def load():\n    return 3\nn = await load()\n"
    use = "def price(cost: int):\n    return cost * n\n"
    found = report(tmp_path, notebook(wait, use), notebook(wait, use.replace("cost * n", "n * cost")))
    assert pairs(found) == {(2, "price"): "likely_preserving"}
    notes = [note for pair in found["pairs"] for note in pair["notes"]]
    assert not any("cannot be evaluated" in note for note in notes), notes
    found = report(tmp_path, notebook(wait, use), notebook(wait.replace("return 3", "return 4"), use))
    assert pairs(found)[2, "price"] == "changing"


@pytest.mark.parametrize("cell", ["%time n = 2 + 1\n", "print(n := 3)\n"])
def test_what_a_timed_statement_or_an_expression_binds_is_there(tmp_path: Path, cell: str) -> None:
    use = "def price(cost: int):\n    return cost * n\n"
    found = report(tmp_path, notebook(cell, use), notebook(cell, use.replace("cost * n", "n * cost")))
    assert pairs(found) == {(2, "price"): "likely_preserving"}
    changed = cell.replace("2 + 1", "2 + 2").replace("3", "4")
    assert pairs(report(tmp_path, notebook(cell, use), notebook(changed, use)))[2, "price"] == "changing"
