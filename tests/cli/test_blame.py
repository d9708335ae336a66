"""`twincell blame`: since which commit a call gives its value, in small repositories."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_compare import git, twincell

from ..command import run_here

Files = dict[str, str | None]

CART = "def total(prices):\n    return sum(prices)\n"
CALL = "total([1, 2])"


def commit(folder: Path, subject: str, files: Files) -> str:
    for path, text in files.items():
        file = folder / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return head(folder)


def head(folder: Path) -> str:
    command = ["git", "rev-parse", "HEAD"]
    return run_here(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def blame(
    folder: Path, *arguments: str, call: str = CALL, place: str = "cart.py:total"
) -> subprocess.CompletedProcess[str]:
    return twincell("blame", place, "--returns", call, *arguments, cwd=folder)


def found(folder: Path, *arguments: str, **how: str) -> dict[str, Any]:
    done = blame(folder, *arguments, "--json", **how)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def culprit(result: dict[str, Any]) -> dict[str, Any]:
    assert "since" in result["answer"], result["answer"]
    return result["answer"]["since"]


def test_the_commit_and_both_values_are_found_through_helpers_renames_and_moves(folder: Path) -> None:
    before = "from tax import rate\n\n\ndef summed(prices):\n    return sum(prices) * rate()\n"
    commit(folder, "Begin", {"cart.py": before, "tax.py": "def rate():\n    return 1\n"})
    for number in range(3):
        commit(folder, f"Write {number}", {"notes.txt": str(number)})
    fix = commit(folder, "Raise the rate", {"tax.py": "def rate():\n    return 2\n"})
    after = before.replace("summed", "total")
    commit(folder, "Rename the function", {"cart.py": after})
    moved = {"shop/__init__.py": "", "shop/tax.py": "def rate():\n    return 2\n"}
    moved["shop/cart.py"] = after.replace("from tax", "from .tax")
    commit(folder, "Move the file", {"cart.py": None, "tax.py": None, **moved})
    result = found(folder, place="shop/cart.py:total")
    answer = culprit(result)
    assert answer["commit"]["id"] == fix and answer["commit"]["subject"] == "Raise the rate"
    assert (answer["before"]["gave"]["shown"], result["value"]["shown"]) == ("returned 3", "returned 6")
    assert answer["change"]["file"] == "tax.py" and answer["change"]["why"] == {"uses": {"symbol": "tax.rate"}}
    done = blame(folder, place="shop/cart.py:total")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{CALL} gives its value since {fix[:8]} ") and "+    return 2" in done.stdout


def test_commits_at_which_it_cannot_run_are_left_out_and_named(folder: Path) -> None:
    commit(folder, "Begin", {"cart.py": CART})
    wrong = commit(folder, "Break", {"cart.py": "def total(prices:\n"})
    missing = commit(
        folder, "Need", {"cart.py": "import none_such\n\n\ndef total(prices):\n    return none_such.f()\n"}
    )
    fix = commit(folder, "Mend", {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    result = found(folder)
    (several,) = result["answer"].values()
    assert [one["id"] for one in several["commits"]] == [fix, missing, wrong]
    skipped = {step["commit"]["id"]: step["state"]["skipped"] for step in result["steps"] if "skipped" in step["state"]}
    assert set(skipped) == {wrong, missing}
    assert "unreadable" in skipped[wrong] and "none_such" in skipped[missing]["missing"]["names"]
    done = blame(folder)
    assert done.returncode == 2 and "it needs none_such, which cannot be imported" in done.stdout


KIND = "from none_such import Kind\n\n\ndef plain(prices):\n    return not isinstance(prices, Kind)\n"


def test_a_value_that_rests_on_something_missing_tells_nothing(folder: Path) -> None:
    """Though nothing of it is called, and it stands in another module."""
    commit(folder, "Begin", {"cart.py": CART, "kinds.py": KIND})
    checks = "import kinds\n\n\ndef total(prices):\n    return sum(prices) if kinds.plain(prices) else 0\n"
    commit(folder, "Look at the kind", {"cart.py": checks})
    commit(folder, "Mend", {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    (skipped,) = [step["state"]["skipped"] for step in found(folder)["steps"] if "skipped" in step["state"]]
    assert skipped["missing"]["names"] == ["Kind"]


def test_the_line_that_a_merge_brought_is_searched(folder: Path) -> None:
    commit(folder, "Begin", {"cart.py": CART})
    git(folder, "checkout", "-q", "-b", "side")
    fix = commit(folder, "Add one", {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    commit(folder, "Say so", {"notes.txt": "one more"})
    git(folder, "checkout", "-q", "main")
    commit(folder, "Go on", {"other.txt": "x"})
    git(folder, "merge", "-q", "--no-ff", "-m", "Merge the side", "side")
    merge = head(folder)
    answer = culprit(found(folder))
    assert (answer["commit"]["id"], answer["merge"]["id"]) == (fix, merge)


def test_a_function_that_was_not_there_gives_its_value_since_it_was_added(folder: Path) -> None:
    begin = commit(folder, "Begin", {"cart.py": "x = 1\n"})
    added = commit(folder, "Add a function", {"cart.py": CART})
    commit(folder, "Go on", {"notes.txt": "x"})
    answer = culprit(found(folder))
    assert (answer["commit"]["id"], answer["before"]) == (added, "absent")
    assert "before: the function was not there" in blame(folder).stdout
    same = blame(folder, f"{added}..HEAD")
    assert same.returncode == 1 and "at both ends of the range" in same.stdout
    assert culprit(found(folder, f"{begin}..HEAD"))["commit"]["id"] == added


def test_a_value_that_differs_each_time_is_one_line(folder: Path) -> None:
    commit(folder, "Begin", {"cart.py": "import random\n\n\ndef total(prices):\n    return random.random()\n"})
    done = blame(folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert "gives another value each time at" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("place", "call", "range", "expected"),
    [
        ("cart.py", CALL, None, "cart.py is no FILE:FUNCTION"),
        ("cart.py:none", "none()", None, "cart.py has no none at "),
        ("cart.py:totl", "totl([1])", None, ": did you mean total?"),
        ("none.py:total", CALL, None, "there is no file none.py at "),
        ("cart.py:total", "sum([1])", None, "the expression does not call total"),
        ("cart.py:total", "total(", None, "the call is not valid Python: "),
        ("cart.py:total", CALL, "nothing..HEAD", "nothing is not a revision of this repository"),
        ("cart.py:total", CALL, "HEAD..HEAD~1", "is not before"),
        ("../cart.py:total", CALL, None, "../cart.py is outside the repository"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, place: str, call: str, range: str | None, expected: str) -> None:
    commit(folder, "Begin", {"cart.py": CART})
    commit(folder, "Go on", {"notes.txt": "x"})
    done = blame(folder, *filter(None, [range]), place=place, call=call)
    assert (done.returncode, done.stdout) == (3, "")
    assert expected in done.stderr and done.stderr.count("\n") == 1


def test_an_absolute_path_is_found_from_outside_of_its_repository(folder: Path, tmp_path_factory: Any) -> None:
    commit(folder, "Begin", {"shop/cart.py": CART})
    fix = commit(folder, "Mend", {"shop/cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    place = f"{folder}/shop/cart.py:total"
    result = found(tmp_path_factory.mktemp("elsewhere"), place=place)
    assert (culprit(result)["commit"]["id"], result["place"]["file"]) == (fix, "shop/cart.py")


def test_markdown_is_written_beside(folder: Path) -> None:
    commit(folder, "Begin", {"cart.py": CART})
    commit(folder, "Mend `it` @team", {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    assert blame(folder, "--markdown", "found.md").returncode == 0
    text = (folder / "found.md").read_text()
    assert text.startswith(f"### twincell: `{CALL}` gives its value since ") and "+    return sum(prices) + 1" in text
