"""Real bug fixes: which of them amplified tests detect, by assertions alone and by search, and how long it takes.

    python -m tests.measure.amplify FILE.jsonl BUGSINPY PROJECT=CLONE [PROJECT=CLONE ...] [--bugs 1,2,3]
        [--unguided] [--replay N]

`BUGSINPY` is a clone of the data set BugsInPy (https://github.com/soarsmu/BugsInPy), and `CLONE` one of the
project, also without a work tree. For each bug the tests of the commit before the fix are amplified; those of
the fix are not read. They run in an environment of their own with the current versions of what the projects
need, and with a plugin that brings back names that newer versions have dropped. A bug counts as detected if
twincell gives a test, which it does only for one that passed before the fix and failed after it, five times
in a row. A row for each bug goes to FILE, and bugs that have one are not run again. With `--replay N`, plain
pytest runs the tests that SBAMPL gave N times on each side, in work trees of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from .bugs import bugs, git

#: What the tests of the projects import. Later versions of pytest refuse marks on fixtures.
NEEDS = (
    *("pytest<9", "pytest-mock", "mock", "nose", "six", "decorator", "psutil", "colorama", "pyte", "requests"),
    *("tornado", "python-daemon", "numpy", "pandas", "cached_property", "sqlalchemy<2", "hypothesis", "boto"),
)

SHIM = '''"""Names that newer versions of Python and pytest have dropped."""
import collections
import collections.abc
import inspect

import _pytest.nodes

if not hasattr(inspect, "ArgSpec"):
    inspect.ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = lambda function: inspect.ArgSpec(*inspect.getfullargspec(function)[:4])
if not hasattr(_pytest.nodes.Node, "get_marker"):
    _pytest.nodes.Node.get_marker = _pytest.nodes.Node.get_closest_marker
'''


def environment(folder: Path) -> Path:
    """A Python with the projects' needs and the shim."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *NEEDS], check=True)
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Path(found.stdout.strip())
    (packages / "old_names.py").write_text(SHIM)
    about = packages / "old_names-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: old-names\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[pytest11]\nold_names = old_names\n")
    return python


def test_files(clone: Path, commit: str) -> list[str]:
    """The test modules of a commit, also those that pytest does not find by itself."""
    listed = (git(clone, "ls-tree", "-r", "--name-only", commit) or b"").decode().splitlines()
    inside = [path for path in listed if path.endswith(".py") and {"test", "tests"} & set(path.split("/")[:-1])]
    names = [path for path in inside if path.rpartition("/")[2].startswith(("test_", "tests_"))]
    names = [path for path in names + [path for path in inside if path.endswith("_test.py")] if "perf" not in path]
    return sorted(set(names))


def work_tree(clone: Path, folder: Path) -> Path:
    """A repository with the clone's objects, as twincell is used with one."""
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--shared", str(clone), str(folder)], check=True)
    return folder


def amplified(repository: Path, commits: list[str], tests: list[str], python: Path, options: list[str]) -> dict:
    command = [sys.executable, "-m", "twincell", "amplify", "..".join(commits), "--repository", str(repository)]
    command += ["--tests", " ".join(tests), "--python", str(python), "--json", *options]
    began = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True)
    row: dict = {"seconds": round(time.monotonic() - began, 1)}
    if ran.returncode > 2:
        return row | {"problem": ran.stderr.strip()[-300:]}
    found = json.loads(ran.stdout)
    row |= {key: found[key] for key in ("status", "ran", "variants", "cut", "detecting")}
    row |= {"selected": len(found["selected"]), "sentences": [test["sentence"] for test in found["tests"]]}
    row["tests"] = [{key: test[key] for key in ("origin", "file", "old")} for test in found["tests"]]
    return row | {"steps": [test["steps"] for test in found["tests"]]}


def replayed(repository: Path, commits: list[str], patch: Path, tests: list[dict], python: Path, times: int) -> dict:
    """How often each test passed before the fix and failed after it, run by plain pytest in that many processes."""
    names = [test["old"]["id"] for test in tests]
    files = sorted({test["file"] for test in tests})
    good = dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory() as folder:
        for commit, wanted in zip(commits, ("PASSED", "FAILED"), strict=True):
            tree = Path(folder) / commit
            inside = ["git", "-C", str(tree)]
            subprocess.run(
                ["git", "-C", str(repository), "worktree", "add", "-q", "--detach", str(tree), commit], check=True
            )
            # The tests are those of the version before the fix.
            subprocess.run([*inside, "checkout", "-q", commits[0], "--", *files], check=True)
            subprocess.run([*inside, "apply", str(patch)], check=True)
            for _ in range(times):
                command = [str(python), "-m", "pytest", "-q", "--tb=no", "-rA", "-p", "no:cacheprovider", *names]
                ran = subprocess.run(
                    command, cwd=tree, capture_output=True, text=True, env=os.environ | {"TERM": "dumb"}
                )
                said = [
                    line.split(" ", 1) for line in ran.stdout.splitlines() if line.startswith(("PASSED ", "FAILED "))
                ]
                for name in names:
                    # A test with several cases fails if one does.
                    own = {word for word, rest in said if rest.split(" - ")[0].split("[")[0].strip() == name}
                    good[name] += own == {wanted} or (wanted == "FAILED" and wanted in own)
            subprocess.run(["git", "-C", str(repository), "worktree", "remove", "--force", str(tree)], check=True)
    return {"times": times, "good": list(good.values())}


def report(rows: list[dict]) -> None:
    """The table: bugs, reached, detected by each technique, median time of each."""
    for project in [*dict.fromkeys(row["project"] for row in rows), None]:
        own = [row for row in rows if project in (None, row["project"])]
        reached = [row for row in own if row["aampl"].get("selected")]
        line = f"{project or 'all':<9} {len(own):>3} bugs, {len(reached):>3} reached"
        for technique in ("aampl", "sbampl"):
            found = sum(row[technique].get("status") == "found" for row in own)
            median = statistics.median(row[technique]["seconds"] for row in own)
            line += f"; {technique} {found}/{len(own)} ({found / len(own):.0%}), median {median:.1f} s"
        print(line)
    replays = [(row["replay"]["times"], count) for row in rows if "replay" in row for count in row["replay"]["good"]]
    if replays:
        right = sum(count == 2 * times for times, count in replays)
        print(f"{right} of {len(replays)} tests passed before and failed after the fix in each run of plain pytest")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("bugsinpy", type=Path)
    parser.add_argument("clones", nargs="+", metavar="PROJECT=CLONE")
    parser.add_argument("--bugs", help="numbers of bugs, separated by commas [default: all]")
    parser.add_argument("--unguided", action="store_true")
    parser.add_argument("--replay", type=int, default=0, metavar="N", help="runs of plain pytest [default: 0]")
    parser.add_argument("--folder", type=Path, default=Path("target/amplify"), help="for the environment and clones")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = environment(folder / "environment")
    text = arguments.file.read_text(encoding="utf-8") if arguments.file.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    wanted = {int(number) for number in (arguments.bugs or "").split(",") if number}
    for described in arguments.clones:
        project, _, clone = described.partition("=")
        repository = work_tree(Path(clone), folder / project)
        for number, commits, _ in bugs(arguments.bugsinpy, project):
            done = any((row["project"], row["bug"]) == (project, number) for row in rows)
            if done or (wanted and number not in wanted):
                continue
            tests = test_files(Path(clone), commits[0])
            common = ["--unguided"] if arguments.unguided else []
            row = {"project": project, "bug": number}
            for technique, options in (
                ("aampl", ["--search-rounds", "0"]),
                ("sbampl", ["--deadline", "300", "--patch-old", str(folder / "tests.patch")]),
            ):
                row[technique] = amplified(repository, commits, tests, python, common + options)
            if arguments.replay and row["sbampl"].get("status") == "found":
                patch = folder / "tests.patch"
                found = row["sbampl"]["tests"]
                row["replay"] = replayed(repository, commits, patch, found, python, arguments.replay)
            rows.append(row)
            with arguments.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            shown = [f"{key} {row[key].get('status') or row[key]['problem']}" for key in ("aampl", "sbampl")]
            print(project, number, *shown, *row["sbampl"].get("sentences", [])[:1], sep="; ", flush=True)
    if rows:
        report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
