"""Whether two builds of twincell say the same of the same changes, and how long each takes.

    python -m tests.measure.same OLD NEW [--rows FILE.jsonl] [--commits CLONE ...] [--count 10] [--as BEFORE=NOW ...]

OLD and NEW are commands, as `before/.venv/bin/twincell`. A row of FILE has `id`, `old` and `new`, two texts. Of each
CLONE the newest commits are taken that modify Python code outside of tests and docs. Both commands compare every
change, one after the other, and which one is first changes from each to the next. A change is the same if verdict,
evidence, witness, reproducer, notes and number of executions are, for each function; times and the addresses of objects
are left out, and `--as` says which words were replaced. What differs is printed, and the status is 1.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .commits import commits
from .curve import read

#: What is not the same in two runs of one build.
TIMES = {"milliseconds", "microseconds", "twincell", "seconds"}
#: An address as text, or as a number.
ADDRESS = re.compile(r"\b(?:0x[0-9a-f]{9,12}|1[34][0-9]{13})\b")


def rows(file: Path) -> Iterator[tuple[str, Path | None, list[str]]]:
    """The changes of a file, each with its name and what to compare."""
    for row in read(file):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for side in ("old", "new"):
                names.append(str(Path(folder, f"{side}.py")))
                Path(names[-1]).write_text(row[side])
            yield str(row["id"]), None, names


def of_clones(clones: list[Path], count: int) -> Iterator[tuple[str, Path | None, list[str]]]:
    """The newest commits of clones, each with its name and what to compare."""
    for clone in clones:
        for commit in commits(clone, count):
            yield f"{clone.name} {commit[:12]}", clone, ["--git", f"{commit}~1..{commit}"]


def said(command: str, folder: Path | None, arguments: list[str], words: list[list[str]]) -> tuple[Any, float]:
    """What a command says of a change, without times and addresses, with other words, and how long that takes."""
    begun = time.monotonic()
    done = subprocess.run([command, "compare", "--json", *arguments], cwd=folder, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    text = ADDRESS.sub("0x0", done.stdout)
    for before, now in words:
        text = text.replace(before, now)
    try:
        return without_times(json.loads(text)), seconds
    except json.JSONDecodeError:
        return done.stderr, seconds


def without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: without_times(value) for name, value in found.items() if name not in TIMES}
    return [without_times(value) for value in found] if isinstance(found, list) else found


def differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Where two answers differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from differences(old.get(name), new.get(name), f"{at}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{at}[{number}]")
    elif old != new:
        yield f"{at}: {json.dumps(old)[:200]} -> {json.dumps(new)[:200]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rows", type=Path, action="append", default=[], metavar="FILE.jsonl")
    parser.add_argument("--commits", type=Path, nargs="+", default=[], metavar="CLONE")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--deadline", type=int, default=600, help="seconds for each function")
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--as", action="append", default=[], dest="replaced", metavar="BEFORE=NOW")
    parser.add_argument("--most", type=int, default=5, help="how many differences of a change are printed")
    arguments = parser.parse_args()
    changes = [*map(rows, arguments.rows), of_clones(arguments.commits, arguments.count)]
    replaced = [pair.split("=", 1) for pair in arguments.replaced]
    bounds = ["--deadline", str(arguments.deadline), "--budget", str(arguments.budget)]
    taken, same, count = [0.0, 0.0], 0, 0
    for name, folder, words in itertools.chain.from_iterable(changes):
        found: list[Any] = [None, None]
        for which in ((0, 1), (1, 0))[count % 2]:
            command = (arguments.old, arguments.new)[which]
            found[which], seconds = said(command, folder, [*bounds, *words], replaced if which == 0 else [])
            taken[which] += seconds
        count += 1
        different = list(differences(*found))
        same += not different
        for one in different[: arguments.most]:
            print(f"{name}{one}", flush=True)
        if len(different) > arguments.most:
            print(f"{name}: {len(different) - arguments.most} more", flush=True)
    print(f"{same} of {count} changes are the same; {taken[0]:.0f} s and {taken[1]:.0f} s")
    sys.exit(same < count)


if __name__ == "__main__":
    main()
