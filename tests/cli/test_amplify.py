"""`twincell amplify`: tests of a repository that show what a change did."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    return subprocess.run([*command, "--python", sys.executable], capture_output=True, text=True, timeout=300)


def pytest_passes(folder: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=folder, capture_output=True)
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
    ran = amplify(repository, "--json", "--search-rounds", "1")
    found = json.loads(ran.stdout)
    assert (found["status"], found["tests"]) == ("nothing_found", []), ran.stderr


def test_what_a_mock_is_called_with_shows_a_change(repository: Path) -> None:
    old = OLD + "\n\ndef send(client, text):\n    client.session().post('/a', text, timeout=3)\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text(
        "from unittest.mock import Mock\n\nfrom shop import send\n\n\n"
        "def test_send():\n    client = Mock()\n    send(client, 'text')\n"
    )
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("/a", "/b"))
    ran = amplify(repository, "--json", "--search-rounds", "0")
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
    ran = amplify(repository, "--json", "--search-rounds", "0", "--patch", str(patch))
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


def test_folders_of_the_checkouts_show_no_change(repository: Path) -> None:
    old = OLD + "\n\ndef place():\n    import os\n    return [os.getcwd(), dict(os.environ)][0:1]\n"
    (repository / "shop.py").write_text(old)
    (repository / "test_shop.py").write_text("from shop import place\n\n\ndef test_place():\n    assert place()\n")
    git(repository, "commit", "-qam", "two")
    (repository / "shop.py").write_text(old.replace("[0:1]", "[0:2]"))
    ran = amplify(repository, "--json", "--search-rounds", "0")
    assert "twincell" not in json.dumps([test["sentence"] for test in json.loads(ran.stdout)["tests"]]), ran.stdout


def test_a_change_of_comments_touches_no_code(repository: Path) -> None:
    (repository / "shop.py").write_text(f"# A shop.\n{OLD}")
    ran = amplify(repository)
    assert (ran.returncode, ran.stdout) == (0, "# the change touches no code\n")


def test_a_change_that_no_test_runs_is_said_to_be_one(repository: Path) -> None:
    (repository / "other.py").write_text("def other():\n    return 1\n")
    assert amplify(repository, "--fail-on", "changing").returncode == 0
    ran = amplify(repository)
    assert ran.returncode == 2 and "no test runs the change" in ran.stdout


def test_errors_are_one_line(tmp_path: Path, repository: Path) -> None:
    for arguments in (["--repository", str(tmp_path)], ["no-such-revision"]):
        command = [sys.executable, "-m", "twincell", "amplify", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=repository)
        assert ran.returncode == 3 and ran.stderr.count("\n") == 1, ran.stderr


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
    ran = amplify(repository, "--search-rounds", "0")
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
        doctor = subprocess.run(
            [sys.executable, "-m", "twincell", "doctor", "--clean", "--json"], capture_output=True, text=True
        )
        assert doctor.returncode == 0, doctor.stderr
        return json.loads(doctor.stdout)["removed"]

    removed = cleaned()
    assert removed["bytes"] > 1000
    assert not [path for path in Path(removed["folder"]).rglob("*") if path.is_file() and path.name != "lock"]
    assert cleaned()["bytes"] == 0
    assert amplify(repository).returncode == 1, "what is needed is made again"
