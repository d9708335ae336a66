"""Names and links that a change under review brings: where outputs go, what is read, and what a patch names."""

from __future__ import annotations

import json
import os
import sys

import pytest

from .stranger import SECRET

OLD = "def f(x):\n    return x\n"
NEW = "def f(x):\n    return x + 1\n"
KEPT = "the person's own"
QUICK = ("--predictor", "frequency", "--budget", "5", "--context", "function")


@pytest.fixture
def outside(person):
    """A file and a folder of the person's, which no command names."""
    folder = person.home / "outside"
    folder.mkdir()
    (folder / "file").write_text(KEPT)
    return folder


@pytest.fixture
def pair(person):
    person.commit({"old.py": OLD, "new.py": NEW, "snippet.py": "print(1)\n"})
    rows = [json.dumps({"id": number, "old": OLD, "new": NEW}) for number in range(2)]
    (person.home / "changes.jsonl").write_text("\n".join(rows) + "\n")
    return person


def links(person, name, target):
    """A stranger's commit with a link."""
    link = person.repository / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    person.commit({}, "A link")


def is_kept(outside):
    return (outside / "file").read_text() == KEPT and os.listdir(outside) == ["file"]


COMMANDS = {
    "html": ["compare", "old.py", "new.py", *QUICK, "--html"],
    "markdown": ["compare", "old.py", "new.py", *QUICK, "--markdown"],
    "sarif": ["compare", "old.py", "new.py", *QUICK, "--sarif"],
    "junit": ["compare", "old.py", "new.py", *QUICK, "--junit"],
    "reproducer": ["compare", "old.py", "new.py", *QUICK, "--reproducer"],
    "pytest": ["prefix", "snippet.py", "--predictor", "frequency", "--pytest"],
    "prefixes": ["prefix", "snippet.py", "--predictor", "frequency", "--html"],
    "recorded": ["record", "--out"],
    "page": ["study", "../../changes.jsonl", *QUICK, "--out", "../../rows.jsonl", "--html"],
}


def night(items, quick):
    """Those of which the gate runs a few, and the night all."""
    return [pytest.param(item, marks=[] if at < quick else [pytest.mark.long]) for at, item in enumerate(items)]


def command(name, path):
    behind = ["--", sys.executable, "-c", "pass"] if name == "recorded" else []
    return [*COMMANDS[name], path, *behind]


@pytest.mark.parametrize("name", night(COMMANDS, 2))
def test_an_output_goes_through_no_link_of_the_repository(pair, outside, name):
    links(pair, "out/result.py", outside / "file")
    done = pair.run(*command(name, "out/result.py"))
    assert is_kept(outside), done
    assert "is a link in the repository" in done.stderr and done.returncode != 0


@pytest.mark.parametrize("name", night(COMMANDS, 2))
def test_an_output_makes_no_file_where_a_link_of_the_repository_leads(pair, outside, name):
    links(pair, "result.py", outside / "new")
    done = pair.run(*command(name, "result.py"))
    assert is_kept(outside), done
    assert "is a link in the repository" in done.stderr and done.returncode != 0


@pytest.mark.parametrize("name", night(COMMANDS, 2))
def test_an_output_goes_through_no_folder_that_is_a_link_of_the_repository(pair, outside, name):
    links(pair, "out", "../../outside")
    done = pair.run(*command(name, "out/file"))
    assert is_kept(outside), done
    assert done.returncode != 0


@pytest.mark.parametrize("path", ["out/deep/tests/", "out/tests/"])
def test_a_folder_of_reproducers_is_made_behind_no_link(pair, outside, path):
    links(pair, "out", outside)
    done = pair.run("compare", "old.py", "new.py", *QUICK, "--reproducer", path)
    assert is_kept(outside), done


def test_the_reproducers_of_a_study_are_made_behind_no_link(pair, outside):
    links(pair, "out", outside)
    done = pair.run("study", "../../changes.jsonl", *QUICK, "--reproducers", "out/tests")
    assert is_kept(outside) and done.returncode != 0


def test_a_single_reproducer_of_a_folder_goes_through_no_link(pair, outside):
    links(pair, "tests/test_f.py", outside / "file")
    done = pair.run("compare", "old.py", "new.py", *QUICK, "--reproducer", "tests/")
    assert is_kept(outside), done


STORES = ["rows.jsonl", "rows.sqlite", "rows.parquet"]


@pytest.mark.parametrize("store", STORES)
def test_a_store_is_no_link_of_the_repository(pair, outside, store):
    links(pair, store, outside / "file")
    done = pair.run("study", "../../changes.jsonl", *QUICK, "--out", store, "--fresh")
    assert is_kept(outside) and done.returncode != 0


@pytest.mark.parametrize(
    "beside",
    [
        "rows.jsonl.tmp",
        "rows.sqlite-wal",
        "rows.sqlite-shm",
        "rows.sqlite-journal",
        "rows.parquet.tmp",
        "rows.parquet.partial",
        "rows.parquet.partial-wal",
        "rows.parquet.partial-shm",
    ],
)
def test_what_a_store_has_beside_it_is_no_link_of_the_repository(pair, outside, beside):
    store = next(store for store in STORES if beside.startswith(store))
    links(pair, beside, outside / "file")
    pair.run("study", "../../changes.jsonl", *QUICK, "--out", store)
    assert is_kept(outside)


@pytest.mark.parametrize("name", ["html", "markdown", "reproducer", "recorded"])
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_no_mode_is_widened(pair, name, mode):
    result = pair.repository / "result.py"
    result.write_text("before")
    result.chmod(mode)
    pair.run(*command(name, "result.py"))
    assert result.read_text() != "before"
    assert result.stat().st_mode & 0o777 & ~mode == 0


def test_nobody_sees_half_of_an_output(pair):
    result = pair.repository / "page.html"
    result.write_text("before")
    with result.open() as opened:
        pair.run(*command("html", "page.html"))
        assert opened.read() == "before" and result.read_text() != "before"
    assert not [name for name in os.listdir(pair.repository) if name.startswith(".twincell-")]


def test_outputs_still_go_to_pipes_and_devices(pair):
    done = pair.run(*command("markdown", "/dev/stdout"))
    assert "f" in done.stdout and "cannot write" not in done.stderr
    assert pair.run(*command("html", "/dev/null")).returncode == 1


@pytest.mark.parametrize("target", night(["../../outside/key.py", "/etc/passwd", "../../outside/../.netrc"], 1))
@pytest.mark.parametrize("side", ["old", "new"])
def test_a_study_of_a_folder_reads_no_file_outside_of_it(person, target, side):
    (person.home / "outside").mkdir()
    (person.home / "outside" / "key.py").write_text(f"def f(x):\n    return {SECRET!r}\n")
    folder = person.repository / "pairs"
    folder.mkdir()
    other = "new" if side == "old" else "old"
    (folder / f"a_{other}.py").write_text(OLD)
    (folder / f"a_{side}.py").symlink_to(target if target.startswith("/") else os.path.join("..", target))
    (folder / "b_old.py").write_text(OLD)
    (folder / "b_new.py").write_text(NEW)
    out = person.home / "rows.jsonl"
    done = person.run("study", "pairs", *QUICK, "--out", str(out), "--html", str(person.home / "page.html"))
    read = done.stdout + done.stderr + out.read_text() + (person.home / "page.html").read_text()
    assert SECRET not in read and "root:x:" not in read
    rows = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert rows["b"]["verdict"] == "changing"


def test_a_link_within_the_folder_of_a_study_is_read(person):
    folder = person.repository / "pairs"
    folder.mkdir()
    (folder / "shared.py").write_text(OLD)
    (folder / "a_old.py").symlink_to("shared.py")
    (folder / "a_new.py").write_text(NEW)
    out = person.home / "rows.jsonl"
    person.run("study", "pairs", *QUICK, "--out", str(out))
    assert json.loads(out.read_text())["verdict"] == "changing"


# What tests under amplify say of themselves.

SHOP = "def total(prices, discount=0):\n    return sum(prices) - discount\n"
CHANGED = "def total(prices, discount=0):\n    return sum(prices) - discount if prices else 0\n"
TESTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
AMPLIFY = ("amplify", "HEAD", "--budget-rounds", "1", "--budget", "20")

FORGING = """\
import os
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    serving = next(one for one in session.config.pluginmanager.get_plugins() if type(one).__name__ == "Serving")
    describe = type(serving).describe
    type(serving).describe = lambda self, item: {{**describe(self, item), "file": {file!r}}}
"""


def amplified(person, old, new, *arguments):
    person.environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    person.commit(old, "Old")
    person.commit(new, "New")
    return person.run(*AMPLIFY, "--python", sys.executable, "--json", *arguments)


FORGED = {
    "absolute": lambda person: str(person.home / "outside" / "test_shop.py"),
    "upwards": lambda person: "../" * 12 + str(person.home / "outside" / "test_shop.py").lstrip("/"),
    "through a link": lambda person: "linked/test_shop.py",
    "a link": lambda person: "linked_test_shop.py",
    "of git": lambda person: ".git/test_shop.py",
}


@pytest.mark.parametrize("kind", night(FORGED, 1))
def test_a_forged_collection_makes_nothing_else_be_read(person, kind):
    (person.home / "outside").mkdir()
    (person.home / "outside" / "test_shop.py").write_text(f"{TESTS}    # {SECRET}\n")
    (person.repository / "linked").symlink_to(person.home / "outside")
    (person.repository / "linked_test_shop.py").symlink_to(person.home / "outside" / "test_shop.py")
    (person.repository / ".git" / "test_shop.py").write_text(f"{TESTS}    # {SECRET}\n")
    read_at = [person.home / "outside" / "test_shop.py", person.repository / ".git" / "test_shop.py"]
    for file in read_at:
        os.utime(file, (1, 1))
    forging = FORGING.format(file=FORGED[kind](person))
    old = {"shop.py": SHOP, "test_shop.py": TESTS, "conftest.py": forging}
    done = amplified(person, old, {"shop.py": CHANGED}, "--patch", "../new.patch", "--html", "../page.html")
    # Where the system notes when a file was read.
    assert [file.stat().st_atime for file in read_at] == [1, 1]
    written = [path.read_text() for path in person.repository.parent.glob("*.*")]
    assert not any(SECRET in text for text in (done.stdout, done.stderr, *written))


@pytest.mark.long
@pytest.mark.parametrize("folder", ["a\n+++ b/evil.py", 'a"b', "a\\n", "a b", "caf\u00e9", "a\tb"])
def test_a_name_adds_nothing_to_a_patch(person, folder):
    old = {"shop.py": SHOP, f"{folder}/test_shop.py": TESTS}
    done = amplified(person, old, {"shop.py": CHANGED}, "--patch", "../new.patch")
    patch = person.repository.parent / "new.patch"
    if not patch.exists() or not patch.read_text():
        pytest.skip(done.stderr or "no test was found")
    named = person.git("apply", "--numstat", "-z", str(patch))
    names = [line.split("\t", 2)[2] for line in named.split("\0") if line]
    assert names == [f"{folder}/test_shop.py"]
    person.git("apply", str(patch))


@pytest.mark.long
@pytest.mark.parametrize("option", ["--patch", "--patch-old", "--html", "--markdown", "--junit"])
def test_what_amplify_writes_goes_through_no_link(person, outside, option):
    links(person, "result", outside / "file")
    done = amplified(person, {"shop.py": SHOP, "test_shop.py": TESTS}, {"shop.py": CHANGED}, option, "result")
    assert is_kept(outside) and "is a link in the repository" in done.stderr


@pytest.mark.long
def test_a_checkout_that_tests_turn_into_a_repository_leads_nowhere(person):
    (person.home / "data.py").write_text(f"KEY = {SECRET!r}\n")
    conftest = (
        "import os, subprocess\n"
        "subprocess.run(['git', 'init', '-q'])\n"
        f"subprocess.run(['git', 'config', 'core.worktree', {str(person.home)!r}])\n"
    )
    shop = "import data\n\n\ndef total(prices):\n    return {}\n"
    old = {"shop.py": shop.format("len(data.KEY)"), "conftest.py": conftest, "test_other.py": "def test(): pass\n"}
    done = amplified(person, old, {"shop.py": shop.format("data.KEY")})
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["../../.netrc", "../../.ssh/id_rsa"])
@pytest.mark.parametrize("name", ["shop.py", "folder"])
def test_a_version_in_the_working_tree_is_no_link(person, name, target):
    if name == "shop.py":
        person.commit({"shop.py": OLD})
        (person.repository / "shop.py").unlink()
        (person.repository / "shop.py").symlink_to(target)
    else:
        (person.home / "outside").mkdir()
        (person.home / "outside" / "shop.py").write_text(f"def f(x):\n    return {SECRET!r}\n")
        person.commit({"folder/shop.py": OLD})
        (person.repository / "folder" / "shop.py").unlink()
        (person.repository / "folder").rmdir()
        (person.repository / "folder").symlink_to(person.home / "outside")
    done = person.run("compare", "--git", "HEAD", *QUICK, "--verbose")
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["../../../.netrc", "/etc/passwd", "../../../outside/a.py"])
def test_a_study_of_prefixes_reads_no_file_outside_of_its_folder(person, target):
    (person.home / "outside").mkdir()
    (person.home / "outside" / "a.py").write_text(f"print({SECRET!r})\n")
    person.commit({"snippets/b.py": "print(1)\n"})
    (person.repository / "snippets" / "a.py").symlink_to(target)
    out = person.home / "rows.jsonl"
    done = person.run("prefix", "snippets", "--study", str(out), "--predictor", "frequency")
    assert SECRET not in done.stdout + done.stderr + out.read_text() and "root:x:" not in out.read_text()
    assert len(out.read_text().splitlines()) == 1


def test_a_link_or_another_repository_that_leads_elsewhere_is_named(person):
    person.commit({"a.py": OLD, "b.py": OLD})
    links(person, "shop.py", "a.py")
    pointer = "160000,{},vendored"
    person.git("update-index", "--add", "--cacheinfo", pointer.format("1" * 40))
    person.git("commit", "--quiet", "--message", "Link")
    (person.repository / "shop.py").unlink()
    links(person, "shop.py", "b.py")
    person.git("update-index", "--add", "--cacheinfo", pointer.format("2" * 40))
    person.git("commit", "--quiet", "--message", "Another")
    found = json.loads(person.run("compare", "--json", *QUICK, "--git", "HEAD~2..HEAD").stdout)
    files = [notice["files"] for notice in found["notices"] if notice["kind"] == "leads_elsewhere"]
    assert files == [["shop.py", "vendored"]]
