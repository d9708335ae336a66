"""What no client should do: bad messages, floods, vanishing. The kernel says so in its log and goes on."""

import contextlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zmq

from .. import processes
from .client import TIMEOUT, Client


@pytest.fixture(scope="session")
def logged_kernel(tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "stderr"
    with log.open("w") as stream, Client.start(stderr=stream) as client:
        client.log = log
        yield client


def frames(kernel, msg_type="execute_request", content=None):
    session = kernel.channels.session
    return session.serialize(session.msg(msg_type, content or {"code": "print('must not run')"}))


def replace(position, value):
    def change(kernel):
        parts = frames(kernel)
        parts[position] = value
        return parts

    return change


def signed(kernel, *parts):
    return [b"<IDS|MSG>", kernel.channels.session.sign(list(parts)), *parts]


BAD = {
    "a wrong signature": (replace(1, b"0" * 64), "signature"),
    "a signature that is not a number": (replace(1, b"what?"), "signature"),
    "changed after signing": (replace(5, b'{"code": "print(1)"}'), "signature"),
    "no delimiter": (lambda kernel: [b"hello"], "delimiter"),
    "one empty frame": (lambda kernel: [b""], "delimiter"),
    "the delimiter alone": (lambda kernel: [b"<IDS|MSG>"], "0 frames"),
    "a frame too few": (lambda kernel: frames(kernel)[:5], "4 frames"),
    "a header that is not JSON": (
        lambda kernel: signed(kernel, b"{", b"{}", b"{}", b"{}"),
        "header is not a JSON object",
    ),
    "a content that is a list": (
        lambda kernel: signed(kernel, b'{"msg_id":"1","msg_type":"execute_request"}', b"{}", b"{}", b"[]"),
        "content is not a JSON object",
    ),
    "a header without a type": (lambda kernel: signed(kernel, b'{"msg_id":"1"}', b"{}", b"{}", b"{}"), "msg_type"),
    "a content with bytes that are not text": (
        lambda kernel: signed(kernel, b'{"msg_id":"1","msg_type":"x"}', b"{}", b"{}", b'{"code":"\xff"}'),
        "content is not a JSON object",
    ),
    "bytes that are not text": (lambda kernel: signed(kernel, b"\xff\xfe", b"{}", b"{}", b"{}"), "header is not"),
    "an unknown type": (lambda kernel: frames(kernel, "make_coffee_request"), "make_coffee_request"),
}


@pytest.mark.parametrize("channel", ["shell", "control", "stdin"])
@pytest.mark.parametrize("make, logged", BAD.values(), ids=BAD.keys())
def test_a_bad_message_is_logged_and_ignored(logged_kernel, channel, make, logged):
    before = len(logged_kernel.log.read_text())
    to_kernel = getattr(logged_kernel.channels, f"{channel}_channel").socket
    to_kernel.send_multipart(make(logged_kernel))
    wait_until(lambda: logged in logged_kernel.log.read_text()[before:])
    assert logged_kernel.run("1 + 1").value == "2"


@pytest.mark.parametrize(
    "msg_type, content",
    [
        ("execute_request", {}),
        ("complete_request", {"code": 3}),
        ("history_request", {"hist_access_type": "dream"}),
        ("inspect_request", {"cursor_pos": 1}),
        ("is_complete_request", {}),
        ("comm_msg", {"comm_id": "nobody", "data": {}}),
        ("comm_open", {}),
    ],
)
def test_a_request_that_lacks_its_content_gets_an_error_and_the_kernel_goes_on(logged_kernel, msg_type, content):
    msg_id = logged_kernel.request(msg_type, content)
    if msg_type.endswith("_request"):
        assert logged_kernel.wait(msg_id).reply["status"] == "error"
    assert logged_kernel.run("2 + 2").value == "4"


def test_a_number_that_python_refuses_to_read_gets_an_error_and_the_kernel_goes_on(logged_kernel):
    header = logged_kernel.channels.session.msg("execute_request")["header"]
    parts = [json.dumps(header, default=str).encode(), b"{}", b"{}", b'{"code": ' + b"1" * 5000 + b"}"]
    logged_kernel.channels.shell_channel.socket.send_multipart(signed(logged_kernel, *parts))
    assert logged_kernel.wait(header["msg_id"]).reply["status"] == "error"
    assert logged_kernel.run("1 + 1").value == "2"


def test_a_stranger_at_the_port_does_no_harm(logged_kernel):
    port = logged_kernel.channels.get_connection_info()["shell_port"]
    for greeting in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 200, b""):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(greeting)
    assert logged_kernel.run("3 + 3").value == "6"


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"


@pytest.mark.parametrize("channel", ["shell", "control", "stdin", "hb"])
@pytest.mark.parametrize("length", [1 << 28, 1 << 34, 1 << 40, 1 << 62, (1 << 64) - 1])
def test_a_frame_that_announces_more_than_comes_does_no_harm(logged_kernel, channel, length):
    port = logged_kernel.channels.get_connection_info()[f"{channel}_port"]
    before = memory(logged_kernel.pid)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(GREETING + READY + b"\x02" + length.to_bytes(8, "big") + bytes(1000))
        wait_until_let_go(connection)
        assert logged_kernel.run("1 + 1").value == "2"
        assert memory(logged_kernel.pid) < before + (64 << 20)


def memory(pid):
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def test_bytes_that_are_no_zeromq_do_no_harm(logged_kernel):
    port = logged_kernel.channels.get_connection_info()["shell_port"]
    generator = random.Random(0)
    for start in (b"", GREETING, GREETING + READY):
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port)) as connection, contextlib.suppress(OSError):
                connection.sendall(start + generator.randbytes(generator.randrange(300)))
    assert logged_kernel.run("4 + 4").value == "8"


def test_a_client_that_stops_reading_does_not_stop_the_kernel(kernel):
    info = kernel.channels.get_connection_info()
    with zmq.Context() as context, context.socket(zmq.SUB) as deaf:
        deaf.linger = 0
        deaf.setsockopt(zmq.RCVHWM, 1)
        deaf.setsockopt(zmq.RCVBUF, 4096)
        deaf.connect(f"tcp://127.0.0.1:{info['iopub_port']}")
        deaf.subscribe(b"")
        while not deaf.poll(50):
            kernel.run("print('something to hear')")
        # It falls behind, and nobody waits for it.
        assert len(kernel.run("for n in range(60): print('x' * 1_000_000)").text()) == 60_000_060
        assert kernel.run("1 + 1").value == "2"
        assert kernel.run("for n in range(50): print(n, flush=True)").text().endswith("49\n")


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_many_requests_in_the_queue_are_answered_in_their_order(kernel, count):
    ids = [kernel.send(f"x = {n}") for n in range(count)]
    answered = []
    while len(answered) < len(ids):
        reply = kernel.channels.get_shell_msg(timeout=TIMEOUT)
        assert reply["content"]["status"] == "ok"
        answered.append(reply["parent_header"]["msg_id"])
    assert answered == ids
    assert kernel.run("x").value == str(count - 1)


def test_fifty_megabytes_of_output_arrive_whole(kernel):
    outcome = kernel.run("import os\nfor n in range(25): print('y' * 1_000_000)\nprint(end='z' * 25_000_000)")
    assert len(outcome.text()) == 50_000_025
    outcome = kernel.run("for n in range(50): display({'text/plain': 'x' * 1_000_000}, raw=True)")
    assert [len(content["data"]["text/plain"]) for content in outcome.of("display_data")] == [1_000_000] * 50


def test_a_hundred_thousand_prints_arrive_whole_and_in_order(kernel):
    outcome = kernel.run("for n in range(100_000): print(n)")
    assert outcome.text() == "".join(f"{n}\n" for n in range(100_000))


def test_a_client_that_vanishes_in_the_middle_of_a_flood_is_not_waited_for(kernel):
    info = kernel.channels.get_connection_info()
    code = (
        "import os, sys, zmq\n"
        "iopub = zmq.Context().socket(zmq.SUB)\n"
        f"iopub.connect('tcp://127.0.0.1:{info['iopub_port']}')\n"
        "iopub.subscribe(b'')\n"
        "shell = zmq.Context().socket(zmq.DEALER)\n"
        f"shell.connect('tcp://127.0.0.1:{info['shell_port']}')\n"
        "iopub.recv(); print('hears', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        while client.poll() is None and not select.select([client.stdout], [], [], 0.05)[0]:
            kernel.run("print('something to hear')")
        msg_id = kernel.send("for n in range(60): print('x' * 1_000_000)")
        client.kill()
    assert len(kernel.wait(msg_id).text()) == 60_000_060
    assert kernel.run("1 + 1").value == "2"


SPIN = "print('started')\nimport re\nre.match('(a*)*b', 'a' * 34)"


#: Predicting it takes a minute; a function is many passes of the network.
PREDICT = (
    "print('started')\nimport twincell\ntwincell.predict("
    "'\\n'.join(f'def f{n}(a):\\n' + '    a.b = a.c(a.d, a.e[0])\\n' * 1000 for n in range(40)), cache='memory')"
)


@pytest.mark.parametrize("code", ["1" + "+1" * 50_000, "x" + ".a" * 50_000, "-" * 50_000 + "1"], ids=["+", ".", "-"])
def test_code_that_is_nested_too_deep_fails_as_a_cell_does(kernel, code):
    for runner in ("asyncio", "sync"):
        assert kernel.run(f"%autoawait {runner}").reply["status"] == "ok"
        outcome = kernel.run(code)
        assert outcome.reply["status"] == "error"
        assert outcome.types == ["execute_input", "error"]
    kernel.run("%autoawait asyncio")


@pytest.mark.parametrize("code", [SPIN, PREDICT], ids=["regular expression", "prediction"])
def test_heartbeat_and_control_answer_at_once_while_a_cell_spins_in_native_code(fresh_kernel, code):
    fresh_kernel.send(code)
    fresh_kernel.wait_for_text("started")
    info = fresh_kernel.channels.get_connection_info()
    with zmq.Context() as context, context.socket(zmq.REQ) as heart:
        heart.linger = 0
        heart.connect(f"tcp://127.0.0.1:{info['hb_port']}")
        for _ in range(20):
            heart.send(b"beat")
            assert heart.poll(TIMEOUT * 1000) and heart.recv() == b"beat"
            fresh_kernel.channels.control_channel.send(fresh_kernel.channels.session.msg("kernel_info_request", {}))
            fresh_kernel.channels.get_control_msg(timeout=TIMEOUT)
    # The cell spins on: nothing has answered its request.
    assert not fresh_kernel.channels.shell_channel.msg_ready()


def children(pid):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(path.parent.name))
    return found


def is_worker(pid):
    with contextlib.suppress(OSError):
        return processes.is_worker(Path(f"/proc/{pid}/cmdline").read_bytes())
    return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked for in /proc")
def test_a_kernel_that_is_killed_during_a_campaign_leaves_no_worker_behind(fresh_kernel):
    old = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
    new = "def f(a, b):\n    return a if a > b else b\n"
    fresh_kernel.send(f"%%compare --budget 1000000\n{old}# ---\n{new}")
    wait_until(lambda: any(map(is_worker, children(fresh_kernel.pid))))
    workers = [pid for pid in children(fresh_kernel.pid) if is_worker(pid)]
    os.kill(fresh_kernel.pid, signal.SIGKILL)
    wait_until(lambda: not any(map(is_worker, workers)))
    with Client.start() as another:
        assert another.run(f"%%compare\n{old}# ---\n{new}").reply["status"] == "ok"


def wait_until(is_so):
    """Looks at files and processes, which tell nobody that they change."""
    deadline = time.monotonic() + TIMEOUT
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert is_so()


def connect(kernel, channel, kind=b"DEALER", name=b""):
    """A connection of a stranger that speaks ZeroMQ, after the handshake."""
    port = kernel.channels.get_connection_info()[f"{channel}_port"]
    connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
    properties = b"".join(
        bytes([len(key)]) + key + len(value).to_bytes(4, "big") + value
        for key, value in [(b"Socket-Type", kind), (b"Identity", name)]
    )
    connection.sendall(GREETING + b"\x04" + bytes([len(properties) + 6]) + b"\x05READY" + properties)
    greeting = b""
    while len(greeting) < 64 + 2 or len(greeting) < 66 + greeting[65]:
        received = connection.recv(4096)
        assert received, "the connection was refused"
        greeting += received
    return connection


def wait_until_let_go(connection):
    """Returns when the kernel has closed a connection."""
    connection.settimeout(TIMEOUT)
    with contextlib.suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass


def test_a_heartbeat_that_is_long_ends_its_connection(logged_kernel):
    with connect(logged_kernel, "hb", b"REQ") as beating:
        beating.sendall(b"\x01\x00\x00\x04beat")
        assert beating.recv(100) == b"\x01\x00\x00\x04beat"
        with contextlib.suppress(OSError):
            beating.sendall(b"\x02" + (1 << 20).to_bytes(8, "big") + bytes(1 << 20))
        wait_until_let_go(beating)
    assert logged_kernel.run("1 + 1").value == "2"


def test_heartbeats_that_nobody_takes_back_fill_no_memory(logged_kernel):
    before = memory(logged_kernel.pid)
    beat = b"\x02" + (3000).to_bytes(8, "big") + bytes(3000)
    with connect(logged_kernel, "hb") as beating:
        # Nothing says that the kernel does not read any more. A pause that is too short sends less, and no more.
        beating.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            for _ in range(64):
                beating.sendall(beat * 350)
        assert memory(logged_kernel.pid) < before + (32 << 20)
        assert logged_kernel.run("1 + 1").value == "2"


def test_subscriptions_are_few_and_short(logged_kernel):
    with connect(logged_kernel, "iopub", b"SUB") as many:
        with contextlib.suppress(OSError):
            many.sendall(b"\x00\x02\x01x" * 1000)
        wait_until_let_go(many)
    with connect(logged_kernel, "iopub", b"SUB") as long:
        with contextlib.suppress(OSError):
            long.sendall(b"\x02" + (1 << 16).to_bytes(8, "big") + b"\x01" + bytes((1 << 16) - 1))
        wait_until_let_go(long)
    assert logged_kernel.run("1 + 1").value == "2"


def test_connections_are_bounded_and_those_without_trust_give_way(logged_kernel):
    before = len(logged_kernel.log.read_text())
    port = logged_kernel.channels.get_connection_info()["shell_port"]
    with contextlib.ExitStack() as connections:
        many = [connections.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(300)]
        wait_until(lambda: "give way to new ones" in logged_kernel.log.read_text()[before:])
        for connection in many[:50]:
            wait_until_let_go(connection)
        assert len(list(Path(f"/proc/{logged_kernel.pid}/fd").iterdir())) < 300
        assert logged_kernel.run("1 + 1").value == "2"
        # A new client has a place, too.
        connections.enter_context(connect(logged_kernel, "shell"))


def test_a_client_may_begin_with_a_long_message_and_then_send_longer_ones(logged_kernel):
    session, info = logged_kernel.channels.session, logged_kernel.channels.get_connection_info()
    with zmq.Context() as context, context.socket(zmq.DEALER) as client:
        client.linger = 0
        client.connect(f"tcp://127.0.0.1:{info['shell_port']}")
        # All are sent before the first is answered.
        sent = [session.msg("kernel_info_request", {}) for _ in range(3)]
        for request, size in zip(sent, (10 << 20, 40 << 20, 100), strict=True):
            client.send_multipart([*session.serialize(request), bytes(size)])
        for request in sent:
            assert client.poll(TIMEOUT * 1000)
            _delimiter, _signature, _header, parent, *_rest = client.recv_multipart()
            assert json.loads(parent)["msg_id"] == request["header"]["msg_id"]


@pytest.mark.parametrize("channel", ["shell", "control", "stdin"])
def test_a_stranger_cannot_send_much(fresh_kernel, channel):
    before = memory(fresh_kernel.pid)
    with connect(fresh_kernel, channel) as stranger:
        with contextlib.suppress(OSError):
            stranger.sendall(b"\x02" + (1 << 29).to_bytes(8, "big") + bytes(1 << 20))
        wait_until_let_go(stranger)
    with contextlib.ExitStack() as connections:
        many = [connections.enter_context(connect(fresh_kernel, channel)) for _ in range(20)]
        for stranger in many:
            with contextlib.suppress(OSError):
                stranger.sendall(b"\x02" + (15 << 20).to_bytes(8, "big") + bytes(14 << 20))
        # Four of them may hold that much together.
        for stranger in many[:16]:
            wait_until_let_go(stranger)
        assert memory(fresh_kernel.pid) < before + (220 << 20)
        assert fresh_kernel.run("1 + 1").value == "2"


def test_a_subscriber_is_welcomed_under_its_topic(kernel):
    info = kernel.channels.get_connection_info()
    with zmq.Context() as context, context.socket(zmq.SUB) as listening:
        listening.linger = 0
        listening.connect(f"tcp://127.0.0.1:{info['iopub_port']}")
        listening.subscribe(b"stream")
        assert listening.poll(TIMEOUT * 1000)
        topic, _delimiter, _signature, header, _parent, _metadata, content = listening.recv_multipart()
        assert topic == b"stream" and json.loads(header)["msg_type"] == "iopub_welcome"
        assert json.loads(content) == {"subscription": "stream"}
        # A topic that is no text is not answered.
        listening.subscribe(b"\xff")
        kernel.run("print('heard')")
        assert listening.poll(TIMEOUT * 1000)
        assert json.loads(listening.recv_multipart()[-1])["text"] == "heard\n"


def test_a_stranger_does_not_get_the_replies_of_a_client_whose_name_it_takes(logged_kernel):
    name = logged_kernel.channels.session.bsession
    before = len(logged_kernel.log.read_text())
    with connect(logged_kernel, "shell", name=name) as stranger:
        # Unsigned messages change nothing.
        stranger.sendall(
            b"".join(bytes([int(more), len(part)]) + part for more, part in [(1, b"<IDS|MSG>"), (0, b"x")])
        )
        wait_until(lambda: "1 frames" in logged_kernel.log.read_text()[before:])
        for n in range(10):
            assert logged_kernel.run(f"{n} + 1").value == str(n + 1)
        # All that the kernel has sent it comes before the end.
        stranger.shutdown(socket.SHUT_WR)
        assert stranger.recv(1) == b""
    assert logged_kernel.run("1 + 1").value == "2"


def test_a_client_that_connects_once_more_under_its_name_is_answered(fresh_kernel):
    session, info = fresh_kernel.channels.session, fresh_kernel.channels.get_connection_info()
    with zmq.Context() as context, context.socket(zmq.DEALER) as again:
        again.linger = 0
        again.setsockopt(zmq.IDENTITY, session.bsession)
        again.connect(f"tcp://127.0.0.1:{info['shell_port']}")
        for _ in range(3):
            request = session.msg("kernel_info_request", {})
            again.send_multipart(session.serialize(request))
            assert again.poll(TIMEOUT * 1000)
            _delimiter, _signature, _header, parent, *_rest = again.recv_multipart()
            assert json.loads(parent)["msg_id"] == request["header"]["msg_id"]
            # The first connection is there as well.
            assert fresh_kernel.run("1 + 1").value == "2"
    assert fresh_kernel.run("6 * 7").value == "42"


def test_a_log_that_nobody_reads_does_not_stop_the_kernel():
    with Client.start(stderr=subprocess.PIPE) as client:
        to_kernel = client.channels.shell_channel.socket
        for _ in range(5000):
            to_kernel.send_multipart([b"<IDS|MSG>", b"nonsense" * 20])
        assert client.run("1 + 1").value == "2"


ODD_COMMS = {
    "a list as its id": {"comm_id": ["a"], "data": {}},
    "an object as its id": {"comm_id": {"a": 1}, "data": {}},
    "no id": {"data": {}},
    "an empty id": {"comm_id": "", "data": {}},
    "a lone surrogate in its id": {"comm_id": "\ud800", "data": {}},
    "an id that is not ASCII": {"comm_id": "caf\u00e9", "data": {}},
    "an id of a megabyte": {"comm_id": "x" * 1_000_000, "data": {}},
    "data that is a list": {"comm_id": "echo", "data": ["a"]},
    "data that is a text": {"comm_id": "echo", "data": "a"},
    "a target that is a list": {"comm_id": "other", "target_name": ["echo"], "data": {}},
    "nothing at all": {},
}


@pytest.mark.parametrize("msg_type", ["comm_open", "comm_msg", "comm_close"])
@pytest.mark.parametrize("content", ODD_COMMS.values(), ids=ODD_COMMS.keys())
def test_an_odd_message_for_a_comm_is_one_line_in_the_log(logged_kernel, msg_type, content):
    if "target_name" not in content and msg_type == "comm_open":
        content = {**content, "target_name": "echo"}
    before = len(logged_kernel.log.read_text())
    header = logged_kernel.channels.session.msg(msg_type)["header"]
    parts = [json.dumps(header, default=str).encode(), b"{}", b"{}", json.dumps(content).encode()]
    logged_kernel.channels.shell_channel.socket.send_multipart(signed(logged_kernel, *parts))
    assert logged_kernel.run("2 + 2").value == "4"
    [line] = logged_kernel.log.read_text()[before:].splitlines()
    assert line.startswith(f"twincell kernel: a {msg_type} was ignored: ") and len(line) < 200


def test_lone_surrogates_and_much_data_reach_a_comm_and_come_back(kernel):
    kernel.run(
        "import comm\n"
        "def opened(channel, message):\n"
        "    channel.on_msg(lambda message: channel.send(message['content']['data']))\n"
        "comm.get_comm_manager().register_target('echo', opened)"
    )
    kernel.request("comm_open", {"comm_id": "back", "target_name": "echo", "data": {}})
    # The second one changes nothing: the first is still there.
    kernel.request("comm_open", {"comm_id": "back", "target_name": "nobody", "data": {}})
    for data in ({"text": "\ud800"}, {"text": "x" * 5_000_000}, {"deep": eval("[" * 40 + "]" * 40)}):
        header = kernel.channels.session.msg("comm_msg")["header"]
        content = json.dumps({"comm_id": "back", "data": data}).encode()
        parts = [json.dumps(header, default=str).encode(), b"{}", b"{}", content]
        kernel.channels.shell_channel.socket.send_multipart(signed(kernel, *parts))
        assert len(json.dumps(kernel.wait_for("comm_msg")["content"]["data"])) >= len(json.dumps(data)) - 10
    assert kernel.run("1 + 1").value == "2"
