"""Functions and rewritings -> labelled changes, in the format that `twincell study` reads."""

import ast
import copy
import functools
import random
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from . import mutate, refactor_expressions, refactor_functions, refactor_statements
from .functions import Origin, collect
from .rewriting import Edit, Site

Rewriting = Callable[[Site], Iterator[Edit]]
PRESERVING: list[Rewriting] = [
    *refactor_expressions.REFACTORINGS,
    *refactor_statements.REFACTORINGS,
    *refactor_functions.REFACTORINGS,
]
CHANGING: list[Rewriting] = mutate.MUTATIONS
#: The new function stands in the module alone, so that the text without its module is not the same change.
NEED_MODULE = {"extract_function", "extract_method"}


def make(packages: list[str], count: dict[str, int], seed: int) -> list[dict[str, Any]]:
    """So many changes of each label, spread evenly over the rewritings and, within each, over the packages."""
    draw = random.Random(seed)
    origins = [origin for package in packages for origin in collect(package, draw, 400)]
    draw.shuffle(origins)
    changes: list[dict[str, Any]] = []
    for label, rewritings in (("preserving", PRESERVING), ("changing", CHANGING)):
        found: list[dict[str, Any]] = []
        seen: dict[str, int] = {}
        pending = {rewriting: iter(_by_package(origins, draw)) for rewriting in rewritings}
        while pending and len(found) < count[label]:
            for rewriting in list(pending):
                change = next(
                    filter(None, (_change(origin, rewriting, label, draw, seen) for origin in pending[rewriting])), None
                )
                if change is None:
                    del pending[rewriting]
                elif len(found) < count[label]:
                    found.append(change)
        changes += found
    return changes


def _by_package(origins: list[Origin], draw: random.Random) -> Iterator[Origin]:
    """One function of each package in turn."""
    queues: dict[str, list[Origin]] = {}
    for origin in draw.sample(origins, len(origins)):
        queues.setdefault(origin.package, []).append(origin)
    while queues:
        for package in list(queues):
            yield queues[package].pop()
            if not queues[package]:
                del queues[package]


def _change(
    origin: Origin, rewriting: Rewriting, label: str, draw: random.Random, seen: dict[str, int]
) -> dict[str, Any] | None:
    key = f"{origin.package}:{origin.file}:{origin.qualname}"
    if seen.get(key, 0) >= 1:
        return None
    old = ast.parse(origin.text).body[0]
    function = copy.deepcopy(old)
    owner = origin.qualname.rpartition(".")[0] or None
    site = Site(function, _parsed(origin.source), owner)
    edits = list(rewriting(site))
    if not edits:
        return None
    draw.choice(edits)()
    ast.fix_missing_locations(function)
    new_text = ast.unparse(function) + "\n"
    try:
        again = ast.parse(new_text).body[0]
    except SyntaxError as error:
        raise AssertionError(f"{rewriting.__name__} made no Python of {key}: {error}") from error
    if ast.dump(again) == ast.dump(old):
        return None
    methods = "".join(ast.unparse(ast.fix_missing_locations(method)) + "\n\n" for method in site.methods)
    module = origin.replaced(methods + new_text)
    if site.helpers:
        helpers = "".join(ast.unparse(ast.fix_missing_locations(helper)) + "\n\n\n" for helper in site.helpers)
        module = _before_outermost(origin, module, helpers)
    ast.parse(module)
    seen[key] = seen.get(key, 0) + 1
    return {
        "id": f"{rewriting.__name__}:{key}",
        "project": origin.package,
        "file": origin.file,
        "function": origin.qualname,
        "rule": rewriting.__name__,
        "needs_module": rewriting.__name__ in NEED_MODULE,
        "label": label,
        "old": origin.text,
        "new": new_text,
        "old_module": origin.source,
        "new_module": module,
    }


@functools.cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _before_outermost(origin: Origin, module: str, helpers: str) -> str:
    """The helpers before the module's own statement that holds the function."""
    tree = ast.parse(origin.source)
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        if first <= origin.first <= statement.end_lineno:
            lines = module.splitlines(keepends=True)
            return "".join(lines[: first - 1]) + textwrap.dedent(helpers) + "".join(lines[first - 1 :])
    raise AssertionError(f"{origin.qualname} is in no statement of {origin.file}")
