"""A change as this command handles it, and many of them in one copy of a package."""

import ast
import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    package: str
    #: The module's path in the source distribution.
    file: str
    #: `ruff`, or what the refactoring library was asked for.
    kind: str
    function: str
    old: str
    new: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.package}:{self.file}:{self.function}"

    def as_row(self) -> dict[str, str]:
        """A change of a study, of whole files: everything that changed is compared."""
        row = {"id": self.id, "label": "preserving", "project": self.package, "file": self.file, "rule": self.kind}
        return row | {"old": self.old, "new": self.new}

    def hunks(self) -> list[tuple[int, int, list[str]]]:
        """The replaced ranges of lines, with what replaces them."""
        old, new = self.old.splitlines(keepends=True), self.new.splitlines(keepends=True)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        return [(a, b, new[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def combined(changes: list[Change]) -> tuple[str, list[Change]]:
    """A module with as many of its changes as do not touch the same lines, and those that are in it."""
    lines = changes[0].old.splitlines(keepends=True)
    taken: list[tuple[int, int, list[str]]] = []
    applied = []
    for change in changes:
        hunks = change.hunks()
        # A line between two changes, so that neither is read as part of the other.
        if all(end < first or last < start for start, end, _ in hunks for first, last, _ in taken):
            taken += hunks
            applied.append(change)
    for start, end, replacement in sorted(taken, reverse=True):
        lines[start:end] = replacement
    text = "".join(lines)
    try:
        ast.parse(text)
    except SyntaxError:
        return changes[0].new, changes[:1]
    return text, applied


@dataclass(frozen=True)
class Function:
    """A function or method of a module, outside other functions."""

    qualname: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line with decorators, for a slice of the lines."""
        first = min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])
        return first - 1, self.node.end_lineno


def functions(tree: ast.Module) -> list[Function]:
    """The functions whose qualified name is their own, without those that look at names as text."""
    found: dict[str, list[Function]] = {}

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.setdefault(prefix + node.name, []).append(Function(prefix + node.name, node))
            elif isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}{node.name}.")

    walk(tree.body, "")
    return [own[0] for own in found.values() if len(own) == 1 and is_ordinary(own[0].node)]


def is_ordinary(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    dynamic = names & {"locals", "vars", "eval", "exec", "globals", "dir"}
    return not (decorators & {"overload", "abstractmethod"} or dynamic)


def bare(node: ast.AST) -> str:
    """A function's syntax tree without its docstrings and annotations."""
    copy = ast.parse(ast.unparse(node))
    for inner in ast.walk(copy):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            inner.returns = None
            if ast.get_docstring(inner, clean=False) is not None:
                inner.body = inner.body[1:] or [ast.Pass()]
        elif isinstance(inner, ast.arg):
            inner.annotation = None
    return ast.dump(copy)
