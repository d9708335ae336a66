"""The source text of functions and classes, also of those defined in notebooks."""

import ast
import functools
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any


def source(thing: Any) -> str:
    """Like `inspect.getsource`, but also finds classes of a notebook, which `inspect` looks for only in files.

    Raises OSError where the text is not available, and TypeError for a thing that has no source text.
    """
    try:
        text = inspect.getsource(thing)
    except (OSError, TypeError, SyntaxError) as error:
        of_class = _of_class(thing) if isinstance(thing, type) else None
        if of_class is None:
            raise error if not isinstance(error, SyntaxError) else OSError(str(error)) from None
        text = of_class
    return textwrap.dedent(text)


def _of_class(thing: type) -> str | None:
    """The text of a class, found by the position of its methods."""
    for code in _codes(thing):
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name != thing.__name__:
                continue
            if node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                return "".join(lines[first - 1 : node.end_lineno])
    return None


def _codes(thing: type) -> Iterator[CodeType]:
    for member in vars(thing).values():
        match member:
            case staticmethod() | classmethod():
                member = member.__func__
            case property():
                member = member.fget
            case functools.cached_property():
                member = member.func
        # Objects of other classes may answer to any attribute name.
        if isinstance(member, FunctionType):
            function = inspect.unwrap(member)
            if isinstance(function, FunctionType) and function.__qualname__.startswith(f"{thing.__qualname__}."):
                yield function.__code__
