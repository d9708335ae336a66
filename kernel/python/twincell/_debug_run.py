"""`Comparison.debug`: both versions in a front end's debugger, on the values of an execution.

The test of the execution is what runs: it has both versions unchanged, and rebuilds the values. It runs in the kernel's
process, outside of the sandbox, so only a person may start this.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

from . import _cell_files, _debugging
from ._twincell import Comparison, Start, TwincellError

if TYPE_CHECKING:
    from ._debugging import Debugger

#: The versions, in the order in which they run. Tests know them by these names.
SIDES = ("old", "new")
SUBJECT = "TWINCELL_SUBJECT"

NO_KERNEL = "debug needs the kernel Twincell (Python): choose it for this notebook"
OFF = "the debugger is off: turn it on with the bug button above the notebook, then debug again"
NO_PYTEST = "the test of this execution needs pytest, which is not installed: pip install pytest"
NOTICE = "Old, then new run in this kernel, outside of the sandbox. They stop at {}."


@dataclass(frozen=True)
class Version:
    """A version in files of its own, which the debugger shows."""

    side: str
    #: The test, and the file that stands for it.
    test: str
    test_path: str
    #: The file that has the text of the version. It is that of the test where the test has the version as code.
    path: str
    #: The text of the version where the test has it as a text.
    text: str | None
    #: Where it stops.
    line: int


def is_possible() -> bool:
    """Whether the kernel has a debugger that a front end can turn on."""
    return _kernel() is not None and _debugging.is_available()


def debug(comparison: Comparison, execution: int | None, changes: dict[str, str] | None, pair: int) -> None:
    """Runs both versions, and prints before where they stop, and afterwards what came of it."""
    for side, outcome in run(comparison, execution, changes, pair, None, print).items():
        print(f"{side}: {outcome}")


def run(
    comparison: Comparison,
    execution: int | None,
    changes: dict[str, str] | None,
    pair: int,
    start: Start | None,
    say: Callable[[str], None],
) -> dict[str, str]:
    """What each version did. Raises `TwincellError` before anything runs where there is no debugger or no test."""
    debugger = _turned_on()
    detail, _ = comparison._replay(execution, changes, pair, "reproduce", start)
    test, about = detail["reproducer"], comparison.pairs[pair]
    if "pytest" in _imported(test) and find_spec("pytest") is None:
        raise TwincellError(NO_PYTEST)
    try:
        versions = [_version(test, about[side], side, detail[side]["hits"]) for side in SIDES]
    except OSError as error:
        raise TwincellError(f"cannot write a version for the debugger: {error}") from None
    except SyntaxError as error:
        raise TwincellError(f"the Python of this kernel cannot read the test of this execution: {error}") from None
    places = [f"line {version.line} of {os.path.basename(version.path)}" for version in versions]
    outcomes = {}
    try:
        with debugger.stopping_at({version.path: version.line for version in versions}):
            say(NOTICE.format(" and ".join(places)))
            for version in versions:
                outcomes[version.side] = f"{detail[version.side]['outcome']}; {_run(version)}"
    except _debugging.DebuggerError as error:
        raise TwincellError(str(error)) from None
    return outcomes


def _kernel() -> Any:
    """The kernel of this process, if it is twincell's."""
    kernel = getattr(get_ipython(), "kernel", None)
    serve = sys.modules.get("twincell._serve")
    return kernel if serve is not None and isinstance(kernel, serve.Kernel) else None


def _turned_on() -> Debugger:
    kernel = _kernel()
    if kernel is None:
        raise TwincellError(NO_KERNEL)
    if not _debugging.is_available():
        raise TwincellError(_debugging.MISSING)
    debugger: Debugger | None = kernel.debugger
    if debugger is None or not debugger.is_on:
        raise TwincellError(OFF)
    return debugger


# The files


def _version(test: str, about: Mapping[str, Any], side: str, hits: list[tuple[int, int]]) -> Version:
    assigned = _assigned(ast.parse(test))
    _, text = assigned.get(side.upper(), (None, None))
    name = "".join(character for character in about["qualname"] if character.isalnum() or character in "._") or "code"
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        own, first = text.value, 1
    else:
        test, first = _without_other(test, assigned, side)
        own = test
    folder = _folder(test)
    test_path, path = f"{folder}test_{name}.py", f"{folder}{name}_{side}.py"
    _cell_files.write(path, own)
    if own is test:
        return Version(side, test, path, path, None, _line(own, first, about, hits))
    _cell_files.write(test_path, test)
    return Version(side, test, test_path, path, own, _line(own, first, about, hits))


def _folder(text: str) -> str:
    """A folder for files with short names, the same one for the same text, so that breakpoints in it are kept."""
    hashed = _cell_files.murmur2(text.encode("utf-8", "surrogatepass"), _cell_files.HASH_SEED)
    return f"{_cell_files.PREFIX}debug_{hashed}{os.sep}"


def _imported(test: str) -> set[str]:
    imports = (node for node in ast.parse(test).body if isinstance(node, ast.Import))
    return {alias.name for node in imports for alias in node.names}


def _assigned(tree: ast.Module) -> dict[str, tuple[ast.stmt | None, ast.expr]]:
    """The names that a file assigns once and for all: what stands before the assignment, and the value."""
    found: dict[str, tuple[ast.stmt | None, ast.expr]] = {}
    before: ast.stmt | None = None
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = (before, node.value)
        before = node
    return found


def _without_other(test: str, assigned: dict[str, tuple[ast.stmt | None, ast.expr]], side: str) -> tuple[str, int]:
    """The test without the code of the other version, and the line at which the code of this one begins."""
    own, other = assigned.get(side), assigned.get(SIDES[1 - SIDES.index(side)])
    if own is None or other is None or own[0] is None or other[0] is None:
        return test, 1
    lines = test.split("\n")
    begin, end = _first_line(other[0]), other[1].end_lineno or 0
    # With the empty lines behind it.
    while end < len(lines) and not lines[end].strip():
        end += 1
    first = _first_line(own[0])
    kept = lines[: begin - 1] + lines[end:]
    return "\n".join(kept), first if first < begin else first - (end - begin + 1)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _line(text: str, first: int, about: Mapping[str, Any], hits: list[tuple[int, int]]) -> int:
    """The first changed line of the function that the execution ran, else the first that it ran, in the file."""
    # What the function uses is listed behind it.
    own = about["lines"]
    for part in about.get("parts", ())[:1]:
        own = [one for one in own if one["number"] < part["number"]]
    ran = {line for line, times in hits if times}
    numbers: list[int] = [one["number"] for one in own if one["number"] in ran]
    lines, head = text.split("\n"), own[0]["text"].strip() if own else ""
    found = next((number for number, line in enumerate(lines[first - 1 :], first) if line.strip() == head), None)
    if found is None or not numbers:
        return _first_of_body(text, first)
    changed: list[int] = [one["number"] for one in own if one["changed"] and one["number"] in ran]
    begin: int = own[0]["number"]
    return found + min(changed or numbers) - begin


def _first_of_body(text: str, first: int) -> int:
    for node in ast.parse(text).body:
        if node.lineno >= first:
            body: list[ast.stmt] = getattr(node, "body", [])
            return body[0].lineno if body else node.lineno
    return first


# The run


def _run(version: Version) -> str:
    """What came of the test on a version."""
    module = types.ModuleType(os.path.basename(version.test_path).removesuffix(".py"))
    if version.text is not None:
        vars(module)["compile"] = _naming(version)
    with _subject(version.side), _known(module):
        try:
            exec(compile(version.test, version.test_path, "exec", dont_inherit=True), vars(module))
            for name, test in list(vars(module).items()):
                if name.startswith("test_") and callable(test):
                    test()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            said = " ".join(str(error).split())[:300]
            return f"its test failed here: {type(error).__name__}{said and f': {said}'}"
    return "its test passed here"


def _naming(version: Version) -> Callable[..., Any]:
    """`compile` for a test that has its versions as texts: that of the version gets the name of its file."""

    def compile_named(source: Any, filename: Any, *arguments: Any, **options: Any) -> Any:
        return builtins.compile(source, version.path if source == version.text else filename, *arguments, **options)

    return compile_named


@contextlib.contextmanager
def _subject(side: str) -> Iterator[None]:
    before = os.environ.get(SUBJECT)
    os.environ[SUBJECT] = side
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SUBJECT, None)
        else:
            os.environ[SUBJECT] = before


@contextlib.contextmanager
def _known(module: types.ModuleType) -> Iterator[None]:
    """Dataclasses look in their module, by its name, for what annotations mean."""
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(module.__name__, None)
        else:
            sys.modules[module.__name__] = before
