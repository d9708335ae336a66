"""`twincell amplify`: tests of a repository that show what a change did."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from ..command import run_here

OLD = "def total(prices, discount=0):\n    return sum(prices) - discount\n\n\ndef parse(text):\n    return int(text)\n"
TESTS = """\
import pytest

from shop import parse, total


def test_total():
    assert total([1, 2]) == 3


@pytest.mark.parametrize('text', ['7', '42'])
def test_parse(text):
    assert parse(text) > 0
"""


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some plugins that are installed here take seconds to import, in each of the many processes of pytest."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def git(repository: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", "-C", str(repository), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "shop.py").write_text(OLD)
    (folder / "test_shop.py").write_text(TESTS)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def amplify(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twincell", "amplify", "--repository", str(repository), *arguments]
    return run_here([*command, "--python", sys.executable], capture_output=True, text=True, timeout=300)


def pytest_passes(folder: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = run_here(command, cwd=folder, capture_output=True)
    return ran.returncode == 0


def test_the_tests_pass_on_one_side_and_fail_on_the_other(repository: Path, tmp_path: Path) -> None:
    changed = OLD.replace("- discount", "- discount if prices else None")
    (repository / "shop.py").write_text(changed)
    new, old = tmp_path / "new.patch", tmp_path / "old.patch"
    ran = amplify(repository, "--json", "--patch", str(new), "--patch-old", str(old))
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert "total([]) gave 0, gives None" in [test["sentence"] for test in found["tests"]]
    # Without twincell, in the checkout of the user.
    git(repository, "apply", str(new))
    assert pytest_passes(repository)
    (repository / "shop.py").write_text(OLD)
    assert not pytest_passes(repository)
    git(repository, "checkout", "test_shop.py")
    git(repository, "apply", str(old))
    assert pytest_passes(repository)
    (repository / "shop.py").write_text(changed)
    assert not pytest_passes(repository)


def test_the_same_seed_gives_the_same_tests_and_the_checkout_is_not_touched(repository: Path) -> None:
    (repository / "shop.py").write_text(OLD.replace("int(text)", "int(text.strip('4'))"))
    before = {path: path.read_bytes() for path in repository.rglob("*.py")}
    first, second = amplify(repository, "--json"), amplify(repository, "--json")
    assert first.returncode == 1, first.stderr
    assert first.stdout == second.stdout
    assert {path: path.read_bytes() for path in repository.rglob("*.py")} == before


def test_what_depends_on_the_seed_of_hashes_shows_no_change(repository: Path) -> None:
    old = OLD + "\n\ndef bucket(name):\n    return hash(f'{name}') % 64\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text(
        "from shop import bucket\n\n\ndef test_bucket():\n    assert bucket('a') < 64\n"
    )
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("{name}", "{name}!"))
    ran = amplify(repository, "--json", "--budget-rounds", "1")
    found = json.loads(ran.stdout)
    assert (found["status"], found["tests"]) == ("nothing_found", []), ran.stderr


RAISES = """\
class Account:
    def take(self, amount):
        if amount < 0:
            raise ValueError(f"negative: {amount}")
        return amount


def check(amount):
    if amount < 0:
        raise ValueError("negative")
    return amount
"""
EXPECTING = """\
import unittest

import pytest

from shop import Account, check


class TestAccount(unittest.TestCase):
    def setUp(self):
        self.account = Account()

    def test_take(self):
        with self.assertRaises(ValueError):
            self.account.take(-1)


def test_check():
    pytest.raises(ValueError, check, -5)
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence", "rounds"),
    [
        (
            "negative: {amount}",
            "below zero: {amount}",
            "self.account.take(-1) raised ValueError('negative: -1'), raises ValueError('below zero: -1')",
            "0",
        ),
        # Who expects the base class is content.
        (
            'ValueError("negative")',
            'UnicodeError("negative")',
            "check(-5) raised ValueError('negative'), raises UnicodeError('negative')",
            "0",
        ),
        ("amount < 0", "amount <= 0", "self.account.take(0) gave 0, raises ValueError('negative: 0')", "1"),
    ],
)
def test_what_is_expected_to_raise_shows_what_it_raises(
    repository: Path, tmp_path: Path, old: str, new: str, sentence: str, rounds: str
) -> None:
    (repository / "shop.py").write_text(RAISES)
    (repository / "test_shop.py").write_text(EXPECTING)
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(RAISES.replace(old, new))
    patches = tmp_path / "new.patch", tmp_path / "old.patch"
    options = ["--patch", str(patches[0]), "--patch-old", str(patches[1])]
    ran = amplify(repository, "--json", "--budget-rounds", rounds, *options)
    assert sentence in [test["sentence"] for test in json.loads(ran.stdout)["tests"]], ran.stdout
    for patch, passes in zip(patches, (True, False), strict=True):
        git(repository, "apply", str(patch))
        # Other tests of the project may fail after the change.
        ids = [test["new" if passes else "old"]["id"] for test in json.loads(ran.stdout)["tests"]]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ids]
        assert (run_here(command, cwd=repository, capture_output=True).returncode == 0) is passes
        git(repository, "checkout", "test_shop.py")


def test_fixtures_of_a_folder_of_tests_are_there(repository: Path) -> None:
    (repository / "tests").mkdir()
    git(repository, "mv", "test_shop.py", "tests/test_shop.py")
    (repository / "tests" / "conftest.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n"
    )
    (repository / "tests" / "test_shop.py").write_text(
        "from shop import total\n\n\ndef test_total(prices):\n    assert total(prices) > 0\n"
    )
    (repository / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount + 1"))
    found = json.loads(amplify(repository, "--json").stdout)
    assert [test["sentence"] for test in found["tests"]] == ["total(prices) gave 3, gives 4"]


def test_tests_of_the_project_that_show_the_change_are_named(repository: Path) -> None:
    (repository / "shop.py").write_text(OLD + "\n\nLIMIT = 10\n")
    tests = TESTS + "\n\ndef test_limit():\n    import shop\n\n    assert shop.LIMIT == 10\n"
    (repository / "test_shop.py").write_text(tests)
    git(repository, "commit", "-qam", "two")
    # No test executes the line: it ran when the module was imported.
    (repository / "shop.py").write_text(OLD + "\n\nLIMIT = 11\n")
    found = json.loads(amplify(repository, "--json").stdout)
    assert (found["detecting"], found["brought"]) == (["test_shop.py::test_limit"], [])
    # Now the change comes with its test.
    (repository / "test_shop.py").write_text(tests.replace("LIMIT == 10", "LIMIT == 11"))
    ran = amplify(repository, "--budget-rounds", "0")
    assert "# 1 test that comes with the change fails without it: test_shop.py::test_limit\n" in ran.stdout
    assert ran.returncode == 1, ran.stderr


def texts_of_new_tests(repository: Path, tests: str, shop: str) -> list[str]:
    (repository / "test_shop.py").write_text(f"import pytest\n\nfrom shop import parse, total\n\n\n{tests}")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(shop)
    return [test["new"]["text"] for test in json.loads(amplify(repository, "--json").stdout)["tests"]]


def test_parameters_that_a_test_does_not_read_are_no_part_of_it(repository: Path) -> None:
    tests = (
        "@pytest.mark.parametrize('prices, expected', [([1], 1), ([2, 3], 5)])\n"
        "def test_total(prices, expected):\n    assert total(prices) == expected\n"
    )
    texts = texts_of_new_tests(repository, tests, OLD.replace("- discount", "- discount + 1"))
    assert texts and not any("expected" in text for text in texts), texts


def test_parameters_that_a_fixture_reads_stay(repository: Path) -> None:
    tests = (
        "@pytest.fixture\ndef prices(count):\n    return [1] * count\n\n\n"
        "@pytest.mark.parametrize('count, expected', [(1, 1), (2, 2)])\n"
        "def test_total(prices, count, expected):\n    assert total(prices) == expected\n"
    )
    texts = texts_of_new_tests(repository, tests, OLD.replace("- discount", "- discount + 1"))
    assert texts and all("'count, expected', [(" in text for text in texts), texts


def test_of_parameters_that_stand_elsewhere_one_set_is_taken(repository: Path) -> None:
    tests = (
        "TEXTS = ['1', '2', '30']\n\n\n"
        "@pytest.mark.parametrize('text', TEXTS)\ndef test_parse(text):\n    assert parse(text) > 0\n"
    )
    texts = texts_of_new_tests(repository, tests, OLD.replace("int(text)", "int(text) + (len(text) > 1)"))
    # With another set, the result is another one.
    assert any("TEXTS[2:3]" in text and text.endswith("assert result == 31\n") for text in texts), texts


def test_of_a_branch_only_what_it_changed_since_it_left_counts(repository: Path) -> None:
    git(repository, "branch", "-m", "main")
    git(repository, "checkout", "-qb", "branch")
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount + 1"))
    git(repository, "commit", "-qam", "two")
    git(repository, "checkout", "-q", "main")
    (repository / "shop.py").write_text(OLD.replace("int(text)", "int(text) + 1"))
    git(repository, "commit", "-qam", "three")
    git(repository, "checkout", "-q", "branch")
    found = json.loads(amplify(repository, "main...", "--json").stdout)
    assert {test["sentence"] for test in found["tests"]} == {"total([1, 2]) gave 3, gives 4"}
    command = [sys.executable, "-m", "twincell", "compare", "--git", "main...branch", "--json"]
    report = json.loads(run_here(command, cwd=repository, capture_output=True).stdout)
    pairs = report["files"][0]["comparison"]["pairs"]
    assert [pair["new"]["qualname"] for pair in pairs if pair["verdict"] == "changing"] == ["total"]


def test_what_a_mock_is_called_with_shows_a_change(repository: Path) -> None:
    old = OLD + "\n\ndef send(client, text):\n    client.session().post('/a', text, timeout=3)\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text(
        "from unittest.mock import Mock\n\nfrom shop import send\n\n\n"
        "def test_send():\n    client = Mock()\n    send(client, 'text')\n"
    )
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("/a", "/b"))
    ran = amplify(repository, "--json", "--budget-rounds", "0")
    sentences = [test["sentence"] for test in json.loads(ran.stdout)["tests"]]
    assert "client.mock_calls[1].args gave ('/a', 'text'), gives ('/b', 'text')" in sentences, ran.stdout


LOUD = """

import logging
import warnings


def tell(name):
    print(f"hello {name}")
    logging.getLogger("shop").warning("told %s", name)
    warnings.warn("tell is old", DeprecationWarning)
"""


@pytest.mark.parametrize("is_method", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("hello", "hi", "tell('pen') printed 'hello pen\\n', prints 'hi pen\\n'"),
        ("told %s", "%s was told", "tell('pen') logged 'told pen', logs 'pen was told'"),
        (
            "DeprecationWarning",
            "FutureWarning",
            "tell('pen') warned of DeprecationWarning('tell is old'), warns of FutureWarning('tell is old')",
        ),
    ],
)
def test_what_is_printed_logged_and_warned_shows_a_change(
    repository: Path, tmp_path: Path, old: str, new: str, sentence: str, is_method: bool
) -> None:
    (repository / "shop.py").write_text(OLD + LOUD)
    function = "from shop import tell\n\n\ndef test_tell():\n    tell('pen')\n"
    method = (
        "import unittest\n\nfrom shop import tell\n\n\nclass TellTest(unittest.TestCase):\n"
        "    def test_tell(self):\n        tell('pen')\n"
    )
    (repository / "test_shop.py").write_text(method if is_method else function)
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(OLD + LOUD.replace(old, new))
    patch = tmp_path / "new.patch"
    ran = amplify(repository, "--json", "--budget-rounds", "0", "--patch", str(patch))
    assert ran.returncode == 1, ran.stderr
    assert [test["sentence"] for test in json.loads(ran.stdout)["tests"]] == [sentence]
    git(repository, "apply", str(patch))
    assert pytest_passes(repository)
    (repository / "shop.py").write_text(OLD + LOUD)
    assert not pytest_passes(repository)


def test_where_no_test_runs_the_change_a_comparison_gives_the_values(repository: Path, tmp_path: Path) -> None:
    (repository / "test_shop.py").write_text("import shop\n\n\ndef test_shop():\n    assert shop.total\n")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(OLD.replace("- discount", "+ discount"))
    patch = tmp_path / "new.patch"
    ran = amplify(repository, "--json", "--patch", str(patch))
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert {test["technique"] for test in found["tests"]} == {"injected"}, found
    assert {test["file"] for test in found["tests"]} == {"test_shop_change.py"}
    git(repository, "apply", str(patch))
    assert "from shop import total" in (repository / "test_shop_change.py").read_text()
    assert pytest_passes(repository)
    (repository / "shop.py").write_text(OLD)
    assert not pytest_passes(repository)
    (repository / "shop.py").write_text(OLD.replace("- discount", "+ discount"))
    (repository / "test_shop_change.py").unlink()
    assert "# no test runs the change; with injected values, " in amplify(repository).stdout


def test_calls_for_which_a_comparison_found_values_are_tried_behind_the_first_round(repository: Path) -> None:
    old = OLD + "\n\ndef fee(amount):\n    if amount * 7 + 3 == 1746:\n        return 1\n    return 0\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text("from shop import fee\n\n\ndef test_fee():\n    assert fee(3) == 0\n")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("return 1", "return 2"))
    ran = amplify(repository, "--json")
    [test] = json.loads(ran.stdout)["tests"]
    assert (test["technique"], test["steps"][-1]) == ("search", "witness")
    assert test["sentence"] == "fee(249) gave 1, gives 2"
    assert test["old"]["text"].startswith("def test_fee_result():\n    result = fee(249)\n")


def test_a_value_that_only_the_running_code_knows_leads_the_search(repository: Path) -> None:
    code = """\
def code(word):
    return "".join(chr(ord(letter) + 1) for letter in word)


KEY = code("vnqkc")


def greet(name):
    if name == KEY:
        return "you"
    return name
"""
    (repository / "greet.py").write_text(code)
    (repository / "test_greet.py").write_text(
        "from greet import greet\n\n\ndef test_greet():\n    assert greet('ann') == 'ann'\n"
    )
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "greet.py").write_text(code.replace('"you"', '"me"'))
    found = json.loads(amplify(repository, "--json").stdout)
    assert [test["sentence"] for test in found["tests"]][:1] == ["greet('world') gave 'you', gives 'me'"]


def test_a_test_that_observing_disturbs_is_asked_less(repository: Path) -> None:
    code = """\
class Shell:
    def __init__(self, run):
        self.run = run

    def get_aliases(self):
        return self.run("alias").split()

    def info(self):
        return self.run("version").strip()
"""
    (repository / "shell.py").write_text(code)
    (repository / "test_shell.py").write_text(
        """\
from unittest import mock
from shell import Shell


def test_info():
    run = mock.Mock(side_effect=["3.5"])
    shell = Shell(run)
    assert shell.info() == "3.5"
"""
    )
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "shell.py").write_text(code.replace('"version"', '"--version"'))
    found = json.loads(amplify(repository, "--json").stdout)
    assert [test["shows"]["value"]["expression"] for test in found["tests"]] == ["run.mock_calls[0].args"]


def test_a_finished_test_runs_again_and_is_written_to_its_file(repository: Path) -> None:
    import twincell

    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount if prices else None"))
    found = twincell.amplify(repository, python=sys.executable)
    assert found.run_test(0) == {"old": "failed", "new": "passed"}
    assert found.run_test(0, old=True) == {"old": "passed", "new": "failed"}
    assert found.write_test(0) == "test_shop.py"
    assert found.tests[0]["new"]["name"] in (repository / "test_shop.py").read_text()
    assert pytest_passes(repository)
    with pytest.raises(twincell.TwincellError, match="it has the test already"):
        found.write_test(0)
    with pytest.raises(twincell.TwincellError, match="there is no test 9"):
        found.run_test(9)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_test_file_keeps_its_line_ends_and_its_byte_order_mark(repository: Path, tmp_path: Path, mark: bytes) -> None:
    import twincell

    file, written = repository / "test_shop.py", mark + TESTS.replace("\n", "\r\n").encode()
    file.write_bytes(written)
    git(repository, "commit", "-qam", "two")
    changed = OLD.replace("- discount", "- discount if prices else None")
    (repository / "shop.py").write_text(changed)
    patch = tmp_path / "new.patch"
    ran = amplify(repository, "--json", "--patch", str(patch))
    assert ran.returncode == 1, ran.stderr
    git(repository, "apply", str(patch))
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n") > written.count(b"\r\n")
    assert file.read_bytes().startswith(written[: len(mark) + 20])
    assert pytest_passes(repository)
    git(repository, "checkout", "test_shop.py")
    found = twincell.amplify(repository, python=sys.executable)
    assert found.write_test(0) == "test_shop.py"
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n") > written.count(b"\r\n")
    assert file.read_bytes().startswith(written[: len(mark) + 20])
    lines = iter(file.read_bytes().splitlines(keepends=True))
    assert all(line in lines for line in written.splitlines(keepends=True))
    assert pytest_passes(repository)
    file.write_bytes(b"# coding: latin-1\n" + TESTS.encode())
    with pytest.raises(twincell.TwincellError, match="is not UTF-8, or says that it is not: save it as UTF-8$"):
        found.write_test(0)


def test_any_folder_of_a_repository_stands_for_it(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import twincell

    (repository / "docs").mkdir()
    (repository / "docs" / "index.md").write_text("# Shop\n")
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount if prices else None"))
    monkeypatch.chdir(repository)
    found = twincell.amplify("docs", python=sys.executable)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert found.run_test(0) == {"old": "failed", "new": "passed"}
    assert found.write_test(0) == "test_shop.py"
    assert found.tests[0]["new"]["name"] in (repository / "test_shop.py").read_text()
    assert [path.name for path in (repository / "docs").iterdir()] == ["index.md"]
    assert not list(elsewhere.iterdir())
    # A link in the place of the file leads out of the repository.
    (elsewhere / "other.py").write_text((repository / "test_shop.py").read_text())
    (repository / "test_shop.py").unlink()
    (repository / "test_shop.py").symlink_to(elsewhere / "other.py")
    with pytest.raises(twincell.TwincellError, match=r"^test_shop\.py lies outside of the repository$"):
        found.write_test(0)


def test_the_environment_of_the_repository_runs_the_tests_from_any_folder(repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "index.md").write_text("# Shop\n")
    (repository / ".gitignore").write_text(".venv\n")
    # It has no pytest, which the Python of this test has.
    venv.create(repository / ".venv")
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount if prices else None"))
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [sys.executable, "-m", "twincell", "amplify", "--repository", "docs", "--budget-rounds", "0"]
    ran = run_here(command, capture_output=True, text=True, cwd=repository, env=environment, timeout=300)
    assert ran.returncode == 3 and "pytest" in ran.stderr and str(repository / ".venv") in ran.stderr, ran.stderr


def test_files_with_doctests_are_no_test_files(repository: Path) -> None:
    doctest = '    """The sum.\n\n    >>> total([1])\n    1\n    """\n'
    documented = OLD.replace("    return sum", f"{doctest}    return sum")
    (repository / "shop.py").write_text(documented)
    (repository / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "shop.py").write_text(documented.replace("- discount", "- discount if prices else None"))
    ran = amplify(repository, "--json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    found = json.loads(ran.stdout)
    assert [file["path"] for file in found["files"]] == ["shop.py"]
    assert "total([]) gave 0, gives None" in [test["sentence"] for test in found["tests"]]


def test_changed_files_that_cannot_be_read_are_named(repository: Path, tmp_path: Path) -> None:
    (repository / "latin.py").write_bytes(b"# coding: latin-1\nNAME = '\xe9'\n")
    # What tests leave is no change.
    (repository / "conftest.py").write_text(
        "import os\nfrom pathlib import Path\n\nPath('left.py').write_text(f'x = {os.getpid()}')\n"
    )
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "latin.py").write_bytes(b"# coding: latin-1\nNAME = '\xe8'\n")
    markdown = tmp_path / "found.md"
    ran = amplify(repository, "--markdown", str(markdown))
    assert (ran.returncode, ran.stdout) == (
        2,
        "# no Python code changed that can be read\n# latin.py changed and is left out: it is not UTF-8\n"
        # Nobody can tell that it names no hook of pytest.
        "# latin.py changed and has a part in how tests run: it can make any test pass or fail\n",
    ), ran.stderr
    assert "- `latin.py` changed and is left out: it is not UTF-8" in markdown.read_text()
    [file] = json.loads(amplify(repository, "--json").stdout)["files"]
    assert (file["path"], file["unread"]) == ("latin.py", "it is not UTF-8")


def test_a_new_file_has_no_name_that_a_version_has(repository: Path, tmp_path: Path) -> None:
    (repository / "test_shop.py").write_text("import shop\n\n\ndef test_shop():\n    assert shop.total\n")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(OLD.replace("- discount", "+ discount"))
    (repository / "test_shop_change.py").write_text("# Nothing yet.\n")
    patch = tmp_path / "new.patch"
    ran = amplify(repository, "--json", "--patch", str(patch))
    assert ran.returncode == 1, ran.stderr
    assert {test["file"] for test in json.loads(ran.stdout)["tests"]} == {"test_shop_change_2.py"}
    git(repository, "apply", str(patch))
    assert pytest_passes(repository)


def test_folders_of_the_checkouts_show_no_change(repository: Path) -> None:
    place = "[os.getcwd(), os.getcwd().split('twincell', 1)[-1], dict(os.environ)]"
    old = OLD + f"\n\ndef place():\n    import os\n    return {place}[0:2]\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text("from shop import place\n\n\ndef test_place():\n    assert place()\n")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("[0:2]", "[0:3]"))
    ran = amplify(repository, "--json", "--budget-rounds", "0")
    sentences = json.dumps([test["sentence"] for test in json.loads(ran.stdout)["tests"]])
    assert "twincell" not in sentences and "/files" not in sentences, ran.stdout


def test_a_change_of_comments_touches_no_code(repository: Path) -> None:
    (repository / "shop.py").write_text(f"# A shop.\n{OLD}")
    ran = amplify(repository)
    assert (ran.returncode, ran.stdout) == (0, "# no Python code changed\n")


def test_a_change_that_no_test_runs_is_said_to_be_one(repository: Path) -> None:
    (repository / "other.py").write_text("def other():\n    return 1\n")
    assert amplify(repository, "--fail-on", "changing").returncode == 0
    ran = amplify(repository)
    assert ran.returncode == 2 and "no test runs the change" in ran.stdout


def test_a_method_that_is_taken_out_of_another_is_no_difference(repository: Path) -> None:
    desk = "class Desk:\n    def reminders(self, days):\n        return [day for day in days if day > 14]\n"
    (repository / "desk.py").write_text(desk)
    (repository / "test_desk.py").write_text(
        "from desk import Desk\n\n\ndef test_reminders():\n    desk = Desk(); days = [3, 20]\n"
        "    assert desk.reminders(days) == [20]\n"
    )
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    late = "    def _late(self, day):\n        return day > 14\n\n"
    taken_out = desk.replace("if day > 14", "if self._late(day)").replace(
        "    def reminders", f"{late}    def reminders"
    )
    (repository / "desk.py").write_text(taken_out)
    ran = amplify(repository, "--json")
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["status"], found["tests"]) == (0, "nothing_found", []), ran.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("def total(prices):\n    return (prices\n", "the new version has a syntax error in line "),
        ("LIMIT = undefined\n", "pytest cannot collect test_shop.py after the change: NameError: "),
    ],
)
def test_what_keeps_tests_from_running_is_said(repository: Path, changed: str, said: str) -> None:
    (repository / "shop.py").write_text(changed)
    ran = amplify(repository)
    assert f"# shop.py changed and is left out: {said}" in ran.stdout
    assert ran.returncode == 2, ran.stdout + ran.stderr


def test_errors_are_one_line(tmp_path: Path, repository: Path) -> None:
    for arguments, said in (
        (["--repository", str(tmp_path)], "there is no git repository in"),
        (["no-such-revision"], "no-such-revision is not a revision of this repository"),
        (["HEAD"], "HEAD has no parent, so there is nothing to compare with: write OLD..NEW"),
        (["A..B..C"], "A..B..C is not a range of revisions: write OLD..NEW, e.g. HEAD~1..HEAD"),
    ):
        command = [sys.executable, "-m", "twincell", "amplify", *arguments]
        ran = run_here(command, capture_output=True, text=True, cwd=repository)
        assert ran.returncode == 3 and ran.stderr.count("\n") == 1, ran.stderr
        assert said in ran.stderr


def test_the_page_shows_each_test_as_a_change_of_its_origin(repository: Path, tmp_path: Path) -> None:
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount if prices else None"))
    page = tmp_path / "page.html"
    ran = amplify(repository, "--html", str(page))
    assert ran.returncode == 1, ran.stderr
    text = page.read_text()
    assert "total([]) gave 0, gives None" in text and "Beside <code>test_shop.py::test_total</code>" in text
    assert "\u2212     assert total([1, 2]) == 3" in text


def test_test_files_that_pytest_cannot_collect_are_named(repository: Path) -> None:
    (repository / "test_broken.py").write_text("import no_such_module_at_all\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "shop.py").write_text(OLD.replace("int(text)", "int(text) + 1"))
    ran = amplify(repository, "--budget-rounds", "0")
    assert "# pytest cannot collect test_broken.py: " in ran.stdout and "no_such_module_at_all" in ran.stdout
    assert ran.returncode == 1, ran.stdout + ran.stderr


def test_tests_run_in_a_sandbox_and_reach_the_network_only_if_told(repository: Path) -> None:
    (repository / "shop.py").write_text(OLD.replace("int(text)", "int(text.strip('4'))"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        # What it does when it is imported: it writes to the checkout of the user, and connects to a server outside.
        address, target = server.getsockname(), repository / "evil"
        hostile = (
            "import socket\n"
            "try:\n"
            f"    open({str(target)!r}, 'w')\n"
            "except OSError:\n"
            "    pass\n"
            "try:\n"
            f"    socket.create_connection({address!r}, 5)\n"
            "except OSError:\n"
            "    raise RuntimeError('\\x1b]0;no network\\x07') from None\n"
        )
        (repository / "conftest.py").write_text(hostile)
        git(repository, "add", "conftest.py")
        git(repository, "commit", "-qm", "two", "conftest.py")
        alone = amplify(repository, "--json")
        assert (alone.returncode, alone.stdout) == (3, "")
        assert alone.stderr == "twincell: pytest did not start: RuntimeError: ]0;no network\n"
        told = amplify(repository, "--json", "--network")
    assert told.returncode == 1, told.stderr
    assert json.loads(told.stdout)["sandbox"] == {"network": "open", "namespaces": "all", "lacks": []}
    assert not target.exists()


def test_an_interrupt_ends_the_search_and_what_was_found_is_told(repository: Path, tmp_path: Path) -> None:
    (repository / "test_shop.py").write_text(
        "import time\nfrom pathlib import Path\n\nfrom shop import parse\n\n\n"
        "def wait():\n    Path('ran').touch()\n    time.sleep(0.2)\n\n\n"
        "def test_parse():\n    wait()\n    assert parse('7') == 7\n"
    )
    git(repository, "commit", "-qam", "two")
    # No value tells them apart.
    (repository / "shop.py").write_text(OLD.replace("return int(text)", "number = int(text)\n    return number"))
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "twincell", "amplify", "--repository", str(repository), "--python", sys.executable]
    out, err = tmp_path / "out", tmp_path / "err"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with (
        out.open("w") as out_file,
        err.open("w") as err_file,
        subprocess.Popen(command, stdout=out_file, stderr=err_file, env=environment) as running,
    ):
        while not list(cache.rglob("ran")) and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        running.wait(timeout=300)
    said = out.read_text() + err.read_text()
    assert running.returncode == 130, said
    assert "the search ended before it was done" in said and "Traceback" not in said


def test_the_doctor_removes_what_is_kept_between_runs(repository, tmp_path, monkeypatch):
    (repository / "shop.py").write_text(OLD.replace("- discount", "- discount + 1"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert amplify(repository).returncode == 1

    def cleaned() -> dict:
        doctor = run_here(
            [sys.executable, "-m", "twincell", "doctor", "--clean", "--json"], capture_output=True, text=True
        )
        assert doctor.returncode == 0, doctor.stderr
        return json.loads(doctor.stdout)["removed"]

    removed = cleaned()
    assert removed["bytes"] > 1000
    assert not [path for path in Path(removed["folder"]).rglob("*") if path.is_file() and path.name != "lock"]
    assert cleaned()["bytes"] == 0
    assert amplify(repository).returncode == 1, "what is needed is made again"
