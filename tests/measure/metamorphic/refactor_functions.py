"""Refactorings that make functions: an expression becomes a function or a method of its own, a lambda gets a def."""

import ast
from collections.abc import Iterator

from .rewriting import SCOPES, Edit, Site, call, has, is_simple, load, names, parameters, spliced, statements, suspends


def extract_function(site: Site) -> Iterator[Edit]:
    """`return E` -> `return _helper(a, b)` with a new function of the module; a and b are E's locals."""
    local = names(site.function, ast.Store) | set(parameters(site.function))
    for _, _, statement in statements(site.function):
        own = getattr(statement, "value", None)
        if not isinstance(statement, ast.Return) or own is None or is_simple(own) or suspends(own):
            continue
        if has(own, ast.Lambda) or names(own) & {"super", "__class__"} or "__" in ast.unparse(own):
            continue
        bound = names(own, ast.Store)
        given = sorted((names(own, ast.Load) & local) - bound)
        if any(isinstance(node, SCOPES) and node is not site.function for node in ast.walk(site.function)):
            continue

        def edit(statement: ast.Return = statement, own: ast.expr = own, given: list[str] = given) -> None:
            name = site.fresh(f"_{site.function.name.strip('_')}_result")
            arguments = ast.arguments([], [ast.arg(each) for each in given], None, [], [], None, [])
            site.helpers.append(ast.FunctionDef(name, arguments, [ast.Return(own)], [], None))
            statement.value = call(name, *(load(each) for each in given))

        yield edit


def extract_method(site: Site) -> Iterator[Edit]:
    """`return E` -> `return self._helper(a)` with a new method of the class; a are E's locals other than self."""
    function = site.function
    if site.owner is None or "." in site.owner or function.decorator_list or not function.args.args:
        return
    first = function.args.args[0].arg
    if first != "self" or first in names(function, ast.Store):
        return
    local = names(function, ast.Store) | set(parameters(function))
    for _, _, statement in statements(function):
        own = getattr(statement, "value", None)
        if not isinstance(statement, ast.Return) or own is None or is_simple(own) or suspends(own):
            continue
        if has(own, ast.Lambda) or names(own) & {"super", "__class__"} or "__" in ast.unparse(own):
            continue
        if any(isinstance(node, SCOPES) and node is not function for node in ast.walk(function)):
            continue
        given = sorted((names(own, ast.Load) & local) - names(own, ast.Store) - {first})

        def edit(statement: ast.Return = statement, own: ast.expr = own, given: list[str] = given) -> None:
            name = site.fresh(f"_{function.name.strip('_')}_result")
            arguments = ast.arguments([], [ast.arg(each) for each in [first, *given]], None, [], [], None, [])
            site.methods.append(ast.FunctionDef(name, arguments, [ast.Return(own)], [], None))
            method = ast.Attribute(load(first), name, ast.Load())
            statement.value = ast.Call(method, [load(each) for each in given], [])

        yield edit


def lambda_to_function(site: Site) -> Iterator[Edit]:
    """`f = lambda x: e` -> `def f(x): return e`."""
    for block, index, statement in statements(site.function):
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.value, ast.Lambda)
        ):
            target, own = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and not suspends(own.body):
                new = ast.FunctionDef(target.id, own.args, [ast.Return(own.body)], [], None)
                yield spliced(block, index, 1, [new])


REFACTORINGS = [extract_function, extract_method, lambda_to_function]
