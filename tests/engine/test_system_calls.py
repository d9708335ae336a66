"""System calls: those that are on no list are refused whoever makes them, and what Python needs works."""

import fcntl
import platform
import sys
import threading

import pytest
import twincell

from .layers import SANDBOX, sample
from .snippets import code, compare, reason

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="written against Linux on x86-64"
)

OPTIONS = {"budget": 2, "timeout": 10, "jobs": 1, "predictor": "uniform", "context": "module"}

#: By number, with arguments that the kernel would take, or at least look at.
REFUSED = {
    "socket": (41, 1, 1, 0),
    "connect": (42, 0, 0, 0),
    "bind": (49, 0, 0, 0),
    "listen": (50, 0, 1),
    "a pair of datagram sockets": (53, 1, 2, 0, "buffer"),
    "a pair of another family": (53, 30, 1, 0, "buffer"),
    "a filter of a socket": (54, 0, 1, 26, "buffer", 16),
    "fork": (57,),
    "vfork": (58,),
    "clone": (56, 17, 0, 0, 0, 0),
    "a thread with files of its own": (56, 0x10F00 & ~0x400, 0, 0, 0, 0),
    "execve": (59, b"/bin/true", 0, 0),
    "execveat": (322, -100, b"/bin/true", 0, 0, 0),
    "System V shared memory": (29, 0, 4096, 0o1600),
    "attaching it": (30, 0, 0, 0),
    "System V semaphores": (64, 0, 1, 0o1600),
    "System V messages": (68, 0, 0o1600),
    "POSIX messages": (240, b"twincell", 0o102, 0o600, 0),
    "inotify": (253,),
    "inotify_init1": (294, 0),
    "fanotify": (300, 0, 0),
    "io_uring": (425, 8, "buffer"),
    "asynchronous files": (206, 8, "buffer"),
    "userfaultfd": (323, 1),
    "memfd": (319, b"x", 0),
    "secret memory": (447, 0),
    "shared anonymous memory": (9, 0, 4096, 3, 0x21, -1, 0),
    "huge pages": (9, 0, 2 << 20, 3, 0x40022, -1, 0),
    "ptrace": (101, 0, 0, 0, 0),
    "another's memory": (310, 1, 0, 0, 0, 0, 0),
    "a handle on itself": (434, "own", 0),
    "a signal to the group": (62, 0, 0),
    "bpf": (321, 0, "buffer", 128),
    "performance events": (298, "buffer", 0, -1, -1, 0),
    "keys": (248, b"user", b"a", b"b", 1, -4),
    "mount": (165, b"none", b".", b"tmpfs", 0, 0),
    "unshare": (272, 0x10000000),
    "chroot": (161, b"."),
    "seccomp": (317, 1, 0, "buffer"),
    "a filter by prctl": (157, 22, 2, "buffer"),
    "outliving the engine": (157, 1, 0),
    "leaving the group": (112,),
    "higher limits": (160, 7, "buffer"),
    "the log of the kernel": (103, 3, "buffer", 10),
    "all that is not written yet": (162,),
    "mode of a file": (90, b"own", 0o777),
    "times of a file": (280, -100, b"own", 0, 0),
    "a named pipe": (133, b"pipe", 0o10600, 0),
    "clone3": (435, "buffer", 64),
    "a call of the future": (600,),
    "the second numbers": (0x40000000 + 39,),
    "quotas": (179, 0, 0, 0, 0),
    "a lease": (72, "readable", 1024, 0),
    "news of a folder": (72, "readable", 1026, 1),
    "whom a file's signals reach": (72, "readable", 8, 1),
    "a larger pipe": (72, "pipe", 1031, 1 << 20),
    "flags of a file": (16, "readable", 0x40086602, "buffer"),
    "attributes of a file": (16, "readable", 0x401C5820, "buffer"),
    "typing into a terminal": (16, 0, 0x5412, "buffer"),
    "a device": (16, "readable", 0x1234, 0),
}

ASK = """
import ctypes, os
C = ctypes.CDLL(None, use_errno=True)
C.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(4096)
open("own", "w").close()
values = {"buffer": buffer, "own": os.getpid(), "pipe": os.pipe()[1], "readable": os.open(READABLE, os.O_RDONLY)}

def ask(number, *arguments):
    ctypes.set_errno(0)
    arguments = [values.get(one, one) for one in arguments]
    arguments = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = C.syscall(ctypes.c_long(number), *arguments)
    return "done" if result != -1 else os.strerror(ctypes.get_errno())
"""

IN_VAIN = ("Operation not permitted", "Function not implemented")


def returned(module, expression):
    """What an expression gives in a worker, as text. Both versions give it, so that nothing is left to confirm."""
    # Text that is executed has no hooks, so nothing in it is replaced.
    module = code(module) + f"def say():\n    return str({expression})\n"
    module = f"exec({module!r})\n"
    old = f"{module}\ndef f():\n    return say()\n"
    new = f"{module}\ndef f():\n    said = say()\n    return said\n"
    comparison = compare(old, new, **OPTIONS | {"budget": 1}, function="f")
    shown = [row["old"] for row in comparison.to_dict()["pairs"][0]["executions"] if row["old"].startswith("returned ")]
    assert shown, (reason(comparison), comparison.pairs[0]["notes"])
    return shown[0].removeprefix("returned ").strip("'\"")


def test_what_is_on_no_list_is_refused():
    """All in one execution: none of them may do anything, so none changes what the next one finds."""
    module = f"READABLE = {twincell.__file__!r}\nREFUSED = {REFUSED!r}\nIN_VAIN = {IN_VAIN!r}\n{ASK}"
    module += "def done():\n    return [name for name, call in REFUSED.items() if ask(*call) not in IN_VAIN]\n"
    assert returned(module, "done()") == "[]"


@SANDBOX
@pytest.mark.parametrize("name", REFUSED)
def test_each_of_them_is_refused_to_whoever_does_nothing_else(name):
    module = f"READABLE = {twincell.__file__!r}\n{ASK}"
    assert returned(module, f"ask(*{REFUSED[name]!r})") in IN_VAIN


#: Each ends without an exception. `files` and the like are modules of the standard library as code uses them.
NEEDED = {
    "os": """
        # In a folder of its own, where nothing is drawn.
        import tempfile; os.chdir(tempfile.mkdtemp())
        os.mkdir("a"); os.rename("a", "b"); os.listdir("b"); os.rmdir("b")
        with open("c", "w") as file: file.write("abc")
        os.stat("c"); os.access("c", os.R_OK); os.truncate("c", 2); os.link("c", "d"); os.symlink("c", "e")
        os.readlink("e"); os.replace("d", "c"); os.remove("e"); os.utime; os.getcwd(); os.chdir("."); os.umask(0o22)
        list(os.scandir(".")); os.statvfs("."); os.cpu_count(); os.getloadavg; os.urandom(4); os.getrandom(4)
        os.sched_getaffinity(0); os.sched_yield(); os.times(); os.uname(); os.getpgid(0); os.getpriority(0, 0)
        os.sysconf("SC_PAGE_SIZE")
        try: os.listxattr("c")
        except OSError as error: assert error.errno == 95
        """,
    "descriptors": """
        reader, writer = os.pipe(); os.write(writer, b"abc"); os.read(reader, 3)
        number = os.open("a", os.O_CREAT | os.O_RDWR)
        os.pwrite(number, b"abcdef", 0); os.pread(number, 3, 0); os.fsync(number); os.fdatasync(number)
        os.posix_fallocate(number, 0, 100); os.posix_fadvise(number, 0, 0, 0); os.lseek(number, 0, 0)
        other = os.open("b", os.O_CREAT | os.O_RDWR)
        os.sendfile(other, number, 0, 3); os.copy_file_range(number, other, 3); os.ftruncate(other, 1)
        os.splice(number, writer, 3, offset_src=0) if hasattr(os, "splice") else None
        os.close(os.dup(other)); os.dup2(other, 100); os.close(100); os.set_blocking(reader, False)
        os.set_inheritable(other, True); os.isatty(other); os.get_inheritable(other)
        os.eventfd(0) if hasattr(os, "eventfd") else None
        """,
    "temporary files": """
        import tempfile, shutil, zipfile, tarfile, gzip
        with tempfile.TemporaryFile() as file: file.write(b"abc")
        with tempfile.NamedTemporaryFile() as file: file.write(b"abc")
        with tempfile.TemporaryDirectory() as folder:
            open(folder + "/a", "w").close(); shutil.copyfile(folder + "/a", folder + "/b"); shutil.disk_usage(folder)
        with zipfile.ZipFile("a.zip", "w") as archive: archive.writestr("a", "abc")
        with tarfile.open("a.tar", "w") as archive: archive.add("a.zip")
        with gzip.open("a.gz", "w") as file: file.write(b"abc")
        folder = tempfile.mkdtemp(); os.makedirs(folder + "/x/y")
        shutil.move(folder + "/x", folder + "/z"); shutil.rmtree(folder)
        """,
    "databases": """
        import sqlite3
        for mode in ("delete", "wal", "memory"):
            for _ in range(2):
                with sqlite3.connect("a.db") as base:
                    base.execute(f"pragma journal_mode={mode}")
                    base.execute("create table if not exists t (a)"); base.execute("insert into t values (1)")
                base.close()
        left, right = sqlite3.connect("a.db", timeout=0), sqlite3.connect("a.db", timeout=0)
        left.execute("begin exclusive")
        try: right.execute("begin exclusive"); assert False
        except sqlite3.OperationalError: pass
        """,
    "mailboxes": """
        import mailbox
        box = mailbox.mbox("m"); box.lock(); box.add("From: a\\n\\nb"); box.flush(); box.unlock()
        """,
    "locks": """
        import fcntl
        with open("l", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX); fcntl.flock(file, fcntl.LOCK_UN)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        """,
    "memory maps": """
        import mmap
        with open("m", "w+b") as file:
            file.truncate(8192)
            with mmap.mmap(file.fileno(), 8192) as shared: shared[:3] = b"abc"; shared.flush(); shared.resize(16384)
        with mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as own:
            own[:3] = b"abc"; own.madvise(mmap.MADV_DONTNEED)
        """,
    "threads": """
        import concurrent.futures, queue, threading
        with concurrent.futures.ThreadPoolExecutor(3) as pool: assert sum(pool.map(abs, [1, 2, 3])) == 6
        barrier = threading.Barrier(2); thread = threading.Thread(target=barrier.wait); thread.start()
        barrier.wait(); thread.join()
        threading.stack_size(1 << 20); thread = threading.Thread(target=len, args=([],)); thread.start(); thread.join()
        threading.get_native_id()
        """,
    "asyncio": """
        import asyncio, socket
        async def main():
            left, right = socket.socketpair()
            reader, writer = await asyncio.open_connection(sock=left)
            other, back = await asyncio.open_connection(sock=right)
            writer.writelines([b"a" * 10 ** 6, b"\\n"]); back.write(b"b\\n")
            await reader.readline(); await asyncio.wait_for(asyncio.sleep(0.001), 1); await asyncio.to_thread(len, [])
            asyncio.get_running_loop().add_signal_handler(10, print)
            writer.close(); back.close()
        asyncio.run(main())
        """,
    "sockets": """
        import socket, selectors, select
        left, right = socket.socketpair(); left.sendall(b"abc"); right.recv(3); left.sendmsg([b"abc"]); right.recvmsg(3)
        left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096); left.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        left.settimeout(1); left.getsockname(); left.getpeername(); left.shutdown(socket.SHUT_RDWR)
        for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
            with kind() as selector: selector.register(right, selectors.EVENT_READ); selector.select(0)
        """,
    "descriptors through a socket": """
        import socket
        left, right = socket.socketpair(); socket.send_fds(left, [b"a"], [0]); socket.recv_fds(right, 1, 1)
        """,
    "signals": """
        import signal, time
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1)); signal.raise_signal(signal.SIGUSR1)
        os.kill(C.getpid(), signal.SIGUSR1); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
        signal.setitimer(signal.ITIMER_REAL, 0); signal.alarm(0); signal.sigpending()
        signal.siginterrupt(signal.SIGUSR1, False)
        signal.sigtimedwait([signal.SIGUSR2], 0.001); signal.set_wakeup_fd(-1)
        """,
    "time": """
        import time
        time.sleep(0.001); time.time(); time.monotonic(); time.process_time(); time.thread_time()
        time.get_clock_info("time")
        time.clock_getres(time.CLOCK_MONOTONIC); time.localtime()
        """,
    "the machine": """
        import faulthandler, getpass, locale, platform, resource, site, sysconfig, tracemalloc
        resource.getrlimit(resource.RLIMIT_NOFILE); resource.getrusage(resource.RUSAGE_SELF); platform.platform()
        faulthandler.enable(open("t", "w")); faulthandler.dump_traceback(open("t", "w")); tracemalloc.start()
        tracemalloc.stop()
        locale.setlocale(locale.LC_ALL, ""); os.prlimit if hasattr(os, "prlimit") else None
        resource.prlimit(0, resource.RLIMIT_AS)
        """,
    "processes that are not started": """
        import multiprocessing, multiprocessing.connection, subprocess
        left, right = multiprocessing.Pipe(); left.send([1]); right.recv(); multiprocessing.current_process()
        # What a program says is drawn, also that there is none.
        try: subprocess.run(["ls"]); os.system("ls")
        except FileNotFoundError: pass
        for start in (lambda: os.execv("/bin/ls", ["ls"]), os.fork, lambda: os.posix_spawn("/bin/ls", ["ls"], {})):
            try: start(); assert False
            except OSError: pass
        """,
    "many modules": """
        import importlib
        names = (
            "ast bisect bz2 calendar cmath codecs configparser contextvars copy csv ctypes curses datetime "
            "decimal difflib email enum fractions functools glob hashlib heapq hmac html http.client imaplib "
            "inspect ipaddress json logging.handlers lzma math netrc numbers optparse pathlib pickle pprint pty "
            "random readline secrets shlex smtplib socketserver ssl statistics string struct termios textwrap "
            "timeit token tomllib tty typing unicodedata unittest.mock urllib.request uuid venv wave weakref "
            "webbrowser wsgiref.util xml.etree.ElementTree xmlrpc.client zipapp zlib zoneinfo "
        )
        for name in names.split():
            try: importlib.import_module(name)
            except ModuleNotFoundError: pass
        import hashlib, ssl, uuid, zoneinfo, logging, decimal
        hashlib.scrypt(b"a", salt=b"b", n=16, r=8, p=1); ssl.create_default_context(); uuid.uuid1()
        zoneinfo.ZoneInfo("UTC")
        logging.FileHandler("log").emit(logging.makeLogRecord({}))
        """,
    "numpy": """
        try: import numpy
        except ImportError: numpy = None
        if numpy:
            a = numpy.random.default_rng(1).random((200, 200)); numpy.linalg.inv(a); a @ a; numpy.fft.fft(a)
            numpy.save("a.npy", a); numpy.load("a.npy", mmap_mode="r+")[0] = 1
            numpy.memmap("m", mode="w+", shape=10)[:] = 1
        """,
}


@sample(NEEDED, ["os", "descriptors", "memory maps", "threads", "sockets", "signals"], others=SANDBOX)
def test_what_python_needs_works(name):
    body = "".join(f"    {line}\n" for line in code(NEEDED[name]).splitlines())
    module = f"import ctypes, os, traceback\nC = ctypes.CDLL(None)\ndef use():\n{body}"
    module += (
        "def used():\n    try:\n        use()\n        return 'worked'\n"
        "    except BaseException:\n        return traceback.format_exc()[-150:]\n"
    )
    assert returned(module, "used()") == "worked"


LOCKED = """
import fcntl, os, struct
left, right = (os.open({path!r}, os.O_RDONLY) for _ in range(2))
WHOLE = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)

def lock():
    fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.fcntl(left, fcntl.F_SETLK, WHOLE)
    # By an open file (F_OFD_SETLK).
    fcntl.fcntl(left, 37, WHOLE)
"""


def test_a_lock_locks_nothing():
    module = LOCKED.format(path=twincell.__file__) + (
        "def both():\n    lock()\n    fcntl.flock(right, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    return 'both'\n"
    )
    assert returned(module, "both()") == "both"


@SANDBOX
def test_nobody_waits_for_a_lock_of_a_worker(tmp_path):
    """The code locks a file that it may only read, and does not return; its owner locks it meanwhile."""
    module = LOCKED.format(path=twincell.__file__) + "import time\n"
    module = f"exec({module!r})\n"
    old, new = (f"{module}\ndef f():\n    a = {one}\n    lock()\n    time.sleep(100)\n" for one in ("1", "2 - 1"))
    at_work = threading.Thread(target=lambda: compare(old, new, **OPTIONS | {"timeout": 1}, function="f"))
    at_work.start()
    with open(twincell.__file__, "r+") as file:
        while at_work.is_alive():
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN)
            at_work.join(0.01)
