"""What the tests need of a Jupyter client: run a cell, collect everything that came of it."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

#: Only a test that fails waits so long; machines that run tests are often busy with others.
TIMEOUT = 300


@dataclass
class Outcome:
    """The reply to a request, and the messages on iopub that belong to it, in their order."""

    reply: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)

    def of(self, msg_type: str) -> list[dict[str, Any]]:
        return [message["content"] for message in self.messages if message["msg_type"] == msg_type]

    def text(self, name: str = "stdout") -> str:
        return "".join(content["text"] for content in self.of("stream") if content["name"] == name)

    @property
    def value(self) -> str | None:
        results = self.of("execute_result")
        return results[-1]["data"]["text/plain"] if results else None

    @property
    def types(self) -> list[str]:
        """Types of the messages between busy and idle; pieces of one stream count once."""
        types: list[str] = []
        for message in self.messages:
            kind = message["msg_type"]
            if kind == "stream":
                kind = message["content"]["name"]
            if kind != "status" and (not types or types[-1] != kind):
                types.append(kind)
        return types


class Client:
    """A kernel and the channels to it."""

    def __init__(self, manager: KernelManager) -> None:
        self.manager = manager
        self.channels = manager.client()
        self.channels.start_channels()

    @classmethod
    @contextmanager
    def start(cls, kernel: str = "twincell", *, transport: str = "tcp", **options: Any) -> Iterator[Client]:
        manager = KernelManager(kernel_name=kernel, transport=transport)
        manager.start_kernel(**options)
        with cls.of(manager) as client:
            yield client

    @classmethod
    @contextmanager
    def of(cls, manager: KernelManager) -> Iterator[Client]:
        """A client of a kernel that was started, which ends with it."""
        client = None
        try:
            client = cls(manager)
            client.wait_until_ready()
            yield client
        finally:
            if client:
                client.channels.stop_channels()
            end(manager)

    def wait_until_ready(self) -> None:
        """Returns when the kernel answers and what it broadcasts arrives."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and self.manager.is_alive():
            msg_id = self.request("kernel_info_request", {})
            # A request may be lost with the connection to a kernel that restarts, as may the first broadcasts.
            with contextlib.suppress(queue.Empty):
                self.wait(msg_id, patience=1)
                return
        raise RuntimeError("the kernel does not answer")

    @property
    def pid(self) -> int:
        return self.manager.provisioner.pid

    def run(self, code: str, *, metadata: dict[str, Any] | None = None, **options: Any) -> Outcome:
        """Runs a cell to its end."""
        return self.wait(self.send(code, metadata=metadata, **options))

    def send(self, code: str, *, metadata: dict[str, Any] | None = None, **options: Any) -> str:
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
            **options,
        }
        return self.request("execute_request", content, metadata=metadata)

    def request(self, msg_type: str, content: dict[str, Any], *, metadata: dict[str, Any] | None = None) -> str:
        message = self.channels.session.msg(msg_type, content, metadata=metadata)
        self.channels.shell_channel.send(message)
        return message["header"]["msg_id"]

    def ask(self, msg_type: str, **content: Any) -> dict[str, Any]:
        """Sends a request other than for a cell and returns the content of its reply."""
        return self.wait(self.request(msg_type, content)).reply

    def wait(self, msg_id: str, *, patience: float = TIMEOUT) -> Outcome:
        """Collects what belongs to a request, until its reply and its idle status have come."""
        messages = []
        while True:
            message = self.channels.get_iopub_msg(timeout=patience)
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.channels.get_shell_msg(timeout=patience)
            if reply["parent_header"].get("msg_id") == msg_id:
                return Outcome(reply["content"], messages)

    def connect_questions(self) -> None:
        """Returns when questions of cells arrive here. Those before the socket for them is connected are lost."""
        while True:
            asked = self.send("input()", allow_stdin=True, store_history=False, stop_on_error=False)
            try:
                self.channels.get_stdin_msg(timeout=1)
            except queue.Empty:
                self.manager.interrupt_kernel()
                self.wait(asked)
            else:
                self.channels.input("")
                self.wait(asked)
                break
        # Questions that came late, whose cells were interrupted.
        while self.channels.stdin_channel.msg_ready():
            self.channels.get_stdin_msg(timeout=0)

    def wait_for_text(self, text: str) -> None:
        """Returns when a cell has written this."""
        seen = ""
        while text not in seen:
            message = self.channels.get_iopub_msg(timeout=TIMEOUT)
            if message["msg_type"] == "stream":
                seen += message["content"]["text"]

    def wait_for(self, msg_type: str) -> dict[str, Any]:
        """The next message of this type on iopub."""
        while True:
            message = self.channels.get_iopub_msg(timeout=TIMEOUT)
            if message["msg_type"] == msg_type:
                return message

    def control(self, msg_type: str, **content: Any) -> dict[str, Any]:
        """Sends a request on the control channel and returns the content of its reply."""
        message = self.channels.session.msg(msg_type, content)
        self.channels.control_channel.send(message)
        while True:
            reply = self.channels.get_control_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]

    def wait_for_state(self, expression: str) -> None:
        """Returns when an expression is true while a cell runs. The control channel evaluates it, again and again."""
        request = {"code": "", "silent": True, "user_expressions": {"state": expression}}
        deadline = time.monotonic() + TIMEOUT
        while True:
            state = self.control("execute_request", **request)["user_expressions"]["state"]
            assert state["status"] == "ok", state
            if state["data"]["text/plain"] == "True":
                return
            assert time.monotonic() < deadline, f"{expression} stays {state['data']['text/plain']}"

    def wait_until_asleep(self) -> None:
        """Returns when the kernel's main thread waits for something."""
        stat = Path(f"/proc/{self.pid}/task/{self.pid}/stat")
        deadline = time.monotonic() + TIMEOUT
        while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < deadline, "the kernel is busy"
            time.sleep(0.001)

    def ends(self) -> bool:
        """Waits for the process to end by itself."""
        try:
            self.manager.provisioner.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end_subshells(self) -> None:
        for subshell in self.control("list_subshell_request")["subshell_id"]:
            self.control("delete_subshell_request", subshell_id=subshell)

    def discard_messages(self) -> None:
        """Forgets what has come for requests that nobody waits for."""
        for channel in ("shell", "iopub", "stdin", "control"):
            receiving = getattr(self.channels, f"{channel}_channel")
            while receiving.msg_ready():
                receiving.get_msg()


class Spare:
    """A kernel that is started before it is needed."""

    def __init__(self) -> None:
        self._next: KernelManager | None = None

    @contextmanager
    def take(self) -> Iterator[Client]:
        manager, self._next = self._next or started(), None
        with Client.of(manager) as client:
            self._next = started()
            yield client

    def close(self) -> None:
        if self._next is not None:
            end(self._next)


def started() -> KernelManager:
    manager = KernelManager(kernel_name="twincell")
    manager.start_kernel()
    return manager


def end(manager: KernelManager) -> None:
    if not manager.has_kernel:
        return
    process = manager.provisioner.process
    if process is not None:
        # Jupyter looks every tenth of a second whether a process has ended.
        process.kill()
        process.wait()
    manager.shutdown_kernel(now=True)
