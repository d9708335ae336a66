# Types of the native module. The options of `compare` are those of the option table; a test keeps both in step.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import date
from os import PathLike
from random import Random
from types import FunctionType, MethodType
from typing import Any, Literal, TypedDict, final, overload, type_check_only

import pandas
import polars
import pyarrow

__version__: str
#: Version of Jupyter's messaging protocol that the kernel speaks.
PROTOCOL_VERSION: str

_Code = str | PathLike[str] | FunctionType | MethodType | type
_Calls = Sequence[tuple[Any, ...] | list[Any] | Mapping[str, Any]]
_Examples = str | PathLike[str] | _Calls | Mapping[str, _Calls]
_Verdict = Literal["changing", "likely_preserving", "inconclusive", "identical"]

class TwincellError(ValueError):
    """What was wrong and what to do, in one line."""

@type_check_only
class Evidence(TypedDict):
    channel: Literal["return", "arguments", "output", "log", "calls", "exception"]
    place: str
    at: dict[str, Any] | None
    old: str
    new: str
    strength: Literal["observable", "call_pattern"]
    probability: float
    edge_case: bool
    score: float
    execution: int

@final
class Start:
    """A replayed execution from which another replay can start."""

@final
class Comparison:
    @property
    def verdict(self) -> _Verdict: ...
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
    def with_example(
        self, changes: dict[str, str] | None = None, execution: int | None = None, *, pair: int = 0
    ) -> Comparison: ...
    def debug(self, execution: int | None = None, changes: dict[str, str] | None = None, *, pair: int = 0) -> None: ...
    def _with_example(
        self,
        execution: int | None,
        changes: dict[str, str] | None,
        pair: int,
        start: Start | None,
    ) -> Comparison: ...
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

@final
class Plot:
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def svg(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _repr_svg_(self) -> str: ...

@final
class Plots:
    """The plots of a study."""

    def verdicts(self) -> Plot: ...
    def confusion(self) -> Plot: ...
    def kinds(self) -> Plot: ...
    def projects(self) -> Plot: ...
    def over_time(self) -> Plot: ...
    def coverage(self) -> Plot: ...
    def executions(self) -> Plot: ...
    def until_difference(self) -> Plot: ...
    def time(self) -> Plot: ...
    def complexity(self) -> Plot: ...

@final
class StudySummary:
    """The figures of a study, by name."""

    def __getitem__(self, name: str, /) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class StudyDifference:
    """The differences between two studies of the same changes."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    @property
    def counts(self) -> dict[str, Any]: ...
    @property
    def only(self) -> list[list[str]]: ...
    def plot(self, names: Sequence[str] = ...) -> Plot: ...
    def _repr_html_(self) -> str: ...

@final
class Study:
    def __len__(self) -> int: ...
    def __contains__(self, id: Any, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __getitem__(self, id: Any, /) -> Comparison: ...
    def comparison(self, row: int) -> Comparison: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    @property
    def plot(self) -> Plots: ...
    def summary(self) -> StudySummary: ...
    def diff(self, other: Study) -> StudyDifference: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def to_html(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _state(self) -> str: ...
    def _kept(self, row: int) -> str | None: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

@final
class Mine:
    """The changes in a history, newest first. They are found on demand."""

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
    policy: str | PathLike[str] | None = None,
) -> Mine: ...

@final
class Transform:
    """The changes that a command makes to functions. They are found on demand."""

    def __iter__(self) -> Transform: ...
    def __next__(self) -> dict[str, Any]: ...
    @property
    def failed(self) -> list[dict[str, str]]: ...

def transform(folder: str | PathLike[str], command: str) -> Transform: ...

# A file or a folder; a frame of pandas, polars or pyarrow (with `__arrow_c_stream__`); dictionaries; pairs of versions.
_Changes = str | PathLike[str] | Iterable[Mapping[str, Any] | tuple[_Code, _Code]] | Any

def load_study(results: str | PathLike[str], changes: _Changes | None = None, **options: Any) -> Study: ...
def study(
    changes: _Changes,
    *,
    out: str | PathLike[str] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    html: str | PathLike[str] | None = None,
    reproducers: str | PathLike[str] | None = None,
    progress: Callable[[int, int | None, str], object] | bool | None = None,
    fresh: bool = False,
    budget: int | None = None,
    seed: int | None = None,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    context: Literal["function", "module"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    cache: Literal["disk", "memory"] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    max_source: int | None = None,
    max_function: int | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    raise_probability: float | None = None,
    float_tolerance: float | None = None,
    ignore_edge_cases: bool | None = None,
    ignore: str | None = None,
    unordered: str | None = None,
    isolation: str | None = None,
    without: str | None = None,
    examples: _Examples | None = None,
    recorded: str | PathLike[str] | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
) -> Study: ...
def study_fingerprint(options: str, *, compares: bool = False) -> str: ...
def compare_chunk(chunk: str, options: str, fingerprint: str) -> str: ...
def compare(
    old: _Code,
    new: _Code,
    *,
    values: dict[str, Any] | None = None,
    function: str | None = None,
    budget: int | None = None,
    seed: int | None = None,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    context: Literal["function", "module"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    cache: Literal["disk", "memory"] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    max_source: int | None = None,
    max_function: int | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    raise_probability: float | None = None,
    float_tolerance: float | None = None,
    ignore_edge_cases: bool | None = None,
    ignore: str | None = None,
    unordered: str | None = None,
    isolation: str | None = None,
    without: str | None = None,
    examples: _Examples | None = None,
    recorded: str | PathLike[str] | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
) -> Comparison: ...

@type_check_only
class Prediction(TypedDict):
    """The prediction for one value site; `start` and `end` are in characters of the text."""

    function: str
    start: int
    end: int
    kind: Literal["name", "attribute", "call", "subscript"]
    probabilities: list[float]

@type_check_only
class WrongPlace(TypedDict):
    """A place where code is not Python; `line` and `column` count from 1."""

    message: str
    line: int
    column: int

@final
class Predictions:
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Prediction]: ...
    def __iter__(self) -> Iterator[Prediction]: ...
    @property
    def rows(self) -> list[Prediction]: ...
    @property
    def errors(self) -> list[WrongPlace]: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def register(cls: type | str, values: Sequence[str] | Callable[[Random], Any] | str | None) -> None: ...
def predict(
    code: _Code,
    *,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    cache: Literal["disk", "memory"] | None = None,
    policy: str | PathLike[str] | None = None,
) -> Predictions: ...

@final
class Prefixes:
    """The prefixes of a snippet: a tree, and those of its nodes that are worth keeping."""

    @property
    def coverage(self) -> float: ...
    @property
    def best(self) -> str | None: ...
    @property
    def chosen(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def program(self, node: int | None = None) -> str: ...
    def pytest(self) -> str: ...
    @property
    def problem(self) -> str | None: ...
    def to_html(self, title: str = "Prefixes") -> str: ...
    def _state(self) -> str: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def prefix(
    code: _Code,
    *,
    function: str | None = None,
    folder: str | PathLike[str] | None = None,
    seed: int | None = None,
    width: int | None = None,
    rounds: int | None = None,
    generator: Literal["local", "llm", "both"] | None = None,
    tokens: int | None = None,
    install: bool | None = None,
    skip: str | None = None,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    cache: Literal["disk", "memory"] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
) -> Prefixes: ...

#: A folder or file, or several, or dictionaries with `code` (and `id`, `folder`).
_Snippets = str | PathLike[str] | Iterable[str | PathLike[str] | dict[str, Any]]

@final
class PrefixStudy:
    """The rows of a study of prefixes."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __contains__(self, id: str, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, id: str, /) -> Prefixes: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    @property
    def figures(self) -> list[dict[str, Any]]: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def to_html(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def load_prefix_study(rows: str | PathLike[str]) -> PrefixStudy: ...
def prefix_study(
    inputs: _Snippets,
    *,
    out: str | PathLike[str] | None = None,
    html: str | PathLike[str] | None = None,
    progress: Callable[[int, int | None, str], object] | bool | None = None,
    fresh: bool = False,
    seed: int | None = None,
    width: int | None = None,
    rounds: int | None = None,
    generator: Literal["local", "llm", "both"] | None = None,
    tokens: int | None = None,
    install: bool | None = None,
    skip: str | None = None,
    predictor: Literal["neural", "frequency", "uniform"] | None = None,
    model: str | PathLike[str] | None = None,
    device: Literal["auto", "cpu"] | None = None,
    cache: Literal["disk", "memory"] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
) -> PrefixStudy: ...

@final
class Amplification:
    """Tests that pass before a change and fail after it."""

    @property
    def status(self) -> Literal["found", "nothing_found", "not_reached", "no_code"]: ...
    @property
    def tests(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def patch(self, *, old: bool = False) -> str: ...
    def run_test(self, test: int, *, old: bool = False) -> dict[Literal["old", "new"], str]: ...
    def write_test(self, test: int, *, old: bool = False) -> str: ...
    def _state(self) -> str: ...
    def _ipython_display_(self) -> None: ...
    def to_markdown(self) -> str: ...
    def to_html(self, title: str = "Amplified tests") -> str: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def amplify(
    repository: str | PathLike[str],
    change: str | None = None,
    *,
    staged: bool = False,
    seed: int | None = None,
    search_rounds: int | None = None,
    variants: int | None = None,
    tests: str | None = None,
    unguided: bool | None = None,
    network: bool | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
) -> Amplification: ...

@type_check_only
class Option(TypedDict):
    name: str
    keyword: str
    placeholder: str
    allowed: str | None
    default: str | None
    absent: str | None
    help: str
    jobs: list[Literal["compare", "study", "predict", "prefix", "amplify", "doctor"]]

def option_table() -> list[Option]: ...
def widget_loader() -> str: ...
def widget_module() -> str: ...
def main(arguments: list[str]) -> int: ...

@final
class MagicOutcome:
    """What a magic shall do next. Every part may be absent."""

    comparison: Comparison | None
    code: str | None
    text: str | None
    interrupt: BaseException | None
    study: Study | None

@final
class AmplifyOutcome:
    """What `%amplify` shall do next. Every part may be absent."""

    amplification: Amplification | None
    text: str | None
    interrupt: BaseException | None

@final
class PrefixOutcome:
    """What `%prefix` shall do next. Every part may be absent."""

    prefixes: Prefixes | None
    study: PrefixStudy | None
    inserted: str | None
    text: str | None
    interrupt: BaseException | None

# Called with the pair, the number of pairs, executions, budget and coverage.
_Progress = Callable[[int, int, int, int, float], object]
#: What a notebook holds by name, and the cells that ran, in order.
_Notebook = tuple[dict[str, Any], list[str]]

@final
class Autocompare:
    def compare(
        self, old: str, new: str, progress: _Progress | None = None, notebook: _Notebook | None = None
    ) -> MagicOutcome: ...

def compare_cell(
    line: str,
    cell: str,
    last: str | None = None,
    progress: _Progress | None = None,
    notebook: _Notebook | None = None,
) -> MagicOutcome: ...
def compare_stored(
    line: str, versions: dict[str, str], progress: _Progress | None = None, notebook: _Notebook | None = None
) -> MagicOutcome: ...
def study_line(line: str, objects: dict[str, Any]) -> MagicOutcome: ...
def autocompare(line: str) -> tuple[bool | None, Autocompare | None, str | None]: ...
def predict_magic(
    line: str, cell: str | None, named: Callable[[str], Any]
) -> tuple[Predictions | None, str | None]: ...
def amplify_magic(line: str) -> AmplifyOutcome: ...
def prefix_magic(line: str, cell: str | None, named: Callable[[str], Any]) -> PrefixOutcome: ...
def version_name(line: str, cell: str) -> tuple[str | None, str | None]: ...
def magic_flags(magic: str) -> list[str]: ...
def serve_worker(socket: int, folder: str, readable: list[str], listable: list[str]) -> None: ...
def instrumented(source: str) -> tuple[str, list[str]]: ...
def install_hooks(globals: dict[str, Any], identifiers: Sequence[str]) -> None: ...

@final
class Recording:
    """A module whose values are counted while its hooks are called."""

    def install(self, globals: dict[str, Any]) -> None: ...
    def value(self, site: int, value: Any, /) -> Any: ...
    def global_name(self, site: int, /) -> Any: ...
    def attribute(self, site: int, object: Any, /) -> Any: ...
    def subscript(self, site: int, object: Any, key: Any, /) -> Any: ...
    def call(self, site: int, callee: Any, /, *arguments: Any, **keywords: Any) -> Any: ...

def record_module(source: str, package: str, file: str) -> tuple[str, Recording]: ...
def write_recorded(path: str | PathLike[str]) -> tuple[int, int]: ...
def forget_recorded() -> None: ...
def lock_in(
    scratch: str | PathLike[str], readable: Sequence[str | PathLike[str]], memory_bytes: int, open_files: int
) -> dict[str, Any]: ...

@final
class Request:
    """A message that waits for a reply. A request to shut down has no type."""

    msg_type: str | None
    channel: str
    identities: list[bytes]
    header: bytes
    metadata: bytes
    content: bytes
    buffers: list[bytes]
    is_done: bool

    @staticmethod
    def with_header(header: str) -> Request: ...

@final
class Requests:
    """The queue of requests of the main shell or of a subshell."""

    def fileno(self) -> int: ...
    def next(self) -> Request | None: ...
    def next_comm(self) -> Request | None: ...
    def end(self) -> None: ...
    def abort_waiting(self) -> None: ...
    def wake(self) -> None: ...

@final
class StreamWriter:
    """The native part of an output stream."""

    def write(self, text: str) -> int: ...

@final
class Connection:
    """The open sockets of a kernel."""

    @staticmethod
    def open(connection_file: str, kernel_info: str) -> Connection: ...
    def requests(self) -> Requests: ...
    def next_shell(self) -> tuple[str, Requests] | None: ...
    def subshells(self) -> list[str]: ...
    def capture_output(self) -> int: ...
    def stream(
        self, name: str, known: Callable[[], Request | None], adopt: Callable[[], Request | None]
    ) -> StreamWriter: ...
    def record(self, on: bool) -> bool: ...
    def recorded(self) -> list[tuple[str, str]]: ...
    def current(self) -> Request | None: ...
    def latest_control(self) -> Request | None: ...
    def set_current(self, request: Request) -> None: ...
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
    def ask(self, request: Request, content: Any, given_up: int) -> bytes | None: ...
    def times_given_up(self) -> int: ...
    def give_up_questions(self) -> None: ...
    def close(self) -> None: ...
