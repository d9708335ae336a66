# Types of what Rust offers. The options of `compare` are those of the table in kernel/src/options; a test holds them
# together.

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

class Comparison:
    @property
    def verdict(self) -> Verdict: ...
    @property
    def sentence(self) -> str: ...
    @property
    def evidence(self) -> list[Evidence]: ...
    @property
    def pairs(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_html(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

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
    python: str | PathLike[str] | None = None,
) -> Comparison: ...

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
def main(arguments: list[str]) -> int: ...
def compare_cell(line: str, cell: str, last: str | None = None) -> tuple[Comparison | None, str | None, str | None]: ...
def compare_stored(line: str, versions: dict[str, str]) -> tuple[Comparison | None, str | None]: ...
def version_name(line: str, cell: str) -> tuple[str | None, str | None]: ...
def magic_flags(cell: bool) -> list[str]: ...

class Request:
    """A message that waits for an answer; a wish to shut down has no type."""

    msg_type: str | None
    header: bytes
    metadata: bytes
    content: bytes
    buffers: list[bytes]

class Connection:
    """The open sockets of a kernel."""

    @staticmethod
    def open(connection_file: str, kernel_info: str) -> Connection: ...
    def fileno(self) -> int: ...
    def next_request(self) -> Request | None: ...
    def reply(self, request: Request, msg_type: str, content: str, metadata: str = "{}") -> None: ...
    def finish(self, request: Request) -> None: ...
    def abort_waiting(self) -> None: ...
    def publish(
        self,
        msg_type: str,
        content: str,
        parent: Request | None = None,
        metadata: str = "{}",
        buffers: list[bytes] = ...,
    ) -> None: ...
    def write(self, name: str, text: str, parent: Request | None = None) -> None: ...
    def ask(self, request: Request, content: str) -> bytes: ...
    def close(self) -> None: ...
