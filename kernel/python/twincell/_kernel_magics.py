"""The magics that ipykernel adds to IPython's: they talk to the front end, or about the kernel."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core import page
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.display import Javascript, display
from IPython.utils import openpy
from IPython.utils.process import arg_split  # type: ignore[attr-defined]

from . import _connect

if TYPE_CHECKING:
    from .shell import ZMQInteractiveShell


@magics_class
class KernelMagics(Magics):
    """Magics of a kernel. They replace those of IPython that need a terminal."""

    shell: ZMQInteractiveShell

    @line_magic
    def autosave(self, line: str) -> None:
        """Set how often the classic notebook saves itself, in seconds: `%autosave 120`. With 0 it does not."""
        try:
            seconds = int(line)
        except ValueError:
            raise UsageError(f"%autosave takes a number of seconds, not {line!r}") from None
        script = f"IPython.notebook.set_autosave_interval({1000 * seconds})"
        display(Javascript(script), include=["application/javascript"])
        print(f"Autosaving every {seconds} seconds" if seconds else "Autosave disabled")

    @line_magic
    def clear(self, line: str) -> None:
        """Clear the terminal."""
        self.shell.system("clear")

    @line_magic
    def connect_info(self, line: str) -> None:
        """Print how other clients connect to this kernel."""
        path = Path(_connect.get_connection_file())
        name = path.name if path.parent == _connect.runtime_folder() else path
        print(
            f"{_connect.get_connection_info()}\n\n"
            "Paste the above JSON into a file, and connect with:\n"
            "    $> jupyter <app> --existing <file>\n"
            "or, if you are local, you can connect with just:\n"
            f"    $> jupyter <app> --existing {name}\n"
            "or even just:\n"
            "    $> jupyter <app> --existing\n"
            "if this is the most recent Jupyter kernel you have started."
        )

    @line_magic
    def edit(self, line: str = "", last_call: list[str] | None = None) -> None:
        """Have the front end open an editor: `%edit [-n NUMBER] [-p] [-r] [file, name, object or lines of input]`.

        The kernel does not learn when the editor is closed, so it runs nothing of the file.
        """
        from IPython.core.magics.code import CodeMagics, MacroToEdit

        options, arguments = self.parse_options(line, "prn:")
        try:
            filename, number, _ = CodeMagics._find_edit_target(self.shell, arguments, options, last_call or ["", ""])
        except MacroToEdit:
            raise UsageError("%edit cannot open a macro in a notebook; %macro shows and changes it") from None
        if filename is not None:
            place = {"filename": str(Path(filename).resolve()), "line_number": number and int(number)}
            self.shell.payload_manager.write_payload({"source": "edit_magic", **place})

    @line_magic
    def less(self, line: str) -> None:
        """Show a file in the pager. Python is colored."""
        self._show_file(line)

    @line_magic
    def more(self, line: str) -> None:
        """Show a file in the pager, as `%less` does."""
        self._show_file(line)

    def _show_file(self, line: str) -> None:
        if not line:
            raise UsageError("%less and %more take the name of a file")
        if line.endswith(".py"):
            text = self.shell.pycolorize(openpy.read_py_file(line, skip_encoding_cookie=False))
        else:
            text = Path(line).read_text(encoding="utf-8", errors="replace")
        page.page(text)

    @line_magic
    def man(self, line: str) -> None:
        """Show the manual of a command in the pager."""
        page.page(self.shell.getoutput(f"man {line} | col -b", split=False))

    @line_magic
    def qtconsole(self, line: str) -> None:
        """Open a Qt console that is connected to this kernel."""
        try:
            _connect.connect_qtconsole(argv=arg_split(line, True))
        except ImportError as error:
            raise UsageError(str(error)) from None

    @line_magic
    def subshell(self, line: str) -> None:
        """Print which subshell runs this cell, and which others there are."""
        kernel = self.shell.kernel
        print(f"subshell id: {kernel.get_parent()['header'].get('subshell_id')}")
        print(f"thread id: {threading.get_ident()}")
        print(f"main thread id: {threading.main_thread().ident}")
        print(f"pid: {os.getpid()}")
        print(f"thread count: {threading.active_count()}")
        print(f"subshell list: {kernel.connection.subshells()}")
