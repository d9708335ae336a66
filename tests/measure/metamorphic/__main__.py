"""Labelled changes by the hundred: real functions, rewritten by rules that keep or change behavior.

    python -m tests.measure.metamorphic make FILE.jsonl [--seed N] [--preserving N] [--changing N] [--packages A,B]
    python -m tests.measure.metamorphic judge FILE.jsonl [--context function|module] [--show] [OPTIONS OF study]

`make` writes the changes; the same packages, versions and seed give the same file. `judge` runs `twincell study` over
them and prints the agreement, for each rule as well; `--show` lists every wrong verdict. The packages must be installed
in the environment that twincell runs in. A mutation that happens to change nothing counts as missed.
"""

import argparse
import ast
import difflib
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PACKAGES = (
    "stdlib,requests,jinja2,click,attr,rich,networkx,sympy,boltons,more_itertools,pyparsing,docutils,sqlparse,"
    "urllib3,pygments,markdown_it"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(dest="job", required=True)
    making = jobs.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("--seed", type=int, default=0)
    making.add_argument("--preserving", type=int, default=300)
    making.add_argument("--changing", type=int, default=300)
    making.add_argument("--packages", default=PACKAGES)
    judging = jobs.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--context", choices=["function", "module"], action="append")
    judging.add_argument("--show", action="store_true")
    arguments, more = parser.parse_known_args()
    if arguments.job == "make":
        if more:
            parser.error(f"make does not know {' '.join(more)}")
        from .changes import make

        count = {"preserving": arguments.preserving, "changing": arguments.changing}
        changes = make(arguments.packages.split(","), count, arguments.seed)
        arguments.file.write_text("".join(json.dumps(change) + "\n" for change in changes))
        rules = Counter((change["label"], change["rule"]) for change in changes)
        for (label, rule), number in sorted(rules.items()):
            print(f"{label:11} {rule:26} {number}")
        return 0
    for context in arguments.context or ["module", "function"]:
        judge(arguments.file, context, more, arguments.show)
    return 0


def judge(file: Path, context: str, options: list[str], show: bool) -> None:
    changes = [json.loads(line) for line in file.read_text().splitlines()]
    if context == "function":
        changes = [change for change in changes if not change["needs_module"]]
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "changes.jsonl"), Path(folder, "results.jsonl")
        given.write_text("".join(json.dumps(change) + "\n" for change in changes))
        command = [sys.executable, "-m", "twincell", "study", str(given), "--out", str(written), "--context", context]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
        results = [json.loads(line) for line in written.read_text().splitlines()]
    called = [(change, result, result["verdict"]) for change, result in zip(changes, results, strict=True)]
    right = sum(change["label"] == verdict == "changing" for change, _, verdict in called)
    alarms = sum(verdict == "changing" for _, _, verdict in called)
    mutated = sum(change["label"] == "changing" for change, _, _ in called)
    undecided = sum(verdict == "inconclusive" for _, _, verdict in called)
    times = sorted(result["milliseconds"] for result in results)
    print(f"\n## context {context}: {len(called)} changes\n")
    print("| precision | recall | inconclusive | median ms | 90 % ms |\n|---|---|---|---|---|")
    print(
        f"| {right / max(alarms, 1):.3f} | {right / max(mutated, 1):.3f} | {100 * undecided / len(called):.1f} % "
        f"| {statistics.median(times):.0f} | {times[int(0.9 * (len(times) - 1))]:.0f} |"
    )
    for label, title in (("preserving", "refactoring"), ("changing", "mutation")):
        print(f"\n| {title} | changes | called changing | inconclusive |\n|---|---|---|---|")
        rules = Counter(change["rule"] for change, _, _ in called if change["label"] == label)
        for rule, number in sorted(rules.items()):
            own = Counter(verdict for change, _, verdict in called if change["rule"] == rule)
            print(f"| {rule} | {number} | {own['changing']} | {own['inconclusive']} |")
    if show:
        for change, result, verdict in called:
            wanted = ["changing"] if change["label"] == "changing" else ["likely_preserving", "identical"]
            if verdict not in wanted:
                print(_shown(change, result))


def _shown(change: dict, result: dict) -> str:
    old, new = ast.unparse(ast.parse(change["old"])).splitlines(), change["new"].splitlines()
    lines = [f"\n### {change['label']} but {result['verdict']}: {change['id']}", result["reason"]]
    for found in result["evidence"]:
        lines.append(f"  {found['channel']} {found['place']}: old {found['old'][:200]} new {found['new'][:200]}")
    lines += list(difflib.unified_diff(old, new, "old", "new", lineterm="", n=1))[2:]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
