"""IPython's shell, with its output sent as messages. What requests mean is in `kernel.py`."""

from __future__ import annotations

import os
from typing import Any

from IPython.core import page
from IPython.core.autocall import ZMQExitAutocall
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell, InteractiveShellABC
from IPython.utils.process import system
from traitlets import Any as AnyTrait
from traitlets import CBool, Instance, Type, default

from ._output import Output


class MessageDisplayHook(DisplayHook):
    """Shows the value of a cell's last expression as an `execute_result`."""

    output: Output
    _message: dict[str, Any] | None = None

    def start_displayhook(self) -> None:
        self._message = {"data": {}, "metadata": {}}

    def write_output_prompt(self) -> None:
        self._message["execution_count"] = self.prompt_count

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self._message.update(data=format_dict, metadata=md_dict or {})

    def finish_displayhook(self) -> None:
        message, self._message = self._message, None
        if message and message["data"]:
            self.output.publish("execute_result", message)

    @property
    def is_showing(self) -> bool:
        return self._message is not None


class MessageDisplayPublisher(DisplayPublisher):
    """`display`, `update_display` and `clear_output` as messages."""

    output: Output

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_deprecated: Any,
    ) -> None:
        content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
        self.output.publish("update_display_data" if update else "display_data", content)

    def clear_output(self, wait: bool = False) -> None:
        self.output.publish("clear_output", {"wait": wait})


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

    def __init__(self, *, output: Output, **options: Any) -> None:
        self.output = output
        #: The metadata of the request that is handled; JupyterLab puts the cell's id there, as `cellId`.
        self.parent_metadata: dict[str, Any] = {}
        #: The formatted traceback of the cell that runs, when it failed.
        self.last_traceback: list[str] | None = None
        #: Whether the value of the cell could not be shown.
        self.display_failed = False
        super().__init__(**options)
        self.displayhook.output = output
        self.display_pub.output = output

    @default("exiter")
    def _default_exiter(self) -> ZMQExitAutocall:
        return ZMQExitAutocall(self)

    def init_environment(self) -> None:
        # Programs that cells start write into the notebook: with colors, without a pager.
        os.environ.update(TERM="xterm-color", CLICOLOR="1", FORCE_COLOR="1", CLICOLOR_FORCE="1")
        os.environ.update(PAGER="cat", GIT_PAGER="cat")
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")

    def init_virtualenv(self) -> None:
        """The kernel runs in the environment that it is installed in, whichever is active outside."""

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

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        if self.displayhook.is_showing:
            self.display_failed = True
        try:
            text = str(evalue)
        except Exception:
            text = ""
        self.output.publish("error", {"ename": etype.__name__, "evalue": text, "traceback": stb})
        self.last_traceback = stb

    def system_piped(self, cmd: str) -> None:
        """Runs a program and shows what it writes."""
        if cmd.rstrip().endswith("&"):
            raise OSError("background processes are not supported in cells; use subprocess.Popen")
        # The status is no value of the cell, or it would be shown as its result.
        self.user_ns["_exit_code"] = system(self.var_expand(cmd, depth=1))

    system = system_piped


InteractiveShellABC.register(ZMQInteractiveShell)
