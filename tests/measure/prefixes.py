"""Snippets that miss something: how many of their lines run behind the prefixes that twincell finds.

    python -m tests.measure.prefixes FOLDER [FOLDER ...] [--every N] [--show] [--replay] [--seed N]

Each `.py` file of a folder is a snippet. The table has a row for each folder with the figures of Treefix (ICSE 2025,
Tables II and III): the share of lines that any prefix covers after each step of the tree, the share that the single
best prefix covers, the share of snippets of which all lines run, and the time for each. A snippet without prefixes
counts as one of which nothing runs. `--every N` takes every Nth file. `--show` also lists the snippets of which some
line does not run. `--replay` runs each chosen prefix with its snippet in a plain Python without twincell, outside of
the sandbox, and counts those that do not execute what the result says: only for snippets that you trust.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import twincell

STEPS = ("undefinedness", "error", "coverage")

TRACER = """
import json, sys
ran = set()
def trace(frame, event, _):
    if frame.f_code.co_filename == 'program':
        ran.add(frame.f_lineno)
        return trace
code = compile(open(sys.argv[1]).read(), 'program', 'exec')
sys.stdout, out = sys.stderr, sys.stdout
sys.settrace(trace)
try:
    exec(code, {'__name__': '__main__'})
except BaseException:
    pass
sys.settrace(None)
print(json.dumps(sorted(ran)), file=out)
"""


class Found(NamedTuple):
    """What was found for one snippet: shares from 0 to 1, and seconds."""

    steps: tuple[float, float, float]
    best: float
    seconds: float
    chosen: int
    nodes: int
    #: Chosen prefixes, and those of them that do not run alone as they should.
    replayed: int
    differing: int


def share(lines: set[int], ran: set[int]) -> float:
    return len(lines & ran) / len(lines) if lines else 1.0


def examine(file: Path, seed: int, replay: bool) -> tuple[Found, str]:
    """What is found for the snippet in a file, and what of it does not run."""
    text = file.read_text(encoding="utf-8")
    start = time.perf_counter()
    try:
        prefixes = twincell.prefix(text, seed=seed)
    except twincell.TwincellError as error:
        return Found((0.0, 0.0, 0.0), 0.0, time.perf_counter() - start, 0, 0, 0, 0), str(error)
    seconds = time.perf_counter() - start
    tree = prefixes.to_dict()
    lines, nodes = set(tree["lines"]), tree["nodes"]
    reached: list[set[int]] = [set(), set(), set()]
    for node in nodes:
        for step in range(STEPS.index(node["guidance"]), len(STEPS)):
            reached[step] |= set(node["completed"])
    best = set(nodes[tree["best"]]["completed"]) if tree["best"] is not None else set()
    differing = sum(not runs_alone(prefixes, number, text, tree) for number in tree["chosen"]) if replay else 0
    steps = (share(lines, reached[0]), share(lines, reached[1]), share(lines, reached[2]))
    replayed = len(tree["chosen"]) if replay else 0
    found = Found(steps, share(lines, best), seconds, len(tree["chosen"]), len(nodes), replayed, differing)
    missing = sorted(lines - reached[2])
    return found, f"lines {', '.join(map(str, missing[:10]))}" if missing else ""


def runs_alone(prefixes: twincell.Prefixes, number: int, text: str, tree: dict[str, Any]) -> bool:
    """Whether a plain Python executes the lines that a prefix is said to cover."""
    if "from __future__" in text:
        return True
    program = prefixes.program(number)
    before = len(program.splitlines()) - len(text.splitlines())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(program, encoding="utf-8")
        command = [sys.executable, "-c", TRACER, "program.py"]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return False
    ran = {line - before for line in json.loads(done.stdout or "[]")}
    places = extents(text)
    return all(ran & set(places.get(line, [line])) for line in tree["nodes"][number]["completed"])


def extents(text: str) -> dict[int, range]:
    """The lines of each statement without the statements in it, by its first: `if (` alone runs nothing."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            inner = getattr(node, "body", None)
            end = inner[0].lineno - 1 if isinstance(inner, list) and inner else node.end_lineno or node.lineno
            found[node.lineno] = range(node.lineno, max(end, node.lineno) + 1)
    return found


def row(name: str, found: list[Found], replay: bool) -> str:
    mean = lambda values: f"{statistics.mean(values):.3f}"  # noqa: E731
    seconds = sorted(one.seconds for one in found)
    cells = [
        name,
        str(len(found)),
        *(mean([one.steps[step] for one in found]) for step in range(3)),
        mean([one.best for one in found]),
        mean([one.steps[2] == 1.0 for one in found]),
        mean([one.chosen for one in found]),
        mean([one.nodes for one in found]),
        f"{statistics.median(seconds):.2f}",
        f"{seconds[int(len(seconds) * 0.9)]:.2f}",
    ]
    if replay:
        cells.append(f"{sum(one.differing for one in found)} of {sum(one.replayed for one in found)}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    head = ["folder", "snippets", "I", "II", "III", "best", "all lines", "chosen", "tried", "median s", "90 % below s"]
    rows = []
    for folder in options.folders:
        found = []
        for file in sorted(folder.glob("*.py"))[:: options.every]:
            one, missing = examine(file, options.seed, options.replay)
            found.append(one)
            if options.show and (missing or one.differing):
                print(f"{file}: {one.steps[2]:.2f} {missing}" + (" differs alone" if one.differing else ""), flush=True)
        rows.append(row(folder.name, found, options.replay))
    if options.replay:
        head.append("differing alone")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
