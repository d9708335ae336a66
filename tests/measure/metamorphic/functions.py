"""Where the functions come from: the pure-Python modules of installed packages and of the standard library."""

import ast
import importlib.util
import random
import sysconfig
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Statements that a function has at least and at most, nested ones included.
SMALLEST, LARGEST = 3, 40
#: Folders that hold no code of the package itself.
LEFT_OUT = {"tests", "test", "testing", "_vendor", "site-packages", "idlelib", "lib2to3", "turtledemo", "__pycache__"}


@dataclass(frozen=True)
class Origin:
    """One function in its module."""

    package: str
    file: str
    source: str
    qualname: str
    #: First and last line in the module, decorators included, counted from 1.
    first: int
    last: int

    @property
    def text(self) -> str:
        lines = self.source.splitlines(keepends=True)[self.first - 1 : self.last]
        return textwrap.dedent("".join(lines))

    def replaced(self, text: str) -> str:
        """The module with another text in the function's place."""
        lines = self.source.splitlines(keepends=True)
        indent = lines[self.first - 1][: len(lines[self.first - 1]) - len(lines[self.first - 1].lstrip())]
        return "".join(lines[: self.first - 1]) + textwrap.indent(text, indent) + "".join(lines[self.last :])


def collect(package: str, draw: random.Random, most: int) -> list[Origin]:
    """Functions of a package (`stdlib` for the standard library), at most so many, drawn over all of its modules."""
    found = []
    files = list(_files(package))
    draw.shuffle(files)
    for name, file in files:
        own = list(_functions(package, name, file))
        # Few from each module, so that no large one dominates.
        found += draw.sample(own, min(len(own), 8))
        if len(found) >= 3 * most:
            break
    return draw.sample(found, min(len(found), most))


def _files(package: str) -> Iterator[tuple[str, Path]]:
    if package == "stdlib":
        folder = Path(sysconfig.get_path("stdlib"))
    else:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise SystemExit(f"{package} is not installed here; install it or leave it out with --packages")
        origin = Path(spec.origin)
        if origin.name != "__init__.py":
            yield origin.name, origin
            return
        folder = origin.parent
    for file in sorted(folder.rglob("*.py")):
        inside = file.relative_to(folder)
        if not LEFT_OUT.intersection(inside.parts) and not inside.name.startswith("test_"):
            yield f"{'' if package == 'stdlib' else package + '/'}{inside.as_posix()}", file


def _functions(package: str, name: str, file: Path) -> Iterator[Origin]:
    try:
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    if "\t" in source or "\f" in source or len(source) > 200_000:
        return
    for node, qualname in _definitions(tree.body, ""):
        statements = sum(isinstance(child, ast.stmt) for child in ast.walk(node)) - 1
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if SMALLEST <= statements <= LARGEST and _is_plain(node):
            yield Origin(package, name, source, qualname, first, node.end_lineno)


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """No test, no overload, and nothing that looks at its own names as text."""
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    dynamic = names & {"locals", "vars", "eval", "exec", "globals", "dir"}
    return not (decorators & {"overload", "abstractmethod"} or dynamic or node.name.startswith("test"))
