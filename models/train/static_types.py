"""What mypy knows of the expressions of a package, as classes of value sites.

Types are weaker evidence than values: a declared `Mapping` may be any mapping, and most of code is not annotated. But
mypy gives a type to every expression that follows from annotations, literals and the standard library, in any package,
without running it. What it calls `Any`, and what can be too many classes, is left out.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mypy import build, nodes, types
from mypy.errors import CompileError
from mypy.find_sources import InvalidSourceList, create_source_list
from mypy.inspections import find_by_location
from mypy.options import Options

from .classes import NUMBER

#: Instances of these are always of the class. Subclasses of them are objects, as they are at run time.
BUILTINS = {
    "builtins.bool": "bool",
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.str": "str",
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.dict": "dict",
    "builtins.set": "set",
    "builtins.frozenset": "set",
    "builtins.function": "callable",
    "builtins.type": "callable",
    "typing.Callable": "callable",
}
#: Abstract types in annotations, and the classes that callers pass in most cases.
ABSTRACT = {
    "typing.Mapping": "dict",
    "typing.MutableMapping": "dict",
    "typing.Sequence": "list",
    "typing.MutableSequence": "list",
    "typing.Iterable": "list",
    "typing.Collection": "list",
    "typing.AbstractSet": "set",
    "typing.MutableSet": "set",
}
#: A site with more classes than this says nothing.
MOST = 3
EXPRESSIONS = {ast.Name: "name", ast.Attribute: "attribute", ast.Call: "call", ast.Subscript: "subscript"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
#: Line, column, end line and end column -> the classes that a value there can have. Empty if they are unknown.
Known = Callable[[int, int, int, int], frozenset[str]]


def classes_of(type_: types.Type | None) -> frozenset[str]:
    """The classes that a value of a type can have. Empty if they are unknown."""
    type_ = types.get_proper_type(type_)
    match type_:
        case types.NoneType():
            return frozenset({"none"})
        case types.Instance():
            name = type_.type.fullname
            if name == "builtins.object":
                return frozenset()
            if known := BUILTINS.get(name) or ABSTRACT.get(name):
                return frozenset({known})
            if type_.type.is_enum or name == "types.ModuleType":
                return frozenset({"object"})
            if type_.type.is_protocol:
                return frozenset({"callable"}) if "__call__" in type_.type.names else frozenset()
            return frozenset({"resource" if type_.type.get("__enter__") else "object"})
        case types.TupleType():
            return frozenset({"tuple"})
        case types.TypedDictType():
            return frozenset({"dict"})
        case types.LiteralType():
            return classes_of(type_.fallback)
        case types.CallableType() | types.Overloaded() | types.TypeType():
            return frozenset({"callable"})
        case types.TypeVarType():
            return classes_of(type_.upper_bound)
        case types.UnionType():
            all_of_them: frozenset[str] = frozenset()
            for item in type_.items:
                if not (one := classes_of(item)):
                    return frozenset()
                all_of_them |= one
            return all_of_them if len(all_of_them) <= MOST else frozenset()
    return frozenset()


def types_of(folder: Path) -> dict[str, Known]:
    """The known classes for each file below a folder that mypy can read."""
    options = Options()
    options.incremental = False
    options.cache_dir = os.devnull
    options.preserve_asts = options.export_types = True
    options.check_untyped_defs = options.allow_redefinition = True
    options.ignore_missing_imports = options.ignore_errors = options.namespace_packages = True
    options.explicit_package_bases = True
    # Packages installed beside this program do not belong to the package.
    options.python_executable = None
    options.no_site_packages = True
    options.follow_imports = "silent"
    options.mypy_path = [str(folder)]
    options.python_version = sys.version_info[:2]
    options.show_traceback = False
    try:
        result = build.build(create_source_list([str(folder)], options), options)
    except (CompileError, InvalidSourceList) as error:
        raise ValueError(str(error)) from None
    return {
        tree.path: _Known(tree, result.types) for tree in result.files.values() if tree.path.startswith(str(folder))
    }


@dataclass(frozen=True)
class _Known:
    """The known classes of one file, by position: lines from 1, columns in bytes from 0."""

    tree: nodes.MypyFile
    types: dict[nodes.Expression, types.Type]

    def __call__(self, line: int, column: int, end_line: int, end_column: int) -> frozenset[str]:
        found = find_by_location(self.tree, line, column, end_line, end_column)
        return classes_of(self.types.get(found)) if found is not None else frozenset()


def nothing(*_place: int) -> frozenset[str]:
    """The known classes of a file that mypy could not read: none."""
    return frozenset()


def functions_of(text: str, known: Known) -> Iterator[dict]:
    """The functions of a text that are not nested in another, with the sites whose classes are known."""
    lines = text.split("\n")
    for node, qualname in _functions(ast.parse(text), ""):
        margin = node.col_offset
        if lines[node.lineno - 1][:margin].strip():
            continue
        own = [line[min(margin, len(line) - len(line.lstrip())) :] for line in lines[node.lineno - 1 : node.end_lineno]]
        cut = [len(line) for line in lines[node.lineno - 1 : node.end_lineno]]
        starts, at = [], 0
        for line, before in zip(own, cut, strict=True):
            # Maps a column of the file to the function's text.
            starts.append(at - (before - len(line)))
            at += len(line) + 1
        sites = []
        for inner in _values(node):
            place = (inner.lineno, inner.col_offset, inner.end_lineno, inner.end_col_offset)
            # Columns count bytes, and mypy counts those of other lines differently.
            if not (lines[inner.lineno - 1].isascii() and lines[inner.end_lineno - 1].isascii()):
                continue
            if not (classes := known(*place)):
                continue
            start = starts[inner.lineno - node.lineno] + inner.col_offset
            end = starts[inner.end_lineno - node.lineno] + inner.end_col_offset
            counts = {NUMBER[name]: 1 for name in sorted(classes)}
            sites.append({"start": start, "end": end, "kind": EXPRESSIONS[type(inner)], "counts": counts})
        yield {"qualname": qualname, "text": "\n".join(own), "sites": sites}


def _functions(tree: ast.AST, within: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNCTIONS):
            yield node, within + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _functions(node, within)


def _values(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """The expressions that are read when the function runs, without annotations, decorators and defaults."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        if isinstance(node, FUNCTIONS):
            left += node.body
            continue
        if type(node) in EXPRESSIONS and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            yield node
        if isinstance(node, ast.AnnAssign):
            left += [part for part in (node.target, node.value) if part is not None]
        elif not isinstance(node, ast.JoinedStr):
            left += ast.iter_child_nodes(node)
