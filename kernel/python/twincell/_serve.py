"""The part of the kernel that knows no Python code: it hands the requests that Rust takes to handlers, and interrupts.

It has the names of `ipykernel.kernelbase.Kernel`, by which libraries reach for a kernel. The handlers are in
`_answers.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import functools
import inspect
import logging
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from traitlets import Any as AnyTrait
from traitlets import Dict, Float, List, Unicode
from traitlets.config import SingletonConfigurable

from . import _comms
from ._messages import Message, Session, Socket
from ._output import Output
from ._twincell import Connection, Request, Requests

if TYPE_CHECKING:
    from ._comms import KernelCommManager
    from ._debugging import Debugger
    from .shell import ZMQInteractiveShell

logger = logging.getLogger("twincell.kernel")

#: Turns of the event loop between two requests that wait. A task whose timer is due needs three to go on: one for the
#: timer, one for what it awaits, one for itself.
TURNS = 3
#: Seconds after which a shell that does not take what another one offers counts as busy.
PATIENCE = 0.2

#: What handles a request: the socket for its reply, the frames by which its sender is known, and the message.
Handler = Callable[[Socket, Sequence[bytes], Message], Any]


class UnknownRequest(Exception):
    """No handler is known for a request."""


@dataclasses.dataclass(eq=False)
class Offer:
    """A request that another shell may handle. Whoever comes first takes it, or cancels the offer."""

    request: Request
    taken: Future[None] = dataclasses.field(default_factory=Future)


@dataclasses.dataclass(eq=False)
class Shell:
    """What handles the requests of the main shell, of a subshell, or of the control channel, in a thread of its own."""

    requests: Requests
    loop: asyncio.AbstractEventLoop
    context: contextvars.Context
    is_handling: bool = False
    #: What other shells offer to it, and whether its event loop was found at a step that takes long.
    offered: deque[Offer] = dataclasses.field(default_factory=deque)
    is_busy: bool = False
    #: Messages are offered to another shell one after the other, for they keep their order.
    offering: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)

    def next_offered(self) -> Request | None:
        """The first request that is offered, which nobody else takes from here on."""
        while self.offered:
            offer = self.offered.popleft()
            if offer.taken.set_running_or_notify_cancel():
                offer.taken.set_result(None)
                return offer.request
        return None

    def _is_idle_again(self) -> None:
        self.is_busy = False

    async def offer(self, request: Request, take: Callable[[], None]) -> bool:
        """Offers a request from another shell's thread, and has `take` called in this one's. Whether it was taken."""
        if self.is_busy:
            return False
        offer = Offer(request)
        self.offered.append(offer)
        try:
            self.loop.call_soon_threadsafe(take, context=self.context)
            await asyncio.wait([asyncio.wrap_future(offer.taken)], timeout=PATIENCE)
            if not offer.taken.cancel():
                return True
            self.is_busy = True
            self.loop.call_soon_threadsafe(self._is_idle_again)
        except asyncio.CancelledError:
            if offer.taken.cancel():
                raise
            return True
        except RuntimeError:  # its loop was closed just now
            return not offer.taken.cancel()
        return False


class Kernel(SingletonConfigurable):
    """Handles the requests of the main shell one after the other on Python's main thread."""

    help_links: Any = List(Dict(), help="Links for the help menu of front ends.").tag(config=True)
    stop_on_error_timeout = Float(
        0.01, help="Seconds after an error within which cells that arrive were sent before it was known."
    ).tag(config=True)
    #: What lets a GUI handle its events, while one is enabled (`_gui.py`), and the task that calls it.
    eventloop = AnyTrait(None)
    gui_task: asyncio.Task[None] | None = None
    #: The main shell's, once it serves.
    loop: asyncio.AbstractEventLoop | None = None
    #: Of ipyparallel, which ipykernel serves, too.
    int_id = -1
    ident = Unicode()
    #: Requests that wait are aborted by Rust, before a handler sees them.
    _aborting = False

    #: That of front ends, once one was asked for.
    debugger: Debugger | None = None

    shell: ZMQInteractiveShell
    comm_manager: KernelCommManager
    shell_handlers: dict[str, Handler]
    control_handlers: dict[str, Handler]

    def connect(self, connection: Connection, output: Output, shell: ZMQInteractiveShell) -> None:
        """Gives the kernel what it needs to handle requests. Rust has its `kernel_info` before."""
        self.connection = connection
        self.output = output
        self.shell = shell
        self.shell_stream = Socket("shell", self._send_reply)
        self.control_stream = Socket("control", self._send_reply)
        self.stdin_socket = Socket("stdin", _refuse_question)
        #: In which the main shell's cells run.
        self.context = contextvars.copy_context()
        self._main = connection.requests()
        self._shell: contextvars.ContextVar[Shell | None] = contextvars.ContextVar("shell", default=None)
        self._shells: set[Shell] = set()
        self._cell: asyncio.Task[Any] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._interruptible = False

    @property
    def is_forked(self) -> bool:
        """Whether this process was forked by a cell. The front end and the requests are those of its parent."""
        return self.output.is_forked

    # What libraries ask a kernel for

    @property
    def session(self) -> Session:
        return self.output.session

    @property
    def iopub_socket(self) -> Socket:
        return self.output.iopub

    @property
    def iopub_thread(self) -> Socket:
        return self.output.iopub

    @property
    def shell_streams(self) -> list[Socket]:
        return [self.shell_stream]

    @property
    def io_loop(self) -> Any:
        """The event loop as one of tornado's."""
        try:
            from tornado.ioloop import IOLoop
        except ImportError:
            raise RuntimeError("kernel.io_loop needs tornado, which is not installed: pip install tornado") from None
        if threading.current_thread() is threading.main_thread():
            return IOLoop.current()
        asyncio.set_event_loop(self.loop)
        try:
            return IOLoop.current()
        finally:
            asyncio.set_event_loop(None)

    def get_parent(self, channel: str | None = None) -> Message:
        """The message being handled. Output widgets ask for it."""
        if channel != "control":
            return self.output.parent_message
        request = self.connection.latest_control()
        return Message.attribution({}) if request is None else Message.read(request)

    def set_parent(self, ident: Any, parent: Mapping[str, Any], channel: str = "shell") -> None:
        """Makes what this task or thread sends belong to a message. The control channel knows its own."""
        if channel != "control":
            self.output.attribute(parent)

    @property
    def _parent_header(self) -> Message:
        return self.get_parent()

    @property
    def _parent_ident(self) -> dict[str, list[bytes]]:
        of = {channel: self.get_parent(channel).request for channel in ("shell", "control")}
        return {channel: request.identities if request else [] for channel, request in of.items()}

    @property
    def _allow_stdin(self) -> bool:
        return self.output.allow_stdin

    def send_response(
        self,
        stream: Socket,
        msg_or_type: str | Mapping[str, Any],
        content: Mapping[str, Any] | None = None,
        ident: Any = None,
        buffers: Sequence[Any] | None = None,
        track: bool = False,
        header: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        channel: str | None = None,
    ) -> Mapping[str, Any]:
        """Sends a message that belongs to the request being handled."""
        parent = self.get_parent(channel)
        return self.session.send(stream, msg_or_type, content, parent, ident, buffers, track, header, metadata)

    def raw_input(self, prompt: object = "") -> str:
        """Asks the user for a line."""
        return self.output.ask(str(prompt), password=False)

    def getpass(self, prompt: object = "", stream: Any = None) -> str:
        """Asks the user for a line that is not shown."""
        return self.output.ask(str(prompt), password=True)

    def _publish_status(self, status: str, channel: str, parent: Mapping[str, Any] | None = None) -> None:
        belongs_to = self.get_parent(channel) if parent is None else self.output.message_of(parent)
        self.output.publish("status", {"execution_state": status}, parent=belongs_to)

    def _send_abort_reply(self, stream: Socket, msg: Mapping[str, Any], idents: Any) -> None:
        self._reply(msg, {"status": "aborted"})

    # Requests, one after the other

    @property
    def current_shell(self) -> Shell | None:
        """The shell of the running code. None for a thread that a cell started."""
        return self._shell.get()

    async def serve(self, requests: Requests) -> None:
        """Handles the requests of a shell or of the control channel, until a client or a cell ends it."""
        waiting = asyncio.Event()
        loop = asyncio.get_running_loop()
        has_waited = True
        shell = Shell(requests, loop, contextvars.copy_context())
        self._shell.set(shell)
        shell.context.run(self._shell.set, shell)
        self._shells.add(shell)

        def on_waiting() -> None:
            waiting.set()
            # A cell that awaits something may await an answer of a widget.
            while shell.is_handling and (comm := requests.next_comm()) is not None:
                self._start_beside(comm)

        loop.add_reader(requests.fileno(), on_waiting)
        if threading.current_thread() is threading.main_thread():
            self.loop = loop
            signal.signal(signal.SIGINT, self.on_interrupt)
        try:
            while not self.shell.exit_now:
                waiting.clear()
                request = requests.next()
                if request is None:
                    # Once more, for `next` may have taken the sign that the kernel shall end.
                    if not self.shell.exit_now:
                        await waiting.wait()
                    has_waited = True
                elif request.msg_type is None:
                    break
                else:
                    for _ in range(0 if has_waited else TURNS):
                        await asyncio.sleep(0)
                    shell.is_handling = True
                    await self._handle(request)
                    shell.is_handling = has_waited = False
        finally:
            self._shells.discard(shell)
            loop.remove_reader(requests.fileno())

    def _start_beside(self, request: Request, *, is_offered: bool = False) -> None:
        beside = asyncio.ensure_future(self._handle_beside(request, is_offered))
        self._beside.add(beside)
        beside.add_done_callback(self._beside.discard)

    async def _handle_beside(self, request: Request, is_offered: bool) -> None:
        """Handles a message for a widget while a cell awaits something."""
        if threading.current_thread() is not threading.main_thread():
            return await self._handle(request, is_offered=is_offered)
        with self.output.beside():
            await self._handle(request, is_offered=is_offered)

    def start_main(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """Starts to handle the requests of the main shell."""
        serving = self.serve(self._main)
        if sys.version_info >= (3, 11):
            return loop.create_task(serving, context=self.context)
        return self.context.run(loop.create_task, serving)

    def start_threads(self) -> None:
        """Starts a thread for each subshell that a client creates, and one for the control channel when it needs it."""
        while (created := self.connection.next_shell()) is not None:
            name, requests = created
            threading.Thread(target=self._run_thread, args=(requests,), name=name, daemon=True).start()

    def _run_thread(self, requests: Requests) -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            run_until_done(loop, loop.create_task(self.serve(requests)))
            run_until_done(loop, loop.create_task(_end_tasks(loop)))
            loop.close()
        except BaseException:
            logger.exception("the thread %s ended", threading.current_thread().name)
        finally:
            requests.end()

    async def do_one_iteration(self) -> None:
        """Handles one request that waits for the main shell, for a cell that lets widgets work while it runs."""
        offered = self.current_shell.next_offered() if self.current_shell is not None else None
        request = offered or self._main.next()
        if request is None:
            return
        if request.msg_type is None:
            self.shell.exit_now = True
            raise KeyboardInterrupt
        before = self.output.parent_message
        try:
            await self._handle(request, within=True, is_offered=offered is not None)
        finally:
            self.output.attribute(before)

    async def _leave_to_asker(self, request: Request, message: Message) -> bool:
        """Lets the shell that asked handle a message for a comm, where the front end sent it to another one.

        What code awaits may be touched by its own thread alone. While that thread is busy, this shell handles it.
        """
        shell = self.current_shell
        if shell is None or request.channel == "control":
            return False
        asker = _comms.asker(message, self.comm_manager)
        if asker is None or asker is shell or asker not in self._shells:
            return False
        async with shell.offering:
            return await asker.offer(request, functools.partial(self._take_offered, asker))

    def _take_offered(self, shell: Shell) -> None:
        """Starts to handle what was offered first."""
        if (request := shell.next_offered()) is not None:
            self._start_beside(request, is_offered=True)

    def _wake_others(self) -> None:
        """Lets tasks of other shells go on if what they await was just done in this one."""
        for shell in self._shells - {self.current_shell}:
            with contextlib.suppress(RuntimeError):  # its loop was closed just now
                shell.loop.call_soon_threadsafe(lambda: None)

    async def _handle(self, request: Request, *, within: bool = False, is_offered: bool = False) -> None:
        """Handles a request. `within` a cell, an interrupt is also one of this cell."""
        msg_type = request.msg_type or ""
        is_left = False
        try:
            message = Message.read(request)
            is_left = not is_offered and await self._leave_to_asker(request, message)
            if is_left:
                return
            self.output.set_parent(message)
            of_control = request.channel == "control"
            handler = (self.control_handlers if of_control else self.shell_handlers).get(msg_type)
            if handler is None:
                raise UnknownRequest(f"this kernel does not know the request {msg_type}")
            stream = self.control_stream if of_control else self.shell_stream
            result = handler(stream, request.identities, message)
            if inspect.isawaitable(result):
                await result
        except UnknownRequest as error:
            logger.warning("a message %s was not handled: no such request is known", msg_type)
            self._reply_error(request, error)
        except (KeyboardInterrupt, asyncio.CancelledError):
            logger.warning("%s was interrupted", msg_type)
            self._reply_error(request, KeyboardInterrupt("interrupted"))
            if within:
                raise
        except Exception as error:
            logger.exception("%s failed", msg_type)
            self._reply_error(request, error)
        finally:
            if not is_left:
                self.connection.finish(request)
                if msg_type.startswith("comm_"):
                    self._wake_others()

    def _send_reply(self, message: Mapping[str, Any], _buffers: Sequence[bytes]) -> None:
        parent = self.output.message_of(message.get("parent_header"))
        self._answer(parent, message["msg_type"], message["content"], message.get("metadata"))

    def _answer(self, parent: Message, msg_type: str, content: Any, metadata: Any) -> None:
        if parent.request is None or not parent.request.identities:
            raise ValueError(f"{msg_type} answers no request that a client sent")
        self.connection.reply(parent.request, msg_type, content, metadata)

    def _reply(
        self, parent: Mapping[str, Any], content: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
    ) -> None:
        msg_type = parent["msg_type"].replace("_request", "_reply")
        self._answer(self.output.message_of(parent), msg_type, content, metadata)

    def _reply_error(self, request: Request, error: BaseException) -> None:
        name, is_request, _ = (request.msg_type or "").rpartition("_request")
        if is_request:
            content: dict[str, Any] = {
                "status": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [],
            }
            if name == "execute":
                content["execution_count"] = self.shell.execution_count
            self.connection.reply(request, f"{name}_reply", content)

    # Interrupts

    def on_interrupt(self, _signum: int, frame: Any) -> None:
        """Interrupts the user's code. Between cells there is nothing to interrupt."""
        self.connection.give_up_questions()
        if not self._interruptible:
            return
        if self.debugger is not None and self.debugger.holds(frame):
            return
        cell = self._cell
        if cell is None:
            raise KeyboardInterrupt
        running = asyncio.current_task(cell.get_loop())
        if running is cell or running in self._beside:
            raise KeyboardInterrupt
        # The cell awaits something, so the event loop is waiting: cancel the cell there.
        cell.get_loop().call_soon_threadsafe(cell.cancel)

    @contextlib.contextmanager
    def _user_code(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            # Signals reach only the main thread.
            yield
            return
        if signal.getsignal(signal.SIGINT) != self.on_interrupt:
            signal.signal(signal.SIGINT, self.on_interrupt)
        before = self._interruptible
        self._interruptible = True
        try:
            yield
        finally:
            self._interruptible = before


def run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    """Runs a loop until a task of the kernel is done, whatever the tasks of cells do."""
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (KeyboardInterrupt, SystemExit) as error:
            # asyncio lets these two escape from any task of a cell. They end that task, not the kernel.
            logger.warning("a task of a cell ended with %s", type(error).__name__)
        except IndexError:
            # A cell ran this loop from within (nest_asyncio), and with it callbacks that were counted before.
            # asyncio then looks for one of them in an empty queue.
            if task.done():
                raise


async def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancels what cells of a subshell have left behind, as `asyncio.run` does."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


def _refuse_question(_message: Mapping[str, Any], _buffers: Sequence[bytes]) -> None:
    raise RuntimeError("questions for the user are asked with input(), getpass.getpass() or kernel.raw_input()")
