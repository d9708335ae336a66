"""Runs the tests of a package that is ready, in a process that locks itself in, until they end or time is over."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

from .fetch import Ready, plain

INSIDE = Path(__file__).with_name("inside") / "main.py"
#: Tests stop by themselves when their processor time is over, or six times that by the clock. A process that has not
#: stopped after this many times as much, and this many seconds, is ended.
PATIENCE = 7
GRACE = 60
#: Names of users, hosts and services need these files. None holds a secret.
FILES = ("passwd", "group", "hosts", "nsswitch.conf", "services", "protocols", "os-release", "host.conf")


@dataclasses.dataclass(frozen=True)
class Limits:
    #: Seconds for all tests of a package, and, by the clock, for one of them.
    seconds: float = 120
    test_seconds: float = 20
    #: The maximum number of cases of one parametrised test.
    cases: int = 40
    memory: int = 2 << 30
    open_files: int = 1024
    #: Seconds between two writes of the records, in case the process is killed.
    write_each: float = 15
    #: Nothing runs unless the sandbox is complete.
    must_hold: bool = True


@dataclasses.dataclass(frozen=True)
class Outcome:
    #: How many tests passed, failed and were left out, as the process itself says.
    report: dict[str, int]
    #: How it ended, if not by itself.
    ended: str | None
    #: The last line that it printed.
    said: str


def run(package: str, ready: Ready, folder: Path, limits: Limits) -> Outcome:
    """Runs the tests; what was seen is in `folder / "seen"`."""
    for name in ("seen", "home", "tmp"):
        (folder / name).mkdir()
    configuration = {
        "package": package,
        "names": ready.names,
        "extension": str(extension()),
        "source": str(ready.source),
        "seen": str(folder / "seen"),
        "tests": ready.tests,
        "writable": str(folder),
        "readable": readable(ready),
        **dataclasses.asdict(limits),
    }
    path = folder / "configuration.json"
    path.write_text(json.dumps(configuration))
    ended = None
    with open(folder / "log.txt", "w+b") as log:
        process = subprocess.Popen(
            [str(ready.python), str(INSIDE), str(path)],
            cwd=ready.source,
            env=environment(folder, ready),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(limits.seconds * PATIENCE + GRACE)
            if status:
                ended = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            ended = f"did not stop when its {limits.seconds:g} s were over"
        finally:
            # What the tests left running belongs to the same group: no process may leave it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said = last_line(log)
    return Outcome(reported(folder / "seen" / "report.json"), ended, said)


def last_line(log: IO[bytes]) -> str:
    """Reads from the open file, since another file may have its name by now."""
    log.seek(0, os.SEEK_END)
    log.seek(max(log.tell() - 4000, 0))
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return plain(lines[-1]) if lines else "nothing was printed"


def reported(path: Path) -> dict[str, int]:
    try:
        report = json.loads(path.read_text())
        return {plain(name): count for name, count in report.items() if type(count) is int}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def extension() -> Path:
    """The recording shared library of the installed twincell."""
    from twincell import _twincell

    return Path(_twincell.__file__)


def readable(ready: Ready) -> list[str]:
    """The interpreter, the environment and the recorder. The system's libraries are readable anyway."""
    folders = [sys.base_prefix, ready.python.parents[1], extension().parent, INSIDE.parent]
    return [str(path) for path in folders] + [f"/etc/{name}" for name in FILES]


def environment(folder: Path, ready: Ready) -> dict[str, str]:
    """The environment variables, which keep only the user's program search path."""
    return {
        "PATH": os.pathsep.join([str(ready.python.parent), os.defpath.strip(":")]),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIRTUAL_ENV": str(ready.python.parents[1]),
    }
