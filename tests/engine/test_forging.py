"""Code that speaks to the engine in another's name: the worst is that nothing is known of its own pair."""

import platform
import sys

import pytest

from .layers import SANDBOX, sample
from .snippets import CHANGING, INCONCLUSIVE, compare, reason

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)

OPTIONS = {"budget": 12, "timeout": 2, "jobs": 1, "predictor": "uniform", "context": "module"}

#: What attempts share: frames as a worker would send them, and its open descriptors.
TOOLS = r"""
import ctypes, os, socket, struct, sys, threading, time

def packed(text):
    return bytes([0xA0 | len(text)]) + text

def frame(body):
    return struct.pack("<I", len(body)) + body

DONE = frame(b"\x81" + packed(b"done") + b"\x92\x01\xc2")
LOADED = frame(b"\x81" + packed(b"loaded") + b"\x92\x01\x90")
FAILED = frame(b"\x81" + packed(b"failed") + b"\x92\x01" + packed(b"forged"))
INSPECTED = frame(b"\x81" + b"\xa9inspected" + b"\x92\x01\xc2")
TAGGED = frame(bytes(16) + DONE[4:])
HUGE = struct.pack("<I", 0xFFFFFFFF)
HALF = DONE[:3]

def connections():
    found = []
    for number in range(3, 1024):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith(("socket:", "pipe:")):
                found.append(number)
        except OSError:
            pass
    return found or list(range(190, 215))

def everywhere(use):
    for number in connections():
        try:
            use(number)
        except OSError:
            pass

def write(data):
    everywhere(lambda number: os.write(number, data))

C = ctypes.CDLL(None, use_errno=True)

def later(work):
    threading.Thread(target=lambda: (time.sleep(0.01), work()), daemon=True).start()

def forked(work):
    try:
        child = os.fork()
    except OSError:
        child = C.syscall(57)
    if child == 0:
        work()
        os._exit(0)

class AtEnd:
    def __init__(self, work):
        self.work = work

    def __del__(self):
        self.work()
"""

#: What a function does before it returns.
ATTEMPTS = {
    "a batch is done": "write(DONE)",
    "a program is loaded": "write(LOADED)",
    "a request failed": "write(FAILED)",
    "nothing was left": "write(INSPECTED)",
    "a frame with a tag": "write(TAGGED)",
    "a huge frame": "write(HUGE)",
    "half a frame": "write(HALF)",
    "noise": "write(os.urandom(5000))",
    "many frames": "write(DONE * 500)",
    "a frame and no return": "write(DONE)\nwhile True:\n    pass",
    "answers to what it reads": "everywhere(lambda n: (os.set_blocking(n, False), os.read(n, 1 << 20)))\n"
    "write(FAILED + DONE)",
    "reading requests": "everywhere(lambda n: (os.set_blocking(n, False), os.read(n, 1 << 20)))",
    "answering for ever": "while True:\n    write(FAILED + DONE)\n    time.sleep(0.001)",
    "through a socket": "everywhere(lambda n: socket.socket(fileno=os.dup(n)).sendall(DONE))",
    "through a message": "everywhere(lambda n: socket.socket(fileno=os.dup(n)).sendmsg([DONE]))",
    "with a file": "everywhere(lambda n: socket.send_fds(socket.socket(fileno=os.dup(n)), [DONE], [0]))",
    "through a copy": "everywhere(lambda n: os.write(os.dup(n), DONE))",
    "through a file": "everywhere(lambda n: open(os.dup(n), 'wb', 0).write(DONE))",
    "vectors": "everywhere(lambda n: os.writev(n, [DONE]))",
    "a pipe into it": "r, w = os.pipe()\nos.set_blocking(r, False)\nos.write(w, DONE * 100)\n"
    "everywhere(lambda n: os.splice(r, n, 100) if hasattr(os, 'splice') else os.sendfile(n, r, None, 100))",
    "closing it": "everywhere(os.close)",
    "shutting it down": "everywhere(lambda n: socket.socket(fileno=os.dup(n)).shutdown(socket.SHUT_RDWR))",
    "another socket in its place": "a, b = socket.socketpair()\neverywhere(lambda n: os.dup2(a.fileno(), n))",
    "ctypes write": "everywhere(lambda n: C.write(n, DONE, len(DONE)))",
    "ctypes send": "everywhere(lambda n: C.send(n, DONE, len(DONE), 0))",
    "ctypes system call": "everywhere(lambda n: C.syscall(1, n, DONE, len(DONE)))",
    "a fork": "forked(lambda: write(DONE))",
    "a fork by a system call": "if C.syscall(57) == 0:\n    write(DONE)\n    os._exit(0)",
    "a fork by clone": "if C.syscall(56, 17, 0, 0, 0, 0) == 0:\n    write(DONE)\n    os._exit(0)",
    "a thread": "later(lambda: write(DONE))",
    "a finalizer": "sys.kept = AtEnd(lambda: write(DONE))",
    "at exit": "import atexit\natexit.register(write, DONE)",
}

NEIGHBOUR = ("def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n")


def check(old, new, allowed, isolation):
    comparison = compare(old, new, **OPTIONS, isolation=isolation, function="f")
    assert comparison.verdict in allowed, (comparison.verdict, reason(comparison), comparison.pairs[0]["notes"])
    neighbour = compare(*NEIGHBOUR, **OPTIONS)
    assert neighbour.verdict == CHANGING and neighbour.pairs[0]["lost"] == 0
    return comparison


#: Each attempt, in a process that executions share and in one of its own.
WAYS = {f"{name}, {isolation}": (name, isolation) for name in ATTEMPTS for isolation in ("auto", "process")}
#: What is said, how it is sent, what is done to the connection, and by whom else.
QUICK = [
    "a batch is done, auto",
    "a request failed, process",
    "a frame with a tag, auto",
    "noise, process",
    "answers to what it reads, auto",
    "closing it, process",
    "ctypes system call, auto",
    "a fork by a system call, process",
    "a thread, auto",
]


@sample(WAYS, QUICK, others=SANDBOX)
def test_what_the_code_says_of_itself_is_not_believed(name):
    attempt, isolation = WAYS[name]
    body = "".join(f"    {line}\n" for line in ATTEMPTS[attempt].splitlines())
    check(*(f"{TOOLS}\ndef f(x):\n{body}    return {one}\n" for one in (1, 2)), (CHANGING, INCONCLUSIVE), isolation)


SAID_BY_MODULES = {"a program is loaded", "a request failed", "a frame with a tag", "a thread"}
IN_MODULES = [name for name, (attempt, _) in WAYS.items() if attempt in SAID_BY_MODULES]


@sample(IN_MODULES, ["a program is loaded, auto", "a request failed, process"], others=SANDBOX)
def test_nor_what_it_says_while_its_module_is_evaluated(name):
    attempt, isolation = WAYS[name]
    module = f"{TOOLS}\n{ATTEMPTS[attempt]}\n"
    check(*(f"{module}def f(x):\n    return {one}\n" for one in (1, 2)), (CHANGING, INCONCLUSIVE), isolation)


@pytest.mark.parametrize("isolation", ["auto", pytest.param("process", marks=SANDBOX)])
def test_the_reason_says_who_spoke(isolation):
    old, new = (f"{TOOLS}\ndef f(x):\n    write(DONE)\n    return {one}\n" for one in ("1", "2 - 1"))
    comparison = check(old, new, (INCONCLUSIVE,), isolation)
    assert "wrote to the connection of its worker" in reason(comparison)
