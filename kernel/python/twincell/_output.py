"""Everything a cell sends while it runs: messages on iopub, stdout and stderr, questions for input.

Each is tied to the request that it belongs to. A task that a cell started keeps that cell's request; a thread takes
the request that is handled when it writes.
"""

from __future__ import annotations

import builtins
import contextvars
import getpass
import io
import json
import sys
from typing import Any

from IPython.core.error import StdinNotImplementedError

from ._json import dumps
from ._twincell import Connection, Request


class Output:
    """The way out of the kernel, for the shell, the streams, comms and `input`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._of_task: contextvars.ContextVar[Request | None] = contextvars.ContextVar("request", default=None)
        self._latest: Request | None = None
        self.parent_message: dict[str, Any] = {}
        #: Whether the client of the current request answers questions for input.
        self.allow_stdin = False

    def set_parent(self, request: Request, message: dict[str, Any]) -> None:
        """From now on, what is sent belongs to this request."""
        self._of_task.set(request)
        self._latest = request
        self.parent_message = message

    @property
    def _parent(self) -> Request | None:
        return self._of_task.get() or self._latest

    def publish(
        self,
        msg_type: str,
        content: dict[str, Any],
        *,
        metadata: dict[str, Any] | None = None,
        buffers: list[Any] | None = None,
    ) -> None:
        """Broadcasts a message, after everything that was written before."""
        packed = [memoryview(buffer).cast("B").tobytes() for buffer in buffers or []]
        self._connection.publish(msg_type, dumps(content), self._parent, dumps(metadata or {}), packed)

    def write(self, name: str, text: str) -> None:
        """Appends to stdout or stderr."""
        self._connection.write(name, text.encode("utf-8", "replace").decode("utf-8"), self._parent)

    def ask(self, prompt: str, *, password: bool) -> str:
        """Asks the user for a line."""
        if not self.allow_stdin or self._latest is None:
            raise StdinNotImplementedError("input was called, but this front end does not support input requests")
        answer = self._connection.ask(self._latest, dumps({"prompt": prompt, "password": password}))
        value = json.loads(answer).get("value", "")
        if value == "\x04":
            raise EOFError
        return value

    def install(self) -> None:
        """Puts itself in the place of `sys.stdout`, `sys.stderr`, `input` and `getpass`."""
        sys.stdout = Stream(self, "stdout", sys.__stdout__)
        sys.stderr = Stream(self, "stderr", sys.__stderr__)
        builtins.input = self._input
        getpass.getpass = self._getpass

    def _input(self, prompt: object = "", /) -> str:
        return self.ask(str(prompt), password=False)

    def _getpass(self, prompt: str = "Password: ", stream: Any = None, **_options: Any) -> str:
        return self.ask(prompt, password=True)


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of cells."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, output: Output, name: str, original: Any) -> None:
        super().__init__()
        self._output = output
        self.name = f"<{name}>"
        self._stream = name
        self._original = original

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._output.write(self._stream, text)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        """The descriptor that the process had at its start: what is written there goes to the terminal."""
        if self._original is None:
            raise io.UnsupportedOperation("fileno")
        return self._original.fileno()

    def close(self) -> None:
        """Cells must not lose their output, so a stream of the kernel stays open."""
