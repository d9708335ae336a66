"""The own tests of popular packages, in twincell's processes and by plain pytest: outcomes and times.

    cargo build --release -p twincell-project --example suite
    python -m tests.measure.suites FILE.jsonl NAME=CLONE [NAME=CLONE ...] [--kill N]

Each CLONE is checked out at the commit of its HEAD. The packages are also installed in the environment, in other
versions. Plain pytest runs first, on one core, and then twincell with one worker: without
coverage, with it, and again, when the store has all. A row for each package goes to FILE. With `--kill N`, runs are
killed at N moments, and a last one must give what the whole run gave, with the checkout as it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .bugs import git
from .fixes import NEEDS_OF_MINED, environment, work_tree

EXAMPLE = Path("target/release/examples/suite")
#: Installed, as a developer may have them: the checkout's own copy must be what runs.
INSTALLED = (
    *("click", "more-itertools", "boltons", "marshmallow", "sqlparse", "humanize", "parse", "jinja2", "werkzeug"),
    *("mistune", "tabulate", "packaging", "toolz", "wtforms", "pyjwt", "tenacity", "coverage"),
)

REPORTER = '''"""Writes the outcome of each test by its id."""
import json
import os

outcomes = {}


def pytest_runtest_logreport(report):
    expected = hasattr(report, "wasxfail")
    if report.failed:
        outcome = "failed" if report.when == "call" else "error"
    elif report.skipped:
        outcome = "x_failed" if expected else "skipped"
    elif report.when == "call":
        outcome = "x_passed" if expected else "passed"
    else:
        return
    order = ["passed", "x_passed", "x_failed", "skipped", "error", "failed"]
    known = outcomes.get(report.nodeid, "passed")
    outcomes[report.nodeid] = max(known, outcome, key=order.index)


def pytest_sessionfinish(session):
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(outcomes, file)
'''


def plain(tree: Path, python: Path, folder: Path) -> tuple[dict[str, str], float]:
    """What plain pytest says of each test, and the seconds of the command."""
    plugin = folder / "plugin"
    plugin.mkdir(exist_ok=True)
    (plugin / "outcomes_reporter.py").write_text(REPORTER)
    out = folder / "outcomes.json"
    out.unlink(missing_ok=True)
    path = os.pathsep.join(map(str, [plugin, tree / "src", tree]))
    # The limits and the surroundings are those of twincell's processes where outcomes depend on them.
    environ = os.environ | {"PYTHONPATH": path, "OUTCOMES": str(out), "PYTHONHASHSEED": "0"}
    command = [str(python), "-m", "pytest", "-q", "-p", "outcomes_reporter", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors"]
    began = time.monotonic()
    subprocess.run(command, cwd=tree, env=environ, capture_output=True, timeout=1200)
    seconds = time.monotonic() - began
    return (json.loads(out.read_text()) if out.exists() else {}), seconds


def ours(repository: Path, python: Path, cache: Path, *options: str) -> tuple[dict, float]:
    """What twincell says of each test, and the seconds of the command."""
    command = [str(EXAMPLE), str(repository), "HEAD", str(python), str(cache), "1", *options]
    began = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True, timeout=2400)
    seconds = time.monotonic() - began
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip()[-500:])
    return json.loads(ran.stdout), seconds


def state(tree: Path) -> str:
    """A hash of all files of a checkout of the user, and of git's index, stash and heads."""
    digest = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        if path.is_file() and not path.is_symlink():
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def killed(tree: Path, python: Path, whole: dict, seconds: float, times: int, seed: int) -> dict:
    """Runs that are killed at random moments, and a last one: whether all is as it was."""
    choose = random.Random(seed)
    before = state(tree)
    problems = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(times):
            command = [str(EXAMPLE), str(tree), "HEAD", str(python), cache, "1"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                time.sleep(choose.uniform(0.01, seconds))
                running.kill()
            if state(tree) != before:
                problems.append("the checkout is not as it was")
        last, _ = ours(tree, python, Path(cache))
        if last["tests"] != whole["tests"]:
            problems.append("other results")
    return {"times": times, "left": len(whole["tests"]) - last["ran"], "problems": problems}


def table(rows: list[dict]) -> None:
    print("package, tests, other outcomes, plain s, twincell s, with coverage s, from the store s")
    for row in rows:
        times = [f"{row[key]:.1f}" for key in ("plain", "ours", "coverage", "again")]
        print(row["name"], row["tests"], len(row["others"]), *times, sep=", ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("clones", nargs="+", metavar="NAME=CLONE")
    parser.add_argument("--kill", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which runs are killed")
    parser.add_argument("--folder", type=Path, default=Path("target/fixes"), help="for the environment and clones")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = environment(folder / "environment-of-suites", NEEDS_OF_MINED + INSTALLED)
    rows = []
    for described in arguments.clones:
        name, _, clone = described.partition("=")
        tree = work_tree(Path(clone), folder / f"suite-{name}")
        commit = (git(tree, "rev-parse", "HEAD") or b"").decode().strip()
        expected, seconds = plain(tree, python, folder)
        cache = folder / "suite-cache"
        shutil.rmtree(cache, ignore_errors=True)
        row: dict = {"name": name, "commit": commit, "tests": len(expected), "plain": seconds}
        try:
            found, row["ours"] = ours(tree, python, cache)
            _, row["coverage"] = ours(tree, python, cache, "--coverage")
            _, row["again"] = ours(tree, python, cache)
        except RuntimeError as error:
            print(name, error, flush=True)
            continue
        own = found["tests"]
        names = sorted(expected.keys() | own.keys())
        row["others"] = [
            [test, expected.get(test), own.get(test), found["why"].get(test)]
            for test in names
            if expected.get(test) != own.get(test)
        ]
        if arguments.kill:
            row["killed"] = killed(tree, python, found, row["ours"], arguments.kill, arguments.seed)
        rows.append(row)
        with arguments.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        table([row])
        for other in row["others"][:5]:
            print("   ", *other)
        if arguments.kill:
            print("   ", row["killed"], flush=True)
    table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
