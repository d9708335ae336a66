"""The one-line mutations of a Rust text.

A mutation replaces an expression on one line by another, or removes a statement that has a line of its own. The
expression is the smallest that can stand in parentheses, so a switch can choose between the two (`switch.py`). Which
bracket-free operands belong to an operator is read from the tokens and the precedence of Rust's operators. A place
where this is not certain gives no mutation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from .rust import CLOSING, CONSTANTS, Source, item_end

COMPARISONS = {"<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "=="}
LOGICAL = {"&&": "||", "||": "&&"}
TRUTHS = {"true": "false", "false": "true"}
METHODS = dict([("min", "max"), ("any", "all"), ("first", "last"), ("is_some", "is_none"), ("is_ok", "is_err")])
METHODS |= {"starts_with": "ends_with"}
METHODS |= {other: one for one, other in METHODS.items()}

ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
#: What no operand of a binary operator reaches across.
BORDERS = ASSIGNMENTS | {",", ";", ":", "=>", "->", "..", "..=", "{", "}", "(", "[", ")", "]", "return", "break"}
BORDERS |= {"if", "while", "match", "in", "else", "move", "let"}
#: Operators that bind less tightly than `+`, where they have space around them.
LOOSER_THAN_SUM = set(COMPARISONS) | {"|", "^", "&", "<<", ">>"}
TIGHTER_THAN_SUM = {"*", "/", "%", ".", "?", "as"}
BINARY = LOOSER_THAN_SUM | set(LOGICAL) | {"+", "-", "*", "/", "%", "as", "..", "..="}
#: Words that are no operands.
KEYWORDS = set(
    "as break const continue dyn else enum extern fn for if impl in let loop match mod move mut pub ref".split()
)
KEYWORDS |= set("return static struct trait type unsafe use where while async await".split())

#: Conditions of compilation that do not hold where the faults are measured: x86-64 Linux, and no unit test.
NOT_COMPILED = ["cfg(test)", "cfg(all(test", 'cfg(not(target_os = "linux"))', 'cfg(not(target_arch = "x86_64"))']
NOT_COMPILED += ['cfg(not(target_pointer_width = "64"))', 'cfg(target_os = "macos")', "cfg(windows)", "cfg(not(unix))"]
#: A line with one of these words says nothing about behavior.
NO_BEHAVIOR = {"with_capacity", "reserve", "debug_assert", "debug_assert_eq", "assert", "assert_eq", "eprintln"}
NO_BEHAVIOR |= {"unreachable", "panic", "cfg", "inline", "drop"}


@dataclass(frozen=True)
class Mutation:
    """A piece of a text and what takes its place. `replacement` is `None` for a statement that is removed."""

    operator: str
    start: int
    end: int
    replacement: str | None
    #: 0-based.
    line: int


def candidates(text: str) -> dict[int, list[Mutation]]:
    """All mutations of a text by line."""
    source = Source(text)
    left_out = excluded(source)
    silent = {token.line for token in source.tokens if token.text in NO_BEHAVIOR}
    found: dict[int, list[Mutation]] = defaultdict(list)
    for position in range(1, len(source.tokens) - 1):
        if position in left_out:
            continue
        for operator in OPERATORS:
            mutation = operator(source, position)
            if mutation is not None and mutation.line not in silent and mutation not in found[mutation.line]:
                found[mutation.line].append(mutation)
    return {line: mutations for line, mutations in sorted(found.items()) if mutations}


def mutated(text: str, mutation: Mutation) -> str:
    """The text with a mutation. A removed statement takes its line along."""
    if mutation.replacement is not None:
        return text[: mutation.start] + mutation.replacement + text[mutation.end :]
    begin = text.rfind("\n", 0, mutation.start) + 1
    end = text.find("\n", mutation.end)
    return text[:begin] + ("" if end < 0 else text[end + 1 :])


def test_modules(text: str) -> list[str]:
    """The names of modules in files of their own that only tests compile."""
    source = Source(text)
    names = []
    for attribute, position in source.attributes:
        words = [token.text for token in source.tokens[position : position + 3]]
        if is_not_compiled(attribute) and words[:1] == ["mod"] and words[2:] == [";"]:
            names.append(words[1])
    return names


def is_not_compiled(attribute: str) -> bool:
    return any(condition in attribute for condition in NOT_COMPILED)


def excluded(source: Source) -> set[int]:
    """The positions of tokens in tests, constants, declarations of types, macros and `Debug`."""
    left_out: set[int] = set()
    for attribute, position in source.attributes:
        if is_not_compiled(attribute) and position < len(source.tokens):
            left_out.update(range(position, item_end(source, position) + 1))
    for position in range(len(source.tokens) - 2):
        if begins_excluded(source, position):
            left_out.update(range(position, item_end(source, position) + 1))
    return left_out


def begins_excluded(source: Source, position: int) -> bool:
    before, token, after, second = (
        source.tokens[at].text if at >= 0 else "" for at in (position - 1, position, position + 1, position + 2)
    )
    if token in CONSTANTS:
        return before not in ("*", "&") and (second == ":" or after in ("mut", "fn", "unsafe"))
    if token == "fn":
        return "const" in (before, source.tokens[position - 2].text) and position >= 1
    if token == "impl":
        header = []
        for later in source.tokens[position:]:
            if later.text == "{":
                break
            header.append(later.text)
        return "Debug" in header and "for" in header
    return token in ("struct", "enum", "use", "extern", "macro_rules") and before in ("", ";", "}", "pub", ")", "{")


def expression(source: Source, operator: str, first: int, last: int, replacement: str) -> Mutation | None:
    """The mutation of the expression between two tokens, if that is on one line."""
    begin, end = source.tokens[first], source.tokens[last]
    if first > last or begin.line != end.line:
        return None
    starts = begin.kind != "mark" or begin.text in ("(", "[", "&", "*", "!", "-")
    if not starts or begin.text in KEYWORDS:
        return None
    return Mutation(operator, begin.start, end.end, replacement, begin.line)


def textual(source: Source, operator: str, first: int, last: int, position: int, other: str) -> Mutation | None:
    """The mutation of an expression in which one token is another."""
    changed = source.tokens[position]
    start, end = source.tokens[first].start, source.tokens[last].end
    return expression(
        source, operator, first, last, source.text[start : changed.start] + other + source.text[changed.end : end]
    )


def is_border(source: Source, position: int, more: set[str]) -> bool:
    token = source.tokens[position]
    if token.kind not in ("mark", "name"):
        return False
    if token.text == "|" and not source.spaced(position):
        # The end of a closure's parameters.
        return True
    if token.text in BORDERS:
        return True
    return token.text in more and source.spaced(position)


def operand_start(source: Source, position: int, more: set[str]) -> int:
    """The position of the first token of the operand that ends before this position."""
    at = position - 1
    while at >= 0:
        if source.tokens[at].text in (")", "]"):
            at = source.partner[at]
        elif is_border(source, at, more):
            break
        at -= 1
    return at + 1


def operand_end(source: Source, position: int, more: set[str]) -> int:
    """The position of the last token of the operand that starts after this position."""
    at = position + 1
    while at < len(source.tokens):
        if source.tokens[at].text in ("(", "["):
            at = source.partner[at]
        elif is_border(source, at, more):
            break
        at += 1
    return at - 1


def comparison(source: Source, position: int) -> Mutation | None:
    """`a < b` becomes `a <= b`, `a == b` becomes `a != b`."""
    token = source.tokens[position]
    if token.text not in COMPARISONS or not source.spaced(position):
        return None
    more = set(LOGICAL) | set(COMPARISONS)
    first, last = operand_start(source, position, more), operand_end(source, position, more)
    if first == position or last == position:
        return None
    return textual(source, "comparison", first, last, position, COMPARISONS[token.text])


def logical(source: Source, position: int) -> Mutation | None:
    """`a && b` becomes `a || b`, in a chain without `let`."""
    token = source.tokens[position]
    if token.text not in LOGICAL or not source.spaced(position):
        return None
    first, last = operand_start(source, position, set()), operand_end(source, position, set())
    after = source.tokens[last + 1].text if last + 1 < len(source.tokens) else ""
    if first == position or last == position or after == "let" or is_in_let_chain(source, first):
        return None
    return textual(source, "logical", first, last, position, LOGICAL[token.text])


def is_in_let_chain(source: Source, first: int) -> bool:
    """Whether what starts here is the value of a `let` in a condition, as in `if let Some(x) = y && z`."""
    at = first - 1
    if source.tokens[at].text != "=":
        return False
    while at > 0 and source.tokens[at].text not in ("let", ";", "{", "}"):
        at = source.partner[at] - 1 if source.tokens[at].text in (")", "]") else at - 1
    return source.tokens[at].text == "let" and source.tokens[at - 1].text in ("if", "while", "&&")


def one(source: Source, position: int) -> Mutation | None:
    """`a + 1` becomes `a`."""
    token, after, behind = source.tokens[position : position + 3] if position + 2 < len(source.tokens) else [None] * 3
    if token is None or after is None or behind is None:
        return None
    if token.text not in ("+", "-") or after.text != "1" or behind.text in TIGHTER_THAN_SUM:
        return None
    first = operand_start(source, position, set(LOGICAL) | LOOSER_THAN_SUM)
    if first == position or not source.spaced(position):
        return None
    begin, end = source.tokens[first].start, source.tokens[position - 1].end
    return expression(source, "one", first, position + 1, source.text[begin:end])


def condition(source: Source, position: int) -> Mutation | None:
    """The condition of `if`, of `while` or of a match's arm is negated."""
    if source.tokens[position].text not in ("if", "while") or source.tokens[position].kind != "name":
        return None
    at = position + 1
    is_single = True
    while at < len(source.tokens):
        token = source.tokens[at]
        if token.text in ("{", "=>", ")"):
            break
        if token.text in ("let", "match", "if", "unsafe", ";", ","):
            return None
        is_single &= not (token.text in BINARY and (source.spaced(at) or token.text == "as"))
        at = source.partner[at] + 1 if token.text in CLOSING else at + 1
    first, last = position + 1, at - 1
    if first > last:
        return None
    text = source.text[source.tokens[first].start : source.tokens[last].end]
    if is_single and text.startswith("!"):
        return expression(source, "condition", first, last, text[1:])
    return expression(source, "condition", first, last, f"!{text}" if is_single else f"!({text})")


def truth(source: Source, position: int) -> Mutation | None:
    """`true` becomes `false`."""
    token = source.tokens[position]
    if token.text not in TRUTHS or is_pattern(source, position):
        return None
    return expression(source, "truth", position, position, TRUTHS[token.text])


def number(source: Source, position: int) -> Mutation | None:
    """A decimal integer becomes the next one."""
    token = source.tokens[position]
    before, after = source.tokens[position - 1].text, source.tokens[position + 1].text
    if token.kind != "number" or token.text.startswith(("0x", "0o", "0b")) or is_pattern(source, position):
        return None
    if before in (".", "..=") or after == "..=":
        return None
    if before == ";" and source.tokens[source.around[position]].text == "[":
        # The length of an array.
        return None
    digits, suffix = re.fullmatch(r"([\d_]+)(\w*)", token.text).groups()
    following = int(digits.replace("_", "")) + 1
    return expression(source, "number", position, position, f"{following}{suffix}")


def is_pattern(source: Source, position: int) -> bool:
    """Whether a value stands in a pattern, as far as the tokens tell."""
    neighbors = {source.tokens[position - 1].text, source.tokens[position + 1].text}
    if neighbors & {"|", "let"} or source.tokens[position + 1].text in ("=>", "=", "if"):
        return True
    around = source.around[position]
    while around >= 0:
        end = source.partner[around]
        after = source.tokens[end + 1] if end + 1 < len(source.tokens) else None
        if after is not None and (after.text in ("=>", "if") or after.text == "=" and source.tokens[end].text != "]"):
            return True
        around = source.around[around]
    return False


def nothing(source: Source, position: int) -> Mutation | None:
    """`Some(x)` becomes `None` where it is returned."""
    token = source.tokens[position]
    if token.text != "Some" or source.tokens[position + 1].text != "(":
        return None
    last = source.partner[position + 1]
    before, after = source.tokens[position - 1].text, source.tokens[last + 1].text
    is_result = before == "return" and after in (";", "}", ",") or before == "=>" and after in (",", "}")
    if not is_result and not (before in ("{", "}", ";") and after == "}"):
        return None
    return expression(source, "nothing", position, last, "None")


def method(source: Source, position: int) -> Mutation | None:
    """`a.min(b)` becomes `a.max(b)`, `a.is_some()` becomes `a.is_none()`."""
    token = source.tokens[position]
    called = source.tokens[position - 1].text == "." and source.tokens[position + 1].text == "("
    if token.text not in METHODS or not called:
        return None
    first = receiver_start(source, position - 2)
    if first is None:
        return None
    return textual(source, "method", first, source.partner[position + 1], position, METHODS[token.text])


def receiver_start(source: Source, at: int) -> int | None:
    """The position of the first token of the chain of calls and fields that ends here."""
    while at > 0:
        token, before = source.tokens[at], source.tokens[at - 1]
        if token.text == "?":
            at -= 1
        elif token.text in (")", "]"):
            at = source.partner[at]
            before = source.tokens[at - 1]
            if before.text == ">":
                return None
            if before.text == "!" and source.tokens[at - 2].end == before.start:
                at -= 2
            elif (before.kind == "name" and before.text not in KEYWORDS) or before.text in (")", "]", "?"):
                at -= 1
            else:
                return at
        elif token.kind in ("name", "number", "text", "float") and token.text not in KEYWORDS:
            if before.text not in (".", "::"):
                return at
            if source.tokens[at - 2].text == ">":
                return None
            at -= 2
        else:
            return None
    return None


def statement(source: Source, position: int) -> Mutation | None:
    """A call or an assignment on a line of its own is removed."""
    token, before = source.tokens[position], source.tokens[position - 1]
    if before.text not in (";", "{", "}") or before.line == token.line or token.text in KEYWORDS:
        return None
    if token.kind != "name" and token.text != "*":
        return None
    at, assigns = position, False
    while at < len(source.tokens) and source.tokens[at].text != ";":
        if source.tokens[at].line != token.line or source.tokens[at].text in ("{", "}", "=>", ",", "!"):
            return None
        assigns |= source.tokens[at].text in ASSIGNMENTS
        at = source.partner[at] + 1 if source.tokens[at].text in CLOSING else at + 1
    last = source.tokens[at] if at + 1 < len(source.tokens) else None
    if last is None or last.line != token.line or source.tokens[at + 1].line == token.line:
        return None
    if not assigns and source.tokens[at - 1].text not in (")", "?"):
        return None
    return Mutation("statement", token.start, last.end, None, token.line)


OPERATORS: list[Callable[[Source, int], Mutation | None]] = [comparison, logical, one, condition, truth]
OPERATORS += [number, nothing, method, statement]
