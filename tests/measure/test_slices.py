"""The measure of slices: which commits are features by rule, and whether a slice is verified without twincell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measure import slices

CODE = "tests/test_shop.py"


class Repository:
    """A repository whose commits are written one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        names = {f"GIT_{role}_{part}": "a@b" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=os.environ | names
        ).stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            path = self.folder / {"test": CODE, "readme": "README"}.get(name, f"{name}.py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", " ".join(files) or "nothing")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Repository(folder)


def text_of_tests(*numbers: int) -> str:
    return "from shop import *\n" + "".join(f"def test_{n}():\n    assert value({n}) == {n}\n" for n in numbers)


def test_tests_are_named_as_pytest_names_them() -> None:
    text = "def test_a(): ...\ndef help(): ...\nclass Test:\n    async def test_b(self): ...\n    def help(self): ...\n"
    assert slices.tests_of(text) == ["test_a", "Test::test_b"]
    assert slices.tests_of("def test_a(:\n") == []


@pytest.mark.parametrize(
    ("files", "added"),
    [
        ({"shop": "a = 1\n", "test": text_of_tests(0, 1, 2)}, []),
        ({"shop": "a = 1\n", "test": text_of_tests(0, 1, 2, 3)}, ["test_1", "test_2", "test_3"]),
        ({"shop": "a = 1\n", "tests/test_new": text_of_tests(1)}, ["test_1"]),
        ({"tests/test_new": text_of_tests(1)}, []),
        ({"shop": "a = 1\n"}, []),
    ],
)
def test_a_feature_is_code_with_three_tests_or_a_new_file_of_them(
    repository: Repository, files: dict[str, str], added: list[str]
) -> None:
    repository.commit(shop="a = 0\n", test=text_of_tests(0))
    found = slices.added_tests(repository.folder, repository.commit(**files))
    assert [test for tests in found.values() for test in tests] == added


def test_a_range_begins_on_the_line_of_first_parents(repository: Repository) -> None:
    commits = [repository.commit() for _ in range(4)]
    assert slices.beginning(repository.folder, commits[3], 2) == commits[1]
    assert slices.beginning(repository.folder, commits[3], 4) is None


def test_a_mined_subject_passes_at_its_end_and_fails_at_its_beginning(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LENGTHS", (2, 2))
    begin = repository.commit(shop="def value(n): return 0\n", test=text_of_tests(0))
    repository.commit(other="a = 1\n")
    end = repository.commit(shop="def value(n): return n\n", test=text_of_tests(0, 1, 2, 3))
    repository.commit(shop="def value(n): return n\na = 1\n", test=text_of_tests(0, 1, 2, 3, 4, 5))
    found = [subject for subject, _ in slices.mined(repository.folder, sys.executable, 0) if subject]
    assert [subject["range"] for subject in found] == [f"{begin[:10]}..{end[:10]}"]
    assert found[0]["tests"].split()[0].startswith(CODE)


@pytest.fixture
def slice_of_two(repository: Repository) -> tuple[Repository, str, list[str]]:
    """A base, and a branch `slice` with two commits, of which the tests need the second one only."""
    base = repository.commit(shop="def value(n): return 0\n", test=text_of_tests(0))
    first = repository.commit(shop="def value(n): return 0\n\n\n\na = 1\n")
    second = repository.commit(shop="def value(n): return n\n\n\n\na = 1\n", test=text_of_tests(0, 1))
    repository.git("branch", "slice")
    return repository, base, [first, second]


def found(base: str, count: int, deciding: list[str]) -> dict[str, object]:
    units = [{"state": {"stays": {}}, "commit": str(number)} for number in range(count)]
    return {"base": base, "units": units, "tests": {"deciding": deciding}}


@pytest.mark.parametrize(
    ("deciding", "count", "said"),
    [
        ([f"{CODE}::test_0", f"{CODE}::test_1"], 2, "NO: passes without"),
        ([f"{CODE}::test_2"], 2, "NO: the branch fails"),
        ([f"{CODE}::test_1"], 3, "NO: 2 commits on the branch"),
    ],
)
def test_a_slice_is_verified_without_its_own_words(
    slice_of_two: tuple[Repository, str, list[str]], tmp_path: Path, deciding: list[str], count: int, said: str
) -> None:
    repository, base, (first, second) = slice_of_two
    place = tmp_path / "bench"
    place.mkdir()
    bench = slices.made_bench(repository.folder, place, sys.executable, second, [CODE])
    repository.git("push", "-q", str(bench.clone), "slice:refs/heads/slice")
    text = slices.checked(found(base, count, deciding), bench)
    assert text.startswith(said)
    if "without" in said:
        assert first[:7] in text
        assert second[:7] not in text


def test_a_commit_that_conflicts_in_code_goes_with_the_one_before(repository: Repository, tmp_path: Path) -> None:
    repository.commit(shop="a = 1\nb = 1\n", test=text_of_tests(0))
    second = repository.commit(shop="a = 2\nb = 1\n", readme="1")
    third = repository.commit(shop="a = 3\nb = 1\n")
    fourth = repository.commit(shop="a = 3\nb = 2\n", readme="2")
    bench = slices.made_bench(repository.folder, tmp_path, sys.executable, fourth, [CODE])
    assert bench.without(second, [third, fourth]) == [third]
    assert (bench.clone / "shop.py").read_text() == "a = 1\nb = 2\n"
    assert (bench.clone / "README").read_text() == "2"


def test_runs_are_compared_where_all_schemes_gave_a_slice() -> None:
    def row(runs: int) -> dict[str, int]:
        return {"stay": 1, "runs": runs, "seconds": 1}

    rows = {("low", "1"): {"a": row(2), "b": row(9)}, ("basic", "1"): {"a": row(8), "b": row(6), "c": row(5)}}
    low, basic = list(slices.sums(rows, "basic"))[2:]
    assert low == "| low | 1 | 2 | 2 | 11 | 2 | 0.79 | 0.88 | 1.50 |"
    assert basic.endswith("| 14 | 2 | 1.00 | 1.00 | 1.00 |")
