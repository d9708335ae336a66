"""The magics of any IPython shell. What their lines and cells mean is decided in Rust; here is only what IPython needs.

Not here: running plain cells, which is the shell's business, and showing a comparison, which `Comparison` does itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

from . import _twincell
from ._twincell import Comparison, TwincellError

Result = TypeVar("Result")


class LastRun:
    """What each notebook cell held when it last ran, for `%%compare --with-last`."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        #: By cell id.
        self.held: dict[str, str] = {}
        shell.events.register("post_run_cell", self._remember)

    def _remember(self, result: Any) -> None:
        # What was refused, by Python or by a magic, did not run; the version before it is what the next one is about.
        refused = result is None or result.error_before_exec or isinstance(result.error_in_exec, UsageError)
        cell_id = self._cell_id()
        if cell_id is not None and not refused:
            self.held[cell_id] = result.info.raw_cell

    def _cell_id(self) -> str | None:
        # Front ends send the id with the request to run the cell.
        metadata = getattr(self.shell, "parent_metadata", None)
        if metadata is None:
            request = self.shell.get_parent() if hasattr(self.shell, "get_parent") else {}
            metadata = request.get("metadata") or {}
        return metadata.get("cellId")

    def code(self) -> str | None:
        """What the running cell held when it last ran; `None` when it has not run before."""
        cell_id = self._cell_id()
        if cell_id is None:
            raise TwincellError("this front end does not say which cell runs: store versions with %%version instead")
        return self.held.get(cell_id)


@magics_class
class TwincellMagics(Magics):
    """`%%compare`, `%compare`, `%%version` and `%version`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.versions: dict[str, str] = {}
        self.last_run = LastRun(shell)

    @cell_magic("compare")
    def compare_cell(self, line: str, cell: str) -> Comparison | None:
        """Compare the two versions in the cell, separated by a line `# ---`; see `%%compare --help`."""
        comparison, code, message = one_line(self._compare_cell, line, cell)
        if message is not None:
            print(message)
        if code is not None:
            self.shell.run_cell(code, store_history=False)
        return comparison

    def _compare_cell(self, line: str, cell: str) -> tuple[Comparison | None, str | None, str | None]:
        last = self.last_run.code() if "--with-last" in line.split() else None
        return _twincell.compare_cell(line, cell, last)

    @line_magic("compare")
    def compare_stored(self, line: str) -> Comparison | None:
        """Compare two versions that `%%version` stored: `%compare OLD NEW`; see `%compare --help`."""
        comparison, message = one_line(_twincell.compare_stored, line, self.versions)
        if message is not None:
            print(message)
        return comparison

    @line_cell_magic
    def version(self, line: str, cell: str | None = None) -> None:
        """On a cell, `%%version NAME` stores its code under a name and does not run it; `%version` lists the names."""
        if cell is None:
            if line.strip():
                raise UsageError(f"write %%version {line.strip()} at the top of a cell to store it; %version lists")
            for name, code in self.versions.items():
                print(f"{name}: {len(code.splitlines())} lines")
            if not self.versions:
                print("no versions yet: write %%version NAME at the top of a cell")
            return
        name, help_text = one_line(_twincell.version_name, line, cell)
        if help_text is not None:
            print(help_text)
        if name is not None:
            self.versions[name] = cell


def one_line(function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function; what the user did wrong is shown in one line, without a traceback."""
    try:
        return function(*arguments)
    except TwincellError as error:
        raise UsageError(str(error)) from None


def load_ipython_extension(ipython: Any) -> None:
    """Registers the magics and what completes their options."""
    if ipython.magics_manager.registry.get(TwincellMagics.__name__) is not None:
        return
    magics = TwincellMagics(ipython)
    ipython.register_magics(magics)
    for name, is_cell in (("%%compare", True), ("%compare", False)):
        ipython.set_hook("complete_command", lambda *_, is_cell=is_cell: _twincell.magic_flags(is_cell), str_key=name)
