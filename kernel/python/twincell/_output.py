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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import thread as pool
from typing import Any

from IPython.core.error import StdinNotImplementedError

from ._messages import Message, Session, Socket, header_of
from ._twincell import Connection, Request, StreamWriter


class Output:
    """The way out of the kernel, for the shell, the streams, comms and `input`."""

    def __init__(self, connection: Connection, key: bytes) -> None:
        self._connection = connection
        self.session = Session(self, key)
        self.iopub = Socket("iopub", self._broadcast)
        self._of_task: contextvars.ContextVar[Request | None] = contextvars.ContextVar("request", default=None)
        self._message: contextvars.ContextVar[Message] = contextvars.ContextVar("message")
        self._is_beside: contextvars.ContextVar[bool] = contextvars.ContextVar("is_beside", default=False)
        self._latest_message = Message(None, {})
        self._of_thread: weakref.WeakKeyDictionary[threading.Thread, Message] = weakref.WeakKeyDictionary()
        self._known: weakref.WeakValueDictionary[str, Message] = weakref.WeakValueDictionary()
        self._asking = threading.Lock()

    def set_parent(self, message: Message) -> None:
        """From now on, messages of this task or thread belong to this one."""
        self._of_task.set(message.request)
        self._message.set(message)
        self._known[message.get("msg_id", "")] = message
        if threading.current_thread() is threading.main_thread() and not self._is_beside.get():
            self._latest_message = message

    def explicit_parent(self) -> Message | None:
        """The message that this task or thread was given, and did not only take over."""
        return self._message.get(None)

    def forget_parent(self) -> None:
        """From now on, messages of this thread belong to the latest request."""
        self._of_task.set(None)
        self._message.set(Message(None, {}))
        self._of_thread.pop(threading.current_thread(), None)

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Handles a message beside a cell, whose message stays the latest one."""
        token = self._is_beside.set(True)
        try:
            yield
        finally:
            self._is_beside.reset(token)

    def attribute(self, parent: Mapping[str, Any] | None) -> None:
        """Like `set_parent`, for a message or a header that code hands back, or has made."""
        message = self.message_of(parent)
        self.set_parent(message)
        if message.request is not None and threading.current_thread() is threading.main_thread():
            self._connection.set_current(message.request)

    def message_of(self, parent: Mapping[str, Any] | None) -> Message:
        """The message with this header."""
        if isinstance(parent, Message):
            return parent
        header = header_of(parent)
        return self._known.get(header.get("msg_id", "")) or Message.attribution(header)

    @property
    def parent_message(self) -> Message:
        """The message that is being handled: that of the task, of the thread's starter, or the latest."""
        message = self._own_message()
        return self._latest_message if message is None else message

    @property
    def _request(self) -> Request | None:
        return self._of_task.get() or self._adopt()

    @property
    def _asking_request(self) -> Request | None:
        """The request to which questions belong: that of this task or thread or, when that is done, the running one."""
        request = self._request
        return self._connection.current() if request is None or request.is_done else request

    def _adopt(self) -> Request | None:
        """The request of a thread that has sent nothing before: that of its starter, or else the latest."""
        message = self._of_thread.get(threading.current_thread())
        if message is None:
            return self._connection.current()
        self._of_task.set(message.request)
        return message.request

    @property
    def allow_stdin(self) -> bool:
        """Whether the client of the request to which questions belong answers them."""
        request = self._asking_request
        return request is not None and bool(json.loads(request.content).get("allow_stdin", False))

    def publish(
        self,
        msg_type: str,
        content: Mapping[str, Any],
        *,
        metadata: Mapping[str, Any] | None = None,
        buffers: Sequence[Any] | None = None,
        parent: Message | None = None,
    ) -> int:
        """Broadcasts a message, after all text that was written before. It belongs to `parent`, or else to the request
        of this task or thread. Returns the length of its content in bytes."""
        packed = [memoryview(buffer).cast("B").tobytes() for buffer in buffers or []]
        request = self._request if parent is None else parent.request
        return self._connection.publish(msg_type, content, request, metadata, packed)

    def _broadcast(self, message: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
        parent = self.message_of(message.get("parent_header"))
        metadata = message.get("metadata")
        self.publish(message["msg_type"], message["content"], metadata=metadata, buffers=buffers, parent=parent)

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
        """Asks the user for a line, of the client that sent the request of this task or thread."""
        request = self._asking_request
        if request is None or not self.allow_stdin:
            raise StdinNotImplementedError("input was called, but this front end does not support input requests")
        # An interrupt also ends the wait for the question of another thread.
        given_up = self._connection.times_given_up()
        # A front end shows one question at a time.
        with self._asking:
            answer = self._connection.ask(request, {"prompt": prompt, "password": password}, given_up)
        if answer is None:
            raise StdinNotImplementedError(
                "input was called, but there was no answer before the end of its cell, and front ends ask no more then"
            )
        value: str = json.loads(answer).get("value", "")
        if value == "\x04":
            raise EOFError
        return value

    def install(self) -> None:
        """Replaces `sys.stdout`, `sys.stderr`, `input` and `getpass`."""
        sys.stdout, sys.stderr = OutStream(self.session, name="stdout"), OutStream(self.session, name="stderr")
        builtins.input = self._input
        getpass.getpass = self._getpass
        self._follow_threads()

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked from the kernel."""
        return self._connection.is_forked()

    def flush(self) -> None:
        """Waits a moment, until the system has all text that Python and programs wrote: it then survives the process.
        More than 100 times a second it returns at once, and the text follows within 10 ms."""
        self._connection.flush()

    def writer(self, name: str) -> StreamWriter:
        """The native part of a stream."""
        return self._connection.stream(name, self._of_task.get, self._adopt)

    def _follow_threads(self) -> None:
        """Makes threads, and work submitted to pools of threads, keep the request of their starter.

        A thread that a package starts, unlike one that the notebook starts, follows the running cell: it often serves
        all cells, as the one of ipyparallel's client does.
        """
        start = threading.Thread.start
        submit: Callable[..., Any] = pool.ThreadPoolExecutor.submit

        @functools.wraps(start)
        def start_for_request(thread: threading.Thread) -> None:
            message = self._own_message()
            is_shared = threading.current_thread() is threading.main_thread() and not _is_called_by_notebook()
            if message is not None and not is_shared:
                self._of_thread[thread] = message
            start(thread)

        @functools.wraps(submit)
        def submit_for_request(executor: pool.ThreadPoolExecutor, fn: Any, /, *arguments: Any, **keywords: Any) -> Any:
            message = self._own_message()
            if message is None:
                return submit(executor, fn, *arguments, **keywords)
            return submit(executor, self._call, message, fn, *arguments, **keywords)

        threading.Thread.start = start_for_request  # type: ignore[method-assign, assignment]
        pool.ThreadPoolExecutor.submit = submit_for_request  # type: ignore[method-assign, assignment]

    def _own_message(self) -> Message | None:
        """The message of this task, or of the starter of this thread, which may have written nothing yet."""
        return self._message.get(None) or self._of_thread.get(threading.current_thread())

    def _call(self, message: Message, fn: Any, /, *arguments: Any, **keywords: Any) -> Any:
        self._of_task.set(message.request)
        self._message.set(message)
        try:
            return fn(*arguments, **keywords)
        except BaseException as error:
            # A traceback has the frames of the user's code and of the pool, not this one.
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise

    def _input(self, prompt: object = "", /) -> str:
        return self.ask(str(prompt), password=False)

    def _getpass(self, prompt: str = "Password: ", stream: Any = None, **_options: Any) -> str:
        return self.ask(prompt, password=True)


def _is_called_by_notebook() -> bool:
    """Whether the caller of the caller is code of the notebook, and not of a module."""
    return bool(sys._getframe(2).f_globals.get("__name__") == "__main__")


class Attributed:
    """What ipykernel's shell, displays and streams have in common: they know the message to which output belongs.

    Here all of them have the same one, that of the task or thread.
    """

    output: Output

    @property
    def parent_header(self) -> Mapping[str, Any]:
        return header_of(self.output.parent_message)

    @parent_header.setter
    def parent_header(self, parent: Mapping[str, Any]) -> None:
        self.output.attribute(parent)

    def set_parent(self, parent: Mapping[str, Any]) -> None:
        """Makes output of this task or thread belong to a message."""
        self.output.attribute(parent)

    def set_thread_parent(self, parent: Mapping[str, Any]) -> Message | None:
        """Like `set_parent`. Returns what `reset_thread_parent` takes."""
        before = self.output.explicit_parent()
        self.output.attribute(parent)
        return before

    def reset_thread_parent(self, token: Message | None) -> None:
        """Undoes `set_thread_parent`. A thread that had no parent of its own follows the running cell from then on."""
        if token:
            self.output.set_parent(token)
        else:
            self.output.forget_parent()


# Packages ask for exactly this class name, and for its module, to learn whether they run in a notebook.
class OutStream(Attributed, io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of cells, made as ipykernel's is."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, session: Session, pub_thread: Any = None, name: str = "stdout", **_options: Any) -> None:
        super().__init__()
        self.name = name
        self.session = session
        self.output = session.output
        self._descriptor = 2 if name == "stderr" else 1
        # An attribute of the instance, so that `print` calls native code directly.
        self.write = self.output.writer(name).write  # type: ignore[method-assign]

    @property
    def pub_thread(self) -> Socket:
        return self.output.iopub

    @property
    def pub_socket(self) -> Socket:
        return self.output.iopub

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self.output.flush()

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        """Text written to this descriptor also goes into the notebook."""
        return self._descriptor

    @functools.cached_property
    def buffer(self) -> io.FileIO:
        """For code that writes bytes."""
        return io.FileIO(self._descriptor, "w", closefd=False)

    def _is_master_process(self) -> bool:
        return not self.output.is_forked

    def close(self) -> None:
        """Cells must not lose their output, so a stream of the kernel stays open."""


OutStream.__module__ = "ipykernel.iostream"
