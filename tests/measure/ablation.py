"""What each technique is worth: the same study with one of them left out, for some seeds.

    python tests/measure/ablation.py FILE.jsonl [--context function|module] [--seeds 0,1,2] [--only NAME,...]

prints a markdown table: precision, recall and share of inconclusive changes, as the mean over the seeds and how far the
best and the worst are from the middle between them. FILE is a file as `twincell study` reads it, with labels.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

#: What a row is called, and the options that make it.
ROWS = {
    "all techniques": [],
    "predictor: frequencies": ["--predictor", "frequency"],
    "predictor: chance": ["--predictor", "uniform"],
    "no learning from executions": ["--without", "learning"],
    "no observed comparisons": ["--without", "observation"],
    "no solved conditions": ["--without", "directed"],
    "no repair after exceptions": ["--without", "repair"],
    "no hints of types": ["--without", "hints"],
    "none of these five": ["--without", "learning,observation,directed,repair,hints"],
    "no module context": ["--context", "function"],
}
MEASURES = ("precision", "recall", "inconclusive", "milliseconds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--context", choices=["function", "module"], default="module")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--only", help="names of rows, separated by commas; their beginnings are enough")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else [""]
    print("| | precision | recall | inconclusive | median ms |\n|---|---|---|---|---|")
    for name, options in ROWS.items():
        if not any(name.startswith(own) for own in wanted):
            continue
        if "--context" not in options:
            options = ["--context", arguments.context, *options]
        runs = [study(arguments.file, [*options, "--seed", seed]) for seed in arguments.seeds.split(",")]
        cells = [_cell(measure, [run[measure] for run in runs]) for measure in MEASURES]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


def study(file: Path, options: list[str]) -> dict[str, float]:
    labels = [json.loads(line).get("label") for line in file.read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "results.jsonl")
        command = [sys.executable, "-m", "twincell", "study", str(file), "--out", str(out), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        results = [json.loads(line) for line in out.read_text().splitlines()]
    called = [(label, result["verdict"]) for label, result in zip(labels, results, strict=True)]
    right = called.count(("changing", "changing"))
    alarms = right + called.count(("preserving", "changing"))
    return {
        "precision": right / max(alarms, 1),
        "recall": right / max(labels.count("changing"), 1),
        "inconclusive": sum(verdict == "inconclusive" for _, verdict in called) / max(len(called), 1),
        "milliseconds": statistics.median(result["milliseconds"] for result in results),
    }


def _cell(measure: str, values: list[float]) -> str:
    mean, spread = statistics.mean(values), max(values) - min(values)
    if measure == "milliseconds":
        return f"{mean:.0f}"
    if measure == "inconclusive":
        return f"{100 * mean:.1f} % ± {50 * spread:.1f}"
    return f"{mean:.3f} ± {spread / 2:.3f}"


if __name__ == "__main__":
    sys.exit(main())
