# Types of the native module. The options of `compare` are those of the option table; a test keeps both in step.

from builtins import slice as _slice
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import date
from os import PathLike
from pathlib import Path
from random import Random
from types import FunctionType, MethodType
from typing import Any, Literal, TypedDict, final, overload, type_check_only

import pandas
import polars
import pyarrow
from typing_extensions import Required

__version__: str
#: Version of Jupyter's messaging protocol that the kernel speaks.
PROTOCOL_VERSION: str

_Code = str | PathLike[str] | FunctionType | MethodType | type
_Calls = Sequence[tuple[Any, ...] | list[Any] | Mapping[str, Any]]
_Examples = str | PathLike[str] | _Calls | Mapping[str, _Calls]
# Words of a list, one by one or in a text with commas.
_Words = str | Sequence[str]
_Verdict = Literal["changing", "likely_preserving", "inconclusive", "identical"]

class TwincellError(ValueError):
    """What was wrong and what to do, in one line."""

@type_check_only
class Evidence(TypedDict):
    """One difference that was observed."""

    channel: Literal["return", "arguments", "output", "log", "calls", "exception"]
    """what differs"""
    place: str
    """where it differs, as text"""
    at: dict[str, Any] | None
    """where it differs, as data"""
    old: str
    """what the old version did"""
    new: str
    """what the new version did"""
    strength: Literal["observable", "call_pattern"]
    """whether a user of the code can see the difference, or only missing code is called differently"""
    probability: float
    """how likely the values are that the difference needs, according to the predictor"""
    edge_case: bool
    """whether only an unlikely value shows the difference"""
    score: float
    """how much it speaks for a change, 0 to 1"""
    execution: int
    """number of the execution that shows it, from 1"""

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
    def blame(
        self,
        range: str | None = None,
        *,
        old: bool = False,
        pair: int | None = None,
        progress: Callable[[int, int | None, str], object] | bool | None = None,
        budget: int | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        deadline: float | None = None,
        unsafe: bool | None = None,
        python: str | PathLike[str] | None = None,
    ) -> Blame: ...
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
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
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

@type_check_only
class Change(TypedDict, total=False):
    """One change that a study reads."""

    old: Required[str]
    """text of the old function, with its decorators"""
    new: Required[str]
    """text of the new function, with its decorators"""
    id: Any
    """the line's number when it is missing"""
    old_module: str
    """text of the module that contains the old function; used with `--context module` when both modules are given"""
    new_module: str
    """text of the module that contains the new function"""
    function: str
    """qualified name of the function in the modules, `Session.auth`"""
    label: Literal["changing", "preserving"]
    """a person's judgment"""
    project: str
    """the project that the change comes from"""
    commit: str
    """the commit that the change comes from"""
    file: str
    """the file that the change comes from"""
    date: str
    """when it was committed: `2026-01-31`, with or without a time"""
    kind: str
    """what kind of change it is, such as the rule of a linter"""

@type_check_only
class Finding(TypedDict):
    """The row of a study for one change."""

    id: Any
    """as in the input"""
    verdict: _Verdict
    """the verdict"""
    reason: str
    """the reason in one sentence; for a change, the values that show it and what both versions did"""
    evidence: list[Evidence]
    """the differences that were observed"""
    executions: int
    """how many executions came back"""
    coverage: float
    """share of executable lines of both versions that ran, 0 to 1"""
    changed_lines_reached: float | None
    """share of changed lines that ran; null when no changed line can run"""
    milliseconds: float
    """the only field that differs between two runs with the same seed"""
    reproducer: str | None
    """`holds`, `unknown: why` or `none: why`; null where nothing changed"""
    label: str | None
    """as in the input"""
    project: str | None
    """as in the input"""
    commit: str | None
    """as in the input"""
    date: str | None
    """as in the input"""
    file: str | None
    """as in the input"""
    function: str | None
    """as in the input"""
    kind: str | None
    """as in the input, or else the kind of code that the change is in: `condition`, `loop`, `result`, `assignment`,
    `call`, `exception`, `definition`, `other`, `several`; null where no statement differs"""
    first_difference: int | None
    """number of the first execution that differs"""
    complexity: int | None
    """cyclomatic complexity of the new version; null where it is not Python"""
    sandbox_lacks: list[str] | None
    """what the code ran without, with `--unsafe`: `landlock`, `seccomp`, ...; an empty list where the sandbox was
    complete, null where nothing ran"""
    key: str | None
    """hash of everything that the result depends on; null where the machine failed and not the change, so that the next
    run tries again"""

@final
class Study:
    def __len__(self) -> int: ...
    def __contains__(self, id: Any, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[Finding]: ...
    def __getitem__(self, id: Any, /) -> Comparison: ...
    def comparison(self, row: int) -> Comparison: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def rows(self) -> list[Finding]: ...
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
    ordered_keys: bool | None = None,
    ignore: _Words | None = None,
    unordered: _Words | None = None,
    isolation: str | None = None,
    disable: _Words | None = None,
    examples: _Examples | None = None,
    recorded: str | PathLike[str] | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
) -> Study: ...
def study_fingerprint(options: str, *, compares: bool = False) -> str: ...
def compare_chunk(chunk: str, options: str, fingerprint: str) -> str: ...
def execute(old: _Code, new: _Code, inputs: Sequence[tuple[int, Mapping[str, str]]], **options: Any) -> dict[str, Any]:
    """Executes both versions once for each seed with decisions, for tests and for people who debug twincell."""

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
    ordered_keys: bool | None = None,
    ignore: _Words | None = None,
    unordered: _Words | None = None,
    isolation: str | None = None,
    disable: _Words | None = None,
    examples: _Examples | None = None,
    recorded: str | PathLike[str] | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
    allow_policy_change: bool | None = None,
) -> Comparison: ...

@type_check_only
class Prediction(TypedDict):
    """The prediction for one value site."""

    function: str
    """the qualified name; a second function of the same name is `name#2`"""
    start: int
    """where the expression begins, in characters of the text. In a file every character counts, both of a two-character
    line end included (Python's `open(FILE, newline="")` keeps them); a byte order mark does not"""
    end: int
    """where the expression ends, exclusive"""
    kind: Literal["name", "attribute", "call", "subscript"]
    """what the expression is"""
    probabilities: list[float]
    """of none, bool, int, float, str, list, tuple, dict, set, callable, resource, object, in this order; their sum is
    1"""

@type_check_only
class WrongPlace(TypedDict):
    """A place where code is not Python."""

    message: str
    """what is wrong"""
    line: int
    """the line, from 1"""
    column: int
    """the column, from 1"""

@final
class Predictions:
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Prediction: ...
    @overload
    def __getitem__(self, index: _slice, /) -> list[Prediction]: ...
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

@type_check_only
class PrefixNode(TypedDict):
    """One prefix that was tried."""

    parent: int | None
    """position of the prefix that it was made from"""
    guidance: Literal["undefinedness", "error", "coverage"]
    """the step that made it"""
    origin: Literal["local", "llm"]
    """whether executions or a language model made it"""
    text: str
    """the source of the prefix"""
    makes: dict[str, int]
    """the number of values that it makes, by type"""
    completed: list[int]
    """the lines that complete behind it"""
    end: str | dict[str, Any]
    """how the program ended: `whole`, `steps`, `time`, `waits`, or an object with `raised`, `unreadable` or `lost`; a
    program that exits with a status other than 0 has `raised`"""

@type_check_only
class PrefixTree(TypedDict):
    """All prefixes that were tried for one snippet."""

    version: int
    """the version of this format"""
    undefined: list[str]
    """the names that the file reads and does not define"""
    lines: list[int]
    """the lines with a statement"""
    covered: list[int]
    """the lines that run behind some prefix"""
    uncalled: list[str]
    """the functions and methods that the file does not call, so that no line of them runs"""
    as_is: PrefixNode
    """the file without a prefix, as a node"""
    nodes: list[PrefixNode]
    """the prefixes that were tried"""
    chosen: list[int]
    """positions of the smallest set of nodes found that covers all of `covered`"""
    best: int | None
    """position of the node behind which most lines run"""
    stopped: bool
    """whether the search ended before it was done: by `--deadline`, or by Ctrl-C"""
    tokens: int
    """tokens that a language model used"""
    problem: str | None
    """why a language model was asked no more, in a sentence"""
    libraries: list[dict[str, Any]]
    """with `--install`, what was missing: `module`, `distribution` (or null) and `problem`, which is null for what is
    installed (`unknown`, `no_installer`, `refused` with a `message`, `lacking`, `stopped`)"""
    beside: dict[str, Any] | None
    """the modules and files beside the code that it uses, and the folders that they lie in; null if it uses none"""

@type_check_only
class PrefixRow(TypedDict):
    """The row of a study of prefixes for one snippet."""

    id: str
    """the file"""
    folder: str
    """the folder that was given"""
    lines: int
    """the number of lines with a statement"""
    as_is: float
    """the share of lines that runs without a prefix"""
    error_before: str | None
    """the exception that ends the snippet without a prefix"""
    by_step: list[float]
    """the share that some prefix covers after each step"""
    coverage: float
    """the share that some prefix covers at the end"""
    best: float
    """the share that the best prefix covers"""
    best_step: Literal["undefinedness", "error", "coverage"] | None
    """the step that found the best prefix"""
    tried: list[int]
    """the number of prefixes of each step"""
    chosen: int
    """the size of P"""
    milliseconds: float
    """the time"""
    stopped: bool
    """whether `--deadline` ended the search"""
    reason: str | None
    """why there are no prefixes, e.g. because the file is not Python (this snippet counts as one of which nothing
    runs)"""
    problem: str | None
    """why a language model was asked no more"""
    libraries: list[dict[str, Any]]
    """with `--install`, what was missing, as in the tree"""
    key: str | None
    """hash of everything that the row depends on; null where the next run tries again"""

@final
class Prefixes:
    """The prefixes of a snippet: a tree, and those of its nodes that are worth keeping."""

    @property
    def coverage(self) -> float: ...
    @property
    def best(self) -> str | None: ...
    @property
    def chosen(self) -> list[str]: ...
    def to_dict(self) -> PrefixTree: ...
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
    budget: int | None = None,
    generator: Literal["local", "llm", "both"] | None = None,
    budget_tokens: int | None = None,
    install: bool | None = None,
    disable: _Words | None = None,
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
    def __iter__(self) -> Iterator[PrefixRow]: ...
    def __contains__(self, id: str, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, id: str, /) -> Prefixes: ...
    @property
    def rows(self) -> list[PrefixRow]: ...
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
    budget: int | None = None,
    generator: Literal["local", "llm", "both"] | None = None,
    budget_tokens: int | None = None,
    install: bool | None = None,
    disable: _Words | None = None,
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
    budget: int | None = None,
    budget_rounds: int | None = None,
    tests: str | None = None,
    disable: _Words | None = None,
    network: bool | None = None,
    pass_env: str | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
    policy: str | PathLike[str] | None = None,
    allow_policy_change: bool | None = None,
) -> Amplification: ...

@type_check_only
class SliceUnit(TypedDict):
    """A commit of a range, or a part of one."""

    commit: str
    """its hash"""
    subject: str
    """the first line of its message"""
    part: dict[str, Any] | None
    """`path` and `entity`, where commits are split"""
    paths: list[str]
    """the files that it changes"""
    score: int
    """its significance: that of the paper"""
    is_cleanup: bool
    """whether its functions do the same after it, as far as comparisons found (`compare`)"""
    state: dict[str, Any]
    """the reason as data"""
    stays: bool
    """whether it stays"""
    reason: str
    """why it stays or goes, in one line"""

@final
class Slice:
    """A minimal part of a range of commits that keeps tests passing, or that makes them fail."""

    @property
    def base(self) -> str: ...
    @property
    def commits(self) -> list[str]: ...
    @property
    def units(self) -> list[SliceUnit]: ...
    @property
    def tests(self) -> dict[Literal["deciding", "flaky", "failing", "failures", "reproduced"], list[Any]]: ...
    @property
    def steps(self) -> list[dict[str, Any]]: ...
    @property
    def is_minimal(self) -> bool: ...
    @property
    def ended(self) -> Literal["minimal", "budget", "deadline", "interrupted"]: ...
    def explain(self, commit: str) -> str: ...
    def write_patches(self, folder: str | PathLike[str]) -> list[Path]: ...
    def make_branch(self, name: str) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_markdown(self) -> str: ...
    def to_html(self, title: str | None = None) -> str: ...
    def _state(self) -> str: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def slice(
    repository: str | PathLike[str],
    range: str,
    tests: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    progress: Callable[[int, int | None, str, Literal["reading", "criterion", "comparing", "refining"]], object]
    | bool
    | None = None,
    onto: str | None = None,
    compare: bool | None = None,
    bisect: bool | None = None,
    scheme: Literal["combined", "neg", "nonpos", "low", "basic"] | None = None,
    by: Literal["commit", "change"] | None = None,
    jobs: int | None = None,
    repeat: int | None = None,
    budget: int | None = None,
    deadline: float | None = None,
    network: bool | None = None,
    pass_env: str | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
) -> Slice: ...

@final
class Blame:
    """Since which commit a call gives its value."""

    @property
    def answer(self) -> Literal["since", "among", "same"]: ...
    @property
    def commit(self) -> str | None: ...
    @property
    def message(self) -> str | None: ...
    @property
    def candidates(self) -> list[str]: ...
    @property
    def before(self) -> str | None: ...
    @property
    def after(self) -> str: ...
    @property
    def hunk(self) -> str | None: ...
    @property
    def steps(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_markdown(self) -> str: ...
    def to_html(self, title: str | None = None) -> str: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def blame(
    place: str,
    call: str,
    range: str | None = None,
    *,
    repository: str | PathLike[str] | None = None,
    progress: Callable[[int, int | None, str], object] | bool | None = None,
    budget: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    deadline: float | None = None,
    unsafe: bool | None = None,
    python: str | PathLike[str] | None = None,
) -> Blame: ...

@type_check_only
class ImpactStatement(TypedDict):
    """A statement of the new version. One that holds others has the lines of its head."""

    path: str
    """the file"""
    lines: tuple[int, int]
    """the first and the last line, from 1"""
    function: str
    """the qualified name of the function or class around it; empty for a module"""
    state: Literal["changed", "impacted", "not_impacted"]
    """what is known of it"""
    distance: int | None
    """the number of links of the shortest chain from a change; `None` unless it is impacted"""
    because: str | None
    """the last link of that chain"""
    pruned_at: int | None
    """the level that took it away; `None` unless DCIA takes it to be impacted and a level does not"""
    equivalence: Literal["same_values", "same_argument", "same_summary", "proved"] | None
    """by which equivalence"""

@type_check_only
class ImpactLevel(TypedDict):
    """A level of the analysis. Each leaves fewer statements than the one before, or as many."""

    k: int | None
    """through how many calls equivalences are looked for; `None` for DCIA, which knows none"""
    impacted: int
    """the statements that it leaves impacted"""
    procedures: int
    """the functions that were compared"""
    steps: int
    """the facts that were derived: a measure of work that is the same on every machine"""
    milliseconds: int
    """when it was whole, since the beginning"""

@type_check_only
class ImpactFunction(TypedDict):
    """A function, a class or the body of a module, with the number of its statements in each state."""

    path: str
    """the file"""
    function: str
    """its qualified name; empty for a module"""
    changed: int
    """statements that changed"""
    impacted: int
    """other statements that may see other values"""
    not_impacted: int
    """all others"""
    is_reached: bool
    """whether an entry reaches it"""

@final
class Impact:
    """The statements that a change has impact on."""

    @property
    def statements(self) -> list[ImpactStatement]: ...
    @property
    def removed(self) -> list[dict[str, Any]]: ...
    @property
    def functions(self) -> list[ImpactFunction]: ...
    @property
    def changed(self) -> int: ...
    @property
    def impacted(self) -> int: ...
    @property
    def levels(self) -> list[ImpactLevel]: ...
    @property
    def stopped(self) -> Literal["time", "interrupt"] | None: ...
    @property
    def unsound(self) -> list[dict[str, Any]]: ...
    @property
    def left_out(self) -> list[dict[str, Any]]: ...
    def why(self, line: int | str, file: str | None = None) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_markdown(self) -> str: ...
    def to_sarif(self) -> str: ...
    def to_html(self, title: str | None = None) -> str: ...
    def _state(self) -> str: ...
    def _ipython_display_(self) -> None: ...
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]: ...

def impact(
    old: _Code | None = None,
    new: _Code | None = None,
    *,
    git: str | None = None,
    staged: bool = False,
    repository: str | PathLike[str] | None = None,
    paths: Iterable[str | PathLike[str]] | None = None,
    entry: _Words | None = None,
    outside: Literal["follow", "ignore"] | None = None,
    sources: Literal["statements", "functions"] | None = None,
    depth: int | Literal["max"] | None = None,
    time: float | None = None,
) -> Impact: ...
def select_tests(
    range: str,
    repository: str | PathLike[str] | None = None,
    *,
    staged: bool = False,
    paths: Iterable[str | PathLike[str]] | None = None,
    test_files: Iterable[str] | None = None,
    test_functions: Iterable[str] | None = None,
    test_classes: Iterable[str] | None = None,
) -> dict[str, Any]: ...

@type_check_only
class Option(TypedDict):
    name: str
    keyword: str
    placeholder: str
    allowed: str | None
    techniques: list[tuple[str, str]]
    default: str | None
    absent: str | None
    help: str
    jobs: list[Literal["compare", "study", "predict", "prefix", "amplify", "slice", "blame", "impact", "doctor"]]

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
class HistoryOutcome:
    """What `%slice`, `%blame` or `%impact` shall do next. Every part may be absent."""

    result: Slice | Blame | Impact | None
    text: str | None
    interrupt: BaseException | None

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
def slice_magic(line: str) -> HistoryOutcome: ...
def blame_magic(line: str) -> HistoryOutcome: ...
def impact_magic(line: str, versions: dict[str, str]) -> HistoryOutcome: ...
def prefix_magic(line: str, cell: str | None, named: Callable[[str], Any]) -> PrefixOutcome: ...
def version_name(line: str, cell: str) -> tuple[str | None, str | None]: ...
def magic_flags(magic: str) -> list[str]: ...
def serve_worker(
    socket: int,
    folder: str,
    readable: list[str],
    listable: list[str],
    finish: Callable[[], None],
    incomplete: bool,
) -> None: ...
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
    @staticmethod
    def is_forked() -> bool: ...
    def flush(self) -> None: ...
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
    ) -> int: ...
    def ask(self, request: Request, content: Any, given_up: int) -> bytes | None: ...
    def times_given_up(self) -> int: ...
    def give_up_questions(self) -> None: ...
    def close(self) -> None: ...

# A table that a Rust cell wrote.
@final
class Table:
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def to_dict(self) -> dict[str, list[Any]]: ...

def write_table(object: object, path: str) -> None: ...
def read_table(path: str) -> Table: ...
def cache_folder(name: str) -> Path: ...
