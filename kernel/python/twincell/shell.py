"""IPython's shell, which sends its output as messages. `kernel.py` handles the requests."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from IPython.core import page
from IPython.core.autocall import ZMQExitAutocall
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell, InteractiveShellABC
from IPython.utils.process import system  # type: ignore[attr-defined]
from traitlets import Any as AnyTrait
from traitlets import CBool, Instance, Type, default

from ._output import Output

if TYPE_CHECKING:
    from IPython.core.history import HistoryManager
    from IPython.core.payload import PayloadManager

HistoryOutput: Callable[..., object] | None
try:
    from IPython.core import history

    HistoryOutput = history.HistoryOutput
except AttributeError:  # before IPython 9
    HistoryOutput = None


class MessageDisplayHook(DisplayHook):
    """Shows the value of a cell's last expression as an `execute_result`."""

    output: Output

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: One value for each thread, since subshells show results, too.
        self._now = threading.local()

    def start_displayhook(self) -> None:
        self._now.message = {"data": {}, "metadata": {}}

    def write_output_prompt(self) -> None:
        self._now.message["execution_count"] = self.prompt_count

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self._now.message.update(data=format_dict, metadata=md_dict or {})

    def finish_displayhook(self) -> None:
        message, self._now.message = self._now.message, None
        if message and message["data"]:
            self.output.publish("execute_result", message)

    @property
    def is_showing(self) -> bool:
        return getattr(self._now, "message", None) is not None


class MessageDisplayPublisher(DisplayPublisher):
    """`display`, `update_display` and `clear_output` as messages."""

    output: Output

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
        self.shell.remember("display_data", data)
        self.output.publish("update_display_data" if update else "display_data", content)

    def clear_output(self, wait: bool = False) -> None:
        self.output.publish("clear_output", {"wait": wait})


class CellOutcome(threading.local):
    """The outcome of the cell that the current thread runs."""

    #: The formatted traceback, if the cell failed.
    traceback: list[str] | None = None
    #: Whether showing the cell's value failed.
    display_failed = False
    #: The cell's number in the history.
    count = 0


# Many packages (rich, tqdm, plotly and others) ask for exactly this class name to learn whether they run in a notebook.
class ZMQInteractiveShell(InteractiveShell):
    """The shell that runs cells."""

    displayhook_class = Type(MessageDisplayHook)
    display_pub_class = Type(MessageDisplayPublisher)
    autoindent = CBool(False)
    exiter = Instance(ZMQExitAutocall)
    kernel = AnyTrait()
    #: Whether `exit(keep_kernel=True)` ended the front end only.
    keepkernel_on_exit: bool | None = None

    if TYPE_CHECKING:
        # Traits of IPython that are None only until the shell is made.
        displayhook: MessageDisplayHook
        display_pub: MessageDisplayPublisher
        history_manager: HistoryManager
        payload_manager: PayloadManager

    def __init__(self, *, output: Output, **options: Any) -> None:
        self.output = output
        #: The outcome of the cell that each thread runs.
        self.outcome = CellOutcome()
        super().__init__(**options)
        self.displayhook.output = output
        self.display_pub.output = output

    @property
    def parent_metadata(self) -> dict[str, Any]:
        """The metadata of the current request. JupyterLab puts the cell's id there, as `cellId`."""
        metadata: dict[str, Any] = self.output.parent_message.get("metadata", {})
        return metadata

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

    def init_environment(self) -> None:
        # Programs that cells start write into the notebook, with colors and without a pager.
        os.environ.update(TERM="xterm-color", CLICOLOR="1", FORCE_COLOR="1", CLICOLOR_FORCE="1")
        os.environ.update(PAGER="cat", GIT_PAGER="cat")
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")

    def init_virtualenv(self) -> None:
        """Does nothing: the kernel runs in the environment that it is installed in, whichever is active outside."""

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(self._page), 99)

    def _page(self, text: str | dict[str, Any], start: int = 0, **_terminal: Any) -> None:
        data = text if isinstance(text, dict) else {"text/plain": text}
        self.payload_manager.write_payload({"source": "page", "data": data, "start": max(0, start)})

    def enable_gui(self, gui: str | None = None) -> None:
        if gui not in (None, "inline", "none"):
            raise UsageError(f"the event loop {gui!r} is not supported; figures are shown with: %matplotlib inline")

    def ask_exit(self) -> None:
        """Called by `exit` and `quit`."""
        self.exit_now = not self.keepkernel_on_exit
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": bool(self.keepkernel_on_exit)})

    def set_next_input(self, text: str, replace: bool = False) -> None:
        self.payload_manager.write_payload({"source": "set_next_input", "text": text, "replace": replace})

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        if self.displayhook.is_showing:
            self.outcome.display_failed = True
        try:
            text = str(evalue)
        except Exception:
            text = ""
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
