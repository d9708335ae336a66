"""What rewritings share: the places of a function's tree, and what is known about its names.

A rewriting is a function from a [`Site`] to the edits that are possible there, each a function without arguments that
changes the site's tree in place.
"""

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Edit = Callable[[], None]
Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Site:
    """A function that is about to be rewritten: a copy of its own, and the module around it, which stays as it is."""

    function: Function
    module: ast.Module
    #: Name of the class that holds it directly, if any.
    owner: str | None
    #: Definitions to put in front of the function's outermost statement in the module.
    helpers: list[ast.stmt] = field(default_factory=list)
    #: Definitions to put in front of the function itself.
    methods: list[ast.stmt] = field(default_factory=list)

    def fresh(self, wanted: str) -> str:
        """A name that occurs nowhere in the module."""
        taken = _identifiers(self.module)
        number, name = 1, wanted
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        return name


@functools.cache
def _identifiers(module: ast.Module) -> frozenset[str]:
    """Every name of a module; trees of modules are never changed."""
    found = set()
    for node in ast.walk(module):
        for kind in ("id", "arg", "name", "attr"):
            value = getattr(node, kind, None)
            if isinstance(value, str):
                found.add(value)
    return frozenset(found)


@dataclass(frozen=True)
class Slot:
    """The place of an expression in the tree."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.expr
    #: Only its truth matters here: the test of an if, a while, an assert or a not.
    truth: bool

    def put(self, node: ast.expr) -> None:
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


def slots(function: Function) -> Iterator[Slot]:
    """Every expression in the body, nested functions and annotations aside."""
    for statement in function.body:
        yield from _slots(statement, truth=False)


def _slots(node: ast.AST, truth: bool) -> Iterator[Slot]:
    if isinstance(node, SCOPES):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment") or isinstance(node, ast.JoinedStr):
            continue
        inner = name == "test" or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        inner = inner or truth and isinstance(node, ast.BoolOp) or name == "ifs"
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.expr):
                yield Slot(node, name, index, child, inner)
            if isinstance(child, ast.AST):
                yield from _slots(child, inner)


def blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """Every list of statements in the body, nested functions aside."""
    pending: list[Any] = [function]
    while pending:
        node = pending.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block
                pending += [child for child in block if not isinstance(child, SCOPES)]
        pending += getattr(node, "handlers", [])
        pending += getattr(node, "cases", [])


def statements(function: Function) -> Iterator[tuple[list[ast.stmt], int, ast.stmt]]:
    for block in blocks(function):
        for index, statement in enumerate(block):
            yield block, index, statement


def names(node: ast.AST | list, context: type = ast.expr_context) -> set[str]:
    """Names in a tree, of one context or of any."""
    nodes = node if isinstance(node, list) else [node]
    return {
        child.id
        for own in nodes
        for child in ast.walk(own)
        if isinstance(child, ast.Name) and isinstance(child.ctx, context)
    }


def uses(function: Function, name: str) -> int:
    """How often a name is read."""
    return sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in ast.walk(function)
    )


def parameters(function: Function) -> list[str]:
    own = function.args
    every = [*own.posonlyargs, *own.args, *own.kwonlyargs, *filter(None, [own.vararg, own.kwarg])]
    return [parameter.arg for parameter in every]


def is_local(function: Function, name: str) -> bool:
    """Bound in the function and in no scope beside or inside of it."""
    if name in parameters(function):
        return False
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return False
        if node is not function and isinstance(node, (*SCOPES, *COMPREHENSIONS)) and name in names(node):
            return False
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(name == (alias.asname or alias.name.partition(".")[0]) for alias in node.names):
                return False
        if isinstance(node, ast.ExceptHandler) and node.name == name:
            return False
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name == name:
            return False
    return name in names(function, ast.Store)


def has(node: ast.AST | list, *kinds: type) -> bool:
    nodes = node if isinstance(node, list) else [node]
    return any(isinstance(child, kinds) for own in nodes for child in ast.walk(own))


def suspends(node: ast.AST | list) -> bool:
    return has(node, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr) or any(
        getattr(child, "is_async", 0) for own in (node if isinstance(node, list) else [node]) for child in ast.walk(own)
    )


def is_simple(node: ast.expr) -> bool:
    """Evaluating it does nothing and cannot depend on when it is done."""
    return isinstance(node, (ast.Name, ast.Constant))


def is_exit(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def negated(test: ast.expr) -> ast.expr:
    """The test's opposite, where only truth matters."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    opposite = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in opposite:
        return ast.Compare(test.left, [opposite[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(load(name), list(arguments), [])


def is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def in_try(function: Function) -> set[int]:
    """Ids of statements inside a try or a with, where it shows how far a block got."""
    return {
        id(child)
        for node in ast.walk(function)
        if isinstance(node, (ast.Try, ast.TryStar, ast.With, ast.AsyncWith))
        for child in ast.walk(node)
    }


def spliced(block: list[ast.stmt], index: int, count: int, new: list[ast.stmt]) -> Edit:
    """Exchanges so many statements of a block for others."""

    def edit() -> None:
        block[index : index + count] = new

    return edit
