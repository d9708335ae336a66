"""`twincell mine` and `twincell.mine`: the changes of real git repositories."""

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import twincell

from ..command import run_here

START = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc)
NAMES = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x"}

CLASS = '''\
import os


class Box:
    @property
    @cached(
        size=3,
    )
    def size(self) -> int:
        """How much."""
        return {size}

    def open(self, key=None):
        # with a key
        return os.open({opened})


def helper(x):
    return x + {helper}
'''


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.days = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        date = (START + datetime.timedelta(days=self.days)).isoformat()
        environment = os.environ | NAMES | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str | bytes | None]) -> str:
        """One commit a day."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.days += 1
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "boxes")


def mine(repository: Repository, *options: str) -> tuple[list[dict], str]:
    command = [sys.executable, "-m", "twincell", "mine", str(repository.folder), *options]
    done = run_here(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def box(size: str = "1", opened: str = "key", helper: str = "1") -> str:
    return CLASS.format(size=size, opened=opened, helper=helper)


def test_a_change_has_both_functions_and_where_they_come_from(repository):
    repository.commit("first", {"src/box.py": box()})
    commit = repository.commit("Refactor the size", {"src/box.py": box(size="2"), "README": "more"})
    rows, told = mine(repository)
    [row] = rows
    assert list(row) == "id project commit date file function old new old_module new_module".split()
    assert row["id"] == f"boxes-{commit[:10]}:src/box.py:Box.size"
    assert (row["project"], row["commit"], row["file"], row["function"]) == ("boxes", commit, "src/box.py", "Box.size")
    assert row["date"] == "2024-01-02T12:00:00Z"
    assert row["old"] == (
        '@property\n@cached(\n    size=3,\n)\ndef size(self) -> int:\n    """How much."""\n    return 1\n'
    )
    assert row["new"] == row["old"].replace("1", "2")
    assert (row["old_module"], row["new_module"]) == (box(), box(size="2"))
    assert told == "1 change in 2 commits (0 merges)\n"
    assert mine(repository, "--no-modules")[0] == [
        {key: value for key, value in row.items() if not key.endswith("_module")}
    ]


def test_what_is_no_change_of_a_tree_is_not_taken(repository):
    repository.commit("first", {"a.py": box()})
    repository.commit("a comment", {"a.py": box().replace("with a key", "with any key")})
    repository.commit("a docstring", {"a.py": box().replace("How much.", "How much it holds.")})
    repository.commit("an annotation", {"a.py": box().replace("-> int", "-> float")})
    repository.commit("a decorator", {"a.py": box().replace("size=3", "size=4")})
    repository.commit("blanks", {"a.py": box().replace("x + 1", "(x   +   1)")})
    repository.commit("a statement of the module", {"a.py": box().replace("import os", "import os, sys")})
    repository.commit("a text", {"a.txt": "def f(): pass"})
    repository.commit("nothing", {})
    assert mine(repository)[0] == []
    renamed = box().replace("def helper(x):\n    return x + 1", "def helper(y):\n    return y + 1")
    repository.commit("a name of a local", {"a.py": renamed})
    assert [row["function"] for row in mine(repository)[0]] == ["helper"]


def test_several_functions_are_several_changes_unless_one_is_asked_for(repository):
    repository.commit("first", {"a.py": box(), "b.py": box(), "test_a.py": box()})
    repository.commit("two", {"a.py": box(size="2", helper="2")})
    repository.commit("two files", {"a.py": box(size="3", helper="2"), "b.py": box(helper="7")})
    one = {"a.py": box(size="4", helper="2"), "test_a.py": box(helper="9")}
    repository.commit("one and a test", one)
    repository.commit("one and a new one", {"a.py": box(size="5", helper="2") + "\n\ndef more():\n    pass\n"})
    repository.commit(
        "one and a file", {"a.py": box(size="6", helper="2") + "\n\ndef more():\n    pass\n", "c.py": box()}
    )
    repository.commit("one and a plain file", {"a.py": box(size="7", helper="2"), "d.py": "X = 1\n"})
    found = [(row["file"], row["function"]) for row in mine(repository)[0]]
    assert found == [("a.py", "Box.size")] * 4 + [
        ("a.py", "Box.size"),
        ("b.py", "helper"),
        ("a.py", "Box.size"),
        ("a.py", "helper"),
    ]
    rows, _ = mine(repository, "--single-function")
    assert [row["new"][-2] for row in rows] == ["4"]
    rows, _ = mine(repository, "--single-function", "--tests")
    assert rows == []
    assert ("test_a.py", "helper") in [(row["file"], row["function"]) for row in mine(repository, "--tests")[0]]


def test_files_that_were_renamed_are_followed(repository):
    repository.commit("first", {"a.py": box(), "same.py": "x = 1\n" * 9})
    repository.commit("moved", {"a.py": None, "lib/b.py": box(size="2"), "same.py": None, "lib/same.py": "x = 1\n" * 9})
    [row] = mine(repository, "--single-function")[0]
    assert (row["file"], row["function"]) == ("lib/b.py", "Box.size")


def test_merges_are_passed_over_and_their_commits_are_not(repository):
    repository.commit("first", {"a.py": box(), "b.py": box()})
    repository.git("checkout", "-q", "-b", "side")
    side = repository.commit("side", {"a.py": box(size="2")})
    repository.git("checkout", "-q", "main")
    main = repository.commit("main", {"b.py": box(size="3")})
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    rows, told = mine(repository)
    assert [row["commit"] for row in rows] == [main, side]
    assert told == "2 changes in 4 commits (1 merge)\n"
    assert [row["commit"] for row in mine(repository, "--from", "side")[0]] == [side]


def test_commits_are_chosen_by_message_and_date(repository):
    repository.commit("first", {"a.py": box()})
    for number in range(2, 8):
        message = {2: "Refactor sizes", 4: "fix", 6: "Fix\n\nand simplify it"}.get(number, "other")
        repository.commit(message, {"a.py": box(size=str(number))})

    def sizes(*options: str) -> str:
        return "".join(row["new"][-2] for row in mine(repository, *options)[0])

    assert sizes() == "765432"
    assert sizes("--grep", "refactor|simplify|cleanup|optimize") == "62"
    assert sizes("--grep", "^fix$", "--grep", "REFACTOR") == "642"
    assert sizes("--since", "2024-01-04") == "7654"
    assert sizes("--since", "2024-01-04T13:00") == "765"
    assert sizes("--until", "2024-01-04", "--since", "2024-01-03") == "43"
    assert sizes("--limit", "2") == "76"
    assert sizes("--since", "1 day ago") == ""


def test_what_cannot_be_read_is_counted_and_the_rest_goes_on(repository):
    bad = {"latin.py": b"x = '\xe9'\n", "two.py": "print 'x'\n", "binary.py": bytes(range(256)), "a.py": box()}
    repository.commit("first", bad | {"link.py": ""})
    (repository.folder / "link.py").unlink()
    (repository.folder / "link.py").symlink_to("a.py")
    bad = {"latin.py": b"x = '\xe8'\n", "two.py": "print 'y'\n", "binary.py": bytes(255)}
    commit = repository.commit("second", {**bad, "a.py": box(size="2"), "big.py": "x = 1\n" * 1_000_000})
    repository.commit("third", {"big.py": "x = 1\n" * 1_000_001})
    rows, told = mine(repository)
    assert [row["function"] for row in rows] == ["Box.size"]
    assert "4 files left out because they cannot be read:\n" in told
    assert "    big.py at " in told and " has more than 4 MiB\n" in told
    assert f"    latin.py at {commit[:10]} is not UTF-8: byte 0xe9 in line 1, column 6" in told
    assert f"    two.py at {commit[:10]} is not valid Python: line 1, column" in told
    # Nobody can say that one function was modified.
    assert mine(repository, "--single-function")[0] == []


def test_what_is_wrong_is_told_in_one_line(repository, tmp_path):
    repository.commit("first", {"a.py": box()})
    repository.commit("second", {"a.py": box(size="2")})
    (tmp_path / "plain").mkdir()
    Repository(tmp_path / "empty")
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{repository.folder}", str(tmp_path / "cut")], check=True
    )
    folder = str(repository.folder)
    for arguments, expected in [
        ([str(tmp_path / "plain")], "there is no git repository in"),
        ([str(tmp_path / "empty")], "empty has no commit yet"),
        (
            [str(tmp_path / "cut")],
            "is a shallow clone, its history is cut off: fetch the rest with git fetch --unshallow",
        ),
        ([folder, "--since", "yesterdays"], "--since: yesterdays is not a date: write 2024-05-17"),
        ([folder, "--grep", "(fix"], "(fix is not a regular expression: unclosed group"),
        ([folder, "--from", "nowhere"], "nowhere is not a revision of this repository"),
        ([folder, "--limit", "0"], "--limit cannot be '0': give a whole number of at least 1"),
        ([folder, "--out", str(tmp_path / "no" / "out.jsonl")], "cannot write"),
    ]:
        command = [sys.executable, "-m", "twincell", "mine", *arguments]
        done = run_here(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (3, ""), arguments
        assert expected in done.stderr and done.stderr.count("\n") == 1, done.stderr


def long_history(repository: Repository, commits: int, content: Callable[[int], str]) -> None:
    """Many commits at once."""
    lines = []
    for number in range(commits):
        text = content(number)
        lines += [
            "commit refs/heads/main",
            f"committer A <a@x> {1_700_000_000 + 60 * number} +0000",
            f"data {len(f'commit {number}')}",
            f"commit {number}",
            "M 644 inline a.py",
            f"data {len(text)}",
            text,
        ]
    subprocess.run(
        ["git", "fast-import", "--quiet"], input="\n".join(lines), text=True, cwd=repository.folder, check=True
    )


def test_changes_come_in_one_order_for_any_number_of_threads(repository):
    long_history(repository, 400, lambda number: box(size=str(number), helper=str(number // 3)))
    alone, _ = mine(repository, "--jobs", "1")
    assert mine(repository, "--jobs", "5")[0] == alone
    assert len(alone) == 399 + 133
    assert mine(repository, "--jobs", "5", "--limit", "77")[0] == alone[:77]


def test_who_reads_only_the_beginning_ends_the_walk(repository):
    long_history(repository, 3000, lambda number: box(size=str(number)))
    with subprocess.Popen(
        [sys.executable, "-m", "twincell", "mine", str(repository.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() and process.stderr
        process.stdout.close()
        told = process.stderr.read().decode()
        assert process.wait(30) == 0
    assert int(told.split()[0]) < 2900, told


def test_python_gets_dictionaries_while_they_are_found(repository):
    long_history(repository, 300, lambda number: box(size=str(number)))
    found = twincell.mine(repository.folder, limit=250)
    first = next(found)
    assert first["function"] == "Box.size" and first["new_module"] == box(size="299")
    assert found.report["commits"] < 300
    assert len(list(found)) == 249
    rows, _ = mine(repository)
    assert list(twincell.mine(str(repository.folder), jobs=1)) == rows
    day = datetime.datetime.fromtimestamp(1_700_000_000 + 60 * 297, datetime.timezone.utc)
    assert [row["new"][-4:-1] for row in twincell.mine(repository.folder, since=day)] == ["299", "298", "297"]
    assert len(list(twincell.mine(repository.folder, since=day.date(), until=day.date()))) <= 299
    assert list(twincell.mine(repository.folder, grep=["commit 7$", "COMMIT 9$"], modules=False))[0]["old"]
    mistakes = [({"since": "soon"}, "since: soon is not a date"), ({"grep": "("}, "is not a regular expression")]
    for wrong, expected in mistakes:
        with pytest.raises(twincell.TwincellError, match=expected):
            twincell.mine(repository.folder, **wrong)


def test_what_is_mined_is_studied_in_one_go(repository, tmp_path):
    long_history(repository, 8, lambda number: box(helper=str(number)))
    out = tmp_path / "out.jsonl"
    twincell_ = f"{sys.executable} -m twincell"
    command = f"{twincell_} mine {repository.folder} | {twincell_} study - --out {out} --budget 20"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["verdict"] for row in rows] == ["changing"] * 7
    assert {(row["function"], row["file"], row["project"]) for row in rows} == {("helper", "a.py", "boxes")}
