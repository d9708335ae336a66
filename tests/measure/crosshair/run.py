"""twincell and CrossHair on the same pairs of self-contained, annotated functions, one after the other on one core.

    python tests/measure/crosshair/run.py --crosshair PYTHON [--markdown FILE] [--json]

PYTHON is the interpreter of an environment of its own that has `crosshair-tool` installed; twincell is taken from the
environment that runs this. Labels are checked by brute force first, and the run stops where one is wrong. Three times
for each pair: `crosshair diffbehavior` and `twincell compare` as commands, start of the process included, and
`twincell.compare` in a process that is warm.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import brute  # noqa: E402
import pairs  # noqa: E402

#: Exceptions count by class; the rest is CrossHair's default.
CROSSHAIR = ["diffbehavior", "--exception_equivalence", "SAME_TYPE"]
#: Seconds after which a command is ended, and counts as having no answer.
PATIENCE = 120
LIKE = {"changing": "changing", "likely_preserving": "preserving", "identical": "preserving"}


@dataclass
class Answer:
    verdict: str
    """`changing`, `preserving` or `none`."""
    seconds: float
    detail: str


def crosshair(python: str, pair: pairs.Pair) -> Answer:
    names = [f"pairs.{pair.module}.{pair.name}_{version}" for version in ("old", "new")]
    run, seconds = _timed([python, "-m", "crosshair", *CROSSHAIR, *names], cwd=Path(__file__).parent)
    if run is None or run.returncode not in (0, 1):
        return Answer("none", seconds, "no answer" if run is None else run.stderr.strip()[-300:])
    return Answer("changing" if run.returncode == 1 else "preserving", seconds, run.stdout.strip())


def command(pair: pairs.Pair, folder: Path) -> Answer:
    for version, text in (("old", pair.old), ("new", pair.new)):
        (folder / f"{version}.py").write_text(text)
    files = [str(folder / "old.py"), str(folder / "new.py")]
    run, seconds = _timed([sys.executable, "-m", "twincell", "compare", *files, "--jobs", "1", "--no-color"])
    verdicts = {0: "preserving", 1: "changing"}
    if run is None or run.returncode not in verdicts:
        return Answer("none", seconds, "no answer" if run is None else (run.stdout + run.stderr).strip()[:300])
    return Answer(verdicts[run.returncode], seconds, run.stdout.strip().partition("\n")[0])


def library(pair: pairs.Pair) -> Answer:
    import twincell

    start = time.perf_counter()
    comparison = twincell.compare(pair.old, pair.new, jobs=1)
    seconds = time.perf_counter() - start
    return Answer(LIKE.get(comparison.verdict, "none"), seconds, comparison.sentence)


def _timed(command: list[str], cwd: Path | None = None) -> tuple[subprocess.CompletedProcess | None, float]:
    start = time.perf_counter()
    try:
        run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        run = None
    return run, time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--crosshair", metavar="PYTHON", help="interpreter that has crosshair-tool; without it, only twincell runs"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here as well")
    parser.add_argument("--json", action="store_true", help="print the figures of each tool as JSON")
    parser.add_argument("--only", metavar="NAME", help="only this pair, with everything that the tools say")
    parser.add_argument("--no-check", action="store_true", help="leave out the check of the labels")
    arguments = parser.parse_args()

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    chosen = [pair for pair in pairs.read() if arguments.only in (None, pair.name)]
    if not arguments.no_check:
        for pair in chosen:
            shown = brute.difference(*pair.functions())
            if (shown is not None) != (pair.label == "changing"):
                print(f"{pair.name} is labelled {pair.label}, but brute force says otherwise: {shown}", file=sys.stderr)
                return 3

    import twincell

    twincell.compare("def f(x):\n    return x + 1\n", "def f(x):\n    return x + 2\n", jobs=1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in chosen:
            answers = {"twincell": command(pair, Path(folder)), "warm": library(pair)}
            if arguments.crosshair:
                answers["CrossHair"] = crosshair(arguments.crosshair, pair)
            rows.append((pair, answers))
            wrong = [f"{name}: {answer.verdict}" for name, answer in answers.items() if answer.verdict != pair.label]
            print(f"{pair.name:24} {pair.label:11} {', '.join(wrong)}", file=sys.stderr)
            if arguments.only:
                for name, answer in answers.items():
                    print(f"--- {name}, {answer.seconds:.3f} s: {answer.verdict}\n{answer.detail}", file=sys.stderr)
    text = table(rows)
    print(json.dumps(figures(rows)) if arguments.json else text)
    if arguments.markdown:
        arguments.markdown.write_text(text)
    return 0


TITLES = {"twincell": "twincell compare", "warm": "twincell.compare, warm", "CrossHair": "crosshair diffbehavior"}


def figures(rows: list[tuple[pairs.Pair, dict[str, Answer]]]) -> list[dict[str, Any]]:
    """What each tool found over all pairs, and its seconds."""
    tools = []
    for name in rows[0][1]:
        answers = [(pair.label, found[name]) for pair, found in rows]
        seconds = sorted(answer.seconds for _, answer in answers)
        tools.append(
            {
                "tool": TITLES[name],
                "found": sum(label == answer.verdict == "changing" for label, answer in answers),
                "changing": sum(label == "changing" for label, _ in answers),
                "false_alarms": sum(label == "preserving" and one.verdict == "changing" for label, one in answers),
                "no_answer": sum(answer.verdict == "none" for _, answer in answers),
                "median_seconds": statistics.median(seconds),
                "ninety_percent_seconds": seconds[int(0.9 * (len(seconds) - 1))],
                "all_seconds": sum(seconds),
            }
        )
    return tools


def table(rows: list[tuple[pairs.Pair, dict[str, Answer]]]) -> str:
    names = list(rows[0][1])
    count = {label: sum(pair.label == label for pair, _ in rows) for label in ("changing", "preserving")}
    lines = [
        f"{len(rows)} pairs, {count['changing']} changing, {count['preserving']} preserving, "
        f"Python {platform.python_version()}.",
        "",
        "| | differences found | false alarms | no answer | median s | 90 % s | all s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {tool['tool']} | {tool['found']} of {tool['changing']} | {tool['false_alarms']} | {tool['no_answer']} "
        f"| {tool['median_seconds']:.3f} | {tool['ninety_percent_seconds']:.3f} | {tool['all_seconds']:.1f} |"
        for tool in figures(rows)
    ]
    if "CrossHair" in names:
        missed = [
            pair.name
            for pair, found in rows
            if pair.label == found["CrossHair"].verdict == "changing" and found["twincell"].verdict != "changing"
        ]
        lines += ["", f"Found by CrossHair and not by twincell: {', '.join(missed) or 'none'}."]
        ratios = [found["CrossHair"].seconds / found["warm"].seconds for _, found in rows]
        lines.append(
            f"CrossHair's time is {statistics.median(ratios):.1f} times twincell's warm one on the median pair."
        )
    lines += ["", "| pair | label | " + " | ".join(f"{TITLES[name]} | s" for name in names) + " |"]
    lines.append("|---" * (2 + 2 * len(names)) + "|")
    for pair, found in rows:
        cells = []
        for name in names:
            answer = found[name]
            verdict = answer.verdict if answer.verdict == pair.label else f"**{answer.verdict}**"
            cells.append(f"{verdict} | {answer.seconds:.3f}")
        lines.append(f"| {pair.name} | {pair.label} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
