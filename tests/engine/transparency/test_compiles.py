"""What compiles still compiles when it is instrumented, line by line where it was: the standard library's own files."""

import ast
import pathlib
import re
import sysconfig
import warnings

import pytest
from twincell import _twincell

MARK = re.compile(r"_tc_l\((\d+)\)")
STDLIB = pathlib.Path(sysconfig.get_path("stdlib"))


def begun(text):
    """The lines of each statement that begins before its header ends, such as a loop over several lines."""
    spans = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            end = node.body[0].lineno if getattr(node, "body", None) else node.end_lineno
            spans[node.lineno] = max(end, spans.get(node.lineno, 0))
    return spans


def compiles(text, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return None


def faults(paths):
    found, marks = [], 0
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if compiles(text, str(path)) is None:
            continue
        try:
            code, identifiers = _twincell.instrumented(text)
        except SyntaxError as error:
            found.append(f"{path}: {error}")
            continue
        if compiles(code, str(path)) is None:
            found.append(f"{path}: does not compile")
        if len(code.split("\n")) != len(text.split("\n")):
            found.append(f"{path}: has other lines")
        spans = begun(text)
        for number, line in enumerate(code.split("\n"), 1):
            own = [int(mark) for mark in MARK.findall(line)]
            marks += len(own)
            if any(not mark <= number <= spans.get(mark, mark) for mark in own):
                found.append(f"{path}: marks {own} in line {number}")
    assert marks > 1000
    return found


def files():
    return sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)


def test_a_sample_of_the_standard_library_compiles_when_it_is_instrumented():
    assert faults(files()[::60]) == []


@pytest.mark.long
def test_the_whole_standard_library_compiles_when_it_is_instrumented():
    assert faults(files()) == []
