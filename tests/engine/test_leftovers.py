"""What stays behind when the engine ends, by itself or killed: no process, no folder, no object of the system."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .layers import SANDBOX

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes under /proc")

#: What code leaves behind if it can, and then does not return.
CODE = """
import ctypes, mmap, os, signal, socket, subprocess, threading, time

C = ctypes.CDLL(None)
kept = []

def tries(*attempts):
    for attempt in attempts:
        try:
            kept.append(attempt())
        except Exception:
            pass

def work():
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            tries(lambda: signal.signal(number, signal.SIG_IGN))
    tries(
        os.fork, os.setsid, lambda: os.posix_spawn("/bin/sleep", ["sleep", "1000"], {}),
        lambda: subprocess.Popen(["sleep", "1000"], start_new_session=True),
        lambda: C.syscall(56, 17, 0, 0, 0, 0), lambda: C.prctl(1, 0),
        lambda: C.shmget(0, 4096, 0o1666), lambda: C.semget(0, 1, 0o1666), lambda: C.msgget(0, 0o1666),
        lambda: C.mq_open(b"/twincell-left", 0o102, 0o600, None), lambda: C.shm_open(b"/twincell-left", 0o102, 0o600),
        lambda: os.makedirs("a/b/c"), lambda: os.mkdir("locked", 0), lambda: open("a/b/c/d", "w"),
        lambda: open("/tmp/twincell-left", "w"), lambda: os.mkfifo("pipe"),
        lambda: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(),
    )
    END
"""


def processes():
    """The number of each process, by the variable of the environment that marks those of a test."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
                is_dead = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
            except OSError:
                continue
            marks = [variable for variable in variables if variable.startswith((b"TMPDIR=", b"HOME="))]
            if not is_dead:
                found[int(folder.name)] = b" ".join(marks).decode()
    return found


def objects():
    """What the system keeps for processes that may be gone."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        path = Path("/proc/sysvipc") / kind
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        found |= {(kind, line.split()[1]) for line in lines}
    for folder in ("/dev/shm", "/dev/mqueue", "/tmp"):
        names = os.listdir(folder) if os.path.isdir(folder) else []
        found |= {(folder, name) for name in names if name.startswith("twincell-left")}
    return found


def start(tmp_path, end):
    """A comparison, whose processes and folders have their place in a folder of the test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    for name, one in (("old", "1"), ("new", "2 - 1")):
        # Text that is executed has no hooks, so nothing in it is replaced.
        module = f"exec({CODE.replace('END', end)!r})\n"
        (tmp_path / f"{name}.py").write_text(f"{module}def f():\n    a = {one}\n    work()\n    return a\n")
    run = [sys.executable, "-m", "twincell", "compare", "old.py", "new.py", "--budget", "20"]
    return folder, subprocess.Popen(
        [*run, "--predictor", "uniform", "--timeout", "1000", "--context", "module"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def of(folder):
    return [number for number, marks in processes().items() if str(folder) in marks]


def until(condition):
    """Waits, for as long as whoever runs the test has patience."""
    while not condition():
        time.sleep(0.02)


def check(folder, before):
    until(lambda: of(folder) == [])
    until(lambda: list(folder.iterdir()) == [])
    assert objects() - before == set()


def test_nothing_is_left_after_a_normal_end(tmp_path):
    before = objects()
    folder, process = start(tmp_path, "return 1")
    assert process.wait() in (0, 1, 2, 3)
    check(folder, before)


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, *(pytest.param(other, marks=SANDBOX) for other in (signal.SIGTERM, signal.SIGSEGV))]
)
def test_nothing_is_left_after_the_engine_was_killed(number, tmp_path):
    before = objects()
    folder, process = start(tmp_path, "time.sleep(1000)")
    # The code has written into the folder of its worker, and will not return.
    until(lambda: list(folder.glob("twincell-worker-*/workers/*/a/b/c/d")))
    assert len(of(folder)) >= 2
    process.send_signal(number)
    process.wait()
    check(folder, before)
