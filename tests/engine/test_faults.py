"""Workers are killed and stopped at random while many comparisons run: none is harmed, nothing stays behind.

The comparisons run in a process of their own, whose children are the workers.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from ..processes import is_worker
from .layers import SANDBOX

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds workers under /proc")

PAIRS = [
    ("def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n"),
    (
        "def f(rows):\n    return [row.name for row in rows]\n",
        "def f(rows):\n    return [r.name for r in list(rows)]\n",
    ),
    (
        "def f(x):\n    if x.kind == 'late':\n        x.send(1)\n",
        "def f(x):\n    if x.kind == 'late':\n        x.send(2)\n",
    ),
    ("def f(x):\n    n = 1\n    return x.get(n)\n", "def f(x):\n    return x.get(2 - 1)\n"),
    (
        "import json\ndef f(x):\n    return json.dumps([1, x])\n",
        "import json\ndef f(x):\n    return json.dumps([1, x], indent=1)\n",
    ),
    (
        "def f(n):\n    while n.more():\n        n.step()\n",
        "def f(n):\n    while True:\n        if not n.more():\n            break\n        n.step()\n",
    ),
]

PROGRAM = """
import concurrent.futures, json, sys
import twincell

pairs, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
options = {"jobs": 3, "budget": 60, "timeout": 2, "predictor": "uniform"}

def one(number):
    old, new = pairs[number % len(pairs)]
    comparison = twincell.compare(old, new, **options)
    [pair] = comparison.to_dict()["pairs"]
    indices = [execution["number"] for execution in pair["executions"]]
    # At once, unlike `print`, which writes the end of a line by itself while another thread writes.
    sys.stdout.write('"one is done"\\n')
    sys.stdout.flush()
    return number % len(pairs), comparison.verdict, {"indices": indices, "lost": pair["lost"]}

with concurrent.futures.ThreadPoolExecutor(6) as threads:
    print(json.dumps(list(threads.map(one, range(rounds * len(pairs))))), flush=True)
"""


def workers(parent):
    """Process numbers of a process's workers."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                after = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if int(after[1]) == parent and after[0] != "Z" and is_worker(command):
            found.append(int(name))
    return found


def run(folder, rounds, misdeeds, seed=0):
    """Results, and how many workers were harmed: each time that a comparison is done, one is, or none."""
    chance = random.Random(seed)
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(PAIRS), str(rounds)],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    harmed, seen, results = 0, set(), None
    for line in process.stdout:
        results = json.loads(line)
        running = workers(process.pid) if misdeeds else []
        seen.update(running)
        if running and chance.random() < 0.3:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(running), chance.choice(misdeeds))
                harmed += 1
    assert process.wait() == 0
    # The system ends them with their parent, which is not awaited.
    deadline = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{number}/cwd") for number in seen):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.01)
    assert list(folder.iterdir()) == []
    return results, harmed


def check(tmp_path, rounds, misdeeds, seed):
    undisturbed, _ = run(tmp_path / "undisturbed", 1, [])
    expected = {number: (verdict, counts) for number, verdict, counts in undisturbed}
    results, harmed = run(tmp_path / "disturbed", rounds, misdeeds, seed)
    assert harmed > 0
    assert [number for number, _, _ in results] == [n % len(PAIRS) for n in range(rounds * len(PAIRS))]
    for number, verdict, counts in results:
        before, plain = expected[number]
        assert len(set(counts["indices"])) == len(counts["indices"])
        if counts["lost"] == 0:
            # Not merely the same verdict: the same executions.
            assert (verdict, counts) == (before, plain), number
        else:
            assert verdict in (before, "inconclusive"), number
    return results, harmed


@pytest.mark.parametrize("rounds", [4, pytest.param(40, marks=SANDBOX)])
def test_workers_that_are_killed_harm_no_comparison(rounds, tmp_path):
    results, harmed = check(tmp_path, rounds, [signal.SIGKILL], seed=1)
    # One execution at most is lost with a worker. Another worker does the others.
    assert sum(counts["lost"] for _, _, counts in results) <= harmed


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_workers_that_are_killed_or_stopped_harm_no_comparison_for_long(tmp_path, seed):
    check(tmp_path, 60, [signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM], seed)
