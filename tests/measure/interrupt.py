"""How long an interrupt of `%%compare` takes, through the real kernel: until its cell is done and shows what was found.

    python -m tests.measure.interrupt [--seconds 1,5,12] [--json]

Two refactorings are compared with a budget that no one waits for: one that takes its time in each execution, one that
is as quick as most functions. Each is interrupted that many seconds after its progress is first shown. Also printed:
the executions up to then, the size of the output, and the memory of the kernel.
"""

import argparse
import json
import sys
import time
from contextlib import redirect_stdout
from typing import Any

from tests.kernel.client import Client
from tests.kernel.test_magics import LONG, comparisons, wait_for_progress

QUICK = """%%compare --budget 1000000
def f(a, b):
    n = 0
    for x in a.items():
        if x.name == b.name:
            n += b.size
    return n, b.title
# ---
def f(a, b):
    n = 0
    for x in a.items():
        if b.name == x.name:
            n += b.size
    return n, b.title
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", default="1,5,12")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the lines as errors")
    arguments = parser.parse_args()
    with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        rows = measure([float(seconds) for seconds in arguments.seconds.split(",")])
    if arguments.json:
        print(json.dumps(rows))
    return 0


def measure(moments: list[float]) -> list[dict[str, Any]]:
    """Interrupts both pairs after each of some seconds, and prints a row for each."""
    rows = []
    print("| pair | interrupted after | ms | executions | output, KiB | kernel, MiB |\n|---|---|---|---|---|---|")
    with Client.start() as kernel:
        for name, cell in (("slow", LONG), ("quick", QUICK)):
            for seconds in moments:
                msg_id = kernel.send(cell)
                wait_for_progress(kernel)
                time.sleep(seconds)
                started = time.perf_counter()
                kernel.manager.interrupt_kernel()
                outcome = kernel.wait(msg_id)
                took = (time.perf_counter() - started) * 1000
                (comparison,) = comparisons(outcome)
                shown = len(json.dumps(outcome.of("execute_result") + outcome.of("display_data"))) / 1024
                executed = comparison["pairs"][0]["executed"]
                memory = _resident(kernel.pid)
                print(f"| {name} | {seconds:g} s | {took:.0f} | {executed} | {shown:.0f} | {memory:.0f} |", flush=True)
                rows.append({"pair": name, "after": seconds, "milliseconds": took})
    return rows


def _resident(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    sys.exit(main())
