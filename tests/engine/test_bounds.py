"""Programs that try to walk around the bounds of their worker: each is ended, and its neighbour is not harmed. What
they use at most is measured from outside, in the processes that this one has."""

import contextlib
import os
import platform
import sys
import threading
from pathlib import Path

import pytest

from .layers import SANDBOX, sample
from .snippets import CHANGING, INCONCLUSIVE, code, compare, reason

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)

MIB = 1 << 20
#: What a worker may use beyond Python, and what Python takes. The engine looks every 20 ms, with some patience for what
#: forks share; this test allows for what a process fills between two looks on a busy machine.
MEMORY_BOUND = (128 + 150 + 256) * MIB
#: Looked at every 200 ms.
DISK_BOUND = 1024 * MIB
BETWEEN_LOOKS = 512 * MIB

OPTIONS = {"budget": 3, "timeout": 20, "jobs": 1, "predictor": "uniform", "memory": 128, "context": "module"}

#: Memory that the limit of a process does not count.
MEMORY = {
    "made unwritable": """
        import ctypes, mmap
        C = ctypes.CDLL(None)
        kept = []
        while True:
            some = mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            address = ctypes.addressof(ctypes.c_char.from_buffer(some))
            ctypes.memset(address, 1, 1 << 26)
            C.mprotect(ctypes.c_void_p(address), 1 << 26, 1)
            kept.append(some)
        """,
    "growing stacks": """
        import ctypes, time
        C = ctypes.CDLL(None)
        C.mmap.restype = ctypes.c_void_p
        C.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
        while True:
            found = C.mmap(None, ctypes.c_size_t(1 << 26), 3, 0x122, -1, 0)
            if found not in (None, 2 ** 64 - 1):
                C.memset(found, 1, 1 << 26)
            else:
                time.sleep(0.01)
        """,
    "files of its folder, shared": """
        import mmap
        kept = []
        while True:
            with open(f"f{len(kept)}", "w+b") as file:
                file.truncate(1 << 26)
                some = mmap.mmap(file.fileno(), 1 << 26)
            for place in range(0, 1 << 26, 4096):
                some[place] = 1
            kept.append(some)
        """,
    "without the first thread": """
        import _thread, mmap
        def fill():
            kept = []
            while True:
                some = mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                address = ctypes.addressof(ctypes.c_char.from_buffer(some))
                ctypes.memset(address, 1, 1 << 26)
                C.mprotect(ctypes.c_void_p(address), 1 << 26, 1)
                kept.append(some)
        _thread.start_new_thread(fill, ())
        C.syscall(60, 0)
        """,
}

#: The same, a little in each execution, so that none takes long.
BIT_BY_BIT = """
    import ctypes, mmap, sys
    C = ctypes.CDLL(None)
    some = mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(some))
    ctypes.memset(address, 1, 1 << 22)
    C.mprotect(ctypes.c_void_p(address), 1 << 22, 1)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(some))
    """

#: Files that a walk through the worker's folder does not find.
DISK = {
    "open without a name": """
        kept = []
        while True:
            kept.append(open("f", "w+b", 0))
            kept[-1].write(bytes(1 << 25))
            os.remove("f")
        """,
    "never with a name": """
        kept = []
        while True:
            kept.append(os.open(".", os.O_TMPFILE | os.O_RDWR))
            os.write(kept[-1], bytes(1 << 25))
        """,
    "mapped and closed": """
        kept = []
        while True:
            with open("f", "w+b", 0) as file:
                file.write(bytes(1 << 25))
                kept.append(mapped(file.fileno()))
            os.remove("f")
        """,
    "without the first thread": """
        import _thread
        def fill():
            kept = []
            while True:
                kept.append(open("f", "w+b", 0))
                kept[-1].write(bytes(1 << 25))
                os.remove("f")
        _thread.start_new_thread(fill, ())
        C.syscall(60, 0)
        """,
    "in a socket": """
        pairs = []
        while True:
            try:
                pairs.append(socket.socketpair())
                for _ in range(20):
                    with open("f", "w+b", 0) as file:
                        file.write(bytes(1 << 20))
                        socket.send_fds(pairs[-1][0], [b"a"], [file.fileno()])
                    os.remove("f")
            except OSError:
                # The system has a bound of its own.
                pass
            time.sleep(0.3)
        """,
    "deeper than a path": """
        name = "a" * 250
        for _ in range(20):
            os.mkdir(name)
            os.chdir(name)
        for n in range(10 ** 6):
            with open(f"f{n}", "wb", 0) as file:
                file.write(bytes(1 << 25))
        """,
}

THREADS = """
    import _thread
    _thread.stack_size(1 << 16)
    closed = _thread.allocate_lock()
    closed.acquire()
    while True:
        try:
            _thread.start_new_thread(closed.acquire, ())
        except RuntimeError:
            time.sleep(0.1)
    """

TOOLS = """
import ctypes, os, socket, time
C = ctypes.CDLL(None)
C.mmap.restype = ctypes.c_void_p

def mapped(number):
    # Python's own maps keep a descriptor.
    return C.mmap(None, ctypes.c_size_t(4096), 1, 1, number, 0)
"""


def children(process):
    """A process's children, and theirs."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield child
                yield from children(child)


def told(process):
    """Where the system tells of a process whose first thread may have ended."""
    own = Path(f"/proc/{process}")
    return next(path for path in (own, *own.glob("task/*")) if "VmRSS:" in (path / "status").read_text())


def memory(process):
    lines = (told(process) / "status").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("VmRSS:", "VmSwap:")))


def disk(process):
    """What a worker has in its folder, and what it holds open without a name."""
    files, about = {}, told(process)
    # Helpers of other tests stay in this folder, with all that was ever built in it.
    if os.path.samefile(about / "cwd", "."):
        return 0
    for folder, _, names in os.walk(about / "cwd/"):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(folder, name))
                files[status.st_ino] = status.st_blocks * 512
    for number in (about / "fd").iterdir():
        with contextlib.suppress(OSError):
            status = number.stat()
            if status.st_nlink == 0 and status.st_blocks:
                files[status.st_ino] = status.st_blocks * 512
    mapped = {
        line.split()[4]
        for line in (about / "maps").read_text().splitlines()
        if "/twincell-worker-" in line and line.endswith("(deleted)") and int(line.split()[4]) not in files
    }
    return sum(files.values()) + len(mapped) * (32 * MIB)


@contextlib.contextmanager
def most(use):
    """The most that one of the processes of this one uses, in a list of one number."""
    found, ended = [0], threading.Event()

    def watch():
        while not ended.wait(0.005):
            for child in children(os.getpid()):
                with contextlib.suppress(OSError, ValueError, StopIteration):
                    found[0] = max(found[0], use(child))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield found
    finally:
        ended.set()
        watching.join()


def is_ended(body, why, **options):
    # Text that is executed has no hooks, so nothing in it is replaced.
    lines = "".join(f"    {line}\n" for line in code(body).splitlines())
    work = f"{TOOLS}def work():\n{lines}"
    module = f"exec({work!r})\n"
    old, new = (f"{module}def f():\n    a = {one}\n    work()\n    return a\n" for one in ("1", "2 - 1"))
    comparison = compare(old, new, **OPTIONS | options, function="f")
    assert why in reason(comparison) + " ".join(comparison.pairs[0]["notes"]), (comparison.sentence, comparison.pairs)
    neighbour = compare(
        "def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n", **OPTIONS | {"budget": 40}
    )
    assert neighbour.verdict == CHANGING
    return comparison


@sample(MEMORY, ["made unwritable"], others=SANDBOX)
def test_memory_counts_where_it_is_used(name):
    with most(memory) as peak:
        comparison = is_ended(MEMORY[name], "more memory than it may")
    assert comparison.verdict == INCONCLUSIVE
    assert MEMORY_BOUND / 4 < peak[0] < MEMORY_BOUND + BETWEEN_LOOKS


@SANDBOX
def test_memory_counts_between_short_executions():
    with most(memory) as peak:
        is_ended(BIT_BY_BIT, "more memory than it may", budget=300)
    assert peak[0] < MEMORY_BOUND + BETWEEN_LOOKS


@sample(DISK, ["in a socket", "deeper than a path"], others=SANDBOX)
def test_disk_counts_where_no_walk_finds_it(name):
    why = "kept open files where nobody sees" if name == "in a socket" else "filled its temporary folder"
    with most(disk) as peak:
        comparison = is_ended(DISK[name], why, memory=1024)
    assert comparison.verdict == INCONCLUSIVE
    assert peak[0] < DISK_BOUND + BETWEEN_LOOKS


def test_a_worker_has_a_largest_number_of_threads():
    assert is_ended(THREADS, "more threads than it may").verdict == INCONCLUSIVE
