"""The same rows whatever else the machine does: verdicts, witnesses and counts depend on no clock, name or order."""

import contextlib
import json
import subprocess
import sys

import pytest

from tests.measure.metamorphic.changes import make

OPTIONS = ["--context", "module", "--budget", "20", "--predictor", "frequency", "--jobs", "2", "--seed", "3"]
BUSY = "while True: pass"
#: What a row says of time.
TIMES = {"milliseconds"}


def rows(changes, results):
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(results), *OPTIONS]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = [json.loads(line) for line in results.read_text().splitlines()]
    return {row["id"]: {name: value for name, value in row.items() if name not in TIMES} for row in found}


@contextlib.contextmanager
def load(count):
    """As many processes that never rest."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


# Its sister in the gate is `test_determinism.py`, without a load: one and several workers give the same report.
@pytest.mark.long
@pytest.mark.parametrize("count", [30, 100])
def test_changes_have_the_same_rows_beside_a_load(count, tmp_path):
    """Varied: functions of the whole standard library. No bound on time: the load may take as long as it likes."""
    changes = tmp_path / "changes.jsonl"
    made = make(["stdlib"], {"preserving": count, "changing": count}, 11)
    assert len(made) == 2 * count
    changes.write_text("".join(json.dumps(change) + "\n" for change in made))
    alone = rows(changes, tmp_path / "alone.jsonl")
    with load(4):
        beside = rows(changes, tmp_path / "beside.jsonl")
    differing = {name: (alone[name], beside.get(name)) for name in alone if alone[name] != beside.get(name)}
    assert alone.keys() == beside.keys()
    assert not differing, json.dumps(differing, indent=1)[:4000]
