"""Everything a cell sends while it runs: messages on iopub, stdout and stderr, questions for input.

Each message belongs to a request. A task or a thread that a cell started keeps that cell's request, and so does work
that it submits to a pool of threads.
"""

from __future__ import annotations

import builtins
import contextlib
import contextvars
import functools
import getpass
import io
import json
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import thread as pool
from typing import Any

from IPython.core.error import StdinNotImplementedError

from ._twincell import Connection, Request, StreamWriter


class Output:
    """The way out of the kernel, for the shell, the streams, comms and `input`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._of_task: contextvars.ContextVar[Request | None] = contextvars.ContextVar("request", default=None)
        self._message: contextvars.ContextVar[dict[str, Any]] = contextvars.ContextVar("message")
        self._latest_message: dict[str, Any] = {}
        self._of_thread: weakref.WeakKeyDictionary[threading.Thread, Request] = weakref.WeakKeyDictionary()
        self._allows_stdin: contextvars.ContextVar[bool] = contextvars.ContextVar("allow_stdin", default=False)

    def set_parent(self, request: Request, message: dict[str, Any]) -> None:
        """From now on, messages of this task or thread belong to this request."""
        self._of_task.set(request)
        self._message.set(message)
        if threading.current_thread() is threading.main_thread():
            self._latest_message = message

    @property
    def parent_message(self) -> dict[str, Any]:
        """The message that is being handled."""
        return self._message.get(self._latest_message)

    @property
    def allow_stdin(self) -> bool:
        """Whether the client of the current request answers questions for input."""
        return self._allows_stdin.get()

    @allow_stdin.setter
    def allow_stdin(self, allowed: bool) -> None:
        self._allows_stdin.set(allowed)

    @property
    def _request(self) -> Request | None:
        return self._of_task.get() or self._adopt()

    def _adopt(self) -> Request | None:
        """The request of a thread that has sent nothing before: that of its starter, or else the latest."""
        request = self._of_thread.get(threading.current_thread())
        if request is None:
            return self._connection.current()
        self._of_task.set(request)
        return request

    def publish(
        self,
        msg_type: str,
        content: dict[str, Any],
        *,
        metadata: dict[str, Any] | None = None,
        buffers: list[Any] | None = None,
    ) -> None:
        """Broadcasts a message, after all text that was written before."""
        packed = [memoryview(buffer).cast("B").tobytes() for buffer in buffers or []]
        self._connection.publish(msg_type, content, self._request, metadata, packed)

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Records the text written meanwhile, for `recorded`."""
        was_on = self._connection.record(True)
        try:
            yield
        finally:
            self._connection.record(was_on)

    def recorded(self) -> list[tuple[str, str]]:
        """The text recorded since the last call, as pairs of a stream's name and a text."""
        return self._connection.recorded()

    def ask(self, prompt: str, *, password: bool) -> str:
        """Asks the user for a line."""
        request = self._request
        if not self.allow_stdin or request is None:
            raise StdinNotImplementedError("input was called, but this front end does not support input requests")
        answer = self._connection.ask(request, {"prompt": prompt, "password": password})
        value: str = json.loads(answer).get("value", "")
        if value == "\x04":
            raise EOFError
        return value

    def install(self) -> None:
        """Replaces `sys.stdout`, `sys.stderr`, `input` and `getpass`."""
        sys.stdout, sys.stderr = self._stream("stdout", 1), self._stream("stderr", 2)
        builtins.input = self._input
        getpass.getpass = self._getpass
        self._follow_threads()

    def _stream(self, name: str, descriptor: int) -> Stream:
        return Stream(self._connection.stream(name, self._of_task.get, self._adopt), name, descriptor)

    def _follow_threads(self) -> None:
        """Makes threads, and work submitted to pools of threads, keep the request of their starter."""
        start = threading.Thread.start
        submit: Callable[..., Any] = pool.ThreadPoolExecutor.submit

        @functools.wraps(start)
        def start_for_request(thread: threading.Thread) -> None:
            request = self._of_task.get()
            if request is not None:
                self._of_thread[thread] = request
            start(thread)

        @functools.wraps(submit)
        def submit_for_request(executor: pool.ThreadPoolExecutor, fn: Any, /, *arguments: Any, **keywords: Any) -> Any:
            request = self._of_task.get()
            if request is None:
                return submit(executor, fn, *arguments, **keywords)
            return submit(executor, self._call, request, fn, *arguments, **keywords)

        threading.Thread.start = start_for_request  # type: ignore[method-assign, assignment]
        pool.ThreadPoolExecutor.submit = submit_for_request  # type: ignore[method-assign, assignment]

    def _call(self, request: Request, fn: Any, /, *arguments: Any, **keywords: Any) -> Any:
        self._of_task.set(request)
        return fn(*arguments, **keywords)

    def _input(self, prompt: object = "", /) -> str:
        return self.ask(str(prompt), password=False)

    def _getpass(self, prompt: str = "Password: ", stream: Any = None, **_options: Any) -> str:
        return self.ask(prompt, password=True)


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of cells."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, writer: StreamWriter, name: str, descriptor: int) -> None:
        super().__init__()
        self.name = f"<{name}>"
        self._descriptor = descriptor
        # An attribute of the instance, so that `print` calls native code directly.
        self.write = writer.write  # type: ignore[method-assign]

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        """Text written to this descriptor also goes into the notebook."""
        return self._descriptor

    @functools.cached_property
    def buffer(self) -> io.FileIO:
        """For code that writes bytes."""
        return io.FileIO(self._descriptor, "w", closefd=False)

    def close(self) -> None:
        """Cells must not lose their output, so a stream of the kernel stays open."""
