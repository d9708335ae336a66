"""The debugger of front ends: what the kernel answers to `debug_request`, with `debugpy`.

`debugpy` traces the kernel's threads and starts its adapter, a process of its own. This module stands between the
adapter and the front end: it names the files of cells, and leaves out what is of the kernel and not of the user. All of
it runs on the thread of the control channel, so it answers while a cell runs or stands at a breakpoint.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import leading_empty_lines

from . import _cell_files
from ._dap import Adapter, Content
from ._json import dumps

if TYPE_CHECKING:
    from .shell import ZMQInteractiveShell

NOT_STARTED = "the debugger is not started: send initialize first"
MISSING = "the debugger needs debugpy, which is not installed: pip install debugpy"
#: Names that IPython numbers: `_i3`, `_3`.
NUMBERED = re.compile(r"_i*\d*|__|___|_ii|_iii")
#: Seconds after which a thread that was let go is in the user's code.
MOMENT = 0.02
#: Requests that let the stopped threads go on.
RESUMING = ("continue", "next", "stepIn", "stepOut", "goto")
#: Threads that are not the user's. A name is all that is known of IPython's.
OWN_THREADS = ("shells", "control", "IPythonHistorySavingThread")
#: The packages that run cells. Their frames are left out.
RUNNERS = ("twincell", "IPython", "traitlets", "comm", "debugpy")


def is_available() -> bool:
    """Whether `debugpy` is installed. It is imported when a front end turns the debugger on."""
    return find_spec("debugpy") is not None


#: The file of the outermost frame, as Python calls it.
START = "<string>"


class Debugger:
    """Answers the requests of a front end's debugger."""

    def __init__(
        self, shell: ZMQInteractiveShell, publish: Callable[[Content], object], just_my_code: Callable[[], bool]
    ) -> None:
        self._shell = shell
        self._publish = publish
        self._just_my_code = just_my_code
        self._address: tuple[str, int] | None = None
        self._adapter: Adapter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._initialized = asyncio.Event()
        #: Whether the latest interrupt came while the main thread stood at a breakpoint, and what carries it on.
        self._has_held = False
        self._interrupting: asyncio.Task[None] | None = None
        self._exceptions: Content = {"filters": []}
        self._breakpoints: dict[str, list[Content]] = {}
        self._stopped: set[int] = set()
        #: Of the stopped threads: frames of modules, whose names are the notebook's or a file's, and what shows these.
        self._module_frames: set[int] = set()
        self._globals: set[int] = set()
        #: The variables that are shown while nothing is stopped, by their references.
        self._shown: dict[int, Any] = {}
        self._runners = tuple(_folders(RUNNERS))
        self._own = {
            "initialize": self._initialize,
            "attach": self._attach,
            "configurationDone": self._configured,
            "disconnect": self._disconnect,
            "debugInfo": self._info,
            "dumpCell": self._dump_cell,
            "source": self._source,
            "setBreakpoints": self._set_breakpoints,
            "setExceptionBreakpoints": self._set_exceptions,
            "threads": self._threads,
            "stackTrace": self._stack,
            "scopes": self._scopes,
            "variables": self._variables,
            "inspectVariables": self._inspect,
            "richInspectVariables": self._inspect_richly,
            "copyToGlobals": self._copy_to_globals,
            "modules": self._modules,
        }

    async def answer(self, request: Content) -> Content:
        """The response to a request of the protocol, or of Jupyter's additions to it."""
        command, number = request.get("command"), request.get("seq", 0)
        arguments = request.get("arguments") or {}
        try:
            if not isinstance(command, str) or not isinstance(arguments, dict):
                raise DebuggerError("a debug_request needs a command, and arguments by their names")
            own = self._own.get(command)
            response = await (self._forward(command, arguments) if own is None else own(arguments))
        except (DebuggerError, KeyError, TypeError, ValueError, OSError) as error:
            text = f"{command} lacks {error}" if isinstance(error, KeyError) else str(error)
            response = {"success": False, "message": text, "body": {}}
        return {**response, "seq": number, "type": "response", "request_seq": number, "command": command}

    def holds(self, frame: FrameType | None) -> bool:
        """Whether the main thread, which is interrupted in this frame, stands at a breakpoint.

        Then the debugger lets it go on and interrupts it again in the user's code. Here, an interrupt would leave the
        debugger in disorder.
        """
        while frame is not None and not of_debugger(frame.f_globals.get("__name__")):
            frame = frame.f_back
        if frame is None or self._loop is None or self._adapter is None:
            return False
        self._has_held = True
        self._loop.call_soon_threadsafe(self._start_interrupting)
        return True

    @property
    def is_on(self) -> bool:
        """Whether a front end has turned it on."""
        return self._adapter is not None

    @contextlib.contextmanager
    def stopping_at(self, lines: Mapping[str, int]) -> Iterator[None]:
        """Has a line of each of these files as a breakpoint, beside those of the front end, while a cell's thread runs.

        The thread of the control channel answers, so it cannot call this.
        """
        try:
            self._wait_for(self._add_breakpoints(lines))
            yield
        finally:
            # The front end may have turned the debugger off meanwhile.
            with contextlib.suppress(DebuggerError):
                self._wait_for(self._remove_breakpoints(lines))

    def _wait_for(self, change: Coroutine[Any, Any, None]) -> None:
        if self._loop is None or threading.current_thread().name in OWN_THREADS:
            change.close()
            raise DebuggerError(NOT_STARTED)
        asyncio.run_coroutine_threadsafe(change, self._loop).result()

    async def _add_breakpoints(self, lines: Mapping[str, int]) -> None:
        for path, line in lines.items():
            others = [one for one in self._breakpoints.get(path, ()) if one["line"] != line]
            arguments = {"source": {"path": path}, "breakpoints": [*others, {"line": line}]}
            response = await self._set_breakpoints(arguments)
            if not response.get("success"):
                raise DebuggerError(f"no breakpoint can be set: {response.get('message', '')}")

    async def _remove_breakpoints(self, lines: Mapping[str, int]) -> None:
        for path, line in lines.items():
            others = [one for one in self._breakpoints.get(path, ()) if one["line"] != line]
            await self._set_breakpoints({"source": {"path": path}, "breakpoints": others})
            if not others:
                self._breakpoints.pop(path, None)

    def _start_interrupting(self) -> None:
        if self._interrupting is None or self._interrupting.done():
            self._interrupting = asyncio.create_task(self._interrupt())

    async def _interrupt(self) -> None:
        for path in list(self._breakpoints):
            await self._forward("setBreakpoints", {"source": {"path": path}, "breakpoints": []})
        await self._forward("setExceptionBreakpoints", {"filters": []})
        while self._has_held and self._adapter is not None:
            for thread in sorted(self._stopped):
                await self._forward("continue", {"threadId": thread})
            await asyncio.sleep(MOMENT)
            self._has_held = False
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.sleep(MOMENT)
        # The front end may have set others meanwhile, or turned the debugger off.
        with contextlib.suppress(DebuggerError):
            for path, lines in list(self._breakpoints.items()):
                await self._forward("setBreakpoints", {"source": {"path": path}, "breakpoints": lines})
            await self._forward("setExceptionBreakpoints", self._exceptions)

    # The connection

    async def _initialize(self, arguments: Content) -> Content:
        self._loop = asyncio.get_running_loop()
        if self._adapter is None:
            if self._address is None:
                self._address = _listen()
            self._initialized.clear()
            self._adapter = await Adapter.connect(*self._address, self._on_event)
            self._keep_empty_lines(True)
        return await self._forward("initialize", arguments)

    async def _attach(self, arguments: Content) -> Content:
        if self._adapter is None or self._address is None:
            raise DebuggerError(NOT_STARTED)
        just_my_code = arguments.get("justMyCode", self._just_my_code())
        options = {
            "subProcess": False,
            "redirectOutput": False,
            **arguments,
            "connect": dict(zip(("host", "port"), self._address, strict=True)),
            "justMyCode": just_my_code,
            "rules": [{"path": os.path.join(folder, "**"), "include": False} for folder in self._runners],
        }
        if not just_my_code:
            options["debugOptions"] = ["DebugStdLib"]
        attached = self._adapter.send("attach", options)
        # The adapter answers once the configuration is done, and front ends wait for the answer before they say so.
        initialized = asyncio.ensure_future(self._initialized.wait())
        either: set[asyncio.Future[Any]] = {attached, initialized}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        initialized.cancel()
        if not attached.done():
            await self._adapter.send("configurationDone")
        return await attached

    async def _configured(self, _arguments: Content) -> Content:
        return _success()

    async def _disconnect(self, arguments: Content) -> Content:
        if self._adapter is None:
            return _success()
        response = await self._forward("disconnect", {**arguments, "restart": False, "terminateDebuggee": False})
        await self._adapter.close()
        self._adapter = None
        self._breakpoints.clear()
        self._exceptions = {"filters": []}
        self._forget_stop()
        self._stopped.clear()
        self._keep_empty_lines(False)
        return response

    async def _forward(self, command: str, arguments: Content) -> Content:
        if self._adapter is None:
            raise DebuggerError(NOT_STARTED)
        if command not in RESUMING:
            return await self._adapter.send(command, arguments)
        # There is no event for what was asked for. The next stop may come with the response, so this comes before.
        stopped = set(self._stopped)
        self._stopped.clear()
        response = await self._adapter.send(command, arguments)
        if not response.get("success"):
            self._stopped |= stopped
        return response

    def _on_event(self, event: Content) -> None:
        body = event.get("body") or {}
        match event.get("event"):
            case "initialized":
                self._initialized.set()
            case "stopped":
                self._forget_stop()
                self._stopped.add(body["threadId"])
            case "continued" if body.get("allThreadsContinued", True):
                self._stopped.clear()
            case "continued":
                self._stopped.discard(body["threadId"])
        self._publish(event)

    def _forget_stop(self) -> None:
        self._module_frames.clear()
        self._globals.clear()

    def _keep_empty_lines(self, is_on: bool) -> None:
        """Whether cells keep the empty lines before their first one, so that their lines are the front end's."""
        transforms = self._shell.input_transformer_manager.cleanup_transforms
        if is_on and leading_empty_lines in transforms:
            transforms.remove(leading_empty_lines)
        elif not is_on and leading_empty_lines not in transforms:
            transforms.insert(0, leading_empty_lines)

    async def _info(self, _arguments: Content) -> Content:
        return _success(
            isStarted=self._adapter is not None,
            hashMethod=_cell_files.HASH_METHOD,
            hashSeed=_cell_files.HASH_SEED,
            tmpFilePrefix=_cell_files.PREFIX,
            tmpFileSuffix=_cell_files.SUFFIX,
            breakpoints=[{"source": path, "breakpoints": lines} for path, lines in self._breakpoints.items()],
            stoppedThreads=sorted(self._stopped),
            richRendering=True,
            exceptionPaths=["Python Exceptions"],
            copyToGlobals=True,
        )

    # Sources and breakpoints

    async def _dump_cell(self, arguments: Content) -> Content:
        path = _cell_files.name_of(arguments["code"])
        _cell_files.write(path, arguments["code"])
        return _success(sourcePath=path)

    async def _source(self, arguments: Content) -> Content:
        path = arguments["source"]["path"]
        try:
            return _success(content=Path(path).read_text("utf-8", "replace"))
        except OSError as error:
            raise DebuggerError(f"the source {path} cannot be read: {error.strerror}") from None

    async def _set_breakpoints(self, arguments: Content) -> Content:
        response = await self._forward("setBreakpoints", arguments)
        if response.get("success"):
            asked, path = arguments.get("breakpoints") or [], arguments["source"]["path"]
            set_at = [{**one, "line": found.get("line", one["line"])} for one, found in _pairs(asked, response)]
            self._breakpoints[path] = set_at
        return response

    async def _set_exceptions(self, arguments: Content) -> Content:
        response = await self._forward("setExceptionBreakpoints", arguments)
        if response.get("success"):
            self._exceptions = arguments
        return response

    # What stopped

    async def _threads(self, arguments: Content) -> Content:
        response = await self._forward("threads", arguments)
        threads = response.get("body", {}).get("threads")
        if threads is not None:
            response["body"]["threads"] = [thread for thread in threads if thread["name"] not in OWN_THREADS]
        return response

    async def _stack(self, arguments: Content) -> Content:
        response = await self._forward("stackTrace", arguments)
        frames = response.get("body", {}).get("stackFrames")
        if frames is None:
            return response
        paths = [(frame.get("source") or {}).get("path") or "" for frame in frames]
        is_runner = [path.startswith(self._runners) for path in paths]
        end = len(frames)
        if any(is_runner):
            # Below the outermost cell are the kernel and Python's event loop.
            cells = [position for position, path in enumerate(paths) if path.startswith(_cell_files.PREFIX)]
            end = cells[-1] + 1 if cells else is_runner.index(True)
        elif paths and paths[-1].endswith(START):
            # The command that has started the kernel.
            end -= 1
        kept = [frame for frame, hidden in zip(frames[:end], is_runner, strict=False) if not hidden]
        self._module_frames.update(frame["id"] for frame in kept if frame["name"] == "<module>")
        response["body"].update(stackFrames=kept, totalFrames=len(kept))
        return response

    async def _scopes(self, arguments: Content) -> Content:
        response = await self._forward("scopes", arguments)
        of_module = arguments["frameId"] in self._module_frames
        for scope in response.get("body", {}).get("scopes", ()):
            if of_module or scope.get("presentationHint") != "locals" and scope["name"] != "Locals":
                self._globals.add(scope["variablesReference"])
        return response

    # Variables

    async def _variables(self, arguments: Content) -> Content:
        reference = arguments["variablesReference"]
        if not self._stopped:
            if reference not in self._shown:
                raise DebuggerError("this variable is not shown any more")
            return _success(variables=self._children(self._shown[reference]))
        response = await self._forward("variables", arguments)
        if reference in self._globals and "variables" in response.get("body", {}):
            variables = response["body"]["variables"]
            response["body"]["variables"] = [one for one in variables if self._is_the_users(one["name"])]
        return response

    async def _inspect(self, _arguments: Content) -> Content:
        """The variables of the notebook while nothing is stopped."""
        self._shown.clear()
        variables = []
        for name, value in sorted(dict(self._shell.user_ns).items()):
            if self._is_the_users(name):
                variables.append(self._show(name, value).get_var_data())
        return _success(variables=variables)

    def _show(self, name: str, value: Any) -> Any:
        _import()
        from _pydevd_bundle.pydevd_api import PyDevdAPI
        from _pydevd_bundle.pydevd_suspended_frames import _ObjectVariable

        presentation = SimpleNamespace(variable_presentation=PyDevdAPI.VariablePresentation())
        return _ObjectVariable(presentation, name, value, self._remember, evaluate_name=name)

    def _remember(self, variable: Any) -> None:
        self._shown[variable.get_variable_reference()] = variable

    def _children(self, variable: Any) -> list[Content]:
        return [child.get_var_data() for child in variable.get_children_variables()]

    def _is_the_users(self, name: str) -> bool:
        """Whether a name of the notebook is one that the user made."""
        is_dunder = name.startswith("__") and name.endswith("__")
        return not is_dunder and name not in self._shell.user_ns_hidden and NUMBERED.fullmatch(name) is None

    async def _inspect_richly(self, arguments: Content) -> Content:
        """What a variable shows as the value of a cell."""
        name = arguments["variableName"]
        if not name.isidentifier():
            # Groups of variables have names, too, and nothing to show.
            return _success(data={}, metadata={})
        frame = arguments.get("frameId")
        if self._stopped and frame is not None:
            expression = f"__import__('twincell._debugging', fromlist=['rich']).rich({name})"
            asked = {"expression": expression, "frameId": frame, "context": "clipboard"}
            response = await self._forward("evaluate", asked)
            if not response.get("success"):
                raise DebuggerError(f"{name} cannot be shown: {response.get('message', '')}")
            text = response["body"]["result"]
            bundle = json.loads(ast.literal_eval(text) if text.startswith(("'", '"')) else text)
        elif name in self._shell.user_ns:
            bundle = json.loads(rich(self._shell.user_ns[name]))
        else:
            raise DebuggerError(f"the notebook has no variable {name}")
        return _success(**bundle)

    async def _copy_to_globals(self, arguments: Content) -> Content:
        source, target = arguments["srcVariableName"], arguments["dstVariableName"]
        if not source.isidentifier() or not target.isidentifier():
            raise DebuggerError("a variable is copied under a name of Python")
        expression = f"__import__('IPython').get_ipython().user_ns['{target}']"
        asked = {"expression": expression, "value": source, "frameId": arguments["srcFrameId"]}
        return await self._forward("setExpression", asked)

    async def _modules(self, arguments: Content) -> Content:
        loaded = list(sys.modules.copy().items())
        first, count = arguments.get("startModule", 0), arguments.get("moduleCount") or len(loaded)
        found = []
        for number, (name, module) in enumerate(loaded[first : first + count], first):
            path = getattr(getattr(module, "__spec__", None), "origin", None)
            if isinstance(path, str) and path.endswith(".py"):
                found.append({"id": number, "name": name, "path": path})
        return _success(modules=found, totalModules=len(loaded))


class DebuggerError(Exception):
    """Why a request of the debugger is not carried out."""


def rich(value: Any) -> str:
    """A value's MIME bundle, as JSON. It is called in the frame that is inspected."""
    from IPython import get_ipython

    data, metadata = get_ipython().display_formatter.format(value)
    return dumps({"data": data, "metadata": metadata})


def of_debugger(module: object) -> bool:
    """Whether a module is one of `debugpy`, by its name."""
    return isinstance(module, str) and module.startswith(("pydevd", "_pydevd", "debugpy"))


def _listen() -> tuple[str, int]:
    """Starts to trace, and the adapter. Returns its address."""
    debugpy = _import()
    for thread in threading.enumerate():
        if thread.name in OWN_THREADS:
            # The debugger must never stop the thread that answers it.
            thread.pydev_do_not_trace = True  # type: ignore[attr-defined]
    debugpy.configure(subProcess=False)
    try:
        address: tuple[str, int] = debugpy.listen(("127.0.0.1", 0))
    except RuntimeError as error:
        raise DebuggerError(f"the debugger cannot be started: {error}") from None
    return address


def _import() -> Any:
    try:
        import debugpy
    except ImportError:
        raise DebuggerError(MISSING) from None
    return debugpy


def _folders(packages: tuple[str, ...]) -> Iterator[str]:
    for name in packages:
        with contextlib.suppress(ImportError):
            spec = find_spec(name)
            if spec is not None:
                yield from (folder + os.sep for folder in spec.submodule_search_locations or ())


def _pairs(asked: list[Content], response: Content) -> Iterator[tuple[Content, Content]]:
    return zip(asked, response.get("body", {}).get("breakpoints", ()), strict=False)


def _success(**body: Any) -> Content:
    return {"success": True, "body": body}
