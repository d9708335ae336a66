"""The program that runs Rust cells, `twincell-rust`, as seen from the kernel.

It is started with the first cell and speaks lines of JSON. What it sends comes, in the end, from code of the notebook:
sizes are bounded and types checked here, and a program that breaks the rules is ended. `_rust_magic.py` has the magic.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from ._twincell import TwincellError, cache_folder

PROGRAM = "twincell-rust"
#: Bytes of one event. A picture or a table as HTML may be large.
LONGEST_EVENT = 64 << 20
#: Events that wait while the notebook takes its time.
MOST_WAITING = 256
#: Seconds until a program that was asked to stop a cell is ended. It cannot be stopped where it analyses code.
PATIENCE = 3.0
#: Seconds that a completion may take.
COMPLETION_PATIENCE = 5.0
MOST_MATCHES = 500

Event = dict[str, Any]


class ProgramError(TwincellError):
    """The program broke the rules, or is gone."""


class Late(Exception):
    """An event did not come in time. The program goes on."""


def cargo_folder() -> str:
    """Where rustup puts cargo. Front ends that a desktop starts do not have it on their path."""
    return os.path.join(os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo"), "bin")


def find_program() -> list[str]:
    """The command of the program, where it and cargo are installed. Errors are one line with what helps."""
    scripts = sysconfig.get_path("scripts")
    program = shutil.which(PROGRAM, path=scripts) or shutil.which(PROGRAM)
    if program is None:
        raise TwincellError('Rust cells need the program twincell-rust: pip install "twincell[rust]"')
    if shutil.which("cargo") is None and shutil.which("cargo", path=cargo_folder()) is None:
        raise TwincellError(
            "Rust cells need cargo, which is not installed: install Rust with rustup, then run the cell again"
        )
    return [program, str(cache_folder("rust"))]


class Program:
    """A running program. One request is answered at a time."""

    def __init__(self, command: list[str]) -> None:
        try:
            # A group of its own: an interrupt of the kernel is no business of the compiler's, unless a cell runs.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), cargo_folder()])},
            )
        except OSError as error:
            raise TwincellError(f"{command[0]} cannot be started: {error}") from None
        self._events: queue.Queue[Event | str] = queue.Queue(MOST_WAITING)
        self._asked = 0
        #: The requests whose ends were not read yet, in order. Only the last one may still be of interest.
        self._open: list[int] = []
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._events), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._process)

    @property
    def is_alive(self) -> bool:
        return self._end.alive and self._process.poll() is None

    def end(self) -> None:
        """Ends the program and all that it has started."""
        self._end()

    def wait_until_ready(self) -> None:
        """Returns when cells can be run."""
        try:
            event = self._next(None)
        except BaseException:
            self.end()
            raise
        if event["event"] == "failed":
            self.end()
            lines = text(event, "message").strip().splitlines()
            raise TwincellError(f"Rust cells cannot run: {lines[-1] if lines else 'the program does not say why'}")
        if event["event"] != "ready":
            raise self._broken("it did not begin with ready")

    def ask(self, request: Mapping[str, Any], patience: float | None = None) -> Iterator[Event]:
        """The events of a request, until its end. Each one has a known name."""
        self._asked += 1
        self._open.append(self._asked)
        self._send({**request, "id": self._asked})
        yield from self.rest(patience)

    def rest(self, patience: float | None) -> Iterator[Event]:
        """The further events of the last request. `patience`: how many seconds the next one may take."""
        while True:
            event = self._next(patience)
            if event["event"] == "end":
                if event.get("id") not in self._open[:1]:
                    raise self._broken("it ended another request")
                if self._open.pop(0) == self._asked:
                    return
            elif self._open == [self._asked]:
                yield event

    def interrupt(self) -> None:
        """Asks to stop the running cell."""
        self._send({"do": "interrupt"})

    def checked(self, read: Callable[[Event], Any], event: Event) -> Any:
        """What `read` takes out of an event. A program whose event it refuses is ended."""
        try:
            return read(event)
        except ValueError as error:
            raise self._broken(str(error)) from None

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._broken("it is gone") from None

    def _next(self, patience: float | None) -> Event:
        try:
            event = self._events.get(timeout=patience)
        except queue.Empty:
            raise Late from None
        if isinstance(event, str):
            raise self._broken(event)
        return event

    def _broken(self, why: str) -> ProgramError:
        self.end()
        return ProgramError(f"twincell-rust was ended, as {why}: its variables are lost, and the next cell starts anew")


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        # It ends what it has started when its input ends.
        process.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(stream: IO[bytes], events: queue.Queue[Event | str]) -> None:
    """Reads events. Ends with the reason, as a text, why no more of them come."""
    reason = "it is gone"
    with suppress(OSError, ValueError):
        while line := stream.readline(LONGEST_EVENT):
            event = _parsed(line)
            if isinstance(event, str):
                reason = event
                break
            events.put(event)
    events.put(reason)


def _parsed(line: bytes) -> Event | str:
    if not line.endswith(b"\n"):
        return "it sent too much at once" if len(line) >= LONGEST_EVENT else "it is gone"
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return "it did not send JSON"
    if not isinstance(event, dict) or event.get("event") not in EVENTS:
        return "it sent no event"
    return event


EVENTS = ("ready failed stdout stderr display compiler panic exited interrupted error completions end").split()
MIME = re.compile(r"[\w.+-]+/[\w.+-]+(;[\w.+-]+=[\w.+-]+)*", re.ASCII)


# Parts of events. A ValueError says what is wrong.


def text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str):
        raise ValueError(f"its {name} is no text")
    # A lone half of a surrogate pair cannot be sent to a front end.
    return value.encode(errors="replace").decode()


def optional_text(event: Mapping[str, Any], name: str) -> str | None:
    return None if event.get(name) is None else text(event, name)


def number(event: Mapping[str, Any], name: str) -> int:
    value = event.get(name)
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError(f"its {name} is no number")
    return value


def objects(event: Mapping[str, Any], name: str, most: int) -> list[dict[str, Any]]:
    values = event.get(name)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise ValueError(f"its {name} are no objects")
    return values[:most]


def display_data(event: Event) -> dict[str, str]:
    """The contents of a display by their mime types."""
    data = event.get("data")
    if not isinstance(data, dict) or not data or not all(MIME.fullmatch(mime) for mime in data):
        raise ValueError("its display has no mime types")
    return {mime: text(data, mime) for mime in data}


def compiler_errors(event: Event, cell: str, first_line: int = 1) -> list[str]:
    """The errors of the compiler as lines, with the code that they are about, as rustc shows them. `first_line` is
    the number that the front end shows beside the first line of the code."""
    lines: list[str] = []
    code = cell.splitlines()
    for error in objects(event, "errors", 20):
        name = optional_text(error, "code")
        lines.append(f"error{f'[{name}]' if name else ''}: {text(error, 'message')}")
        spans = objects(error, "spans", 20)
        # The main place comes first.
        for span in sorted(spans, key=lambda span: span.get("primary") is not True):
            lines += _marked(span, code, first_line)
        helps = error.get("help")
        if not isinstance(helps, list) or not all(isinstance(help_text, str) for help_text in helps):
            raise ValueError("its help is no text")
        lines += [f"  = help: {' '.join(help_text.split())}" for help_text in helps[:10]]
        lines.append("")
    return lines[:-1] or ["error: the cell does not compile"]


def _marked(span: Mapping[str, Any], code: list[str], first_line: int) -> list[str]:
    line, column = number(span, "start_line"), number(span, "start_column")
    last, end = number(span, "end_line"), number(span, "end_column")
    label = " ".join(text(span, "label").split())
    if not 1 <= line <= len(code):
        return []
    source = code[line - 1]
    column = min(max(column, 1), len(source) + 1)
    length = (end if last == line else len(source) + 1) - column
    marks = ("^" if span.get("primary") is True else "-") * max(1, min(length, len(source) - column + 1))
    margin = " " * len(str(line + first_line - 1))
    return [
        f"{margin}--> line {line + first_line - 1}, column {column}",
        f"{margin} |",
        f"{line + first_line - 1} | {source}",
        f"{margin} | {' ' * (column - 1)}{marks} {label}".rstrip(),
    ]


def panic_lines(event: Event, cell: str, first_line: int = 1) -> tuple[bool, list[str]]:
    """Whether the cell's own thread panicked, and the panic as lines."""
    thread, message = text(event, "thread"), text(event, "message")
    line, column = number(event, "line"), number(event, "column")
    file, source = optional_text(event, "file"), optional_text(event, "text")
    is_main = thread == "main"
    where = "the cell" if is_main else f"the thread {thread}" if thread else "a thread"
    lines = [f"{where} panicked: {message}"]
    if file is None:
        span = dict(start_line=line, start_column=column, end_line=line, end_column=column + 1, label="", primary=True)
        return is_main, lines + _marked(span, cell.splitlines(), first_line)
    lines.append(f" --> {file}" + (f", line {line}, column {column}" if line else ""))
    return is_main, lines + ([f"  | {source}"] if source else [])


def matches(event: Event, code: bytes) -> tuple[int, int, list[tuple[str, str]]]:
    """Where completions begin and end, in bytes of the code, and their texts and kinds."""
    start, end = number(event, "start"), number(event, "end")
    if not start <= end <= len(code):
        raise ValueError("its completions are outside of the code")
    found = objects(event, "matches", MOST_MATCHES)
    # Of a call, the front end gets the name: rust-analyzer writes its parameters, too.
    return start, end, [(text(match, "text").partition("(")[0], text(match, "kind")) for match in found]
