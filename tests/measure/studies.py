"""How fast studies are, on one and two processes, here and on Dask; what memory and the store cost.

python -m tests.measure.studies [--changes 200] [--memory 10000] [--repeat 3] [--only speed|memory|store] [--json]

Run it on a machine that does nothing else. Dask is measured where it is installed. Each figure is the median of the
repetitions; a study is timed by its own process, from its first change to its last, without Python's start.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import twincell

#: Functions as they are written, with changes as they are made to them; {n} makes each another.
TOTAL = """def total_{n}(orders, rate={n}):
    total = 0
    for order in orders:
        if order.price > {n}:
            total += order.price * order.count
    return round(total * rate, 2)
"""
FIND = """def find_{n}(names, wanted):
    for index, name in enumerate(names):
        if name.lower() == wanted.lower():
            return index
    return -{n}
"""
MERGE = """def merge_{n}(settings, more):
    merged = dict(settings)
    for key, value in more.items():
        if value is not None:
            merged[key] = value
    merged.setdefault('level', {n})
    return merged
"""
PARSE = """def parse_{n}(text, separator=','):
    try:
        fields = [part.strip() for part in text.split(separator)]
    except AttributeError:
        return []
    return [field for field in fields if len(field) < {n}]
"""
EDITED = [
    (TOTAL, [("> {n}:", ">= {n}:"), ("round(total * rate, 2)", "total * rate")]),
    (FIND, [("return -{n}", "return None"), ("wanted.lower()", "wanted")]),
    (MERGE, [("is not None", "!= ''"), ("merged = dict(settings)", "merged = {{**settings}}")]),
    (PARSE, [("< {n}", "<= {n}"), ("part.strip()", "part")]),
]


def synthetic(count: int, running: float, first: int = 0) -> Iterator[dict]:
    """Changes that all differ. A share of `running` changes code that runs; the others change only a comment."""
    chance = random.Random(0)
    for number in range(first, first + count):
        old, edits = EDITED[number % len(EDITED)]
        new = old.replace(*chance.choice(edits)) if chance.random() < running else f"{old}# as before\n"
        yield {"id": number, "old": old.format(n=number + 1), "new": new.format(n=number + 1)}


def timed(changes: list[dict], **arguments: object) -> float:
    start = time.perf_counter()
    study = twincell.study(changes, progress=False, **arguments)
    took = time.perf_counter() - start
    assert len(study) == len(changes)
    return took


def median(repeat: int, run) -> float:
    return statistics.median(run() for _ in range(repeat))


def speed(count: int, repeat: int) -> list[dict[str, Any]]:
    """The seconds of a study on one and two processes."""
    rows = []
    numbers = itertools.count(step=max(count, 100))

    def run(count: int = count, **arguments: object) -> float:
        """With changes that nobody has seen, since predictions are kept."""
        return timed(list(synthetic(count, running=1.0, first=next(numbers))), cache="memory", **arguments)

    print(f"\n{count} changes, all of which run; median of {repeat}\n\n| on | seconds | changes a second | speedup |")
    print("|---|---|---|---|")

    def row(name: str, seconds: float, first: float) -> None:
        print(f"| {name} | {seconds:.2f} | {count / seconds:.1f} | {first / seconds:.2f} |", flush=True)
        rows.append({"on": name, "changes_a_second": count / seconds, "speedup": first / seconds})

    first = 0.0
    for jobs in (1, 2):
        run(8, jobs=jobs)
        seconds = median(repeat, lambda jobs=jobs: run(jobs=jobs))
        first = first or seconds
        row("1 process" if jobs == 1 else f"{jobs} processes", seconds, first)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("Dask is not installed")
        return rows
    first = 0.0
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            executor = client.get_executor(pure=False)
            run(8 * workers, jobs=1, executor=executor)
            seconds = median(repeat, lambda: run(jobs=1, executor=executor))  # noqa: B023
            first = first or seconds
            row("Dask, 1 worker" if workers == 1 else f"Dask, {workers} workers", seconds, first)
    return rows


def memory(count: int) -> dict[str, float]:
    """The memory of the process that runs the study, as it goes on."""
    with tempfile.TemporaryDirectory() as folder:
        changes, out = Path(folder, "changes.jsonl"), Path(folder, "out.sqlite")
        with changes.open("w") as file:
            for change in synthetic(count, running=0.05):
                file.write(json.dumps(change) + "\n")
        command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(out), "--cache", "memory"]
        start = time.perf_counter()
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        samples: list[tuple[float, int]] = []
        while running.poll() is None:
            if (held := resident(running.pid)) is not None:
                samples.append((time.perf_counter() - start, held))
            time.sleep(0.05)
        took = time.perf_counter() - start
        assert running.returncode == 0
    # The first tenth loads the model and fills what is kept of predictions.
    steady = [held for at, held in samples if 0.1 * took < at < 0.98 * took]
    tenth = max(1, len(steady) // 10)
    first, last = statistics.median(steady[:tenth]), statistics.median(steady[-tenth:])
    print(f"\n{count} changes in {took:.0f} seconds, of which 5 % run ({count / took:.0f} a second)\n")
    print("| | MiB |\n|---|---|")
    print(f"| after a tenth of the time | {first / 2**20:.1f} |\n| at the end | {last / 2**20:.1f} |")
    print(f"| most | {max(held for _, held in samples) / 2**20:.1f} |\n| growth | {100 * (last / first - 1):+.1f} % |")
    return {"changes": count, "first": first / 2**20, "last": last / 2**20, "growth": 100 * (last / first - 1)}


def resident(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return None


def store(count: int, repeat: int) -> list[dict[str, Any]]:
    """What the store adds to the seconds of a study."""
    rows = []
    changes = list(synthetic(count, running=1.0))
    timed(changes[:4])
    print(f"\n{count} changes, all of which run; median of {repeat}; the second run finds everything there\n")
    print("| results go to | seconds | share | second run |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bare = median(repeat, lambda: timed(changes))
        print(f"| memory | {bare:.2f} | | |")
        for ending in ("jsonl", "sqlite", "parquet"):
            out = Path(folder, f"out.{ending}")
            seconds = median(repeat, lambda: timed(changes, out=out, fresh=True))  # noqa: B023
            again = median(repeat, lambda: timed(changes, out=out))  # noqa: B023
            more = 100 * (seconds / bare - 1)
            print(f"| .{ending} | {seconds:.2f} | {more:+.1f} % | {again:.2f} |", flush=True)
            rows.append({"ending": ending, "more": more, "again": again})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--memory", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=["speed", "memory", "store"])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the lines as errors")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    with redirect_stdout(sys.stderr if given.json else sys.stdout):
        if given.only in (None, "speed"):
            figures["speed"] = speed(given.changes, given.repeat)
        if given.only in (None, "memory"):
            figures["memory"] = memory(given.memory)
        if given.only in (None, "store"):
            figures["store"] = store(given.changes, given.repeat)
    if given.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
