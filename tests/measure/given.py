"""How long a comparison with a large frame of the notebook takes, and how much memory.

    python -m tests.measure.given [--rows 1000000] [--json]

Prints one line for each pair: seconds of the first comparison and of a later one, their processor time (to which other
work on the machine adds nothing), the largest worker, what this process grew by meanwhile, and whether the notebook is
as it was. Workers are sampled every 10 ms, so a short peak may be missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from IPython.core.interactiveshell import InteractiveShell

SAME = (
    "def f(df):\n    return df[df['price'] > rate].groupby('region')['units'].sum()\n",
    "def f(df):\n    found = df.loc[df['price'] > rate]\n    return found.groupby('region').units.sum()\n",
)
OTHER = (SAME[0], SAME[1].replace("> rate", ">= rate"))
IN_PLACE = (
    "def f(df):\n    df['price'] = df['price'] * 2\n    return len(df)\n",
    "def f(df):\n    df['price'] *= 2\n    return len(df)\n",
)
MAGIC = "%%compare --predictor frequency --with df=sales,rate"
PAIRS = {"same": SAME, "changed": OTHER, "in place": IN_PLACE}


def frame(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "region": random.choice(["north", "south", "east", "west"], rows),
            "name": [f"article {number % 5000}" for number in range(rows)],
            "price": random.integers(1, 1000, rows) / 4,
            "units": random.integers(0, 50, rows),
            "at": pd.date_range("2020-01-01", periods=rows, freq="min"),
        }
    )


class Memory:
    """The largest resident size of any process below this one, and of this one, in MiB, and their processor time."""

    def __init__(self) -> None:
        self.worker = self.own = 0.0
        self.seconds: dict[int, float] = {}
        self._ends = threading.Event()

    def __enter__(self) -> Memory:
        self.start = resident(os.getpid())
        self.before = {process: taken(process) for process in [os.getpid(), *below(os.getpid())]}
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ends.wait(0.01):
            self.own = max(self.own, resident(os.getpid()) - self.start)
            workers = below(os.getpid())
            self.worker = max([self.worker, *map(resident, workers)])
            self.seconds.update({process: taken(process) for process in [os.getpid(), *workers]})

    def processor(self) -> float:
        return sum(seconds - self.before.get(process, 0.0) for process, seconds in self.seconds.items())


def resident(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def taken(process: int) -> float:
    """The processor time of a process in seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def below(process: int) -> list[int]:
    found, waiting = [], [process]
    while waiting:
        one = waiting.pop()
        try:
            text = " ".join(file.read_text() for file in Path(f"/proc/{one}/task").glob("*/children"))
        except OSError:
            continue
        children = [int(number) for number in text.split()]
        found += children
        waiting += children
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the lines as errors")
    arguments = parser.parse_args()
    with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        found = measure(arguments.rows)
    if arguments.json:
        print(json.dumps(found))


def measure(rows: int) -> list[dict[str, Any]]:
    """Compares each pair twice with a frame of the notebook, and prints a line for each."""
    found = []
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "twincell")
    sales = frame(rows)
    shell.user_ns.update(sales=sales, rate=100.25)
    before = pd.util.hash_pandas_object(sales).sum(), sales.memory_usage(deep=True).sum()
    print(f"{rows} rows, {sales.memory_usage(deep=True).sum() / 2**20:.0f} MiB in the notebook")
    for name, (old, new) in PAIRS.items():
        seconds, verdict, executions = [], "", 0
        with Memory() as memory:
            for _ in range(2):
                started = time.perf_counter()
                result = shell.run_cell(f"{MAGIC}\n{old}# ---\n{new}").result
                seconds.append(time.perf_counter() - started)
                verdict, executions = result.verdict, len(result.pairs[0]["executions"])
        names = {"sales", "rate"} <= set(shell.user_ns)
        after = pd.util.hash_pandas_object(sales).sum(), sales.memory_usage(deep=True).sum()
        is_same = names and after == before and shell.user_ns["sales"] is sales
        print(
            f"{name}: {verdict} after {executions} executions, {seconds[0]:.2f} s and {seconds[1]:.2f} s, "
            f"{memory.processor() / 2:.2f} s of processors each, "
            f"worker {memory.worker:.0f} MiB, own growth {memory.own:.0f} MiB, "
            f"notebook {'as it was' if is_same else 'CHANGED'}"
        )
        found.append({"pair": name, "seconds": seconds, "worker": memory.worker, "is_same": is_same})
    return found


if __name__ == "__main__":
    main()
