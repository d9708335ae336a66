"""Which functions, classes and statements outside both differ between two files."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

#: The name by which twincell calls the statements outside definitions.
SNIPPET = "the snippet"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Part:
    """A function, a class or the snippet: its text, and what of it matters."""

    text: str
    #: Syntax trees as texts: of the functions of this name, or of the statements of a class or snippet but imports.
    trees: list[str] = field(default_factory=list)
    #: The statements that assign to each name, as texts; only the snippet has them.
    assigned: dict[str, list[str]] = field(default_factory=dict)


class Bare(ast.NodeTransformer):
    """Leaves out docstrings and annotations, which twincell does not look at."""

    def visit_definition(self, node):
        self.generic_visit(node)
        if not isinstance(node, ast.ClassDef):
            node.returns = None
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_definition

    def visit_arg(self, node):
        node.annotation = None
        return node


def parts(module: str) -> dict[str, Part]:
    """The parts of a file by qualified name; raises `SyntaxError` and `ValueError` where it is no Python."""
    lines = module.splitlines(keepends=True)
    tree = Bare().visit(ast.parse(module))
    found: dict[str, Part] = {SNIPPET: Part(module)}

    def walk(body: list[ast.stmt], prefix: str, holder: Part) -> None:
        for node in body:
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                nested = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, [])]
                nested += [part for handler in getattr(node, "handlers", []) for part in handler.body]
                definitions = [part for part in nested if isinstance(part, (*FUNCTIONS, ast.ClassDef))]
                walk(definitions, prefix, holder)
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    continue
                holder.trees.append(ast.dump(Outside(definitions).visit(node)))
                for target in ast.walk(node):
                    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                        holder.assigned.setdefault(target.id, []).append(holder.trees[-1])
                continue
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            own = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
            part = found.setdefault(prefix + node.name, Part(own))
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}{node.name}.", part)
                part.trees += [ast.dump(value) for value in [*node.bases, *node.keywords, *node.decorator_list]]
                part.trees += sorted(one.name for one in node.body if isinstance(one, (*FUNCTIONS, ast.ClassDef)))
            else:
                part.trees.append(ast.dump(node))

    walk(tree.body, "", found[SNIPPET])
    return found


class Outside(ast.NodeTransformer):
    """Leaves definitions out of a statement that holds them."""

    def __init__(self, definitions: list[ast.stmt]):
        self.definitions = definitions

    def visit(self, node):
        return ast.Pass() if any(node is one for one in self.definitions) else self.generic_visit(node)


def changed(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    """Name, old and new text of each part that both files have and in which something changed.

    A function is one of them, too, if it reads a name of the module that is assigned something else. A name that
    stands for several functions (a property and its setter) is not compared by itself, but with its class.
    """
    before, after = parts(old), parts(new)
    several = {name for name in before if any(is_several(name, one) for one in (before, after))}
    for name in sorted(several & after.keys(), key=len):
        if before[name].trees != after[name].trees:
            holder = name.rpartition(".")[0] or SNIPPET
            before[holder].trees.append("old")
    old_names, new_names = before[SNIPPET].assigned, after[SNIPPET].assigned
    assigned = {name for name in old_names.keys() & new_names.keys() if old_names[name] != new_names[name]}
    for name in sorted(before.keys() & after.keys()):
        reads = name != SNIPPET and any(f"Name(id='{one}'" in tree for one in assigned for tree in after[name].trees)
        if name not in several and (reads or before[name].trees != after[name].trees):
            yield name, before[name].text, after[name].text


def is_several(name: str, found: dict[str, Part]) -> bool:
    """Whether a name stands for several functions."""
    trees = found[name].trees if name in found else []
    is_function = all(tree.startswith(("FunctionDef(", "AsyncFunctionDef(")) for tree in trees)
    return name != SNIPPET and len(trees) > 1 and is_function
