"""What processes below one use of the processor: whether something works is told by that, and not by a clock."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path


def is_worker(command: bytes) -> bool:
    """Whether a command line, as the system tells it, is that of a worker or of what forks workers."""
    return b"\0serve\0" in command


def worked(pid: int) -> float:
    """Seconds of the processor's time that the processes below this one have used."""
    total, found = 0.0, {pid}
    for path in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) in found:
                found.add(int(path.parent.name))
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def wait_for_work(pid: int, before: float, seconds: float = 0.5) -> None:
    """Returns when the processes below this one have worked so much more than before."""
    while worked(pid) < before + seconds:
        time.sleep(0.01)


@contextlib.contextmanager
def interrupted_at_work() -> Iterator[None]:
    """Interrupts this process when those below it are at work."""
    before = worked(os.getpid())

    def interrupt() -> None:
        wait_for_work(os.getpid(), before)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    yield
    thread.join()
