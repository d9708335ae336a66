"""Measures the figures of docs/measurements.md that need no data of others, and writes them there.

    python -m tests.measure.figures [--changes FILE.jsonl] [--only NAME,...]

A measurement is a command, which prints JSON with `--json`, and the function that makes rows of it. Its rows replace
those with the same command in a region of the page, which begins with `<!-- figures: NAME -->` and ends with
`<!-- end -->`. Other rows are written by hand, and stay. The page is written after each measurement. A measurement that
fails leaves its rows as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "measurements.md"
#: The word of a command for which `--changes` gives a file. Without one, its measurement is left out.
CHANGES = "FILE.jsonl"
#: The pairs with proved labels.
PAIRS = "tests/measure/pairs"
#: Thresholds of a difference's score that the page shows.
THRESHOLDS = (1.0, 0.95, 0.7, 0.5, 0.4)
REGION = re.compile(r"(?<=<!-- figures: )([a-z-]+) -->\n(.*?)\n(?=<!-- end -->)", re.DOTALL)


class Row(NamedTuple):
    """One figure."""

    figure: str
    value: str
    aim: str = ""


class Measurement(NamedTuple):
    """A command that measures, and the region of the page that has its rows."""

    name: str
    region: str
    command: str
    #: The rows, from the JSON that the command prints.
    rows: Callable[[Any], Iterable[Row]]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def verdicts(found: dict[str, Any]) -> Iterator[Row]:
    seeds = "seeds " + "; ".join(map(str, found["seeds"]))
    for context, figures in found["contexts"].items():
        values = (f"{summary['precision']:.3f}, {summary['recall']:.3f}" for summary in figures["summaries"])
        yield Row(f"precision, recall, {context} context, {seeds}", "; ".join(values))
        values = (percent(summary["inconclusive"]) for summary in figures["summaries"])
        yield Row(f"inconclusive, {context} context, {seeds}", "; ".join(values))
    values = []
    for context, figures in found["contexts"].items():
        first = figures["summaries"][0]
        shares = (percent(first[f"{name}_reached"]) for name in ("any_changed_line", "all_changed_lines"))
        values.append(f"{context} {', '.join(shares)}")
    yield Row(f"changes of which any, all changed lines ran, seed {found['seeds'][0]}", "; ".join(values))
    for threshold in THRESHOLDS:
        values = []
        for context, figures in found["contexts"].items():
            reached = [point for point in figures["points"] if point[0] >= threshold]
            if reached:
                _, precision, recall = reached[-1]
                values.append(f"{context} {precision:.3f}, {recall:.3f}")
        yield Row(f"precision, recall of differences that score at least {threshold:.2f}", "; ".join(values))


def reproducers(found: dict[str, dict[str, int]]) -> Iterator[Row]:
    for context, outcomes in found.items():
        holds, total = outcomes.get("holds", 0), sum(outcomes.values())
        aim = "at least 95 %" if context == "module" else ""
        value = f"{holds} of {total} ({percent(holds / max(total, 1))})"
        yield Row(f"reproducers that hold, {context} context", value, aim)


def all_pairs(found: dict[str, dict[str, int]], pairs: str, aim: str = "") -> Iterator[Row]:
    outcomes = sum(map(Counter, found.values()), Counter())
    total = sum(outcomes.values())
    yield Row(f"{pairs} judged right", f"{outcomes['right']} of {total} ({percent(outcomes['right'] / total)})", aim)
    others = ("false alarm", "missed", "inconclusive", "error")
    yield Row(f"{pairs}: {', '.join(others)}", ", ".join(str(outcomes[outcome]) for outcome in others))


def judged_pairs(found: dict[str, dict[str, int]]) -> Iterator[Row]:
    kinds = (f"{kind} {outcomes.get('right', 0)} of {sum(outcomes.values())}" for kind, outcomes in found.items())
    yield Row("unseen pairs judged right, by kind", ", ".join(kinds))
    yield from all_pairs(found, "unseen pairs", "at least 92 %")


def development_pairs(found: dict[str, dict[str, int]]) -> Iterator[Row]:
    yield from all_pairs(found, "pairs for development")


def self_contained(found: list[dict[str, Any]]) -> Iterator[Row]:
    for tool in found:
        value = f"{tool['found']} of {tool['changing']}, {tool['false_alarms']}, {tool['no_answer']}"
        yield Row(f"`{tool['tool']}`: differences found, false alarms, no answer", value)
        seconds = (tool[f"{name}_seconds"] for name in ("median", "ninety_percent", "all"))
        value = "{:.3f}, {:.3f}, {:.1f}".format(*seconds)
        yield Row(f"`{tool['tool']}`: seconds in the median, of 90 % and in all", value)


def kernel(found: list[dict[str, Any]]) -> Iterator[Row]:
    for row in found:
        ours, theirs = row["twincell"], row["ipykernel"]
        if row["what"].startswith("heartbeat"):
            yield Row(row["what"], f"{ours:.2f} (ipykernel: {theirs:.2f})", f"at most {row['promised']:.0f}")
        else:
            value = f"{row['ratio']:.2f} times ipykernel's ({ours:.1f} against {theirs:.1f})"
            yield Row(row["what"], value, f"at most {row['promised']} times")


def interrupt(found: list[dict[str, Any]]) -> Iterator[Row]:
    for pair in dict.fromkeys(row["pair"] for row in found):
        own = [row for row in found if row["pair"] == pair]
        moments = ", ".join(f"{row['after']:g}" for row in own)
        values = ", ".join(f"{row['milliseconds']:.0f}" for row in own)
        figure = f"milliseconds until an interrupted comparison ends, {pair} pair, after {moments} s"
        yield Row(figure, values, "at most 200")


def notebook_values(found: list[dict[str, Any]]) -> Iterator[Row]:
    for row in found:
        first, second = row["seconds"]
        yield Row(f"seconds, pair *{row['pair']}*, the first time and again", f"{first:.1f}, {second:.1f}", "at most 3")
    yield Row("MiB of the largest worker", f"{max(row['worker'] for row in found):.0f}", "at most 1000")
    yield Row("notebooks that are as they were", f"{sum(row['is_same'] for row in found)} of {len(found)}")


def mining(found: list[dict[str, Any]]) -> Iterator[Row]:
    for run in found:
        aim = "at least 200" if "--jobs" in run["options"] else ""
        yield Row(f"commits a second, `{' '.join(run['options'])}`", f"{run['commits_a_second']:.0f}", aim)


def speed(found: dict[str, Any]) -> Iterator[Row]:
    for row in found["speed"]:
        aim = "" if row["on"].startswith(("1", "Dask, 1")) else "a speedup of 1.8"
        value = f"{row['changes_a_second']:.1f}, {row['speedup']:.2f}"
        yield Row(f"changes a second and speedup, {row['on']}", value, aim)


def store(found: dict[str, Any]) -> Iterator[Row]:
    endings = ", ".join(f"`.{row['ending']}`" for row in found["store"])
    more = ", ".join(f"{row['more']:+.1f} %" for row in found["store"])
    yield Row(f"seconds more than in memory, {endings}", more, "at most 2 %")
    yield Row(f"seconds when all results exist, {endings}", ", ".join(f"{row['again']:.2f}" for row in found["store"]))


def memory(found: dict[str, Any]) -> Iterator[Row]:
    first, last, growth = (found["memory"][name] for name in ("first", "last", "growth"))
    figure = f"growth of memory over {found['memory']['changes']:,} changes"
    yield Row(figure, f"{growth:+.1f} % ({first:.1f} to {last:.1f} MiB)", "at most 10 %")


MEASUREMENTS = (
    Measurement("verdicts", "verdicts", f"python -m tests.measure.verdicts {CHANGES}", verdicts),
    Measurement("reproducers", "verdicts", f"python -m tests.measure.audit {CHANGES}", reproducers),
    Measurement("judged", "values", f"python -m tests.measure.labelled {PAIRS}/judged.jsonl", judged_pairs),
    Measurement(
        "development", "values", f"python -m tests.measure.labelled {PAIRS}/development.jsonl", development_pairs
    ),
    Measurement("notebook-values", "values", "python -m tests.measure.given", notebook_values),
    Measurement("self-contained", "techniques", "python tests/measure/crosshair/run.py", self_contained),
    Measurement("kernel", "kernel", "python -m tests.measure.kernel", kernel),
    Measurement("interrupt", "kernel", "python -m tests.measure.interrupt", interrupt),
    Measurement("mining", "studies", "python -m tests.measure.history 5000", mining),
    Measurement("speed", "studies", "python -m tests.measure.studies --only speed --changes 150", speed),
    Measurement("store", "studies", "python -m tests.measure.studies --only store --changes 150 --repeat 4", store),
    Measurement("memory", "studies", "python -m tests.measure.studies --only memory", memory),
)


def measured(command: str, changes: Path | None) -> Any:
    """The JSON that a command prints, which is the last line of its output."""
    given = {"python": sys.executable, CHANGES: str(changes)}
    words = [given.get(word, word) for word in [*shlex.split(command), "--json"]]
    ran = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def conditions() -> str:
    """When and where something is measured."""
    python, load = platform.python_version_tuple(), os.getloadavg()[0]
    return f"{date.today()}, Python {python[0]}.{python[1]}, {os.cpu_count()} cores, load {load:.0f}"


def line(cells: Iterable[str]) -> str:
    return f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|"


def regions(page: str) -> dict[str, str]:
    """The tables of a page's marked regions, by name."""
    return dict(REGION.findall(page))


def with_rows(table: str, command: str, lines: list[str]) -> str:
    """A table with other rows for a command, in the place of those that it has."""
    old = table.splitlines()
    own = [at for at, text in enumerate(old) if text.endswith(f"| `{command}` |")]
    if not own:
        raise ValueError(f"no row of the page has the command {command}")
    return "\n".join([*old[: own[0]], *lines, *(text for at, text in enumerate(old) if at > own[0] and at not in own)])


def with_measured(page: str, measurement: Measurement, rows: Iterable[Row], measured: str) -> str:
    """The page with the rows of a measurement."""
    lines = [line([*row, measured, f"`{measurement.command}`"]) for row in rows]
    table = regions(page)[measurement.region]
    return page.replace(table, with_rows(table, measurement.command, lines))


def write(measurement: Measurement, changes: Path | None) -> None:
    """Measures, and writes the rows into the page."""
    begun = conditions()
    rows = measurement.rows(measured(measurement.command, changes))
    page = with_measured(PAGE.read_text(encoding="utf-8"), measurement, rows, begun)
    PAGE.write_text(page, encoding="utf-8")


def chosen(names: str, changes: Path | None) -> list[Measurement]:
    """The measurements to run: those that are named, or all for which there are changes."""
    known = {measurement.name: measurement for measurement in MEASUREMENTS}
    if names:
        return [known[name] for name in names.split(",")]
    return [measurement for measurement in MEASUREMENTS if changes or CHANGES not in measurement.command]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=Path, metavar=CHANGES, help="changes with labels, for `twincell study`")
    parser.add_argument("--only", default="", metavar="NAME,...", help="the measurements to run [default: all]")
    arguments = parser.parse_args()
    changes = arguments.changes and arguments.changes.absolute()
    try:
        measurements = chosen(arguments.only, changes)
    except KeyError as unknown:
        parser.error(f"no measurement is named {unknown}; there are: {', '.join(one.name for one in MEASUREMENTS)}")
    if not changes and any(CHANGES in one.command for one in measurements):
        parser.error(f"verdicts and reproducers need --changes {CHANGES}")
    failed = []
    for measurement in measurements:
        print(f"{measurement.name}: {measurement.command}", flush=True)
        try:
            write(measurement, changes)
        except subprocess.CalledProcessError as error:
            print(f"{measurement.name} ended with status {error.returncode}", file=sys.stderr)
            failed.append(measurement.name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
