"""Code that tries to get out of its worker: to files, the network, other programs and processes. Nothing succeeds, the
effects are reported as blocked, and outside nothing has changed."""

import os
import platform
import signal
import socket
import sys

import pytest
import twincell

from .attacks import ATTACKS, DEADLY, NAMES
from .layers import SANDBOX, sample
from .snippets import CHANGING, channels, compare, expect, reason

OPTIONS = {"budget": 3, "timeout": 5, "jobs": 1, "predictor": "uniform", "context": "module"}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)


class Outside:
    """What there is to be reached."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "secret").write_text("secret")
        (folder / "outside_module.py").write_text("x = 1\n")
        self.stream = socket.create_server(("127.0.0.1", 0))
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        self.local = socket.socket(socket.AF_UNIX)
        self.local.bind(str(folder / "socket"))
        self.local.listen()
        self.abstract = socket.socket(socket.AF_UNIX)
        name = f"\0twincell-test-{os.getpid()}"
        self.abstract.bind(name)
        self.abstract.listen()
        self.sockets = [self.stream, self.datagrams, self.local, self.abstract]
        self.target = {
            "secret": str(folder / "secret"),
            "folder": str(folder),
            "readable": twincell.__file__,
            "tcp": self.stream.getsockname()[1],
            "udp": self.datagrams.getsockname()[1],
            "unix": str(folder / "socket"),
            "abstract": name,
        }

    def check(self):
        assert sorted(path.name for path in self.folder.iterdir()) == ["outside_module.py", "secret", "socket"]
        assert (self.folder / "secret").read_text() == "secret"
        assert (self.folder / "secret").stat().st_mtime > 1000
        assert not os.path.exists("/dev/shm/twincell-escape")
        for own in self.sockets:
            own.setblocking(False)
            with pytest.raises(BlockingIOError):
                own.recv(10) if own is self.datagrams else own.accept()


@pytest.fixture
def outside(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINCELL_TEST_SECRET", "1")
    found = Outside(tmp_path)
    yield found
    for own in found.sockets:
        own.close()


def attempted(target, names):
    """What a worker says of these attempts. Both versions make them, so that nothing is left to confirm."""
    module = f"exec({ATTACKS!r})\nTARGET = {target!r}\n"
    old = module + f"def f():\n    return ' '.join(attempts(TARGET, {names!r}))\n"
    new = module + f"def f():\n    found = ' '.join(attempts(TARGET, {names!r}))\n    return found\n"
    comparison = compare(old, new, **OPTIONS | {"budget": 1}, function="f")
    pair = comparison.to_dict()["pairs"][0]
    shown = [row["old"] for row in pair["executions"] if row["old"].startswith("returned ")]
    return comparison, shown[0].removeprefix("returned ").strip("'").split() if shown else None


def test_nothing_gets_out(outside):
    signals = []
    before = signal.signal(signal.SIGWINCH, lambda *_: signals.append(1))
    try:
        comparison, succeeded = attempted(outside.target, [name for name in NAMES if name not in DEADLY])
    finally:
        signal.signal(signal.SIGWINCH, before)
    assert succeeded == ["control"], (reason(comparison), comparison.pairs[0]["notes"])
    assert signals == []
    outside.check()


@SANDBOX
@pytest.mark.parametrize("name", DEADLY)
def test_what_the_system_kills_for_is_lost_and_gets_nothing(name, outside):
    comparison, succeeded = attempted(outside.target, ["control", name])
    assert succeeded is None or succeeded == ["control"]
    assert succeeded is not None or comparison.pairs[0]["lost"] > 0
    outside.check()


EFFECTS = {
    "open": "import os\nos.open('/tmp/twincell-escape', os.O_CREAT | os.O_WRONLY)",
    "os.mkdir": "import os\nos.mkdir('/tmp/twincell-escape')",
    "os.remove": "import os\nos.remove('/etc/hosts')",
    "os.rename": "import os\nos.rename('/etc/hosts', '/etc/hosts2')",
    "os.system": "import os\nos.system('touch /tmp/twincell-escape')",
    "subprocess.Popen": "import subprocess\nsubprocess.Popen(['ls'])",
    "socket.connect": "import socket\na, b = socket.socketpair()\na.connect('/run/x')",
    "os.kill": "import os\nos.kill(os.getppid(), 0)",
    "os.fork": "import os\nos.fork()",
}


# A file, a program, a signal; the network is among what does not get out.
@sample(EFFECTS, ["open", "subprocess.Popen", "os.kill"], others=SANDBOX)
def test_a_blocked_effect_is_part_of_what_the_code_does(name):
    lines = EFFECTS[name].splitlines()
    old = "\n".join([lines[0], "def f():", *[f"    {line}" for line in lines[1:]], "    return 1\n"])
    new = "\n".join([lines[0], "def f():", "    return 1\n"])
    comparison = expect(CHANGING, old, new, **OPTIONS)
    assert "calls" in channels(comparison)
    shown = {"os.system": "program('touch", "subprocess.Popen": "program('ls')"}.get(name, name)
    assert any(shown in str(evidence["at"]) + evidence["old"] for evidence in comparison.evidence), comparison.evidence
    assert not os.path.exists("/tmp/twincell-escape")


FRAMES = {
    "noise": "os.write(s, os.urandom(5000))",
    "length": "os.write(s, b'\\xff\\xff\\xff\\xff')",
    "longest": "os.write(s, (8 << 20).to_bytes(4, 'little') + bytes(100000))",
    "empty": "os.write(s, bytes(4))",
    "deep": "os.write(s, (1 << 16).to_bytes(4, 'little') + b'\\x91' * (1 << 16))",
    "done": "os.write(s, bytes([7, 0, 0, 0]) + b'\\x81\\xa4done\\x91' + b'\\x01')",
    "failed": "for n in range(64):\n"
    "    os.write(s, bytes([13, 0, 0, 0]) + b'\\x81\\xa6failed\\x92' + bytes([n]) + b'\\xa2no')",
    "hello": "body = b'\\x81\\xa5hello\\x94\\x02\\xa1a\\xa1b\\x96\\xa1a\\xa1b\\xa1c\\xa1d\\xa1e\\xc3'\n"
    "os.write(s, len(body).to_bytes(4, 'little') + body)",
    "record": "body = b'\\x81\\xa6record\\x92\\x01\\x96\\x00\\x00\\x90\\x90\\x90\\x00'\n"
    "for n in range(100):\n    os.write(s, len(body).to_bytes(4, 'little') + body)",
    "flood": "while True:\n    os.write(s, bytes(1 << 20))",
    "steal": "os.set_blocking(s, False)\nos.read(s, 1 << 20)",
    "shut": "socket.socket(fileno=os.dup(s)).shutdown(2)",
    "close": "os.close(s)",
    "replace": "os.dup2(os.open('/dev/null', os.O_RDWR), s)",
    "descriptors": "a = socket.socket(fileno=os.dup(s))\nsocket.send_fds(a, [bytes(64)], [0, 1, 2] * 50)",
    "unblocked": "os.set_blocking(s, False)",
    "small": "a = socket.socket(fileno=os.dup(s))\na.setsockopt(1, 7, 1)\na.setsockopt(1, 8, 1)",
    "urgent": "a = socket.socket(fileno=os.dup(s))\na.send(b'a', socket.MSG_OOB)",
}


# What is written, read, and done to the socket itself.
@sample(FRAMES, ["noise", "done", "steal", "close"], others=SANDBOX)
def test_what_code_writes_to_the_engine_is_not_believed(name):
    """The engine's socket is found among the open files."""
    find = "import os, socket\ns = next(n for n in range(255, 2, -1) if stat_is_socket(n))\n"
    module = (
        "import os, stat\ndef stat_is_socket(n):\n    try:\n        return stat.S_ISSOCK(os.fstat(n).st_mode)\n"
        "    except OSError:\n        return False\n"
    )
    body = "".join(f"    {line}\n" for line in (find + FRAMES[name]).splitlines())
    old, new = (f"{module}def f():\n    a = {number}\n{body}    return 1\n" for number in ("1", "2 - 1"))
    comparison = compare(old, new, **OPTIONS | {"timeout": 1, "budget": 8}, function="f")
    assert comparison.verdict in ("likely_preserving", "inconclusive"), comparison.sentence
    assert reason(comparison)
    neighbour = compare("def f(x):\n    return x > 1\n", "def f(x):\n    return x >= 1\n", **OPTIONS | {"budget": 100})
    assert neighbour.verdict == "changing" and neighbour.pairs[0]["lost"] == 0
