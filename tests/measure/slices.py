"""Features whose tests are known: how many runs of them `twincell slice` needs, by scheme, and how many commits stay.

    python -m tests.measure.slices FOLDER [--subjects FILE] [--only WORD] [--schemes combined basic] [--python FILE]

FOLDER holds clones of the projects that `slices.json` names, with their histories. A subject is a range that ends
with a feature and its tests. FILE of `--python` is an interpreter that has what the projects need, pytest included.

The store of outcomes is a new one for each row, so that each is as a first run. The table has one row for each
subject and scheme: units of the range, units that stay, whether that was shown to be minimal, runs of the tests,
and seconds. The last lines are the runs of each scheme beside those of the last one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SUBJECTS = Path(__file__).with_suffix(".json")


def run(subject: dict[str, str], scheme: str, folder: Path, options: list[str]) -> dict[str, Any]:
    """One subject with one scheme, with an empty cache."""
    command = [sys.executable, "-m", "twincell", "slice", "--json", "--repository", str(folder / subject["project"])]
    command += ["--scheme", scheme, *options, subject["range"], "--tests", subject["tests"]]
    with tempfile.TemporaryDirectory() as cache:
        began = time.perf_counter()
        environment = os.environ | {"XDG_CACHE_HOME": cache}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        seconds = time.perf_counter() - began
    if not done.stdout:
        return {"said": done.stderr.strip().splitlines()[-1:], "seconds": seconds}
    found = json.loads(done.stdout)
    staying = sum("stays" in unit["state"] for unit in found["units"])
    minimal = "yes" if found["is_minimal"] else "no"
    return {
        "units": len(found["units"]),
        "stay": staying,
        "minimal": minimal,
        "runs": len(found["steps"]) + found["spare"],
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--subjects", type=Path, default=SUBJECTS)
    parser.add_argument("--only", default="")
    parser.add_argument("--schemes", nargs="+", default=["combined", "basic"])
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--python")
    given = parser.parse_args()
    options = ["--jobs", given.jobs, *(["--python", given.python] if given.python else [])]
    runs: dict[str, list[int]] = {scheme: [] for scheme in given.schemes}
    print("| subject | scheme | units | stay | minimal | runs | s |\n|---|---|---:|---:|---|---:|---:|")
    for subject in json.loads(given.subjects.read_text()):
        name = f"{subject['project']} {subject['range']} {subject['tests']}"
        if given.only not in name:
            continue
        for scheme in given.schemes:
            row = run(subject, scheme, given.folder, options)
            if "said" in row:
                print(f"| {name} | {scheme} | {' '.join(row['said'])} |", flush=True)
                continue
            runs[scheme].append(row["runs"])
            cells = [name, scheme, row["units"], row["stay"], row["minimal"], row["runs"], round(row["seconds"])]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    *others, base = given.schemes
    for scheme in others:
        pairs = list(zip(runs[scheme], runs[base], strict=False))
        if pairs and len(runs[scheme]) == len(runs[base]):
            share = sum(one for one, _ in pairs) / sum(two for _, two in pairs)
            print(f"\n{scheme}: {share:.2f} of the runs of {base}, at worst {max(one / two for one, two in pairs):.2f}")


if __name__ == "__main__":
    main()
