"""The kernel `Twincell (Python)`: it takes requests from the Rust side and answers them with IPython.

Rust handles sockets, signatures and ordering (`twincell._twincell.Connection`). `shell.py` turns a cell's output into
messages. Jupyter runs this module as `python -m twincell.kernel -f CONNECTION_FILE`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import faulthandler
import inspect
import json
import logging
import signal
import sys
import threading
import types
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any, TextIO

import IPython
from IPython.core.application import BaseIPythonApplication
from IPython.core.async_helpers import _asyncio_runner
from IPython.core.completer import provisionalcompleter, rectify_completions
from IPython.core.shellapp import InteractiveShellApp, shell_aliases, shell_flags
from IPython.utils.tokenutil import token_at_cursor
from traitlets import Dict, Unicode

from . import _comms
from ._json import dumps
from ._output import Output
from ._twincell import Connection, Request, Requests, __version__
from .shell import ZMQInteractiveShell

logger = logging.getLogger("twincell.kernel")


def kernel_info() -> dict[str, Any]:
    """The content of every kernel_info_reply."""
    python = sys.version.split()[0]
    return {
        "status": "ok",
        "protocol_version": "5.4",
        "implementation": "twincell",
        "implementation_version": __version__,
        "language_info": {
            "name": "python",
            "version": python,
            "mimetype": "text/x-python",
            "codemirror_mode": {"name": "ipython", "version": 3},
            "pygments_lexer": "ipython3",
            "nbconvert_exporter": "python",
            "file_extension": ".py",
        },
        "banner": f"twincell {__version__}, Python {python}, IPython {IPython.__version__}",
        "help_links": [],
        "debugger": False,
        "supported_features": ["kernel subshells"],
    }


class Kernel:
    """Handles requests one after the other on Python's main thread."""

    def __init__(self, connection: Connection, output: Output, shell: ZMQInteractiveShell) -> None:
        self.connection = connection
        self.output = output
        self.shell = shell
        self.comms = _comms.install(output)
        self._requests: contextvars.ContextVar[Requests] = contextvars.ContextVar("requests")
        self._cell: asyncio.Task[Any] | None = None
        self._interruptible = False
        self._handlers = {
            "execute_request": self._execute,
            "complete_request": self._complete,
            "inspect_request": self._inspect,
            "is_complete_request": self._is_complete,
            "history_request": self._history,
            "comm_info_request": self._comm_info,
            "comm_open": self._comm,
            "comm_msg": self._comm,
            "comm_close": self._comm,
        }

    def get_parent(self) -> dict[str, Any]:
        """The message being handled. Output widgets ask for it."""
        return self.output.parent_message

    async def serve(self, requests: Requests) -> None:
        """Handles the requests of the main shell or of a subshell, until a client or a cell ends it."""
        self._requests.set(requests)
        waiting = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(requests.fileno(), waiting.set)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._on_interrupt)
        while not self.shell.exit_now:
            waiting.clear()
            request = requests.next()
            if request is None:
                await waiting.wait()
            elif request.msg_type is None:
                break
            else:
                await self._handle(request)
        loop.remove_reader(requests.fileno())

    def start_subshells(self) -> None:
        """Starts a thread for each subshell that a client creates."""
        while (subshell := self.connection.next_subshell()) is not None:
            requests = self.connection.requests(subshell)
            if requests is not None:
                name = f"subshell-{subshell}"
                threading.Thread(target=self._run_subshell, args=(requests,), name=name, daemon=True).start()

    def _run_subshell(self, requests: Requests) -> None:
        try:
            asyncio.run(self.serve(requests))
        except BaseException:
            logger.exception("a subshell ended")

    async def _handle(self, request: Request) -> None:
        handler = self._handlers.get(request.msg_type or "")
        try:
            message = _read(request)
            self.output.set_parent(request, message)
            if handler is None:
                logger.warning("a message %s was ignored: no such request is known", request.msg_type)
            else:
                result = handler(request, message)
                if inspect.isawaitable(result):
                    await result
        except (KeyboardInterrupt, asyncio.CancelledError):
            logger.warning("%s was interrupted", request.msg_type)
            self._reply_error(request, KeyboardInterrupt("interrupted"))
        except Exception as error:
            logger.exception("%s failed", request.msg_type)
            self._reply_error(request, error)
        finally:
            self.connection.finish(request)

    def _reply(self, request: Request, content: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        msg_type = (request.msg_type or "").replace("_request", "_reply")
        self.connection.reply(request, msg_type, content, metadata)

    def _reply_error(self, request: Request, error: BaseException) -> None:
        if (request.msg_type or "").endswith("_request"):
            content: dict[str, Any] = {
                "status": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [],
            }
            if request.msg_type == "execute_request":
                content["execution_count"] = self.shell.execution_count
            self._reply(request, content)

    # Interrupts

    def _on_interrupt(self, _signum: int, _frame: Any) -> None:
        """Interrupts the user's code. Between cells there is nothing to interrupt."""
        # IPython's tracebacks end where the user's code was.
        __tracebackhide__ = True
        if not self._interruptible:
            return
        cell = self._cell
        if cell is None or asyncio.current_task(cell.get_loop()) is cell:
            raise KeyboardInterrupt
        # The cell awaits something, so the event loop is waiting: cancel the cell there.
        cell.get_loop().call_soon_threadsafe(cell.cancel)

    @contextlib.contextmanager
    def _user_code(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            # Signals reach only the main thread.
            yield
            return
        if signal.getsignal(signal.SIGINT) != self._on_interrupt:
            signal.signal(signal.SIGINT, self._on_interrupt)
        self._interruptible = True
        try:
            yield
        finally:
            self._interruptible = False

    # Requests

    async def _execute(self, request: Request, message: dict[str, Any]) -> None:
        shell, content, metadata = self.shell, message["content"], message["metadata"]
        started = datetime.now(timezone.utc).isoformat()
        code = content["code"]
        silent = bool(content.get("silent", False))
        store_history = bool(content.get("store_history", True)) and not silent
        self.output.allow_stdin = bool(content.get("allow_stdin", False))
        cell_id = metadata.get("cellId")
        if not silent:
            self.output.publish("execute_input", {"code": code, "execution_count": shell.execution_count})
        try:
            result = await self._run_cell(code, store_history=store_history, silent=silent, cell_id=cell_id)
        finally:
            self.output.allow_stdin = False
        error = result.error_before_exec or result.error_in_exec
        if result.success and not shell.outcome.display_failed:
            reply: dict[str, Any] = {"status": "ok"}
            with self._user_code():
                reply["user_expressions"] = shell.user_expressions(content.get("user_expressions") or {})
        else:
            ename, evalue = (type(error).__name__, _text_of(error)) if error else ("DisplayError", "")
            traceback = shell.outcome.traceback or []
            reply = {"status": "error", "ename": ename, "evalue": evalue, "traceback": traceback}
            reply["user_expressions"] = {}
        reply["execution_count"] = shell.execution_count - 1 if store_history else shell.execution_count
        reply["payload"] = shell.payload_manager.read_payload()
        shell.payload_manager.clear_payload()
        if reply["status"] == "error" and content.get("stop_on_error", True) and not silent:
            self._requests.get().abort_waiting()
        self._reply(request, reply, {"started": started, "status": reply["status"]})

    async def _run_cell(self, code: str, *, cell_id: str | None, **options: Any) -> Any:
        shell = self.shell
        shell.outcome.traceback, shell.outcome.display_failed = None, False
        try:
            transformed: Any = shell.transform_cell(code)
            failure = None
        except Exception:
            transformed, failure = code, sys.exc_info()
        is_async = shell.loop_runner is _asyncio_runner and shell.should_run_async(
            code, transformed_cell=transformed, preprocessing_exc_tuple=failure
        )
        if not is_async:
            with self._user_code():
                return shell.run_cell(code, cell_id=cell_id, **options)
        coroutine = shell.run_cell_async(
            code, transformed_cell=transformed, preprocessing_exc_tuple=failure, cell_id=cell_id, **options
        )
        cell = asyncio.ensure_future(coroutine)
        if threading.current_thread() is threading.main_thread():
            self._cell = cell
        result = None
        try:
            with self._user_code():
                result = await cell
        finally:
            if self._cell is cell:
                self._cell = None
            with self._user_code():
                shell.events.trigger("post_execute")
                if not options["silent"]:
                    shell.events.trigger("post_run_cell", result)
        return result

    def _complete(self, request: Request, message: dict[str, Any]) -> None:
        code, cursor = _code_and_cursor(message["content"])
        with self._user_code(), provisionalcompleter():
            found = list(rectify_completions(code, self.shell.Completer.completions(code, cursor)))
        types = [
            {"start": c.start, "end": c.end, "text": c.text, "type": c.type, "signature": c.signature} for c in found
        ]
        self._reply(
            request,
            {
                "status": "ok",
                "matches": [completion.text for completion in found],
                "cursor_start": found[0].start if found else cursor,
                "cursor_end": found[0].end if found else cursor,
                "metadata": {"_jupyter_types_experimental": types},
            },
        )

    def _inspect(self, request: Request, message: dict[str, Any]) -> None:
        content = message["content"]
        code, cursor = _code_and_cursor(content)
        reply: dict[str, Any] = {"status": "ok", "found": False, "data": {}, "metadata": {}}
        name = token_at_cursor(code, cursor)
        with self._user_code(), contextlib.suppress(KeyError):
            bundle = self.shell.object_inspect_mime(name, detail_level=content.get("detail_level", 0))
            if not self.shell.enable_html_pager:
                bundle.pop("text/html", None)
            reply.update(found=True, data=bundle)
        self._reply(request, reply)

    def _is_complete(self, request: Request, message: dict[str, Any]) -> None:
        status, indent = self.shell.input_transformer_manager.check_complete(message["content"]["code"])
        reply = {"status": status}
        if status == "incomplete":
            reply["indent"] = " " * (indent or 0)
        self._reply(request, reply)

    def _history(self, request: Request, message: dict[str, Any]) -> None:
        content, manager = message["content"], self.shell.history_manager
        form = {"raw": content.get("raw", True), "output": content.get("output", False)}
        kind = content.get("hist_access_type", "tail")
        if kind == "tail":
            found = manager.get_tail(content.get("n") or 10, include_latest=True, **form)
        elif kind == "range":
            found = manager.get_range(content.get("session", 0), content.get("start", 0), content.get("stop"), **form)
            # For this kind, IPython calls its own session 0; for the two others, it uses the session's number.
            found = [(session or manager.session_number, line, entry) for session, line, entry in found]
        elif kind == "search":
            search = {"n": content.get("n"), "unique": content.get("unique", False)}
            found = manager.search(content.get("pattern") or "*", **search, **form)
        else:
            raise ValueError(f"hist_access_type is {kind!r}; it can be 'tail', 'range' or 'search'")
        self._reply(request, {"status": "ok", "history": list(found)})

    def _comm_info(self, request: Request, message: dict[str, Any]) -> None:
        target = message["content"].get("target_name")
        comms = {
            comm_id: {"target_name": comm.target_name}
            for comm_id, comm in self.comms.comms.items()
            if target is None or comm.target_name == target
        }
        self._reply(request, {"status": "ok", "comms": comms})

    def _comm(self, request: Request, message: dict[str, Any]) -> None:
        wrong = _comms.wrong_with(message, self.comms)
        if wrong is not None:
            logger.warning("a %s was ignored: %s", request.msg_type, wrong)
            return
        with self._user_code():
            getattr(self.comms, message["msg_type"])(None, None, message)


def _read(request: Request) -> dict[str, Any]:
    """The message as a dictionary, in the form that ipykernel uses."""
    header = json.loads(request.header)
    return {
        "header": header,
        "metadata": json.loads(request.metadata),
        "content": json.loads(request.content),
        "buffers": request.buffers,
        "msg_type": request.msg_type,
        "msg_id": header["msg_id"],
    }


def _code_and_cursor(content: dict[str, Any]) -> tuple[str, int]:
    code = content["code"]
    cursor = content.get("cursor_pos")
    return code, len(code) if cursor is None else cursor


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} cannot be shown as text>"


def _log_to(terminal: TextIO, app_log: logging.Logger) -> None:
    """Sends the kernel's own log to the server's terminal, not into a notebook."""
    handler = logging.StreamHandler(terminal)
    handler.setFormatter(logging.Formatter("twincell kernel: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    for other in app_log.handlers:
        if isinstance(other, logging.StreamHandler) and other.stream is sys.__stderr__:
            other.setStream(terminal)
    faulthandler.enable(terminal)


def _be_found_as_notebook(shell: ZMQInteractiveShell) -> None:
    """Adds a stand-in for ipykernel's shell, by which packages such as tqdm tell that they run in a notebook."""
    module = types.ModuleType("ipykernel.zmqshell", "Stands in for ipykernel's shell; the kernel is twincell's.")
    vars(module).update(ZMQInteractiveShell=type(shell), ZMQDisplayPublisher=type(shell.display_pub))
    sys.modules.setdefault(module.__name__, module)


class KernelApp(BaseIPythonApplication, InteractiveShellApp):
    """Starts the kernel. Reads IPython's configuration and startup files, as every IPython does."""

    name = "ipython-kernel"
    description = "The Jupyter kernel of twincell. Jupyter starts it; there is no need to start it by hand."
    aliases = Dict({**BaseIPythonApplication.aliases, **shell_aliases, "f": "KernelApp.connection_file"})
    flags = Dict({**BaseIPythonApplication.flags, **shell_flags})
    #: Both are set in `initialize`.
    shell: ZMQInteractiveShell
    kernel: Kernel
    connection_file = Unicode("", help="The file in which Jupyter wrote ports and key.").tag(config=True)

    def initialize(self, argv: list[str] | None = None) -> None:
        super().initialize(argv)
        if not self.connection_file:
            self.exit("twincell.kernel: give the connection file with -f FILE, or start the kernel from Jupyter")
        try:
            connection = Connection.open(self.connection_file, dumps(kernel_info()))
        except OSError as error:
            self.exit(f"twincell.kernel: {error}")
        # Code that asks whether it runs in a notebook looks for ipykernel's application in the configuration.
        self.config.IPKernelApp.connection_file = self.connection_file
        _log_to(open(connection.capture_output(), "w", buffering=1, closefd=False), self.log)
        output = Output(connection)
        self.shell = ZMQInteractiveShell.instance(
            parent=self, config=self.config, profile_dir=self.profile_dir, user_ns={}, output=output
        )
        self.kernel = self.shell.kernel = Kernel(connection, output, self.shell)
        output.install()
        _be_found_as_notebook(self.shell)
        self.init_path()
        self.init_gui_pylab()
        self.init_extensions()
        self._load_magics()
        self.init_code()

    def _load_magics(self) -> None:
        try:
            from .magics import load_ipython_extension

            load_ipython_extension(self.shell)
        except Exception:
            logger.exception("the magics of twincell could not be loaded; plain Python works all the same")

    def start(self) -> None:
        """Serves until the client ends it."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            threading.Thread(target=self.kernel.start_subshells, name="subshells", daemon=True).start()
            requests = self.kernel.connection.requests()
            assert requests is not None, "the main shell has its requests from the start"
            serving = loop.create_task(self.kernel.serve(requests))
            while not serving.done():
                try:
                    loop.run_until_complete(serving)
                except (KeyboardInterrupt, SystemExit) as error:
                    # asyncio lets these two escape from any task of a cell. They end that task, not the kernel.
                    logger.warning("a task of a cell ended with %s", type(error).__name__)
        finally:
            self.shell.atexit_operations()
            self.kernel.connection.close()
            self._end_threads_softly()

    def _end_threads_softly(self) -> None:
        """Ends the process although threads may run: a cell's threads must not keep a kernel alive that shall end."""
        others = [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
        if others:
            import atexit
            import os

            atexit._run_exitfuncs()
            os._exit(0)


def main() -> None:
    """Starts the kernel with the arguments of the command line."""
    KernelApp.launch_instance()


if __name__ == "__main__":
    main()
