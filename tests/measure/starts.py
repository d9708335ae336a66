"""Measures two builds of twincell in turn, in one run on one machine: how long a kernel takes to its first result and
to a first verdict, and the command line to its verdict.

    python -m tests.measure.starts OTHER [--rounds N]

OTHER is the Python of another build, such as that of an earlier commit in a worktree of its own. The table has the
medians in milliseconds and the ratio of this build to the other one. Say how each was built: the profile of the tests
is not that of the wheel.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

CELL = "%%compare\ndef f(x):\n    return x + 1\n\n---\ndef f(x):\n    return x + 2\n"
OLD = "def f(x, order):\n    return x + order.total\n"
NEW = "def f(x, order):\n    return x + order.total + 1\n"
FIGURES = ["kernel to its first result", "first verdict in the kernel", "command line to its verdict"]


def kernel(python: str) -> tuple[float, float]:
    """The seconds from the start to a first result, and those of a first comparison."""
    with tempfile.TemporaryDirectory() as folder:
        connection, _ = write_connection_file(os.path.join(folder, "connection.json"))
        began = time.perf_counter()
        process = subprocess.Popen(
            [python, "-m", "twincell.kernel", "-f", connection],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        client = BlockingKernelClient(connection_file=connection)
        client.load_connection_file()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            client.execute("1 + 1", reply=True, timeout=60)
            first = time.perf_counter() - began
            began = time.perf_counter()
            client.execute(CELL, reply=True, timeout=120)
            return first, time.perf_counter() - began
        finally:
            client.shutdown()
            client.stop_channels()
            process.wait(timeout=30)


def command(python: str) -> float:
    """The seconds of a comparison of two files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("old.py", "new.py")]
        for file, text in zip(files, (OLD, NEW), strict=True):
            file.write_text(text, encoding="utf-8")
        began = time.perf_counter()
        subprocess.run([python, "-m", "twincell", "compare", *map(str, files)], capture_output=True, check=False)
        return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    pythons = [sys.executable, options.other]
    found: dict[str, list[tuple[float, float, float]]] = {python: [] for python in pythons}
    # The first round fills caches.
    for number in range(options.rounds + 1):
        for python in pythons if number % 2 else reversed(pythons):
            row = (*kernel(python), command(python))
            if number > 0:
                found[python].append(row)
    print("| figure | this | other | ratio |\n|---|---:|---:|---:|")
    for column, name in enumerate(FIGURES):
        this, other = (statistics.median(row[column] for row in found[python]) * 1000 for python in pythons)
        print(f"| {name}, ms | {this:.0f} | {other:.0f} | {this / other:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
