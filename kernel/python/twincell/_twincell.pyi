# Types of what Rust offers. The options of `compare` are those of the table in kernel/src/options; a test holds them
# together.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from os import PathLike
from types import FunctionType, MethodType
from typing import Any, Literal, TypedDict

__version__: str

Code = str | PathLike[str] | FunctionType | MethodType | type
Verdict = Literal["changing", "likely_preserving", "inconclusive", "identical"]

class TwincellError(ValueError):
    """What was wrong and what to do, in one line."""

class Evidence(TypedDict):
    channel: Literal["return", "arguments", "output", "log", "calls", "exception"]
    place: str
    old: str
    new: str
    strength: Literal["observable", "call_pattern"]
    probability: float
    edge_case: bool
    score: float
    execution: int

class Start:
    """An execution that was replayed, to go on from."""

class Comparison:
    @property
    def verdict(self) -> Verdict: ...
    @property
    def sentence(self) -> str: ...
    @property
    def evidence(self) -> list[Evidence]: ...
    @property
    def pairs(self) -> list[dict[str, Any]]: ...
    @property
    def reproducer(self) -> str | None: ...
    def replay(
        self,
        execution: int | None = None,
        changes: dict[str, str] | None = None,
        *,
        pair: int = 0,
        then: Literal["show", "shrink", "reproduce"] = "show",
    ) -> dict[str, Any]: ...
    def _replay(
        self,
        execution: int | None,
        changes: dict[str, str] | None,
        pair: int,
        then: str,
        start: Start | None,
    ) -> tuple[dict[str, Any], Start]: ...
    def _state(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_html(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

class Study:
    def __len__(self) -> int: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    def to_html(self) -> str: ...
    def _state(self) -> str: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

class Mine:
    """The changes of a history, newest first, found while they are asked for."""

    def __iter__(self) -> Mine: ...
    def __next__(self) -> dict[str, Any]: ...
    @property
    def report(self) -> dict[str, Any]: ...

def mine(
    repository: str | PathLike[str],
    *,
    since: str | date | None = None,
    until: str | date | None = None,
    grep: str | Sequence[str] | None = None,
    single_function: bool = False,
    tests: bool = False,
    modules: bool = True,
    revision: str | None = None,
    limit: int | None = None,
    jobs: int | None = None,
) -> Mine: ...

# A file or a folder; a frame of pandas, polars or pyarrow (with `__arrow_c_stream__`); dictionaries; pairs of versions.
Changes = str | PathLike[str] | Iterable[Mapping[str, Any] | tuple[Code, Code]] | Any

def load_study(results: str | PathLike[str], changes: Changes | None = None) -> Study: ...
def compare(
    old: Code,
    new: Code,
    *,
    function: str | None = None,
    budget: int | None = None,
    seed: int | None = None,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    context: Literal["function", "module"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    raise_probability: float | None = None,
    float_tolerance: float | None = None,
    ignore_edge_cases: bool | None = None,
    isolation: str | None = None,
    without: str | None = None,
    python: str | PathLike[str] | None = None,
) -> Comparison: ...

class Prediction(TypedDict):
    """What is expected at one value site; `start` and `end` are in characters of the text."""

    function: str
    start: int
    end: int
    kind: Literal["name", "attribute", "call", "subscript"]
    probabilities: list[float]

class Predictions:
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Prediction]: ...
    @property
    def rows(self) -> list[Prediction]: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def predict(
    code: Code,
    *,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
) -> Predictions: ...

class Option(TypedDict):
    name: str
    keyword: str
    placeholder: str
    allowed: str | None
    default: str | None
    absent: str | None
    help: str
    study: bool

def option_table() -> list[Option]: ...
def widget_loader() -> str: ...
def widget_module() -> str: ...
def main(arguments: list[str]) -> int: ...

class Outcome:
    """What a magic is to do; all may be absent."""

    comparison: Comparison | None
    code: str | None
    text: str | None
    interrupt: BaseException | None

# Called with the pair, the number of pairs, executions, budget and coverage.
Progress = Callable[[int, int, int, int, float], None]

class Autocompare:
    def compare(self, old: str, new: str, progress: Progress | None = None) -> Outcome: ...

def compare_cell(line: str, cell: str, last: str | None = None, progress: Progress | None = None) -> Outcome: ...
def compare_stored(line: str, versions: dict[str, str], progress: Progress | None = None) -> Outcome: ...
def autocompare(line: str) -> tuple[bool | None, Autocompare | None, str | None]: ...
def predict_magic(
    line: str, cell: str | None, named: Callable[[str], Any]
) -> tuple[Predictions | None, str | None]: ...
def version_name(line: str, cell: str) -> tuple[str | None, str | None]: ...
def magic_flags(magic: str) -> list[str]: ...

class Request:
    """A message that waits for an answer; a wish to shut down has no type."""

    msg_type: str | None
    header: bytes
    metadata: bytes
    content: bytes
    buffers: list[bytes]

class Requests:
    """The requests of the main shell or of a subshell."""

    def fileno(self) -> int: ...
    def next(self) -> Request | None: ...
    def abort_waiting(self) -> None: ...

class StreamWriter:
    """The native part of a stream."""

    def write(self, text: str) -> int: ...

class Connection:
    """The open sockets of a kernel."""

    @staticmethod
    def open(connection_file: str, kernel_info: str) -> Connection: ...
    def requests(self, subshell: str | None = None) -> Requests | None: ...
    def next_subshell(self) -> str | None: ...
    def capture_output(self) -> int: ...
    def stream(
        self, name: str, known: Callable[[], Request | None], adopt: Callable[[], Request | None]
    ) -> StreamWriter: ...
    def record(self, on: bool) -> bool: ...
    def recorded(self) -> list[tuple[str, str]]: ...
    def current(self) -> Request | None: ...
    def reply(self, request: Request, msg_type: str, content: Any, metadata: Any = None) -> None: ...
    def finish(self, request: Request) -> None: ...
    def publish(
        self,
        msg_type: str,
        content: Any,
        parent: Request | None = None,
        metadata: Any = None,
        buffers: list[bytes] = ...,
    ) -> None: ...
    def ask(self, request: Request, content: Any) -> bytes: ...
    def close(self) -> None: ...
