"""The magics for any IPython shell. Rust interprets their lines and cells; this module holds only what IPython needs.

It does not run plain cells, which the shell does, nor show a comparison, which `Comparison` does itself.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class
from IPython.display import display

from . import _twincell
from ._progress import Progress
from ._shown import show_as
from ._twincell import (
    Amplification,
    Blame,
    Comparison,
    Impact,
    Predictions,
    Prefixes,
    PrefixStudy,
    Slice,
    Study,
    TwincellError,
)

if TYPE_CHECKING:
    from ._rust_magic import Rust

Result = TypeVar("Result")

NO_CELL_ID = "this front end does not say which cell runs"


class LastRun:
    """The code that each notebook cell held when it last ran, for `%%compare --with-last` and `%autocompare`."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        #: The code by cell id.
        self.held: dict[str, str] = {}
        #: Called after a cell ran again, with its earlier and its present code.
        self.on_rerun: Callable[[str, str], None] | None = None
        shell.events.register("post_run_cell", self._remember)

    def _remember(self, result: Any) -> None:
        # A cell that Python or a magic refused did not run. The next version is compared with the one before it.
        refused = result is None or result.error_before_exec or isinstance(result.error_in_exec, UsageError)
        # What a magic such as `%%capture` runs in a cell is not stored in the history.
        cell_id = None if refused or not result.info.store_history else self.cell_id()
        if cell_id is None:
            return
        before, now = self.held.get(cell_id), result.info.raw_cell
        self.held[cell_id] = now
        if self.on_rerun is not None and before is not None and before != now and result.success:
            self.on_rerun(before, now)

    def cell_id(self) -> str | None:
        """The id of the running cell; `None` where the front end does not say."""
        # Front ends send the cell's id with the request to run it.
        request = self.shell.get_parent() if hasattr(self.shell, "get_parent") else {}
        cell_id: str | None = (request.get("metadata") or {}).get("cellId")
        return cell_id

    def code(self) -> str | None:
        """The code that the running cell held when it last ran; `None` when it has not run before."""
        cell_id = self.cell_id()
        if cell_id is None:
            raise TwincellError(f"{NO_CELL_ID}: store versions with %%version instead")
        return self.held.get(cell_id)


@magics_class
class TwincellMagics(Magics):
    """`%%compare`, `%%version`, `%autocompare`, `%predict`, `%prefix`, `%study`, `%amplify`, `%slice`, `%blame`.

    `%impact` says what a change may reach, and `%%rust` runs cells in Rust.
    """

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.versions: dict[str, str] = {}
        self.last_run = LastRun(shell)
        self._autocompare: _twincell.Autocompare | None = None
        self._rust: Rust | None = None

    @cell_magic("compare")  # type: ignore[arg-type]  # IPython's annotation knows no name in parentheses
    def compare_cell(self, line: str, cell: str) -> Comparison | None:
        """Compare the two versions in the cell, separated by a line `# ---`; see `%%compare --help`."""

        def compare(progress: Progress) -> _twincell.MagicOutcome:
            last = self.last_run.code() if "--with-last" in line.split() else None
            return _twincell.compare_cell(line, cell, last, progress, self._notebook(cell))

        return self._show(self._watched(compare, alone=True))

    @line_magic("compare")  # type: ignore[arg-type]
    def compare_stored(self, line: str) -> Comparison | None:
        """Compare two versions that `%%version` stored: `%compare OLD NEW`; see `%compare --help`."""

        def compare(progress: Progress) -> _twincell.MagicOutcome:
            return _twincell.compare_stored(line, self.versions, progress, self._notebook())

        return self._show(self._watched(compare, alone=False))

    @line_magic
    def autocompare(self, line: str) -> None:
        """`%autocompare on`: compare each cell that runs again with its earlier content; see `--help`."""
        is_on, settings, help_text = one_line(_twincell.autocompare, line)
        if help_text is not None:
            print(help_text)
            return
        if is_on is not None:
            self._autocompare = settings
            self.last_run.on_rerun = self._compare_rerun if is_on else None
        if self._autocompare is None:
            print("autocompare is off")
        elif self.last_run.cell_id() is None:
            print(f"autocompare is on, but {NO_CELL_ID}, so nothing is compared: store versions with %%version")
        else:
            print("autocompare is on: a cell that runs again is compared with what it held before")

    def _notebook(self, running: str = "") -> tuple[dict[str, Any], list[str]]:
        """What the notebook holds, and the cells that ran before the running one, in order."""
        manager = getattr(self.shell, "history_manager", None)
        cells = list(getattr(manager, "input_hist_raw", ()))
        if running and cells and cells[-1].strip().endswith(running.strip()):
            cells.pop()
        return self.shell.user_ns, cells

    def _named(self, name: str) -> Any:
        """A stored version, the notebook's object of this name, or a path."""
        if name in self.versions:
            return self.versions[name]
        first, *attributes = name.split(".")
        with suppress(AttributeError, KeyError):
            return reduce(member, attributes, self.shell.user_ns[first])
        if not Path(name).exists():
            raise UsageError(f"there is no function, class, version or file {name} here")
        return Path(name)

    @line_cell_magic
    def predict(self, line: str, cell: str | None = None) -> Predictions | None:
        """Show expected values: `%predict NAME`, `%predict FILE.py`, `%%predict` for a cell; see `--help`."""

        predictions, help_text = one_line(_twincell.predict_magic, line, cell, self._named)
        if help_text is not None:
            print(help_text)
        return predictions

    @line_cell_magic
    def prefix(self, line: str, cell: str | None = None) -> Prefixes | PrefixStudy | None:
        """Find what makes code run: `%prefix NAME`, `%prefix FILE.py`, `%%prefix` for a cell; see `--help`."""

        outcome = one_line(_twincell.prefix_magic, line, cell, self._named)
        if outcome.text is not None:
            print(outcome.text)
        if outcome.inserted is not None:
            self.shell.set_next_input(outcome.inserted)
        if outcome.interrupt is not None:
            said = "Stopped. The rows so far are in the file of --study; the same line resumes."
            raise stopped(outcome.interrupt, outcome.study, said)
        return outcome.prefixes if outcome.study is None else outcome.study

    @line_magic
    def amplify(self, line: str) -> Amplification | None:
        """Make tests that show a change: `%amplify`, `%amplify OLD..NEW`, `%amplify --staged`; see `--help`."""
        outcome = one_line(_twincell.amplify_magic, line)
        if outcome.text is not None:
            print(outcome.text)
        if outcome.interrupt is not None:
            raise stopped(outcome.interrupt, outcome.amplification, "Stopped. Above is what was found so far.")
        return outcome.amplification

    @line_magic("slice")  # type: ignore[arg-type]
    def slice_history(self, line: str) -> Slice | None:
        """Find the commits that tests need: `%slice OLD..NEW --tests PATHS`; see `%slice --help`."""
        found: Slice | None = asked(_twincell.slice_magic, line, "Stopped. Above is the best slice so far.")
        return found

    @line_magic
    def blame(self, line: str) -> Blame | None:
        """Find since when a call gives its value: `%blame FILE:FUNCTION --returns 'CALL' [RANGE]`; see `--help`."""
        found: Blame | None = asked(_twincell.blame_magic, line, "Stopped. Above is what is known so far.")
        return found

    @line_magic
    def impact(self, line: str) -> Impact | None:
        """Find what a change may reach: `%impact OLD NEW`, `%impact --git OLD..NEW`; see `%impact --help`."""
        said = "Stopped. Above is what the last whole level leaves."
        found: Impact | None = asked(lambda line: _twincell.impact_magic(line, self.versions), line, said)
        return found

    @line_magic
    def study(self, line: str) -> Study | None:
        """Compare many changes: `%study FILE`, or `%study VARIABLE`; see `%study --help`."""
        try:
            with warnings.catch_warnings():
                # The user reads them, and the place of a magic in twincell says nothing.
                warnings.simplefilter("always")
                warnings.showwarning = lambda message, *_, **_options: print(message)
                outcome = one_line(_twincell.study_line, line, self.shell.user_ns)
        except KeyboardInterrupt as interrupt:
            # The cell fails; twincell's own frames are of no interest.
            show_as(interrupt, "Stopped before anything was compared.")
            raise
        if outcome.text is not None:
            print(outcome.text)
        if outcome.interrupt is not None:
            raise stopped(outcome.interrupt, outcome.study, "Stopped. Above is what was found so far.")
        return outcome.study

    @line_cell_magic
    def rust(self, line: str, cell: str | None = None) -> None:
        """Run a cell in Rust: `%%rust`; see `%%rust --help` and `%rust --help`."""
        if self._rust is None:
            # Most notebooks have none.
            from ._rust_magic import Rust

            self._rust = Rust(self.shell)
        one_line(self._rust.run, line, cell)

    def _compare_rerun(self, before: str, now: str) -> None:
        """Shows one line where behavior did not change, and the whole output where it did."""
        if self._autocompare is None or not (defines_something(before) and defines_something(now)):
            return
        compare = self._autocompare.compare
        try:
            old, new = (self.shell.transform_cell(what_runs(text)) for text in (before, now))
            notebook = self._notebook(now)
            outcome = self._watched(lambda progress: compare(old, new, progress, notebook), alone=False)
        except UsageError as error:
            print(f"autocompare: {error}")
            return
        except KeyboardInterrupt:
            print("autocompare: stopped before anything was found")
            return
        comparison = outcome.comparison
        if comparison is not None and comparison.verdict == "changing":
            display(comparison)
        elif comparison is not None:
            print(f"autocompare: {comparison.sentence}")

    def _watched(self, compare: Callable[[Progress], _twincell.MagicOutcome], *, alone: bool) -> _twincell.MagicOutcome:
        progress = Progress(self.shell, alone=alone)
        try:
            return one_line(compare, progress)
        finally:
            progress.end()

    def _show(self, outcome: _twincell.MagicOutcome) -> Comparison | None:
        if outcome.text is not None:
            print(outcome.text)
        if outcome.interrupt is not None:
            raise stopped(outcome.interrupt, outcome.comparison, "Stopped. The results so far are above.")
        if outcome.code is not None:
            try:
                run_in_cell(self.shell, outcome.code)
            except BaseException:
                # A cell that fails has no result, and the comparison was made all the same.
                if outcome.comparison is not None:
                    display(outcome.comparison)
                raise
        return outcome.comparison

    @line_cell_magic
    def version(self, line: str, cell: str | None = None) -> None:
        """`%%version NAME` stores the cell's code under a name without running it; `%version` lists the names."""
        if cell is None:
            if line.strip():
                raise UsageError(f"write %%version {line.strip()} at the top of a cell to store it; %version lists")
            for stored, code in self.versions.items():
                count = len(code.splitlines())
                print(f"{stored}: {count} line{'s' * (count != 1)}")
            if not self.versions:
                print("no versions yet: write %%version NAME at the top of a cell")
            return
        name, help_text = one_line(_twincell.version_name, line, cell)
        if help_text is not None:
            print(help_text)
        if name is not None:
            self.versions[name] = cell


def what_runs(cell: str) -> str:
    """A cell without the magics at its top that run the rest of it in the notebook."""
    # Lines keep their numbers.
    return re.sub(r"\A(\s*%%(time|capture|prun)\b[^\n]*\n)+", lambda found: "#\n" * found[0].count("\n"), cell)


def defines_something(cell: str) -> bool:
    """Whether a cell may define functions or classes and does not compare by itself."""
    is_magic = cell.lstrip().startswith(("%%compare", "%%version"))
    return not is_magic and re.search(r"^\s*(async\s+def|def|class)\s|=\s*lambda\b", cell, re.MULTILINE) is not None


def member(holder: Any, name: str) -> Any:
    """An attribute of a class or a module. Reading attributes of other objects may run code."""
    if not isinstance(holder, type | ModuleType):
        raise AttributeError(name)
    return getattr(holder, name)


def run_in_cell(shell: Any, code: str) -> None:
    """Runs code as part of the running cell. If it fails, so does the cell, and its traceback is shown once."""
    custom = shell.custom_exceptions, shell.CustomTB
    shell.set_custom_exc((BaseException,), lambda *_, **_options: None)
    try:
        result = shell.run_cell(code, store_history=False)
    finally:
        shell.custom_exceptions, shell.CustomTB = custom
    result.raise_error()


def one_line(function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function and shows a mistake of the user in one line, without a traceback."""
    try:
        return function(*arguments)
    except TwincellError as error:
        raise UsageError(str(error)) from None


def asked(magic: Callable[[str], _twincell.HistoryOutcome], line: str, said: str) -> Any:
    """The answer of a magic about a history. `said` explains what an interrupt leaves."""
    try:
        outcome = one_line(magic, line)
    except KeyboardInterrupt as interrupt:
        show_as(interrupt, "Stopped before anything was found.")
        raise
    if outcome.text is not None:
        print(outcome.text)
    if outcome.interrupt is not None:
        raise stopped(outcome.interrupt, outcome.result, said)
    return outcome.result


def stopped(interrupt: BaseException, found: object, said: str) -> BaseException:
    """Shows what was found until an interrupt. What comes back ends the cell, so that those after it do not run."""
    display(found)
    # twincell's own frames are of no interest.
    show_as(interrupt, said)
    return interrupt


def with_body(lines: list[str]) -> list[str]:
    """Gives a cell magic that is asked for its help a body, without which IPython refuses it."""
    words = "".join(lines).split()
    magics = ("%%compare", "%%predict", "%%prefix", "%%rust", "%%version")
    asks = words[:1] in [[magic] for magic in magics] and words[1:] in (["-h"], ["--help"])
    return [*lines, "\n"] if asks else lines


def load_ipython_extension(ipython: Any) -> None:
    """Registers the magics and the completion of their options."""
    if ipython.magics_manager.registry.get(TwincellMagics.__name__) is not None:
        return
    magics = TwincellMagics(ipython)
    ipython.register_magics(magics)
    ipython.input_transformers_cleanup.insert(0, with_body)
    names = [f"%{name}" for name in magics.magics["line"]] + [f"%%{name}" for name in magics.magics["cell"]]
    for name in filter(_twincell.magic_flags, names):
        ipython.set_hook("complete_command", lambda *_, name=name: _twincell.magic_flags(name), str_key=name)
