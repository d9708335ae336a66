"""Seeded faults of one line, and which of them a gate catches.

python -m tests.measure.faults choose --seed N --tree DIR [--commit C] [--target-dir TARGET] [--unchecked]
python -m tests.measure.faults list
python -m tests.measure.faults apply N [--command COMMAND]
python -m tests.measure.faults switch DIR [--commit C]
python -m tests.measure.faults activate [N ...] --tree DIR
python -m tests.measure.faults run --tree DIR --out TABLE.json [--gate rust|python|all] [--stages FILE] [--faults 1-60]
                                 [--seconds N]
python -m tests.measure.faults report TABLE.json ...
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from math import inf
from pathlib import Path

from . import choose, gate
from .patches import FOLDER, Fault, all_faults
from .stages import stages
from .switch import activate, copy, switch

REPOSITORY = FOLDER.parents[2]
STAGES = FOLDER / "make_test.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(dest="job", required=True)
    choosing = jobs.add_parser("choose", help="draw the faults anew")
    choosing.add_argument("--seed", type=int, required=True)
    choosing.add_argument("--tree", type=Path, required=True, help="a work tree for compiling, made if it is missing")
    choosing.add_argument("--commit", default="HEAD")
    choosing.add_argument("--target-dir", type=Path)
    choosing.add_argument("--unchecked", action="store_true", help="do not compile")
    jobs.add_parser("list", help="print the faults")
    applying = jobs.add_parser("apply", help="apply one fault to this tree, build and test, and take it back")
    applying.add_argument("number", type=int)
    applying.add_argument("--command", default="make test")
    switching = jobs.add_parser("switch", help="make a work tree that has all faults, switched off")
    switching.add_argument("tree", type=Path)
    switching.add_argument("--commit", default="HEAD")
    activating = jobs.add_parser("activate", help="switch these faults on and all others off")
    activating.add_argument("numbers", type=int, nargs="*")
    activating.add_argument("--tree", type=Path, required=True)
    running = jobs.add_parser("run", help="run a gate with the faults")
    running.add_argument("--tree", type=Path, required=True)
    running.add_argument("--out", type=Path, required=True)
    running.add_argument("--gate", choices=["rust", "python", "all"], default="all")
    running.add_argument("--stages", type=Path, default=STAGES, help="the commands of the gate")
    running.add_argument("--faults", default="", help="numbers and ranges, as 1-5,8")
    running.add_argument("--seconds", type=float, default=inf, help="of pytest for each fault; a second run goes on")
    reporting = jobs.add_parser("report", help="print a table of gates")
    reporting.add_argument("tables", type=Path, nargs="+", help="what `run` wrote; the name stands above the column")
    arguments = parser.parse_args()
    return JOBS[arguments.job](arguments) or 0


def choose_faults(arguments: argparse.Namespace) -> None:
    tree = arguments.tree.resolve()
    if not tree.exists():
        copy(REPOSITORY, tree, arguments.commit)
    choice = choose.Choice(tree, arguments.seed)
    if not arguments.unchecked:
        choose.compiling(tree, choice, arguments.target_dir)
    choose.write(list(choice.faults.values()), FOLDER)
    list_faults(arguments)


def list_faults(arguments: argparse.Namespace) -> None:
    for one in all_faults():
        print(f"{one.number:2} {one.operator:10} {one.file}:{one.line} {one.description}")


def apply(arguments: argparse.Namespace) -> int:
    one = numbered(str(arguments.number))[0]
    patch = ["git", "-C", str(REPOSITORY), "apply", str(FOLDER / one.name)]
    subprocess.run(patch, check=True)
    try:
        status = subprocess.run(shlex.split(arguments.command), cwd=REPOSITORY).returncode
    finally:
        subprocess.run([*patch, "--reverse"], check=True)
    print(f"fault {one.number} was {'caught' if status else 'not caught'}: {one.file}:{one.line} {one.description}")
    return 0


def switch_tree(arguments: argparse.Namespace) -> int:
    copy(REPOSITORY, arguments.tree, arguments.commit)
    lost = switch(arguments.tree, all_faults())
    for one in lost:
        print(f"fault {one.number} does not apply: {one.file}:{one.line}", file=sys.stderr)
    return 1 if lost else 0


def run(arguments: argparse.Namespace) -> None:
    there = stages(arguments.stages, arguments.gate)
    gate.run(
        arguments.tree.resolve(), numbered(arguments.faults), there, arguments.out, log=say, seconds=arguments.seconds
    )


def say(text: str) -> None:
    """A line that is seen while the run goes on."""
    print(text, flush=True)


def report(arguments: argparse.Namespace) -> None:
    print(gate.report(all_faults(), {file.stem: json.loads(file.read_text()) for file in arguments.tables}))


def numbered(text: str) -> list[Fault]:
    """The faults of a list of numbers and ranges; all for an empty text."""
    known = {one.number: one for one in all_faults()}
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    missing = sorted(set(numbers) - set(known))
    if missing:
        raise SystemExit(f"there is no fault {missing[0]}")
    return [known[number] for number in numbers or known]


JOBS = {
    "choose": choose_faults,
    "list": list_faults,
    "apply": apply,
    "switch": switch_tree,
    "activate": lambda arguments: activate(arguments.tree.resolve(), *arguments.numbers),
    "run": run,
    "report": report,
}


if __name__ == "__main__":
    sys.exit(main())
