"""What the refactoring library rope makes: renames, extractions and inlinings.

rope is asked only where the refactoring keeps the order of evaluation (`evaluation.py`), since it does not look at
that itself. A change that would touch several modules is left out.
"""

import ast
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from rope.base.exceptions import RopeError
from rope.base.project import Project
from rope.base.resources import Resource
from rope.refactor.extract import ExtractMethod, ExtractVariable
from rope.refactor.inline import create_inline
from rope.refactor.rename import Rename

from .changes import Change, Function, functions
from .evaluation import DEFINITIONS, blocks, evaluated_once, is_first, names, parents
from .packages import Package

#: The characters from one to another.
Candidate = tuple[int, int]


class Module:
    """A module's text, with the offsets of its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """Of a place as `ast` counts it, in bytes of UTF-8."""
        start, end = self.starts[line - 1 : line + 1]
        return start + len(self.text[start:end].encode()[:column].decode())

    def span(self, first: ast.AST, last: ast.AST | None = None) -> Candidate:
        last = last or first
        return self.offset(first.lineno, first.col_offset), self.offset(last.end_lineno, last.end_col_offset)


def locals_of(module: Module, function: Function) -> Iterator[Candidate]:
    shared = {
        name for node in ast.walk(function.node) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    given = {argument.arg for argument in ast.walk(function.node) if isinstance(argument, ast.arg)}
    seen = set()
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in given | shared | seen:
            seen.add(node.id)
            if node.id.strip("_"):
                yield module.span(node)


def parameters_of(module: Module, function: Function) -> Iterator[Candidate]:
    arguments = function.node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.arg not in ("self", "cls", "mcs") and not argument.arg.startswith("_"):
            yield module.span(argument)


def private(module: Module, function: Function) -> Iterator[Candidate]:
    """The function's own name."""
    name = function.node.name
    if name.startswith("_") and not name.endswith("__") and not function.node.decorator_list:
        start = module.text.index(name, module.text.index("def ", module.offset(function.node.lineno, 0)))
        yield start, start + len(name)


def expressions_of(module: Module, function: Function) -> Iterator[Candidate]:
    """Calculated expressions that their statement evaluates first, whatever happens."""
    for block in blocks(function.node):
        for statement in block:
            root = evaluated_once(statement)
            for node in ast.walk(root) if root is not None else ():
                wanted = isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Attribute | ast.Compare)
                if wanted and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and is_first(root, node):
                    called = any(isinstance(other, ast.Call) and other.func is node for other in ast.walk(root))
                    if not called and not any(isinstance(inner, ast.Await | ast.Yield) for inner in ast.walk(node)):
                        yield module.span(node)


#: What cannot move into another function.
FIXED = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Delete,
    ast.Import, ast.ImportFrom, ast.NamedExpr, ast.AsyncFor, ast.AsyncWith, *DEFINITIONS,
)  # fmt: skip


def statements_of(module: Module, function: Function) -> Iterator[Candidate]:
    """Two to five statements outside loops, all of whose names are bound for certain where they are bound at all."""
    loops = [node for node in ast.walk(function.node) if isinstance(node, ast.For | ast.While)]
    looped = [body for node in loops for body in (node.body, node.orelse)]
    for block in blocks(function.node):
        if any(block is body for body in looped):
            continue
        for first in range(len(block)):
            for last in range(first + 1, min(first + 5, len(block))):
                chosen = block[first : last + 1]
                is_text = isinstance(chosen[0], ast.Expr) and isinstance(chosen[0].value, ast.Constant)
                if len(chosen) < len(function.node.body) and not is_text and _may_move(chosen):
                    yield module.span(chosen[0], chosen[-1])


def _may_move(chosen: list[ast.stmt]) -> bool:
    """Whether statements can be a function of their own."""
    nodes = [node for statement in chosen for node in ast.walk(statement)]
    certain = {name for one in chosen if isinstance(one, ast.Assign) for name in names(one, ast.Store)}
    bound = {name for one in chosen for name in names(one, ast.Store)}
    in_handler = any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes)
    has_super = any(isinstance(node, ast.Name) and node.id == "super" for node in nodes)
    return not (bound - certain or in_handler or has_super or any(isinstance(node, FIXED) for node in nodes))


def variables_of(module: Module, function: Function) -> Iterator[Candidate]:
    """Locals that are bound once and read once, at once, before anything else is evaluated."""
    stored, read = names(function.node, ast.Store), names(function.node, ast.Load)
    for block in blocks(function.node):
        for statement, following in zip(block, block[1:], strict=False):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name) as target]):
                    root = evaluated_once(following)
                    uses = [n for n in ast.walk(root) if isinstance(n, ast.Name) and n.id == name] if root else []
                    once = stored.count(name) == read.count(name) == len(uses) == 1
                    if once and is_first(root, uses[0]):
                        yield module.span(target)


def helpers(module: Module, function: Function) -> Iterator[Candidate]:
    """A private function that returns nothing, or only at its end, and that is called up to three times."""
    node = function.node
    uses = [n for n in ast.walk(module.tree) if node.name in (getattr(n, "id", ""), getattr(n, "attr", ""))]
    returns = [inner for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    last = not returns or returns == [node.body[-1]]
    above = parents(module.tree)
    called = all(isinstance(above[use], ast.Call) and above[use].func is use for use in uses)
    moves = not any(isinstance(inner, ast.Yield | ast.YieldFrom | ast.Await | ast.Nonlocal) for inner in ast.walk(node))
    plain = not (node.args.vararg or node.args.kwarg) and isinstance(node, ast.FunctionDef)
    if (
        1 <= len(uses) <= 3
        and last
        and called
        and moves
        and plain
        and not any(s is n for s in uses for n in ast.walk(node))
    ):
        yield from private(module, function)


def _rename(suffix: str) -> Callable:
    def asked(project: Project, resource: Resource, text: str, at: Candidate) -> object:
        return Rename(project, resource, at[0]).get_changes(text[slice(*at)] + suffix)

    return asked


def _extract(how: type, name: str) -> Callable:
    return lambda project, resource, _, at: how(project, resource, *at).get_changes(name)


def _inline(project: Project, resource: Resource, _: str, at: Candidate) -> object:
    return create_inline(project, resource, at[0]).get_changes()


#: Kind -> where it can be asked for, and how.
KINDS: dict[str, tuple[Callable[[Module, Function], Iterator[Candidate]], Callable]] = {
    "rename local": (locals_of, _rename("_value")),
    "rename parameter": (parameters_of, _rename("_given")),
    "rename private function": (private, _rename("_now")),
    "extract variable": (expressions_of, _extract(ExtractVariable, "extracted")),
    "extract function": (statements_of, _extract(ExtractMethod, "_extracted")),
    "inline variable": (variables_of, _inline),
    "inline function": (helpers, _inline),
}


def changes(package: Package, root: Path, kind: str, draw: random.Random) -> Iterator[Change]:
    """One change of a kind for each function where rope can make it, in an order that is drawn."""
    candidates, ask = KINDS[kind]
    project = Project(str(root / package.source), ropefolder=None)
    found = []
    for file in sorted((root / package.source).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "_vendor" not in file.parts and "\t" not in text and "\f" not in text:
            module = Module(text)
            found += [(file, module, function) for function in functions(module.tree)]
    draw.shuffle(found)
    for file, module, function in found:
        resource = project.get_resource(file.relative_to(root / package.source).as_posix())
        places = list(dict.fromkeys(candidates(module, function)))
        for at in draw.sample(places, min(3, len(places))):
            new = _asked(ask, project, resource, module.text, at)
            if new is not None and ast.dump(ast.parse(new)) != ast.dump(module.tree):
                name = file.relative_to(root).as_posix()
                yield Change(package.name, name, kind, function.qualname, module.text, new)
                break
    project.close()


def _asked(ask: Callable, project: Project, resource: Resource, text: str, at: Candidate) -> str | None:
    """The module's new text, if rope makes one, it is Python, and no other module changes."""
    try:
        made = ask(project, resource, text, at).changes
        (only,) = made
        new = only.new_contents if only.resource == resource else None
        if new is not None:
            ast.parse(new)
        return new
    except (RopeError, SyntaxError, ValueError, AttributeError, IndexError, KeyError, TypeError, AssertionError):
        # rope gives up with exceptions of many kinds.
        return None
