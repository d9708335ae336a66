"""The kernel `Twincell (Python)`: what it answers to each request, with IPython.

It has the names of `ipykernel.ipkernel.IPythonKernel`. Libraries call `do_execute`, `do_complete` and their like, and
put functions of their own in their place.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import IPython
from IPython.core.async_helpers import _asyncio_runner
from IPython.core.completer import provisionalcompleter, rectify_completions
from IPython.utils.tokenutil import token_at_cursor
from traitlets import Bool, default

from . import _comms, _debugging
from ._messages import Message, Socket
from ._output import Output
from ._serve import Kernel, logger
from ._shown import show_as
from ._twincell import PROTOCOL_VERSION, Connection, __version__

if TYPE_CHECKING:
    from .shell import ZMQInteractiveShell

PYTHON = sys.version.split()[0]
#: Seconds between the last message of a comm and the reply to its cell. nbclient, and what is built on it, misses a
#: reply that arrives while it answers a widget, and then waits for ever.
WIDGET_PAUSE = 0.1


class IPythonKernel(Kernel):
    """Answers requests with IPython."""

    use_experimental_completions = Bool(True, help="Whether completions come with types and signatures.").tag(
        config=True
    )

    debug_just_my_code = Bool(
        True, help="Whether the debugger leaves out Python's library and installed packages."
    ).tag(config=True)

    implementation = "twincell"
    # Some front ends know Python's kernels by IPython's version.
    implementation_version = IPython.__version__
    banner = f"twincell {__version__}, Python {PYTHON}, IPython {IPython.__version__}"
    language_info = {
        "name": "python",
        "version": PYTHON,
        "mimetype": "text/x-python",
        "codemirror_mode": {"name": "ipython", "version": 3},
        "pygments_lexer": "ipython3",
        "nbconvert_exporter": "python",
        "file_extension": ".py",
    }

    def connect(self, connection: Connection, output: Output, shell: ZMQInteractiveShell) -> None:
        super().connect(connection, output, shell)
        self.comm_manager = _comms.install(self)
        names = ("execute", "complete", "inspect", "is_complete", "history", "comm_info")
        self.shell_handlers = {f"{name}_request": getattr(self, f"{name}_request") for name in names}
        self.shell_handlers.update({name: self._comm for name in ("comm_open", "comm_msg", "comm_close")})
        self._processes: dict[int, Any] = {}
        self.control_handlers = {
            **self.shell_handlers,
            "usage_request": self.usage_request,
            "debug_request": self.debug_request,
        }

    @default("help_links")
    def _default_help_links(self) -> list[dict[str, str]]:
        pages = {
            "Python Reference": "https://docs.python.org/{}.{}".format(*sys.version_info[:2]),
            "IPython Reference": "https://ipython.readthedocs.io/en/stable/",
            "NumPy Reference": "https://numpy.org/doc/stable/reference/",
            "SciPy Reference": "https://docs.scipy.org/doc/scipy/reference/",
            "Matplotlib Reference": "https://matplotlib.org/stable/",
            "SymPy Reference": "https://docs.sympy.org/latest/",
            "pandas Reference": "https://pandas.pydata.org/docs/",
        }
        return [{"text": text, "url": url} for text, url in pages.items()]

    @property
    def kernel_info(self) -> dict[str, Any]:
        """The content of every kernel_info_reply, which Rust sends."""
        return {
            "status": "ok",
            "protocol_version": PROTOCOL_VERSION,
            "implementation": self.implementation,
            "implementation_version": self.implementation_version,
            "language_info": self.language_info,
            "banner": self.banner,
            "help_links": self.help_links,
            "debugger": _debugging.is_available(),
            "supported_features": ["kernel subshells", *(["debugger"] if _debugging.is_available() else [])],
        }

    @property
    def user_module(self) -> Any:
        return self.shell.user_module

    @property
    def user_ns(self) -> dict[str, Any]:
        names: dict[str, Any] = self.shell.user_ns
        return names

    @user_ns.setter
    def user_ns(self, names: dict[str, Any]) -> None:
        self.shell.user_ns = names
        self.shell.init_user_ns()

    @property
    def execution_count(self) -> int:
        return self.shell.execution_count

    # Cells

    async def execute_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        content, metadata = parent["content"], parent["metadata"]
        started = datetime.now(timezone.utc).isoformat()
        code, silent = content["code"], bool(content.get("silent", False))
        store_history = bool(content.get("store_history", True)) and not silent
        if not silent:
            self._publish_execute_input(code, parent, self.execution_count)
        reply = await self.do_execute(
            code,
            silent,
            store_history,
            content.get("user_expressions"),
            bool(content.get("allow_stdin", False)),
            cell_meta=metadata,
            cell_id=metadata.get("cellId"),
        )
        if reply["status"] == "error" and content.get("stop_on_error", True) and not silent:
            await asyncio.sleep(self.stop_on_error_timeout)
            (self._main if self.current_shell is None else self.current_shell.requests).abort_waiting()
        pause = _comms.Comm.last_sent + WIDGET_PAUSE - time.monotonic()
        if pause > 0:
            # Nothing else runs meanwhile: replies keep their order.
            time.sleep(pause)
        self._reply(parent, reply, {"started": started, "status": reply["status"]})

    def _publish_execute_input(self, code: str, parent: Mapping[str, Any], execution_count: int) -> None:
        content = {"code": code, "execution_count": execution_count}
        self.output.publish("execute_input", content, parent=self.output.message_of(parent))

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Mapping[str, str] | None = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Mapping[str, Any] | None = None,
        cell_id: str | None = None,
    ) -> dict[str, Any]:
        """Runs a cell. Returns the content of its reply. Whether it may ask for input is up to its request."""
        shell = self.shell
        about = {"cell_id": cell_id, "cell_meta": cell_meta}
        result = await self._run_cell(code, about, store_history=store_history, silent=silent)
        error = result.error_before_exec or result.error_in_exec
        if self.is_forked:
            # It has come to the end of the cell that forked it.
            os._exit(_status(error))
        if result.success and not shell.outcome.display_failed:
            reply: dict[str, Any] = {"status": "ok"}
            with self._user_code():
                reply["user_expressions"] = shell.user_expressions(user_expressions or {})
        else:
            ename, evalue = (type(error).__name__, _text_of(error)) if error else ("DisplayError", "")
            traceback = shell.outcome.traceback or []
            reply = {"status": "error", "ename": ename, "evalue": evalue, "traceback": traceback}
            reply["user_expressions"] = {}
        reply["execution_count"] = shell.execution_count - 1 if store_history else shell.execution_count
        reply["payload"] = shell.payload_manager.read_payload()
        shell.payload_manager.clear_payload()
        return reply

    async def _run_cell(self, code: str, about: Mapping[str, Any], **options: Any) -> Any:
        shell = self.shell
        shell.outcome.traceback, shell.outcome.display_failed = None, False
        transformed, failure, is_async = code, None, False
        try:
            transformed = shell.transform_cell(code)
            is_async = shell.should_run_async(code, transformed_cell=transformed)
        except (RecursionError, MemoryError) as error:
            # So Python's compiler refuses code that is nested too deep. The traceback would be the kernel's.
            show_as(error, f"{type(error).__name__}: {error}")
            failure = sys.exc_info()
        except Exception:
            failure = sys.exc_info()
        # Only `run_cell_async` takes a failure.
        if failure is None and not (is_async and shell.loop_runner is _asyncio_runner):
            options.update(_taken(shell.run_cell, about))
            with self._user_code():
                return shell.run_cell(code, **options)
        coroutine = shell.run_cell_async(
            code,
            transformed_cell=transformed,
            preprocessing_exc_tuple=failure,
            **options,
            **_taken(shell.run_cell_async, about),
        )
        cell = self._start(coroutine)
        around = self._cell
        if threading.current_thread() is threading.main_thread():
            self._cell = cell
        result = None
        try:
            with self._user_code():
                result = await cell
        finally:
            if self._cell is cell:
                self._cell = around
            with self._user_code():
                shell.events.trigger("post_execute")
                if not options["silent"]:
                    shell.events.trigger("post_run_cell", result)
        return result

    def _start(self, cell: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Starts an asynchronous cell. Context variables that it sets are set in later cells, too."""
        if sys.version_info >= (3, 11) and threading.current_thread() is threading.main_thread():
            return asyncio.create_task(cell, context=self.context)
        return asyncio.ensure_future(cell)

    # Questions about code

    async def complete_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        code, cursor = _code_and_cursor(parent["content"])
        self._reply(parent, await _result(self.do_complete(code, cursor)))

    def do_complete(self, code: str, cursor_pos: int | None) -> dict[str, Any]:
        """Completes code. Returns the content of the reply."""
        cursor = len(code) if cursor_pos is None else cursor_pos
        with self._user_code(), provisionalcompleter():
            found = list(rectify_completions(code, self.shell.Completer.completions(code, cursor)))
        types = [
            {"start": c.start, "end": c.end, "text": c.text, "type": c.type, "signature": c.signature} for c in found
        ]
        return {
            "status": "ok",
            "matches": [completion.text for completion in found],
            "cursor_start": found[0].start if found else cursor,
            "cursor_end": found[0].end if found else cursor,
            "metadata": {"_jupyter_types_experimental": types} if self.use_experimental_completions else {},
        }

    async def inspect_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        content = parent["content"]
        code, cursor = _code_and_cursor(content)
        omitted = set(content.get("omit_sections", ()))
        self._reply(parent, await _result(self.do_inspect(code, cursor, content.get("detail_level", 0), omitted)))

    def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Collection[str] = ()
    ) -> dict[str, Any]:
        """Tells about the object at the cursor. Returns the content of the reply."""
        reply: dict[str, Any] = {"status": "ok", "found": False, "data": {}, "metadata": {}}
        name = token_at_cursor(code, cursor_pos)
        with self._user_code(), contextlib.suppress(KeyError):
            bundle = self.shell.object_inspect_mime(name, detail_level=detail_level, omit_sections=omit_sections)
            if not self.shell.enable_html_pager:
                bundle.pop("text/html", None)
            reply.update(found=True, data=bundle)
        return reply

    async def is_complete_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        self._reply(parent, await _result(self.do_is_complete(parent["content"]["code"])))

    def do_is_complete(self, code: str) -> dict[str, Any]:
        """Whether a front end may run code, or should ask for more of it. Returns the content of the reply."""
        status, indent = self.shell.input_transformer_manager.check_complete(code)
        reply = {"status": status}
        if status == "incomplete":
            reply["indent"] = " " * (indent or 0)
        return reply

    async def history_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        content = dict(parent["content"])
        form = {"output": content.pop("output", False), "raw": content.pop("raw", True)}
        self._reply(parent, await _result(self.do_history(content.pop("hist_access_type", "tail"), **form, **content)))

    def do_history(
        self,
        hist_access_type: str,
        output: bool,
        raw: bool,
        session: int = 0,
        start: int = 0,
        stop: int | None = None,
        n: int | None = None,
        pattern: str | None = None,
        unique: bool = False,
        **_unknown: Any,
    ) -> dict[str, Any]:
        """Finds earlier input. Returns the content of the reply."""
        manager = self.shell.history_manager
        if hist_access_type == "tail":
            found = manager.get_tail(n or 10, include_latest=True, raw=raw, output=output)
        elif hist_access_type == "range":
            found = manager.get_range(session, start, stop, raw=raw, output=output)
            # For this kind, IPython calls its own session 0; for the two others, it uses the session's number.
            found = [(number or manager.session_number, line, entry) for number, line, entry in found]
        elif hist_access_type == "search":
            found = manager.search(pattern or "*", n=n, unique=unique, raw=raw, output=output)
        else:
            raise ValueError(f"hist_access_type is {hist_access_type!r}; it can be 'tail', 'range' or 'search'")
        return {"status": "ok", "history": list(found)}

    # Comms, and the rest

    async def comm_info_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        target = parent["content"].get("target_name")
        comms = {
            comm_id: {"target_name": comm.target_name}
            for comm_id, comm in self.comm_manager.comms.items()
            if target is None or comm.target_name == target
        }
        self._reply(parent, {"status": "ok", "comms": comms})

    def _comm(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        wrong = _comms.wrong_with(parent, self.comm_manager)
        if wrong is not None:
            logger.warning("a %s was ignored: %s", parent["msg_type"], wrong)
            return
        with self._user_code():
            getattr(self.comm_manager, parent["msg_type"])(stream, ident, parent)

    async def usage_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        """How much memory and processor time the kernel uses, for front ends that show it."""
        content: dict[str, Any] = {"hostname": socket.gethostname(), "pid": os.getpid()}
        try:
            import psutil
        except ImportError:
            return self._reply(parent, {**content, "cpu_count": os.cpu_count()})
        # psutil tells the processor time since the last time that the same object was asked.
        own = self._processes.get(os.getpid()) or psutil.Process()
        running = {process.pid: process for process in (own, *own.children(recursive=True))}
        self._processes = {pid: self._processes.get(pid, process) for pid, process in running.items()}
        processor, memory = 0.0, 0
        for process in self._processes.values():
            with contextlib.suppress(psutil.Error):
                processor += process.cpu_percent()
                memory += getattr(process.memory_full_info(), "pss", process.memory_info().rss)
        content.update(
            kernel_cpu=processor,
            kernel_memory=memory,
            cpu_count=psutil.cpu_count(),
            host_cpu_percent=psutil.cpu_percent(),
            host_virtual_memory=dict(psutil.virtual_memory()._asdict()),
        )
        return self._reply(parent, content)

    async def debug_request(self, stream: Socket, ident: Sequence[bytes], parent: Message) -> None:
        """Answers a front end's debugger, while a cell runs or stands at a breakpoint, too."""
        if self.debugger is None:
            self.debugger = _debugging.Debugger(
                self.shell,
                lambda event: self.output.publish("debug_event", event),
                lambda: self.debug_just_my_code,
            )
        self._reply(parent, await self.debugger.answer(parent["content"]))

    def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """Ends the kernel after this cell."""
        self.shell.exit_now = True
        return {"status": "ok", "restart": restart}

    def do_clear(self) -> dict[str, Any]:
        """Clears the names of cells."""
        self.shell.reset(False)
        return {"status": "ok"}


def _taken(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that this version of IPython takes."""
    names, takes_all = _parameters(getattr(function, "__func__", function))
    return {name: value for name, value in options.items() if takes_all or name in names}


@functools.lru_cache(maxsize=8)
def _parameters(function: Callable[..., Any]) -> tuple[frozenset[str], bool]:
    """The names of a function's parameters, and whether it takes others."""
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return frozenset(parameters), takes_all


async def _result(answer: Any) -> Any:
    """What a function answers. One that a library has put in its place may be asynchronous."""
    return await answer if inspect.isawaitable(answer) else answer


def _code_and_cursor(content: Mapping[str, Any]) -> tuple[str, int]:
    code: str = content["code"]
    cursor = content.get("cursor_pos")
    return code, len(code) if cursor is None else cursor


def _status(error: BaseException | None) -> int:
    """The exit status of a process that ends so."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return int(error is not None)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} cannot be shown as text>"
