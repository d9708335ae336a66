"""Messages that no client should send: ignored with a line in the log, and the kernel goes on."""

import json
import time

import pytest

from .client import TIMEOUT, Client


@pytest.fixture(scope="module")
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
    "a signature that is no number": (replace(1, b"what?"), "signature"),
    "changed after signing": (replace(5, b'{"code": "print(1)"}'), "signature"),
    "no delimiter": (lambda kernel: [b"hello"], "delimiter"),
    "one empty frame": (lambda kernel: [b""], "delimiter"),
    "the delimiter alone": (lambda kernel: [b"<IDS|MSG>"], "0 frames"),
    "a frame too few": (lambda kernel: frames(kernel)[:5], "4 frames"),
    "a header that is no JSON": (
        lambda kernel: signed(kernel, b"{", b"{}", b"{}", b"{}"),
        "header is not a JSON object",
    ),
    "a content that is a list": (
        lambda kernel: signed(kernel, b'{"msg_id":"1","msg_type":"execute_request"}', b"{}", b"{}", b"[]"),
        "content is not a JSON object",
    ),
    "a header without a type": (lambda kernel: signed(kernel, b'{"msg_id":"1"}', b"{}", b"{}", b"{}"), "msg_type"),
    "a content with bytes that are no text": (
        lambda kernel: signed(kernel, b'{"msg_id":"1","msg_type":"x"}', b"{}", b"{}", b'{"code":"\xff"}'),
        "content is not a JSON object",
    ),
    "bytes that are no text": (lambda kernel: signed(kernel, b"\xff\xfe", b"{}", b"{}", b"{}"), "header is not"),
    "an unknown type": (lambda kernel: frames(kernel, "make_coffee_request"), "make_coffee_request"),
}


@pytest.mark.parametrize("channel", ["shell", "control", "stdin"])
@pytest.mark.parametrize("make, logged", BAD.values(), ids=BAD.keys())
def test_a_bad_message_is_logged_and_ignored(logged_kernel, channel, make, logged):
    before = len(logged_kernel.log.read_text())
    socket = getattr(logged_kernel.channels, f"{channel}_channel").socket
    socket.send_multipart(make(logged_kernel))
    deadline = time.monotonic() + TIMEOUT
    while logged not in logged_kernel.log.read_text()[before:] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert logged in logged_kernel.log.read_text()[before:]
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
    import socket

    port = logged_kernel.channels.get_connection_info()["shell_port"]
    for greeting in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 200, b""):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(greeting)
    assert logged_kernel.run("3 + 3").value == "6"
