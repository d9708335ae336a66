"""How twincell judges changes with labels: precision, recall and coverage, in each context and with each seed.

    python -m tests.measure.verdicts FILE.jsonl [--seeds 0,1,2] [--json]

FILE is a file as `twincell study` reads it. *changing* is the positive class, and any other verdict counts as negative.
The thresholds are those of a difference's score, with the first seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import twincell

from .curve import points, read

CONTEXTS = ("module", "function")


def judged(file: Path, context: str, seed: int, out: Path) -> dict[str, Any]:
    """The summary of a study, whose results go to a file."""
    return twincell.study(file, out=out, context=context, seed=seed, progress=False).summary().to_dict()


def measure(file: Path, seeds: list[int]) -> dict[str, Any]:
    """The summaries of both contexts by seed, and precision and recall at every threshold."""
    labels = {change["id"]: change.get("label") for change in read(file)}
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for context in CONTEXTS:
            out = [Path(folder, f"{context}-{seed}.jsonl") for seed in seeds]
            summaries = [judged(file, context, seed, path) for seed, path in zip(seeds, out, strict=True)]
            figures[context] = {"summaries": summaries, "points": list(points(labels, read(out[0])))}
    return {"seeds": seeds, "contexts": figures}


def table(figures: dict[str, Any]) -> str:
    lines = ["| context | seed | precision | recall | inconclusive | all changed lines ran |", "|---" * 6 + "|"]
    for context, found in figures["contexts"].items():
        for seed, summary in zip(figures["seeds"], found["summaries"], strict=True):
            cells = [f"{summary[name]:.3f}" for name in ("precision", "recall")]
            cells += [f"{summary[name]:.1%}" for name in ("inconclusive", "all_changed_lines_reached")]
            lines.append(f"| {context} | {seed} | {' | '.join(cells)} |")
    for context, found in figures["contexts"].items():
        lines += ["", f"| {context}: threshold | precision | recall |", "|---|---|---|"]
        lines += [f"| {at:.2f} | {precision:.3f} | {recall:.3f} |" for at, precision, recall in found["points"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    figures = measure(arguments.file, [int(seed) for seed in arguments.seeds.split(",")])
    print(json.dumps(figures) if arguments.json else table(figures))


if __name__ == "__main__":
    main()
