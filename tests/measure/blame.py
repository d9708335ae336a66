"""Behaviors whose commit is known: how often `twincell blame` finds it, and how long it takes.

    python -m tests.measure.blame FOLDER [--cases FILE] [--only WORD] [--python FILE]

FOLDER holds clones of the projects that `blame.json` names, with their histories. A case is a call, and the commit that
changed what it gives: a fix of the project, whose difference says what the call gave before.
Each case is a range of up to 500 commits of the line of first parents around that commit, 250 of them newer.

The table has one row for each case; the last lines are how many are right, and the median time of a whole command.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CASES = Path(__file__).with_suffix(".json")
#: The number of commits of a range, and of those that are newer than the fix.
RANGE = 500
NEWER = 250


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def ends(repository: Path, fix: str) -> tuple[str, str]:
    """The older and the newer end of the range around a commit."""
    line = git(repository, "rev-list", "--first-parent", "HEAD").split()
    place = line.index(fix) if fix in line else None
    if place is None:
        # It came with a merge.
        holding = set(git(repository, "rev-list", "--ancestry-path", f"{fix}..HEAD").split())
        place = max(index for index, commit in enumerate(line) if commit in holding)
    newer = max(0, place - NEWER)
    return line[min(len(line) - 1, newer + RANGE - 1)], line[newer]


def run(case: dict[str, Any], folder: Path, options: list[str]) -> dict[str, Any]:
    repository = folder / case["project"]
    fix = git(repository, "rev-parse", case["fix"])
    old, new = ends(repository, fix)
    command = [sys.executable, "-m", "twincell", "blame", "--json", "--repository", str(repository), *options]
    command += ["--returns", case["call"], f"{case['file']}:{case['function']}", f"{old}..{new}"]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    row = {"case": case, "seconds": seconds, "found": None, "steps": 0, "skipped": 0, "said": done.stderr.strip()}
    if not done.stdout:
        return row | {"right": False}
    result = json.loads(done.stdout)
    steps = result["steps"]
    row["steps"] = len(steps)
    row["skipped"] = sum("skipped" in step["state"] for step in steps if isinstance(step["state"], dict))
    row["said"] = result["value"]["shown"]
    kind, answer = next(iter(result["answer"].items()))
    row["found"] = answer["commit"]["id"] if kind == "since" else f"{kind} {answer.get('count', '')}"
    return row | {"right": row["found"] == fix}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--only", default="", help="cases that have this word")
    parser.add_argument("--python", help="the Python that runs the code")
    arguments = parser.parse_args()
    options = ["--python", arguments.python] if arguments.python else []
    rows = []
    for case in json.loads(arguments.cases.read_text(encoding="utf-8")):
        if arguments.only not in json.dumps(case):
            continue
        row = run(case, arguments.folder, options)
        rows.append(row)
        mark = "right" if row["right"] else f"WRONG ({row['found']})"
        print(
            f"{case['project']:6} {case['fix'][:8]} {row['seconds']:6.1f} s {row['steps']:3} steps"
            f" {row['skipped']:3} skipped  {mark}  {case['call'][:50]}  {row['said'][:80]}",
            flush=True,
        )
    times = [row["seconds"] for row in rows]
    print(f"{sum(row['right'] for row in rows)} of {len(rows)} right")
    print(f"median {statistics.median(times):.1f} s, longest {max(times):.1f} s")


if __name__ == "__main__":
    main()
