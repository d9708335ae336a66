"""Measures the kernel against ipykernel: both started in turn, in one run, on one machine; prints ratios.

    python -m tests.measure.kernel [--rounds N] [--check] [--json]

The client is as thin as can be (prepared frames on plain ZeroMQ sockets), so that what is measured is the kernel. Both
kernels are started by the same Python. Beside the time that a user waits stands the ratio of the processor time that
the kernels took for it, which says more where others use the machine at the same time. `--check` ends with status 1
when a figure is above what the documents promise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

MODULES = {"ipykernel": "ipykernel_launcher", "twincell": "twincell.kernel"}
#: Empty cells, of which the median counts.
CELLS = 100
PRINTS = "for n in range(100_000): print(n)"
DISPLAYS = "from IPython.display import display\nfor n in range(50): display({'text/plain': 'x' * 1_000_000}, raw=True)"
#: Spins for minutes in native code that holds Python's lock.
SPIN = "import re\nprint('spins', flush=True)\nre.match('(a*)*b', 'a' * 40)"
#: Beats of the heart while that runs.
BEATS = 100
#: The highest ratio of twincell to ipykernel that is promised.
PROMISED = {
    "start to first result, ms": 0.8,
    "round trip of an empty cell, ms": 0.5,
    "100,000 short prints, ms": 0.4,
    "50 MB of display data, ms": 0.7,
    "memory after start, MiB": 1.0,
}
#: The most milliseconds that are promised.
PROMISED_MS = {"heartbeat in a busy cell, median, ms": 100.0, "heartbeat in a busy cell, worst, ms": 1000.0}


class Running:
    """A kernel that has just started, and the channels to it."""

    def __init__(self, module: str, folder: Path) -> None:
        path, info = write_connection_file(str(folder / f"{module}.json"))
        self.session = Session(key=info["key"].encode() if isinstance(info["key"], str) else info["key"])
        self.context = zmq.Context()
        self.shell = self._connect(zmq.DEALER, info["shell_port"])
        self.iopub = self._connect(zmq.SUB, info["iopub_port"])
        self.iopub.subscribe(b"")
        self.heart = self._connect(zmq.REQ, info["hb_port"])
        environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython")}
        # Both have compiled modules, as pip installs them. In a checkout, the start that does not count writes them.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.started = time.perf_counter()
        self.process = subprocess.Popen([sys.executable, "-m", module, "-f", path], env=environment)

    def _connect(self, kind: int, port: int) -> zmq.Socket:
        socket = self.context.socket(kind)
        # What is not there yet is looked for often; the default of 100 ms would be most of what is measured.
        socket.setsockopt(zmq.RECONNECT_IVL, 2)
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(f"tcp://127.0.0.1:{port}")
        return socket

    def _request(self, code: str) -> tuple[list[bytes], bytes]:
        """The frames of a request to run a cell, and its name."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = self.session.msg("execute_request", content)
        return self.session.serialize(message), message["header"]["msg_id"].encode()

    def run(self, code: str) -> float:
        """Runs a cell; the milliseconds until its reply and its idle status are both here."""
        frames, msg_id = self._request(code)
        before = time.perf_counter()
        self.shell.send_multipart(frames)
        while True:
            parts = self.iopub.recv_multipart(copy=False)
            if msg_id in parts[-3].bytes and len(parts[-1].buffer) < 100 and b"idle" in parts[-1].bytes:
                break
        reply = json.loads(self.shell.recv_multipart()[-1])
        elapsed = (time.perf_counter() - before) * 1000
        assert reply["status"] == "ok", reply
        return elapsed

    def first_result(self) -> float:
        """The milliseconds from the start of the process to the result of its first cell."""
        self.shell.send_multipart(self._request("6 * 7")[0])
        reply = json.loads(self.shell.recv_multipart()[-1])
        elapsed = (time.perf_counter() - self.started) * 1000
        assert reply["status"] == "ok", reply
        return elapsed

    def beats(self) -> list[float]:
        """Milliseconds for each of some beats of the heart while a cell holds Python's lock. The cell never ends."""
        self.shell.send_multipart(self._request(SPIN)[0])
        while b"spins" not in self.iopub.recv_multipart()[-1]:
            pass
        found = []
        for _ in range(BEATS):
            before = time.perf_counter()
            self.heart.send(b"beat")
            self.heart.recv()
            found.append((time.perf_counter() - before) * 1000)
        return found

    def processor(self) -> float:
        """Milliseconds that the threads of the process have run so far."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def memory(self) -> float:
        """The memory that the process holds, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.context.destroy(linger=0)


@contextmanager
def running(module: str, folder: Path):
    kernel = Running(module, folder)
    try:
        yield kernel
    finally:
        kernel.end()


def measure(module: str, folder: Path) -> dict[str, tuple[float, float]]:
    """One start of one kernel; what was measured and the processor's share of it, by name."""
    start, round_trip, prints, displays, memory = PROMISED
    found = {}
    with running(module, folder) as kernel:
        spent = 0.0

        def note(what: str, value: float, times: int = 1) -> None:
            nonlocal spent
            before, spent = spent, kernel.processor()
            found[what] = (value, (spent - before) / times)

        note(start, kernel.first_result())
        found[memory] = (kernel.memory(), 0.0)
        note("warm", kernel.run(""))
        note(round_trip, statistics.median(kernel.run("") for _ in range(CELLS)), CELLS)
        note(prints, kernel.run(PRINTS))
        note(displays, kernel.run(DISPLAYS))
        beats = kernel.beats()
        for what, value in zip(PROMISED_MS, (statistics.median(beats), max(beats)), strict=True):
            found[what] = (value, 0.0)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each kernel is started [default: 5]")
    parser.add_argument(
        "--check", action="store_true", help="end with status 1 when a figure is above the promised one"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    found: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in MODULES}
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES.values():  # once for nothing: files are read from the disk, folders are made
            with running(module, Path(folder)) as kernel:
                kernel.first_result()
        for _ in range(arguments.rounds):
            for name, module in MODULES.items():
                found[name].append(measure(module, Path(folder)))
    rows = figures(found)
    print(json.dumps(rows) if arguments.json else table(rows))
    return 1 if arguments.check and any(row["broken"] for row in rows) else 0


def figures(found: dict[str, list[dict[str, tuple[float, float]]]]) -> list[dict[str, Any]]:
    """The medians of both kernels, their ratio, and whether it is above what is promised."""
    rows = []
    for what, promised in (PROMISED | PROMISED_MS).items():
        (theirs, their_time), (ours, our_time) = (middle([one[what] for one in found[name]]) for name in MODULES)
        row = {"what": what, "ipykernel": theirs, "twincell": ours, "ratio": ours / theirs, "promised": promised}
        row["processor"] = our_time / their_time if their_time else None
        row["broken"] = (ours if what in PROMISED_MS else ours / theirs) > promised
        rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':38}{'ipykernel':>12}{'twincell':>12}{'ratio':>8}{'promised':>10}{'processor':>11}"]
    for row in rows:
        in_ms = row["what"] in PROMISED_MS
        digits, promised = (2, f"{row['promised']:7.0f} ms") if in_ms else (1, f"{row['promised']:10.1f}")
        share = "" if row["processor"] is None else f"{row['processor']:11.2f}"
        both = f"{row['ipykernel']:12.{digits}f}{row['twincell']:12.{digits}f}"
        lines.append(f"{row['what']:38}{both}{row['ratio']:8.2f}{promised}{share}")
    return "\n".join(lines)


def middle(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """The median of each kernel's figures."""
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


if __name__ == "__main__":
    raise SystemExit(main())
