"""What the tests need of a Jupyter client: run a cell, collect everything that came of it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.manager import KernelManager

#: Only a test that fails waits so long; machines that run tests are often busy with others.
TIMEOUT = 60


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
        self.channels.wait_for_ready(timeout=TIMEOUT)

    @classmethod
    @contextmanager
    def start(cls, kernel: str = "twincell", *, transport: str = "tcp", **options: Any):
        manager = KernelManager(kernel_name=kernel, transport=transport)
        manager.start_kernel(**options)
        client = None
        try:
            client = cls(manager)
            yield client
        finally:
            if client:
                client.channels.stop_channels()
            if manager.has_kernel:
                manager.shutdown_kernel(now=True)

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

    def wait(self, msg_id: str) -> Outcome:
        """Collects what belongs to a request, until its reply and its idle status have come."""
        messages = []
        while True:
            message = self.channels.get_iopub_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.channels.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == msg_id:
                return Outcome(reply["content"], messages)

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

    def ends(self) -> bool:
        """Waits for the process to end by itself."""
        deadline = time.monotonic() + TIMEOUT
        while self.manager.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self.manager.is_alive()
