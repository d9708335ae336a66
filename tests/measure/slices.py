"""Features whose tests are known: how many runs of them `twincell slice` needs, by scheme, and how many commits stay.

    python -m tests.measure.slices FOLDER [--subjects FILE] [--only WORD] [--schemes combined basic] [--jobs 1 2]
        [--python FILE] [--verify] [--keep FOLDER]
    python -m tests.measure.slices mine FOLDER PROJECT [--python FILE] [--seed N] [--count N]

FOLDER holds clones of the projects that `slices.json` names, with their histories. A subject is a range that ends
with a feature and its tests. FILE of `--python` is an interpreter that has what the projects need, pytest included;
`{project}` in it stands for the name of the project, and `packages` of `slices.json` says what to install.

The store of outcomes is a new one for each row, so that each is as a first run. The table has one row for each
subject, scheme and number of jobs: units of the range, units that stay, whether that was shown to be minimal, runs of
the tests, and seconds. `--keep` writes each slice as JSON. The second table has the sums, and the runs beside those of
the last scheme: in all, on average over the subjects, and at worst.

`--verify` runs pytest without twincell. `twincell slice --branch` writes the slice into a clone. There the branch must
pass, with the test folders of the end of the range, and each of its commits is left out: git picks the later ones onto
the commit before it. One that conflicts in Python code goes as well; other conflicts do not matter. "With others"
counts commits without which the tests fail, but only together with one that does not need their text as the slice
says. Where the tests pass, the commits that need its text as the slice says go too. "By text" counts commits without
which, and without those, the tests fail: they often stay for the text of a README or of settings.

`mine` finds subjects by rule: a commit that changes Python code and adds tests, at least three or a new file of them.
The seed draws the commits, the length of each range (50 to 150 commits), and whether the tests are those that the
commit adds, or the whole files that it adds them to. They must all pass at the end of the range, within ten seconds,
and one that the commit adds must fail at its beginning.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

SUBJECTS = Path(__file__).with_suffix(".json")
SCHEMES = ["neg", "nonpos", "low", "combined", "basic"]
#: How many commits a range has.
LENGTHS = (50, 150)
#: How many of the newest commits are looked at.
NEWEST = 1500
#: How many tests a commit adds to files that exist.
ADDED = 3
#: A commit that changes more files is not one feature.
MOST_FILES = 40
#: How long the tests may take at the end of the range, and anywhere.
SECONDS = 10
LIMIT = 120
TEST_FOLDERS = {"tests", "test"}
#: Folders and files of Python code that no test of a feature is about.
NO_SOURCE = TEST_FOLDERS | {"docs", "doc", "examples", "setup.py", "conftest.py"}

Subject = dict[str, str]


def git(repository: Path, *arguments: str, may_fail: bool = False) -> str:
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=not may_fail)
    return done.stdout.decode(errors="surrogateescape").strip()


# Tests of a commit


def is_test_file(path: str) -> bool:
    parts = PurePosixPath(path)
    is_named = parts.name.startswith("test") or parts.stem.endswith("_test")
    return parts.suffix == ".py" and is_named and not TEST_FOLDERS.isdisjoint(parts.parts[:-1])


def is_source(path: str) -> bool:
    parts = PurePosixPath(path)
    return parts.suffix == ".py" and NO_SOURCE.isdisjoint(parts.parts) and not is_test_file(path)


def tests_of(text: str) -> list[str]:
    """The tests of a file as pytest names them, as far as its text tells."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            found.append(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
            found += [f"{node.name}::{name}" for name in methods if name.startswith("test")]
    return found


def added_tests(repository: Path, commit: str) -> dict[str, list[str]]:
    """The tests that a commit adds together with code, by file. None where it is no feature by rule."""
    lines = git(repository, "diff-tree", "-r", "--no-renames", "--name-status", f"{commit}^", commit).splitlines()
    changes = [line.split("\t", 1) for line in lines]
    if len(changes) > MOST_FILES or not any(state != "D" and is_source(path) for state, path in changes):
        return {}
    added, is_new_file = {}, False
    for state, path in changes:
        if state == "D" or not is_test_file(path):
            continue
        old = git(repository, "show", f"{commit}^:{path}", may_fail=True)
        known = set(tests_of(old))
        new = [test for test in tests_of(git(repository, "show", f"{commit}:{path}")) if test not in known]
        if new:
            added[path] = new
            is_new_file |= state == "A"
    return added if is_new_file or sum(map(len, added.values())) >= ADDED else {}


def beginning(repository: Path, end: str, length: int) -> str | None:
    """The commit on the line of first parents after which there are at least so many commits up to the end."""
    for commit in git(repository, "rev-list", "--first-parent", "-n", "300", f"{end}^").split():
        count = int(git(repository, "rev-list", "--no-merges", "--count", f"{commit}..{end}"))
        if count >= length:
            return commit if count <= LENGTHS[1] else None
    return None


# Runs of pytest that do not rest on twincell


@dataclass
class Bench:
    """A clone in which pytest runs for one subject."""

    clone: Path
    home: Path
    python: str
    #: The commit whose test folders every run has.
    end: str
    tests: list[str]

    def put_tests_over(self) -> None:
        for place in sorted(test_folders(self.tests)):
            git(self.clone, "rm", "-rqf", "--ignore-unmatch", place)
            git(self.clone, "checkout", "-q", self.end, "--", place)

    def passing(self, commit: str | None = None) -> set[str] | None:
        """The tests that pass in a commit, or in what is checked out. None where that takes too long."""
        if commit is not None:
            self.check_out(commit)
        self.put_tests_over()
        roots = [str(self.clone / name) for name in ("src", "lib") if (self.clone / name).is_dir()]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "COLUMNS": "5000",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([*roots, str(self.clone)]),
        }
        command = [self.python, "-m", "pytest", "-q", "-rp", "-p", "no:cacheprovider", "--color=no"]
        with tempfile.TemporaryFile() as output:
            # Tests may leave servers behind, which a pipe would wait for.
            places = {"cwd": self.clone, "stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
            child = subprocess.Popen([*command, *self.tests], env=environment, start_new_session=True, **places)
            try:
                child.wait(LIMIT)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            output.seek(0)
            lines = output.read().decode(errors="replace").splitlines()
        return {line.removeprefix("PASSED ").strip() for line in lines if line.startswith("PASSED ")}

    def check_out(self, commit: str) -> None:
        git(self.clone, "reset", "-q", "--hard")
        git(self.clone, "clean", "-qfdx")
        git(self.clone, "checkout", "-q", "--detach", commit)

    def without(self, left_out: str, later: list[str]) -> list[str]:
        """Checks out a history without one commit. Gives those that went with it, since they conflict in code."""
        self.check_out(f"{left_out}^")
        return [commit for commit in later if not self.picks(commit)]

    def picks(self, commit: str) -> bool:
        """Applies a commit, if its changes to code apply."""
        before = git(self.clone, "rev-parse", "HEAD")
        git(self.clone, "cherry-pick", "--no-commit", commit, may_fail=True)
        unmerged = {line.split("\t", 1)[1] for line in git(self.clone, "ls-files", "-u").splitlines()}
        code = [path for path in unmerged if is_source(path) and not is_in(path, test_folders(self.tests))]
        for path in unmerged:
            # Settings with marks of a conflict would keep pytest from starting.
            side = "--ours" if path in code else "--theirs"
            git(self.clone, "checkout", side, "--", path, may_fail=True)
        if code:
            # git wants three equal lines around a change, which is too much where commits change neighbouring lines.
            change = git(self.clone, "diff", "-U1", f"{commit}^", commit, "--", *code) + "\n"
            command = ["patch", "-p1", "-F1", "-f", "-s", "--no-backup-if-mismatch", "-d", str(self.clone), "-r", "-"]
            done = subprocess.run(command, input=change, text=True, errors="surrogateescape", capture_output=True)
            if done.returncode:
                self.check_out(before)
                return False
        git(self.clone, "add", "-A")
        message = ["-c", "user.name=measure", "-c", "user.email=", "commit", "-q", "--allow-empty", "-m", "picked"]
        git(self.clone, *message, "--no-verify")
        return True


def is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def test_folders(tests: Iterable[str]) -> set[str]:
    """The outermost test folder around each file."""
    folders = set()
    for test in tests:
        parts = PurePosixPath(test.split("::")[0]).parts
        places = [place for place, name in enumerate(parts[:-1]) if name in TEST_FOLDERS]
        folders.add("/".join(parts[: places[0] + 1] if places else parts))
    return folders


def made_bench(repository: Path, folder: Path, python: str, end: str, tests: list[str]) -> Bench:
    """A bench in an empty folder."""
    clone, home = folder / "clone", folder / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", repository, clone], check=True)
    return Bench(clone, home, python, end, tests)


# Mining


def mined(repository: Path, python: str, seed: int) -> Iterator[tuple[Subject | None, str]]:
    """Subjects with what was seen of each, or why a commit gives none."""
    chance = random.Random(f"{repository.name} {seed}")
    commits = git(repository, "rev-list", "--no-merges", "--min-parents=1", "-n", str(NEWEST), "HEAD").split()
    chance.shuffle(commits)
    for end in commits:
        # Both are drawn before anything is known of the commit.
        length, is_whole = chance.randint(*LENGTHS), chance.random() < 0.5
        added = added_tests(repository, end)
        if not added:
            continue
        name = git(repository, "log", "-1", "--format=%h %cs %s", end)
        old = beginning(repository, end, length)
        if old is None:
            yield None, f"{name}: no range of that length"
            continue
        single = [f"{path}::{test}" for path, tests in added.items() for test in tests]
        tests = list(added) if is_whole else single
        with tempfile.TemporaryDirectory() as folder:
            bench = made_bench(repository, Path(folder), python, end, tests)
            began = time.perf_counter()
            at_end = bench.passing(end)
            seconds = time.perf_counter() - began
            bench.tests = single
            passing = {base_of(test) for test in at_end or ()}
            if not passing.issuperset(single):
                yield None, f"{name}: {len(passing.intersection(single))} of {len(single)} added tests pass at the end"
                continue
            if seconds > SECONDS:
                yield None, f"{name}: {seconds:.0f} s"
                continue
            at_start = {base_of(test) for test in bench.passing(old) or ()}
            missing = [test for test in single if test not in at_start]
            if not missing:
                yield None, f"{name}: all added tests pass at the beginning"
                continue
        ends = [git(repository, "rev-parse", "--short=10", commit) for commit in (old, end)]
        subject = {"project": repository.name, "range": "..".join(ends), "tests": " ".join(tests)}
        yield subject, f"{name}: {len(missing)} of {len(single)} fail at the beginning, {seconds:.1f} s"


def base_of(test: str) -> str:
    """A test without its parameters."""
    return test.split("[")[0]


# Measuring


def checked(found: dict[str, Any], bench: Bench) -> str:
    """Whether a slice on the branch `slice` is minimal, without what it says of its runs."""
    deciding = set(found["tests"]["deciding"])
    commits = git(bench.clone, "rev-list", "--reverse", f"{found['base']}..slice").split()
    staying = [place for place, unit in enumerate(found["units"]) if "stays" in unit["state"]]
    if len(commits) != len(staying):
        return f"NO: {len(commits)} commits on the branch"

    def is_passing(commit: str | None = None) -> bool:
        passing = bench.passing(commit)
        return passing is not None and deciding <= passing

    if not is_passing("slice"):
        return "NO: the branch fails"
    needless, by_text, with_others = [], 0, 0
    for place, commit in enumerate(commits):
        later = commits[place + 1 :]
        why = found["units"][staying[place]]["state"]["stays"]
        reasons = why.values() if isinstance(why, dict) else []
        units = [unit for reason in reasons for unit in reason.get("by", [])]
        needing = {commits[staying.index(unit)] for unit in units if unit in staying}
        gone = bench.without(commit, later)
        if not is_passing():
            with_others += not needing.issuperset(gone)
            continue
        bench.without(commit, [other for other in later if other not in needing])
        if needing and not is_passing():
            by_text += 1
        else:
            needless.append(git(bench.clone, "log", "-1", "--format=%h (%s)", commit))
    if needless:
        return f"NO: passes without {', '.join(needless)}"
    notes = [f"{by_text} by text"] * bool(by_text) + [f"{with_others} with others"] * bool(with_others)
    return ", ".join(["yes", *notes])


def run(
    subject: Subject, scheme: str, jobs: str, python: str | None, verified: dict[str, str], given: argparse.Namespace
) -> dict[str, Any]:
    """One subject with one scheme, with an empty cache. `verified` holds what is known of its slices."""
    # Sockets of tests lie below the cache, and their paths may have 108 bytes.
    with tempfile.TemporaryDirectory(prefix="s") as place:
        repository = given.folder / subject["project"]
        end = subject["range"].split("..")[1]
        bench = made_bench(repository, Path(place), python or sys.executable, end, subject["tests"].split())
        command = [sys.executable, "-m", "twincell", "slice", "--json", "--repository", str(bench.clone)]
        command += ["--branch", "slice", "--scheme", scheme, "--jobs", jobs]
        command += [*(["--python", python] if python else []), subject["range"], "--tests", subject["tests"]]
        began = time.perf_counter()
        environment = os.environ | {"XDG_CACHE_HOME": str(Path(place) / "c")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        seconds = time.perf_counter() - began
        if not done.stdout:
            return {"said": " ".join(done.stderr.strip().splitlines()[-1:])}
        found = json.loads(done.stdout)
        if given.keep:
            name = f"{subject['project']}-{end}-{scheme}-{jobs}.json"
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / name).write_text(done.stdout)
        staying = [unit["commit"] for unit in found["units"] if "stays" in unit["state"]]
        key = " ".join(staying)
        if given.verify and key not in verified:
            verified[key] = checked(found, bench)
        return {
            "units": len(found["units"]),
            "stay": len(staying),
            "minimal": "yes" if found["is_minimal"] else "no",
            "runs": len(found["steps"]) + found["spare"],
            "seconds": seconds,
            "verified": verified.get(key, ""),
        }


def sums(rows: dict[tuple[str, str], dict[str, dict[str, Any]]], base: str) -> Iterator[str]:
    """The second table: what each scheme needs for the subjects for which all of them gave a slice."""
    named = set.intersection(*(set(by_subject) for by_subject in rows.values())) if rows else set()
    yield f"| scheme | jobs | subjects | stay | runs | s | of the runs of {base} | on average | at worst |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (scheme, jobs), by_subject in rows.items():
        own = [by_subject[name] for name in sorted(named)]
        others = [rows[base, jobs][name] for name in sorted(named)]
        stay, runs, seconds = (sum(row[key] for row in own) for key in ("stay", "runs", "seconds"))
        shares = [row["runs"] / other["runs"] for row, other in zip(own, others, strict=True)] or [0.0]
        share = runs / max(1, sum(row["runs"] for row in others))
        cells = [scheme, jobs, len(own), stay, runs, round(seconds)]
        cells += [f"{figure:.2f}" for figure in (share, statistics.mean(shares), max(shares))]
        yield "| " + " | ".join(map(str, cells)) + " |"


def measure(given: argparse.Namespace) -> None:
    rows: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
        (scheme, jobs): {} for scheme in given.schemes for jobs in given.jobs
    }
    print("| subject | scheme | jobs | units | stay | minimal | runs | s | verified |")
    print("|---|---|---:|---:|---:|---|---:|---:|---|", flush=True)
    for subject in json.loads(given.subjects.read_text())["subjects"]:
        name = f"{subject['project']} {subject['range']} {subject['tests']}"
        if given.only not in name:
            continue
        python = given.python and given.python.format(project=subject["project"])
        short = name if len(name) < 100 else f"{name[:97]}..."
        verified: dict[str, str] = {}
        for (scheme, jobs), by_subject in rows.items():
            row = run(subject, scheme, jobs, python, verified, given)
            if "said" in row:
                print(f"| {short} | {scheme} | {jobs} | {row['said']} |", flush=True)
                continue
            by_subject[name] = row
            cells = [short, scheme, jobs, row["units"], row["stay"], row["minimal"], row["runs"]]
            cells += [round(row["seconds"]), row["verified"]]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    print()
    for line in sums(rows, given.schemes[-1]):
        print(line)


def mine(given: argparse.Namespace) -> None:
    repository = given.folder / given.project
    left = given.count
    for subject, said in mined(repository, (given.python or sys.executable).format(project=given.project), given.seed):
        print(said, file=sys.stderr, flush=True)
        if subject:
            print(json.dumps(subject), flush=True)
            left -= 1
        if not left:
            break


def main() -> None:
    is_mining = sys.argv[1:2] == ["mine"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if is_mining:
        parser.add_argument("mine")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python")
    if is_mining:
        parser.add_argument("project")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--count", type=int, default=2)
        mine(parser.parse_args())
        return
    parser.add_argument("--subjects", type=Path, default=SUBJECTS)
    parser.add_argument("--only", default="")
    parser.add_argument("--schemes", nargs="+", default=["combined", "basic"], choices=SCHEMES)
    parser.add_argument("--jobs", nargs="+", default=["1"])
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--keep", type=Path)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
