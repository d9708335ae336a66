"""`%%rust`: cells in Rust, which share their variables and can take and give tables."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from argparse import HelpFormatter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from . import _rust
from ._rust import Event, Program
from ._shown import show_as
from ._twincell import TwincellError, read_table, write_table

#: Crates that many cells use, compiled by `%rust --prepare`.
FAVOURITES = """\
:dep plotters = { version = "0.3", default-features = false, features = ["evcxr", "all_series", "svg_backend"] }
:dep serde_json = "1"
:dep rand = "0.9"
:dep regex = "1"
"""

#: Words of Rust that are names in Python. A variable cannot be called `_` either.
KEYWORDS = frozenset(
    "_ abstract become box const crate do dyn enum extern final fn gen impl let loop macro match mod move mut override "
    "priv pub ref self Self static struct super trait type typeof unsafe unsized use virtual where".split()
)

LOST = "Stopped. The variables of Rust are lost."


class RustError(Exception):
    """A cell in Rust failed. Its message is what people read."""


class Help(Exception):
    """The line asks for its help."""


class Parser(MagicArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, formatter_class=HelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}; {self.prog} --help lists the options")

    def parse_argstring(self, argstring: str, *, partial: bool = False) -> Any:
        if set(argstring.split()) & {"-h", "--help"}:
            raise Help(self.format_help())
        return super().parse_argstring(argstring, partial=partial)


CELL = Parser(prog="%%rust", description="Run the cell in Rust. Variables stay for later cells; `:dep` adds crates.")
CELL.add_argument(
    "-i", dest="inputs", metavar="NAME", action="append", default=[], help="give the cell this table as a RecordBatch"
)
CELL.add_argument(
    "-o", dest="outputs", metavar="NAME", action="append", default=[], help="take this RecordBatch back as a frame"
)
LINE = Parser(prog="%rust", description="Prepare what runs Rust cells, or start it anew.")
LINE.add_argument("--prepare", action="store_true", help="compile now what cells often use: tables, plotters, regex")
LINE.add_argument("--restart", action="store_true", help="forget all variables and crates")


class Rust:
    """The Rust cells of a notebook."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self._program: Program | None = None
        #: Cells and completions of subshells wait for each other: one request is answered at a time.
        self._asking = threading.Lock()
        shell.Completer.custom_matchers.append(self._completer())

    def run(self, line: str, cell: str | None) -> None:
        """Runs `%%rust` or, without a cell, `%rust`."""
        try:
            options = (LINE if cell is None else CELL).parse_argstring(line)
        except Help as help_text:
            print(help_text)
            return
        if cell is not None:
            self._run(cell, options.inputs, options.outputs)
            return
        if options.restart and self._program is not None:
            self._program.end()
            self._program = None
        if options.prepare:
            self._prepare()
        elif not options.restart:
            print("Rust runs." if self._is_running() else "Rust is started by the first %%rust cell.")

    def _is_running(self) -> bool:
        return self._program is not None and self._program.is_alive

    def _started(self) -> Program:
        if self._program is None or not self._program.is_alive:
            program = Program(_rust.find_program())
            try:
                program.wait_until_ready()
            except KeyboardInterrupt as interrupt:
                show_as(interrupt, LOST)
                raise
            self._program = program
        return self._program

    def _prepare(self) -> None:
        with tempfile.TemporaryDirectory(prefix="twincell-rust-") as folder:
            empty = [{"name": "prepared", "path": str(Path(folder) / "prepared.arrow")}]
            code = f"{FAVOURITES}let prepared = twincell_table::empty();"
            self._ask({"do": "evaluate", "code": code, "inputs": [], "outputs": empty}, code)

    def _run(self, cell: str, inputs: list[str], outputs: list[str]) -> None:
        for name in [*inputs, *outputs]:
            if not name.isidentifier() or not name.isascii() or iskeyword(name) or name in KEYWORDS:
                raise TwincellError(f"{name} cannot be the name of a variable in both languages")
        tables = {name: self._table(name) for name in inputs}
        with tempfile.TemporaryDirectory(prefix="twincell-rust-") as folder:
            given = [{"name": name, "path": str(Path(folder) / f"{name}-in.arrow")} for name in inputs]
            for table in given:
                try:
                    write_table(tables[table["name"]], table["path"])
                except ImportError as error:
                    # pandas before 3 gives its columns through pyarrow.
                    raise TwincellError(f"{table['name']} cannot be handed over: {error}") from None
            taken = [{"name": name, "path": str(Path(folder) / f"{name}-out.arrow")} for name in outputs]
            self._ask({"do": "evaluate", "code": cell, "inputs": given, "outputs": taken}, cell)
            for table in taken:
                self.shell.user_ns[table["name"]] = self._frame(read_table(table["path"]))

    def _table(self, name: str) -> Any:
        if name not in self.shell.user_ns:
            raise TwincellError(f"the notebook has no {name}: run the cell that binds it first")
        value = self.shell.user_ns[name]
        if hasattr(value, "__arrow_c_stream__"):
            return value
        if hasattr(value, "to_frame") and hasattr(value.to_frame(), "__arrow_c_stream__"):
            return value.to_frame()
        raise TwincellError(
            f"{name} is no table: give a study, a comparison, or a frame of pandas, polars or pyarrow "
            f"(anything with __arrow_c_stream__)"
        )

    def _frame(self, table: Any) -> Any:
        """The table as a frame of the first of these libraries that the notebook has imported."""
        modules = {module.__name__ for module in self.shell.user_ns.values() if type(module) is type(sys)}
        if "pandas" in modules and "polars" not in modules:
            return pandas_frame(table)
        if "polars" in modules:
            return import_module("polars").DataFrame(table)
        if "pyarrow" in modules:
            return import_module("pyarrow").table(table)
        return table

    def _ask(self, request: Mapping[str, Any], cell: str) -> None:
        with self._asking:
            program = self._started()
            shown = Shown(program, cell)
            try:
                for event in program.ask(request):
                    shown.take(event)
            except KeyboardInterrupt as interrupt:
                self._stop(program, shown, interrupt)
        shown.end()

    def _stop(self, program: Program, shown: Shown, interrupt: KeyboardInterrupt) -> NoReturn:
        """Stops the running cell, and ends it as every interrupted cell ends."""
        try:
            program.interrupt()
            until = time.monotonic() + _rust.PATIENCE
            for event in program.rest(_rust.PATIENCE):
                shown.take(event)
                if time.monotonic() > until:
                    raise _rust.Late
            said = shown.stopped
        except (TwincellError, _rust.Late):
            program.end()
            said = LOST
        show_as(interrupt, said)
        raise interrupt

    def _completer(self) -> Any:
        def rust(context: CompletionContext) -> SimpleMatcherResult:
            head, _, code = context.full_text.partition("\n")
            if head.split()[:1] != ["%%rust"] or context.cursor_line < 1 or not self._is_running():
                return completions("", [], is_rust=False)
            lines = code.split("\n")
            row = lines[context.cursor_line - 1][: context.cursor_position]
            position = len("\n".join([*lines[: context.cursor_line - 1], row]).encode())
            return self._completions(code, position)

        return context_matcher()(rust)

    def _completions(self, code: str, position: int) -> SimpleMatcherResult:
        if self._program is None or not self._asking.acquire(blocking=False):
            return completions("", [])
        encoded = code.encode()
        request = {"do": "complete", "code": code, "position": position}
        fragment, found = "", []
        try:
            for event in self._program.ask(request, _rust.COMPLETION_PATIENCE):
                if event["event"] == "completions":
                    start, _, found = self._program.checked(lambda event: _rust.matches(event, encoded), event)
                    fragment = encoded[start:position].decode(errors="replace")
        except (TwincellError, _rust.Late):
            # Nobody asked for more than a hint.
            pass
        finally:
            self._asking.release()
        return completions(fragment, [one for one in found if one[0].startswith(fragment)])


def completions(fragment: str, found: list[tuple[str, str]], *, is_rust: bool = True) -> SimpleMatcherResult:
    """What IPython wants of a matcher. In a cell in Rust, nothing else completes."""
    return {
        "completions": [SimpleCompletion(text=text, type=kind) for text, kind in found],
        "matched_fragment": fragment,
        "suppress": is_rust,
        "do_not_suppress": set(),
        "ordered": False,
    }


class Shown:
    """What a cell shows, and how it ends."""

    def __init__(self, program: Program, cell: str) -> None:
        self._program = program
        self._cell = cell
        #: The lines of what went wrong.
        self._lines: list[str] = []
        #: What is said of an interrupt.
        self.stopped = "Stopped. The variables are kept."

    def take(self, event: Event) -> None:
        self._program.checked(self._take, event)

    def _take(self, event: Event) -> None:
        match event["event"]:
            case "stdout":
                sys.stdout.write(_rust.text(event, "text"))
            case "stderr":
                sys.stderr.write(_rust.text(event, "text"))
            case "display":
                display(_rust.display_data(event), raw=True)
            case "compiler":
                # The magic is the first line of the cell that people see.
                self._lines += _rust.compiler_errors(event, self._cell, 2)
            case "panic":
                is_main, lines = _rust.panic_lines(event, self._cell, 2)
                if is_main:
                    self._lines += lines
                else:
                    sys.stderr.write("\n".join([*lines, ""]))
            case "exited":
                status = _rust.text(event, "status")
                self._lines.append(f"the cell ended its process ({status}): its variables are lost")
            case "interrupted":
                if event.get("lost") is True:
                    self.stopped = LOST
            case "error":
                self._lines.append(_rust.text(event, "message"))
            case _:
                raise ValueError("it answered something else")

    def end(self) -> None:
        """Fails if the cell failed."""
        if self._lines:
            failed = RustError(self._lines[0])
            failed.__dict__["_render_traceback_"] = lambda: self._lines
            raise failed


def pandas_frame(table: Any) -> Any:
    """Without pyarrow, pandas takes columns."""
    pandas = import_module("pandas")
    with suppress(AttributeError, ImportError):
        return pandas.DataFrame.from_arrow(table)
    with suppress(ImportError):
        return import_module("pyarrow").table(table).to_pandas()
    return pandas.DataFrame(table.to_dict())
