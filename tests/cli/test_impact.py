"""`twincell impact`: which statements a change may reach, as a user asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..command import run_here
from ..history import commit, git

TAX = {"tax.py": "def rate():\n    return 20\n"}
SHOP = {
    "shop.py": "from tax import rate\n\n\ndef price(net):\n    tax = rate()\n    return net + net * tax / 100\n",
    "other.py": "def other():\n    return 1\n",
}

#: A function that two texts can say, and what calls it.
RATE = "def rate(item):\n    if item is None:\n        return 0\n    return item.size\n\n\n"
SHOWN = (
    "def show(item):\n    print(rate(item))\n    print(discount(1))\n\n\ndef discount(price):\n    return price - 1\n"
)


def impact(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twincell", "impact", *map(str, arguments)]
    return run_here(command, capture_output=True, text=True, timeout=300, cwd=folder)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", TAX | SHOP)
    commit(folder, "Raise the tax", {"tax.py": "def rate():\n    return 25\n"})
    return folder


def test_a_commit_is_told_with_its_chains(repository: Path) -> None:
    before = git(repository, "status", "--porcelain")
    ran = impact("--git", "HEAD~1..HEAD", folder=repository)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout == (
        "1 statement changed, and 2 others may see other values, in 1 function of 1 file\n"
        "\n"
        "tax.py\n"
        "  rate: 1 changed, 0 impacted of 1\n"
        "       2 +     return 25\n"
        "\n"
        "shop.py\n"
        "  price: 0 changed, 2 impacted of 2\n"
        "       5 ~     tax = rate()\n"
        "       6 ~     return net + net * tax / 100\n"
        "\n"
        "--explain shop.py:5 says why.\n"
    )
    ran = impact("--git", "HEAD~1..HEAD", "--explain", "shop.py:6", folder=repository)
    assert ran.stdout == (
        "shop.py:6 may see other values: return net + net * tax / 100\n"
        "  1. tax.py:2 changed: return 25\n"
        "  2. so what rate returns may be another\n"
        "  3. shop.py:5 uses what rate returns: tax = rate()\n"
        "  4. shop.py:6 uses the variable tax: return net + net * tax / 100\n"
    )
    told = json.loads(impact("--git", "HEAD~1..HEAD", "--explain", "shop.py:6", "--json", folder=repository).stdout)
    assert (told["state"], len(told["sentences"]), told["chain"][0]["rule"]) == ("impacted", 4, "synt_changed")
    found = json.loads(impact("--git", "HEAD~1..HEAD", "--json", "--repository", repository).stdout)
    assert found["versions"] == {"old": "HEAD~1", "new": "HEAD"}
    assert {one["path"] for one in found["statements"]} == {"shop.py", "tax.py", "other.py"}
    assert git(repository, "status", "--porcelain") == before


def test_the_working_tree_and_the_index_are_versions(repository: Path) -> None:
    (repository / "tax.py").write_text("def rate():\n    return 30\n")
    assert impact("--git", "HEAD", folder=repository).returncode == 1
    assert impact("--git", "HEAD", "--staged", folder=repository).returncode == 0
    git(repository, "add", ".")
    assert impact("--git", "HEAD", "--staged", folder=repository).returncode == 1
    # What changed lies outside of the path.
    assert impact("--git", "HEAD", "other.py", folder=repository).returncode == 2


def test_entries_say_where_executions_start(repository: Path) -> None:
    change = ("--git", "HEAD~1..HEAD")
    assert impact(*change, "--entry", "shop:price", folder=repository).returncode == 1
    assert impact(*change, "--entry", "other:other", folder=repository).returncode == 0
    assert impact(*change, "--entry", "other:other", "--entry", "shop:price", folder=repository).returncode == 1
    ran = impact(*change, "--entry", "shop:prise", folder=repository)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == "twincell: the new version has no function shop:prise: did you mean shop:price?\n"


def test_levels_are_told_and_what_pruned_a_statement(tmp_path: Path) -> None:
    old, new, page = tmp_path / "old.py", tmp_path / "new.py", tmp_path / "a.html"
    old.write_text(RATE + SHOWN.replace("price - 1", "price - 2"))
    new.write_text("def rate(item):\n    return 0 if item is None else item.size\n\n\n" + SHOWN)
    ran = impact(old, new, "--html", page)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[1] == "  levels: DCIA 2 statements, k=0 1; --explain new.py:6 says what pruned it"
    assert "Size against time" in page.read_text() and "k=0 pruned it" in page.read_text()
    told = json.loads(impact(old, new, "--explain", "6", "--json").stdout)
    pruned = told["pruned"]
    assert (told["state"], pruned["k"], pruned["equivalence"]) == ("not_impacted", 0, "proved")
    assert pruned["at"] == {"variable": {"returned": {"path": "new.py", "function": "rate"}}}
    assert pruned["cut"] < len(pruned["chain"]) and pruned["cut_sentence"] < len(pruned["sentences"])
    over = json.loads(impact(old, new, "--time", "0", "--json").stdout)
    assert ([level["k"] for level in over["levels"]], over["stopped"], over["is_partial"]) == ([None], "time", True)
    last = json.loads(impact(old, new, "--depth", "0", "--json").stdout)
    assert ([level["k"] for level in last["levels"]], last["stopped"], last["is_partial"]) == ([None, 0], None, False)


def test_odd_projects_have_a_result_or_one_line(tmp_path: Path) -> None:
    old, new, empty = tmp_path / "old", tmp_path / "new", tmp_path / "empty"
    for folder in (old, new, empty):
        folder.mkdir()
    long = "".join(f"    a{n} = a{n - 1} + {n}\n" for n in range(1, 5000))
    files = {
        "long.py": f"def f(a0):\n{long}    return a4999\n",
        "broken.py": "def g(:\n    x = (\n",
        "tax.py": TAX["tax.py"],
        "shop.py": SHOP["shop.py"],
        "circle.py": "from other_circle import b\n\n\ndef a():\n    return b()\n",
        "other_circle.py": "from circle import a\n\n\ndef b():\n    return a()\n",
        "star.py": "from shop import *\nfrom somewhere import *\n\nprint(price(1))\n",
    }
    for folder in (old, new):
        for name, text in files.items():
            (folder / name).write_text(text)
        (folder / "odd.py").write_bytes(b"x = '\xe9'\n")
        (folder / "latin.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    equal = impact(old, new)
    assert (equal.returncode, equal.stderr) == (2, "")
    lines = equal.stdout.splitlines()
    assert lines[0] == "no statement changed, and none may see other values"
    assert lines[1].startswith("  odd.py of the old version is left out: it is not UTF-8: byte 0xe9 in line 1")
    assert any(line.startswith("  not followed: what does not parse: broken.py:") for line in lines)
    (new / "long.py").write_text(files["long.py"].replace("a1 = a0 + 1", "a1 = a0 + 2"))
    changed = impact(old, new, "--json")
    assert (changed.returncode, changed.stderr) == (1, "")
    states = [one["state"] for one in json.loads(changed.stdout)["statements"] if one["path"] == "long.py"]
    assert sum(state != "not_impacted" for state in states) == 5000
    shown = impact(old, new).stdout
    assert len(shown.splitlines()) < 60 and "are not listed here" in shown
    for arguments, said in [
        ((old, empty), f"there is no Python file in {empty}"),
        ((old, new / "long.py"), f"{old} is a folder and {new / 'long.py'} is a file: give two files, or two folders"),
        ((old / "odd.py", new / "odd.py"), f"{old / 'odd.py'} is not UTF-8: byte 0xe9 in line 1, column 6"),
        (("--git", "HEAD"), "there is no git repository in "),
    ]:
        ran = impact(*arguments, folder=empty)
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)
        assert ran.stderr.startswith(f"twincell: {said}"), ran.stderr


def test_results_are_written_for_people_and_programs(repository: Path, tmp_path: Path) -> None:
    sarif, table, page = tmp_path / "a.sarif", tmp_path / "a.md", tmp_path / "a.html"
    outputs = ["--sarif", sarif, "--markdown", table, "--html", page]
    assert impact("--git", "HEAD~1..HEAD", *outputs, folder=repository).returncode == 1
    (run,) = json.loads(sarif.read_text())["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in places] == [
        ("shop.py", 5),
        ("shop.py", 6),
    ]
    assert "| shop.py | price | 0 | 2 | 2 | uses what rate returns |" in table.read_text()
    text = page.read_text()
    assert "<details" in text and "so what rate returns may be another" in text
