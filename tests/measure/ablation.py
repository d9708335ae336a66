"""What each technique is worth: the same changes, compared with one of them left out, for some seeds.

    python tests/measure/ablation.py FILE.jsonl [FILE.jsonl ...] [--seeds 0,1,2] [--each] [--only NAME,...] [--part N]

prints a markdown table for each file: precision, recall and share of inconclusive changes, as the mean over the seeds
and how far the best and the worst are from the middle between them; the mean share of changed lines that valid
executions reached; the mean number of executions until the difference,
over the changes that are found in every row with every seed; the median time. `--each` adds the techniques of search
one by one, `--part N` takes every Nth change. FILE is a file as `twincell study` reads it, with labels. What is marked
`needs_module` is left out where there is none.

All rows run in one process, on one share of the file after the other, so that the network reads each function once. An
interrupt prints the tables of the shares that are done.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SEARCH = ("learning", "observation", "directed", "mutation", "hints", "replacement", "environments")
#: What a row is called, and the options that make it.
ROWS = {
    "all techniques": [],
    "predictor: frequencies": ["--predictor", "frequency"],
    "predictor: chance": ["--predictor", "uniform"],
    "without learning": ["--disable", "learning"],
    "without all techniques of the search": ["--disable", ",".join(SEARCH)],
    "without module context": ["--context", "function"],
    "without calls told apart": ["--disable", "calls"],
    "the network from the start": ["--disable", "trial"],
}
EACH = {f"without {name}": ["--disable", name] for name in SEARCH[1:]}
#: Changes of one share: their predictions must fit into the memory of the predictor together.
SHARE = 150

Change = dict
Finding = dict
#: By row and seed: each change with what was found.
Runs = dict[tuple[str, str], list[tuple[Change, Finding]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.jsonl")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--each", action="store_true", help="the techniques of the search one by one as well")
    parser.add_argument("--only", default="", help="names of rows, separated by commas; their beginnings are enough")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="every Nth change only")
    arguments = parser.parse_args()
    beginnings = tuple(arguments.only.split(","))
    known = ROWS | EACH if arguments.each else ROWS
    rows = {name: options for name, options in known.items() if name.startswith(beginnings)}
    if not rows:
        parser.error(f"--only names no row; there are: {', '.join(known)}")
    for file in arguments.files:
        changes = [json.loads(line) for line in file.read_text().splitlines() if line.strip()][:: arguments.part]
        runs: Runs = {(row, seed): [] for row in rows for seed in arguments.seeds.split(",")}
        whole = _run(changes, rows, runs)
        done = max(len(found) for found in runs.values())
        print(f"{file.name}, {done} changes{'' if whole else ' (interrupted)'}:\n\n{table(runs)}", flush=True)
        if not whole:
            return 130
    return 0


def _run(changes: list[Change], rows: dict[str, list[str]], runs: Runs) -> bool:
    """Fills `runs`, share after share; `False` when it was interrupted, and then `runs` holds whole shares only."""
    shares = -(-len(changes) // SHARE)
    for share in range(shares):
        # Files are sorted by project or rule: each share holds some of everything.
        chosen = changes[share::shares]
        found = {}
        try:
            for row, seed in runs:
                found[row, seed] = study(chosen, [*rows[row], "--seed", seed])
                print(f"share {share + 1} of {shares}, {row}, seed {seed}: {_said(found[row, seed])}", file=sys.stderr)
        except KeyboardInterrupt:
            return False
        for key, pairs in found.items():
            runs[key] += pairs
    return True


def study(changes: list[Change], options: list[str]) -> list[tuple[Change, Finding]]:
    """What `twincell study` finds with these options, in this process."""
    from twincell import _twincell

    if "function" in options:
        changes = [change for change in changes if not change.get("needs_module")]
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "changes.jsonl"), Path(folder, "results.jsonl")
        given.write_text("".join(json.dumps(change) + "\n" for change in changes))
        with _silence():
            status = _twincell.main(["study", str(given), "--out", str(written), *options])
        if status == 130:
            raise KeyboardInterrupt
        if status != 0:
            sys.exit(f"twincell study {' '.join(options)} ended with status {status}")
        findings = [json.loads(line) for line in written.read_text().splitlines()]
    return list(zip(changes, findings, strict=True))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keeps the summary of a study, which is printed natively, out of the table."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def measures(found: list[tuple[Change, Finding]]) -> dict[str, float]:
    called = [(change.get("label"), finding["verdict"]) for change, finding in found]
    right = called.count(("changing", "changing"))
    alarms = right + called.count(("preserving", "changing"))
    return {
        "precision": right / max(alarms, 1),
        "recall": right / max(sum(label == "changing" for label, _ in called), 1),
        "inconclusive": sum(verdict == "inconclusive" for _, verdict in called) / max(len(called), 1),
        "reached": statistics.mean([finding["changed_lines_reached"] or 0.0 for _, finding in found] or [0.0]),
        "milliseconds": statistics.median(finding["milliseconds"] for _, finding in found) if found else 0.0,
    }


def differences(found: list[tuple[Change, Finding]]) -> dict[str, int]:
    """The changes that were found correctly, by id, with the number of executions until the difference."""
    return {
        str(finding["id"]): min(one["execution"] for one in finding["evidence"])
        for change, finding in found
        if change.get("label") == finding["verdict"] == "changing" and finding["evidence"]
    }


def _said(found: list[tuple[Change, Finding]]) -> str:
    numbers = measures(found)
    return ", ".join(f"{name} {numbers[name]:.3f}" for name in ("precision", "recall", "inconclusive"))


def table(runs: Runs) -> str:
    executions = {key: differences(found) for key, found in runs.items()}
    common = set.intersection(*(set(numbers) for numbers in executions.values()))
    lines = [
        f"| | precision | recall | inconclusive | reached | executions ({len(common)} changes) | median ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in dict.fromkeys(row for row, _ in runs):
        own = [key for key in runs if key[0] == row]
        numbers = [measures(runs[key]) for key in own]
        until = [statistics.mean(executions[key][one] for one in sorted(common)) if common else 0.0 for key in own]
        cells = [
            *(_spread([run[name] for run in numbers], "{:.3f}") for name in ("precision", "recall")),
            _spread([100 * run["inconclusive"] for run in numbers], "{:.1f}") + " %",
            _spread([run["reached"] for run in numbers], "{:.3f}"),
            _spread(until, "{:.1f}"),
            f"{statistics.mean(run['milliseconds'] for run in numbers):.0f}",
        ]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _spread(values: list[float], form: str) -> str:
    half = (max(values) - min(values)) / 2
    return f"{form.format(statistics.mean(values))} ± {form.format(half)}"


if __name__ == "__main__":
    sys.exit(main())
