"""IPython's shell, which sends its output as messages. `kernel.py` handles the requests."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core import page
from IPython.core.autocall import ZMQExitAutocall
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell, InteractiveShellABC
from IPython.utils.process import system  # type: ignore[attr-defined]
from traitlets import Any as AnyTrait
from traitlets import Bool, CBool, Instance, Type, default, observe

from . import _cell_files, _debugging, _gui
from ._kernel_magics import KernelMagics
from ._messages import Session, Socket
from ._output import Attributed, Output
from ._serve import Kernel

if TYPE_CHECKING:
    from IPython.core.extensions import ExtensionManager
    from IPython.core.history import HistoryManager
    from IPython.core.payload import PayloadManager

#: Takes a message and returns it, or another one, or None.
Hook = Callable[[dict[str, Any]], "dict[str, Any] | None"]

#: The most bytes of a cell's displays that are kept for `%notebook`.
KEPT_LIMIT = 1 << 20

HistoryOutput: Callable[..., object] | None
try:
    from IPython.core import history

    HistoryOutput = history.HistoryOutput
except AttributeError:  # before IPython 9
    HistoryOutput = None


class Hooked(Attributed):
    """Shows messages to hooks before they are sent. A hook returns the message to send, or
    None to send nothing."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._of_thread = threading.local()

    @property
    def _hooks(self) -> list[Hook]:
        hooks: list[Hook] | None = getattr(self._of_thread, "hooks", None)
        if hooks is None:
            hooks = self._of_thread.hooks = []
        return hooks

    def register_hook(self, hook: Hook) -> None:
        """Adds a hook for the messages of this thread."""
        self._hooks.append(hook)

    def unregister_hook(self, hook: Hook) -> bool:
        """Removes a hook. Returns whether there was one."""
        try:
            self._hooks.remove(hook)
        except ValueError:
            return False
        return True

    def _publish(self, msg_type: str, content: dict[str, Any]) -> int:
        """Returns the length of what was sent, in bytes. A message that hooks have seen counts as nothing."""
        if not self._hooks:
            return self.output.publish(msg_type, content)
        message = self.session.msg(msg_type, content, self.output.parent_message)
        for hook in self._hooks:
            changed = hook(message)
            if changed is None:
                return 0
            message = changed
        self.session.send(self.pub_socket, message)
        return 0

    @property
    def session(self) -> Session:
        return self.output.session

    @property
    def pub_socket(self) -> Socket:
        return self.output.iopub


class ZMQShellDisplayHook(Hooked, DisplayHook):
    """Shows the value of a cell's last expression as an `execute_result`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: One value for each thread, since subshells show results, too.
        self._now = threading.local()

    def start_displayhook(self) -> None:
        # IPython remembers the result next.
        if self.shell is not None:
            self.shell.remember()
        self._now.message = {"data": {}, "metadata": {}}

    def write_output_prompt(self) -> None:
        self._now.message["execution_count"] = self.prompt_count

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self._now.message.update(data=format_dict, metadata=md_dict or {})

    def finish_displayhook(self) -> None:
        message, self._now.message = self._now.message, None
        if message and message["data"]:
            self._publish("execute_result", message)

    @property
    def is_showing(self) -> bool:
        return getattr(self._now, "message", None) is not None


class ZMQDisplayPublisher(Hooked, DisplayPublisher):
    """`display`, `update_display` and `clear_output` as messages."""

    store_display_history = Bool(
        False, help=f"Keep all displayed data for %notebook, not only {KEPT_LIMIT >> 20} MiB of each cell."
    ).tag(config=True)

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: object = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_deprecated: Any,
    ) -> None:
        content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
        length = self._publish("update_display_data" if update else "display_data", content)
        # A cell that shows many pictures must not fill the memory.
        if self.store_display_history or self.shell.kept_displays[self.shell.outcome.count] + length <= KEPT_LIMIT:
            self.shell.kept_displays[self.shell.outcome.count] += length
            self.shell.remember("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self._publish("clear_output", {"wait": wait})


class CellOutcome(threading.local):
    """The outcome of the cell that the current thread runs."""

    #: The formatted traceback, if the cell failed.
    traceback: list[str] | None = None
    #: Whether showing the cell's value failed.
    display_failed = False
    #: The cell's number in the history.
    count = 0


# Many packages (rich, tqdm, plotly and others) ask for exactly this class name to learn whether they run in a notebook.
class ZMQInteractiveShell(Attributed, InteractiveShell):
    """The shell that runs cells."""

    displayhook_class = Type(ZMQShellDisplayHook)
    display_pub_class = Type(ZMQDisplayPublisher)
    autoindent = CBool(False)
    exiter = Instance(ZMQExitAutocall)
    kernel = AnyTrait()
    #: Whether `exit(keep_kernel=True)` ended the front end only.
    keepkernel_on_exit: bool | None = None

    if TYPE_CHECKING:
        # Traits of IPython that are None only until the shell is made.
        displayhook: ZMQShellDisplayHook
        display_pub: ZMQDisplayPublisher
        extension_manager: ExtensionManager
        history_manager: HistoryManager
        payload_manager: PayloadManager

    def __init__(self, *, output: Output, **options: Any) -> None:
        self.output = output
        #: The outcome of the cell that each thread runs.
        self.outcome = CellOutcome()
        #: The bytes of displays that are kept for `%notebook`, by the number of the cell.
        self.kept_displays: Counter[int] = Counter()
        super().__init__(**options)
        self.displayhook.output = output
        self.display_pub.output = output

    @property
    def parent_metadata(self) -> dict[str, Any]:
        """The metadata of the current request. JupyterLab puts the cell's id there, as `cellId`."""
        metadata: dict[str, Any] = self.output.parent_message.get("metadata", {})
        return metadata

    @property
    def parent_header(self) -> Mapping[str, Any]:
        """The current request: of the shell, ipykernel calls the whole message so."""
        return self.output.parent_message

    @parent_header.setter
    def parent_header(self, parent: Mapping[str, Any]) -> None:
        self.output.attribute(parent)

    def get_parent(self) -> dict[str, Any]:
        """The current request, as under ipykernel."""
        return self.output.parent_message

    @contextlib.contextmanager
    def _tee(self, channel: str) -> Iterator[None]:
        # IPython would put its own function before `write`, which is several times as slow as `write` itself.
        self.outcome.count = self.execution_count
        with self.output.recording():
            yield
        self.remember()

    def remember(self, output_type: str | None = None, bundle: dict[str, Any] | None = None) -> None:
        """Adds the text written so far, and then an output, to the history that `%notebook` exports."""
        outputs = getattr(self.history_manager, "outputs", None)
        if outputs is None or HistoryOutput is None:
            return
        of_cell = outputs[self.outcome.count]
        for name, text in self.output.recorded():
            kind = "out_stream" if name == "stdout" else "err_stream"
            of_cell.append(HistoryOutput(output_type=kind, bundle={"stream": [text]}))
        if output_type is not None:
            of_cell.append(HistoryOutput(output_type=output_type, bundle=bundle))

    @default("exiter")
    def _default_exiter(self) -> ZMQExitAutocall:
        return ZMQExitAutocall(self)

    @default("compiler_class")
    def _default_compiler_class(self) -> type:
        return _cell_files.FileCompiler if _debugging.is_available() else _cell_files.NamedCompiler

    def init_environment(self) -> None:
        # Programs that cells start write into the notebook, with colors and without a pager.
        os.environ.update(TERM="xterm-color", CLICOLOR="1", FORCE_COLOR="1", CLICOLOR_FORCE="1")
        os.environ.update(PAGER="cat", GIT_PAGER="cat")
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        # debugpy warns about Python's frozen modules in the cell that imports it.
        os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        # The name of a cell of another kernel, which started this one.
        os.environ.pop(_cell_files.NAME, None)

    def init_virtualenv(self) -> None:
        """Does nothing: the kernel runs in the environment that it is installed in, whichever is active outside."""

    def init_user_ns(self) -> None:
        super().init_user_ns()
        # `%reset` takes all names away. A process that is spawned asks for these, which every module has.
        for name in ("__doc__", "__loader__", "__package__", "__spec__"):
            self.user_ns.setdefault(name, None)

    def init_extension_manager(self) -> None:
        super().init_extension_manager()
        # What C code writes is output of the cell already, and wurlitzer would take it away.
        self.extension_manager.loaded.add("wurlitzer")

    def init_magics(self) -> None:
        super().init_magics()
        self.register_magics(KernelMagics)
        self.magics_manager.register_alias("ed", "edit")

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(self._page), 99)

    def _page(self, text: str | dict[str, Any], start: int = 0, **_terminal: Any) -> None:
        data = text if isinstance(text, dict) else {"text/plain": text}
        self.payload_manager.write_payload({"source": "page", "data": data, "start": max(0, start)})

    def enable_gui(self, gui: str | None = None) -> None:
        _gui.enable(self.kernel, gui)
        self.active_eventloop = gui

    def ask_exit(self) -> None:
        """Called by `exit` and `quit`."""
        self.exit_now = not self.keepkernel_on_exit
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": bool(self.keepkernel_on_exit)})

    @observe("exit_now")
    def _wake_main(self, _change: Any) -> None:
        """A subshell, a thread or a task may end the kernel while the main shell waits for a request."""
        self.kernel.connection.requests().wake()

    def set_next_input(self, text: str, replace: bool = False) -> None:
        self.payload_manager.write_payload({"source": "set_next_input", "text": text, "replace": replace})

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        kind, value, trace = super()._get_exc_info(exc_tuple)
        # An interrupt is raised by the kernel, in the frame after the one of the user's code.
        last = trace
        while last is not None and last.tb_next is not None:
            if last.tb_next.tb_frame.f_code is Kernel.on_interrupt.__code__:
                last.tb_next = None
            else:
                last = last.tb_next
        return kind, value, trace

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        if self.displayhook.is_showing:
            self.outcome.display_failed = True
        try:
            text = str(evalue)
        except Exception:
            text = ""
        if self.kernel.is_forked:
            print(*stb, sep="\n", file=sys.stderr)
        self.output.publish("error", {"ename": etype.__name__, "evalue": text, "traceback": stb})
        self.outcome.traceback = stb

    def system_piped(self, cmd: str) -> None:
        """Runs a program and shows what it writes."""
        if cmd.rstrip().endswith("&"):
            raise OSError("background processes are not supported in cells; use subprocess.Popen")
        # The status is not the cell's value, or it would be shown as the result.
        self.user_ns["_exit_code"] = system(self.var_expand(cmd, depth=1))

    system = system_piped


InteractiveShellABC.register(ZMQInteractiveShell)
# Packages look at the modules of these classes, too.
ZMQInteractiveShell.__module__ = ZMQDisplayPublisher.__module__ = "ipykernel.zmqshell"
ZMQShellDisplayHook.__module__ = "ipykernel.displayhook"
