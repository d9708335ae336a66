"""Interrupts, the end of a kernel, and a kernel that nobody needs any more."""

import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest
import zmq
from jupyter_client.manager import KernelManager

from .client import TIMEOUT, Client

BUSY = {
    "a loop": "print('started')\nwhile True: pass",
    "sleeping": "import time\nprint('started')\ntime.sleep(600)",
    "waiting": "import asyncio\nprint('started')\nawait asyncio.sleep(600)",
    "an async loop": "import asyncio\nawait asyncio.sleep(0)\nprint('started')\nwhile True: pass",
    "a flood": "print('started')\nwhile True: print('x' * 1000)",
}


@pytest.mark.parametrize("busy", BUSY)
def test_an_interrupt_ends_the_cell_and_not_the_kernel(kernel, busy):
    kernel.run("x = 1")
    msg_id = kernel.send(BUSY[busy])
    kernel.wait_for_text("started")
    if busy in ("sleeping", "waiting"):
        kernel.wait_until_asleep()
    kernel.manager.interrupt_kernel()
    reply = kernel.wait(msg_id).reply
    assert reply["ename"] in ("KeyboardInterrupt", "CancelledError")
    # The traceback shows nothing of the kernel.
    traceback = "\n".join(reply["traceback"])
    assert "_serve.py" not in traceback and "_answers.py" not in traceback
    assert kernel.run("x + 1").value == "2"


def test_an_interrupt_on_the_control_channel(kernel):
    msg_id = kernel.send("print('started')\nwhile True: pass")
    kernel.wait_for_text("started")
    request = kernel.channels.session.msg("interrupt_request", {})
    kernel.channels.control_channel.send(request)
    assert kernel.channels.get_control_msg(timeout=TIMEOUT)["msg_type"] == "interrupt_reply"
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"


def test_an_interrupt_reaches_the_program_that_a_cell_started(kernel):
    msg_id = kernel.send("import subprocess\nprint(subprocess.call(['sh', '-c', 'echo started; exec sleep 600']))")
    kernel.wait_for_text("started")
    kernel.channels.control_channel.send(kernel.channels.session.msg("interrupt_request", {}))
    kernel.channels.get_control_msg(timeout=TIMEOUT)
    kernel.wait(msg_id)


def test_an_interrupt_ends_a_question_for_input(kernel):
    msg_id = kernel.send("input('?')", allow_stdin=True)
    kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"
    kernel.channels.input("too late")
    msg_id = kernel.send("input('again?')", allow_stdin=True)
    kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    kernel.channels.input("in time")
    assert kernel.wait(msg_id).value == "'in time'"


def test_an_interrupt_ends_a_debugger_and_the_cell(kernel):
    msg_id = kernel.send("import pdb; pdb.set_trace()", allow_stdin=True)
    assert kernel.channels.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"] == "ipdb> "
    waiting = kernel.send("3 + 4", stop_on_error=False)
    kernel.manager.interrupt_kernel()
    kernel.wait(msg_id)
    assert kernel.wait(waiting).reply["status"] in ("ok", "aborted")
    assert kernel.run("1 + 1").value == "2"


def test_an_interrupt_ends_the_question_of_a_thread(kernel):
    code = "import threading\nthread = threading.Thread(target=input, args=('?',)); thread.start(); thread.join()"
    msg_id = kernel.send(code, allow_stdin=True)
    kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("thread.join()\nthread.is_alive()").value == "False"


def test_an_interrupt_ends_the_questions_of_threads_that_wait_to_ask(kernel):
    code = (
        "import linecache, sys, threading\n"
        "def line(thread):\n"
        "    frame = sys._current_frames().get(thread.ident)\n"
        "    return linecache.getline(frame.f_code.co_filename, frame.f_lineno) if frame else ''\n"
        "threads = [threading.Thread(target=input) for _ in range(3)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()"
    )
    msg_id = kernel.send(code, allow_stdin=True)
    kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    # The other threads have come as far as the question of the first.
    kernel.wait_for_state("sum('with self._asking' in line(thread) for thread in threads) == 2")
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("for thread in threads: thread.join()").reply["status"] == "ok"


def test_an_interrupt_after_an_asynchronous_handler_outlived_its_cell(kernel):
    kernel.run(
        "import asyncio\n"
        "begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()\n"
        "async def handle(*message):\n"
        "    begun.set()\n"
        "    await may_end.wait()\n"
        "    ended.set()\n"
        "get_ipython().kernel.shell_handlers['comm_msg'] = handle"
    )
    msg_id = kernel.send("print('started')\nawait begun.wait()")
    kernel.wait_for_text("started")
    kernel.request("comm_msg", {"comm_id": "any", "data": {}})
    kernel.wait(msg_id)
    kernel.run("may_end.set()\nawait ended.wait()")
    msg_id = kernel.send("import time\nprint('started')\nwhile True: time.sleep(0.01)")
    kernel.wait_for_text("started")
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"


def test_cells_of_the_control_channel_run_while_a_cell_runs(kernel, tmp_path):
    mark = tmp_path / "mark"
    wait = f"import os, time\nprint('started')\nwhile not os.path.exists({str(mark)!r}): time.sleep(0.01)"
    msg_id = kernel.send(wait)
    kernel.wait_for_text("started")
    request = kernel.channels.session.msg("execute_request", {"code": f"open({str(mark)!r}, 'w').close()"})
    kernel.channels.control_channel.send(request)
    reply = kernel.channels.get_control_msg(timeout=TIMEOUT)
    assert (reply["msg_type"], reply["content"]["status"]) == ("execute_reply", "ok")
    assert kernel.wait(msg_id).reply["status"] == "ok"


def test_front_ends_learn_what_a_kernel_uses(kernel):
    msg_id = kernel.send("print('started')\nwhile True: pass")
    kernel.wait_for_text("started")
    usage = kernel.control("usage_request")
    assert usage["pid"] == kernel.pid
    # Psutil knows what was used between two questions, once the system has counted some of it.
    while importlib.util.find_spec("psutil") is not None and not usage["kernel_cpu"] > 0:
        usage = kernel.control("usage_request")
    assert "kernel_memory" not in usage or usage["kernel_memory"] > 0
    kernel.manager.interrupt_kernel()
    kernel.wait(msg_id)


def test_a_request_for_which_no_thread_can_be_had_is_answered_with_an_error(kernel):
    kernel.run(
        "import os, resource\n"
        "before = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "os.close(lowest := os.dup(0))\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))",
        store_history=False,
    )
    kernel.channels.control_channel.send(kernel.channels.session.msg("usage_request", {}))
    reply = kernel.channels.get_control_msg(timeout=TIMEOUT)
    assert (reply["msg_type"], reply["content"]["ename"]) == ("usage_reply", "OSError")
    kernel.run("resource.setrlimit(resource.RLIMIT_NOFILE, before)", store_history=False)
    kernel.channels.control_channel.send(kernel.channels.session.msg("usage_request", {}))
    assert kernel.channels.get_control_msg(timeout=TIMEOUT)["content"]["pid"] == kernel.pid


def test_an_interrupt_between_cells_does_nothing(kernel):
    for _ in range(3):
        kernel.manager.interrupt_kernel()
        assert kernel.run("1 + 1").value == "2"


def test_the_control_channel_and_the_heartbeat_answer_while_a_cell_runs(kernel, tmp_path):
    mark = tmp_path / "answered"
    # Holds Python's lock most of the time.
    msg_id = kernel.send(f"import os\nprint('started')\nwhile not os.path.exists({str(mark)!r}): sum(range(100_000))")
    kernel.wait_for_text("started")
    kernel.channels.control_channel.send(kernel.channels.session.msg("kernel_info_request", {}))
    reply = kernel.channels.get_control_msg(timeout=TIMEOUT)
    assert reply["content"]["implementation"] == "twincell"
    with zmq.Context() as context, context.socket(zmq.REQ) as heart:
        heart.linger = 0
        heart.connect(f"tcp://127.0.0.1:{kernel.channels.get_connection_info()['hb_port']}")
        heart.send(b"beat")
        assert heart.poll(TIMEOUT * 1000) and heart.recv() == b"beat"
    mark.touch()
    assert kernel.wait(msg_id).reply["status"] == "ok"


def test_a_restart_forgets_everything_and_keeps_the_ports(fresh_kernel):
    fresh_kernel.run("x = 1")
    before = fresh_kernel.pid
    fresh_kernel.manager.restart_kernel()
    fresh_kernel.wait_until_ready()
    assert fresh_kernel.pid != before
    outcome = fresh_kernel.run("x")
    assert outcome.reply["ename"] == "NameError"
    assert outcome.reply["execution_count"] == 1


@pytest.mark.parametrize("channel", ["control", "shell"])
def test_shutdown_is_answered_and_ends_the_process(fresh_kernel, channel):
    request = fresh_kernel.channels.session.msg("shutdown_request", {"restart": False})
    getattr(fresh_kernel.channels, f"{channel}_channel").send(request)
    receive = getattr(fresh_kernel.channels, f"get_{channel}_msg")
    reply = receive(timeout=TIMEOUT)
    while reply["msg_type"] != "shutdown_reply":
        reply = receive(timeout=TIMEOUT)
    assert reply["content"] == {"status": "ok", "restart": False}
    assert fresh_kernel.ends()


def test_shutdown_ends_a_cell_that_runs_and_exit_handlers_run(fresh_kernel, tmp_path):
    mark = tmp_path / "mark"
    fresh_kernel.run(f"import atexit\natexit.register(lambda: open({str(mark)!r}, 'w').close())")
    fresh_kernel.send("print('started')\nwhile True: pass")
    fresh_kernel.wait_for_text("started")
    fresh_kernel.channels.control_channel.send(
        fresh_kernel.channels.session.msg("shutdown_request", {"restart": False})
    )
    assert fresh_kernel.ends()
    assert mark.exists()


def test_a_cell_that_ignores_interrupts_cannot_keep_a_kernel_alive(fresh_kernel):
    fresh_kernel.send(
        "print('started')\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass"
    )
    fresh_kernel.wait_for_text("started")
    fresh_kernel.channels.control_channel.send(
        fresh_kernel.channels.session.msg("shutdown_request", {"restart": False})
    )
    assert fresh_kernel.ends()


def test_a_thread_of_a_cell_cannot_keep_a_kernel_alive(fresh_kernel):
    fresh_kernel.run("import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()")
    fresh_kernel.run("exit")
    assert fresh_kernel.ends()


def test_a_task_that_exits_does_not_end_the_kernel(kernel):
    kernel.run("import asyncio, sys\nasync def leave(): sys.exit(1)\ntask = asyncio.ensure_future(leave())")
    assert kernel.run("await asyncio.wait([task]); 1 + 1").value == "2"


@pytest.mark.parametrize(
    "code",
    [
        "import threading\nthreading.Thread(target=lambda: (os.read(end, 1), get_ipython().ask_exit())).start()",
        "import asyncio\nasyncio.get_running_loop().add_reader(end, get_ipython().ask_exit)",
    ],
    ids=["a thread", "a task"],
)
def test_what_a_cell_leaves_behind_can_end_a_kernel_that_waits(fresh_kernel, tmp_path, code):
    os.mkfifo(tmp_path / "pipe")
    opened = f"import os\nend = os.open({str(tmp_path / 'pipe')!r}, os.O_RDWR)\n"
    assert fresh_kernel.run(opened + code).reply["status"] == "ok"
    fresh_kernel.wait_until_asleep()
    (tmp_path / "pipe").write_bytes(b"x")
    assert fresh_kernel.ends()


def test_exit_on_the_control_channel_ends_a_kernel_that_waits(fresh_kernel):
    fresh_kernel.channels.control_channel.send(fresh_kernel.channels.session.msg("execute_request", {"code": "exit()"}))
    assert fresh_kernel.channels.get_control_msg(timeout=TIMEOUT)["content"]["status"] == "ok"
    assert fresh_kernel.ends()


def test_a_task_that_exits_does_not_end_the_control_channel(kernel):
    replies = []
    for code in (
        "import asyncio, sys\nasync def leave(): sys.exit(1)\ntask = asyncio.ensure_future(leave())",
        "await asyncio.wait([task])",
        "1",
    ):
        kernel.channels.control_channel.send(kernel.channels.session.msg("execute_request", {"code": code}))
        replies.append(kernel.channels.get_control_msg(timeout=TIMEOUT)["content"]["status"])
    assert replies == ["ok"] * 3


def test_exit_in_a_cell_ends_the_kernel_after_the_reply(fresh_kernel):
    reply = fresh_kernel.run("exit").reply
    assert reply["status"] == "ok"
    assert reply["payload"] == [{"source": "ask_exit", "keepkernel": False}]
    assert fresh_kernel.ends()


def test_what_was_flushed_is_not_lost_when_the_process_ends_at_once(fresh_kernel):
    fresh_kernel.send("import os, sys\nprint('last words', end='')\nsys.stdout.flush()\nos._exit(1)")
    fresh_kernel.wait_for_text("last words")


def heard_late(code):
    """What a client hears of its first cell when it subscribes after the reply."""
    manager = KernelManager(kernel_name="twincell")
    manager.start_kernel()
    channels = manager.client()
    try:
        channels.start_channels(iopub=False, stdin=False)
        request = channels.execute(code)
        reply = channels.get_shell_msg(timeout=TIMEOUT)
        assert reply["parent_header"]["msg_id"] == request
        messages = [channels.get_iopub_msg(timeout=TIMEOUT)]  # This connects.
        while messages[-1]["content"].get("execution_state") != "idle":
            messages.append(channels.get_iopub_msg(timeout=TIMEOUT))
        return messages
    finally:
        channels.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("print('seen')", ["stream"]),
        ("print('seen', flush=True)\ndisplay({'text/plain': 'x' * 10_000_000}, raw=True)", ["stream", "display_data"]),
    ],
    ids=["text", "a large display"],
)
def test_a_client_that_subscribes_late_misses_nothing_of_the_first_cell(code, shown):
    messages = heard_late(code)
    kinds = [message["msg_type"] for message in messages]
    assert kinds == ["iopub_welcome", "status", "status", "execute_input", *shown, "status"]
    assert messages[4]["content"]["text"] == "seen\n"


def test_sockets_of_the_file_system_serve_as_well_as_ports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Client.start(transport="ipc") as kernel:
        assert kernel.run("print('x' * 100_000); 1 + 1").value == "2"


NESTED = (
    "import asyncio, {package}\n"
    "{package}.apply()\n"
    "async def work():\n"
    "    await asyncio.sleep(0.01)\n"
    "    return 7\n"
    "{prefix}asyncio.run(work())"
)


@pytest.mark.parametrize("package", ["nest_asyncio", "nest_asyncio2"])
@pytest.mark.parametrize("prefix", ["", "await asyncio.sleep(0)\n"], ids=["sync", "async"])
def test_a_cell_can_run_the_event_loop_from_within(fresh_kernel, package, prefix):
    pytest.importorskip(package)
    fresh_kernel.run("import asyncio\nasync def tick():\n    while True: await asyncio.sleep(0)")
    fresh_kernel.run("ticking = asyncio.create_task(tick())")
    code = NESTED.format(package=package, prefix=prefix)
    outcomes = [fresh_kernel.wait(msg_id) for msg_id in [fresh_kernel.send(code) for _ in range(3)]]
    assert [outcome.value for outcome in outcomes] == ["7"] * 3
    assert fresh_kernel.run("ticking.done()").value == "False"


def test_exit_handlers_of_cells_still_have_their_names(fresh_kernel, tmp_path):
    mark = tmp_path / "mark"
    fresh_kernel.run(
        f"import atexit, pathlib\npath = pathlib.Path({str(mark)!r})\ntext = 'kept'\n"
        "@atexit.register\ndef keep(): path.write_text(text)"
    )
    fresh_kernel.run("exit")
    assert fresh_kernel.ends()
    assert mark.read_text() == "kept"


def test_a_task_goes_on_between_cells_that_wait(kernel):
    # Sent at once, as by Run All. The task needs only its turns: whatever it waits for is due when it asks.
    cells = ["steps = []\nimport asyncio\nasync def work():\n    while True: steps.append(await asyncio.sleep(0))"]
    cells += ["task = asyncio.create_task(work())", "first = len(steps)", "second = len(steps)", "0 < first < second"]
    outcomes = [kernel.wait(msg_id) for msg_id in [kernel.send(cell) for cell in cells]]
    assert outcomes[-1].value == "True"


PARENT = """
import sys, time
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name="twincell")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
client.execute("while True: pass")
print(manager.provisioner.pid, flush=True)
time.sleep(600)
"""


def test_a_kernel_ends_when_its_parent_is_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + TIMEOUT
    while exists(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    alive = exists(pid)
    if alive:
        os.kill(pid, signal.SIGKILL)
    assert not alive


@pytest.mark.parametrize("arguments, message", [([], "-f FILE"), (["-f", "/no/such/file.json"], "/no/such/file.json")])
def test_a_start_without_a_connection_file_says_what_is_missing(arguments, message):
    run = subprocess.run([sys.executable, "-m", "twincell.kernel", *arguments], capture_output=True, text=True)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def exists(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not os.path.isdir("/proc/self")
