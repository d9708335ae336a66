"""The tests that a change needs: the library, the command line, and the plugin for pytest."""

import json
import os
import subprocess
import sys

import pytest
import twincell

SHOP = "def price(n):\n    return n * 2\n\n\ndef total(n):\n    return price(n)\n\n\ndef name():\n    return 'shop'\n"
TESTS = """\
import pytest
import shop


@pytest.fixture
def cart():
    return shop.total(1)


class TestCart:
    @pytest.mark.parametrize("n", [1, 2])
    def test_cart(self, cart, n):
        assert cart == 2


def test_name():
    assert shop.name() == "shop"
"""


@pytest.fixture
def repository(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "test_shop.py").write_text(TESTS)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "shop.py").write_text(SHOP.replace("n * 2", "n + n"))
    return tmp_path


def test_each_test_says_why_it_runs(repository):
    found = twincell.select_tests("HEAD", repository)
    rows = {row["name"]: (row["runs"], row["reason"]) for row in found["tests"]}
    assert rows["test_shop.py::test_name"] == (False, "nothing that it uses changed")
    runs, reason = rows["test_shop.py::TestCart::test_cart"]
    assert runs
    assert reason.startswith("price (shop.py:1) changed, total (shop.py:5) names it, cart (test_shop.py:")
    assert os.path.samefile(found["root"], repository)
    assert (found["sentence"], found["run_all"]) == ("1 of 2 tests may see the change", False)


def test_patterns_are_those_of_pytest(repository):
    assert twincell.select_tests("HEAD", repository, test_files=["check_*.py"])["tests"] == []
    with pytest.raises(twincell.TwincellError, match="nowhere is not a revision"):
        twincell.select_tests("nowhere", repository)


def test_the_command_line_prints_the_same(repository):
    def run(*words):
        command = [sys.executable, "-m", "twincell", "impact", "--git", "HEAD", "--tests", *words]
        return subprocess.run(command, cwd=repository, capture_output=True, text=True)

    done = run()
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "1 of 2 tests may see the change\n\nprice (shop.py:1) changed\n  total (shop.py:5) names it\n"
    )
    assert [row["runs"] for row in json.loads(run("--json").stdout)["tests"]] == [True, False]


def pytest_run(repository, *words):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True)


def test_pytest_runs_only_what_may_see_the_change(repository):
    done = pytest_run(repository, "--twincell-impact", "HEAD")
    assert done.returncode == 0, done.stdout
    assert "twincell: 1 of 2 tests may see the change" in done.stdout
    assert "2 passed, 1 deselected" in done.stdout


def test_a_failing_test_says_why_it_ran(repository):
    (repository / "shop.py").write_text(SHOP.replace("n * 2", "n * 3"))
    done = pytest_run(repository, "--twincell-impact", "HEAD")
    assert "2 failed, 1 deselected" in done.stdout
    assert "price (shop.py:1) changed" in done.stdout.split("FAILURES")[1]


def test_pytest_without_the_option_is_as_before(repository):
    done = pytest_run(repository)
    assert "3 passed" in done.stdout
    assert "twincell:" not in done.stdout


def test_pytest_is_told_in_one_line_what_is_wrong(repository):
    done = pytest_run(repository, "--twincell-impact", "nowhere")
    assert done.returncode == 4
    assert "--twincell-impact: nowhere is not a revision" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_to_run_is_no_failure(repository):
    (repository / "shop.py").write_text(SHOP)
    done = pytest_run(repository, "--twincell-impact", "HEAD")
    assert done.returncode == 0, done.stdout
    assert "3 deselected" in done.stdout
    done = pytest_run(repository, "--twincell-impact", "HEAD", "-n", "2")
    assert done.returncode == 0, done.stdout
    assert "twincell: none of 2 tests may see the change" in done.stdout


def test_a_path_that_is_not_there_is_an_error(repository):
    with pytest.raises(twincell.TwincellError, match="nope is in neither version of HEAD"):
        twincell.select_tests("HEAD", repository, paths=[repository / "nope"])
