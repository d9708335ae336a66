"""What is evaluated when in a statement: the textbook preconditions of extracting and inlining.

A refactoring library moves expressions without asking whether this changes the order of effects. These functions tell
where it cannot: they look at the syntax tree alone.
"""

import ast
from collections.abc import Iterator

#: Nodes whose evaluation can neither act nor fail in a way that a caller notices.
PLAIN = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.unaryop)


def is_plain(node: ast.AST) -> bool:
    """Names, constants, and attributes of names."""
    return isinstance(node, PLAIN) or isinstance(node, ast.Attribute) and is_plain(node.value)


def parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}


def is_first(root: ast.AST, node: ast.AST) -> bool:
    """Whether evaluating `root` always evaluates `node`, and nothing but plain nodes before it."""
    above = parents(root)
    while node is not root:
        parent = above[node]
        if isinstance(parent, (ast.Lambda, ast.comprehension, ast.NamedExpr, ast.Dict, ast.Await, ast.Starred)):
            return False
        if isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FormattedValue)):
            return False
        if isinstance(parent, (ast.BoolOp, ast.IfExp, ast.Compare)) and next(_evaluated(parent)) is not node:
            return False
        for earlier in _evaluated(parent):
            if earlier is node:
                break
            if not is_plain(earlier):
                return False
        node = parent
    return True


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The operands in the order of their evaluation."""
    if isinstance(node, ast.BoolOp):
        yield from node.values
    else:
        yield from ast.iter_child_nodes(node)


def evaluated_once(statement: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates first, once, and each time that it runs."""
    match statement:
        case ast.Return(value=value) | ast.Expr(value=value) | ast.Assign(value=value):
            return value
        case ast.AugAssign(target=ast.Name(), value=value) | ast.AnnAssign(target=ast.Name(), value=value):
            return value
        case ast.If(test=test):
            return test
        case ast.For(iter=iterated):
            return iterated
        case ast.Raise(exc=raised):
            return raised
    return None


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """The bodies inside a function, without those of nested definitions. An `elif` is no block of its own."""
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop()
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                is_elif = isinstance(node, ast.If) and name == "orelse" and isinstance(body[0], ast.If)
                if not is_elif:
                    yield body
                pending += [child for child in body if not isinstance(child, DEFINITIONS)]
        pending += getattr(node, "handlers", [])


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def names(node: ast.AST, context: type[ast.expr_context]) -> list[str]:
    """The names that are read or bound somewhere inside."""
    return [child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, context)]
