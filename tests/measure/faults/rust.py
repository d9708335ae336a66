"""Rust text -> tokens with their brackets matched. Comments and attributes are no tokens. Nothing here knows faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

#: Each alternative is one token; the first that fits counts. A block comment may hold others, so it is read by hand.
TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*)
  | (?P<raw>(?:br|cr|r)(?P<hashes>\#*)".*?"(?P=hashes))
  | (?P<text>[bc]?"(?:\\.|[^"\\])*")
  | (?P<char>b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.)|[^\\'])')
  | (?P<lifetime>'[A-Za-z_]\w*)
  | (?P<float>\d[\d_]*(?:\.\d[\d_]*(?:[eE][+-]?[\d_]+)?(?:f32|f64)?|[eE][+-]?[\d_]+(?:f32|f64)?|f(?:32|64)))
  | (?P<number>0[xob][\da-fA-F_]+\w*|\d[\d_]*(?:[iu](?:8|16|32|64|128|size))?)
  | (?P<name>(?:r\#)?[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.=|\.\.\.|->|=>|==|!=|<=|>=|&&|\|\||::|\.\.|<<|[-+*/%^&|]=|[^\w\s])
    """,
    re.VERBOSE | re.DOTALL,
)

CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A piece of a text: its kind (`name`, `number`, `mark`, ...), where it starts and ends, and its 0-based line."""

    kind: str
    text: str
    start: int
    end: int
    line: int


@dataclass
class Source:
    """A Rust text as tokens."""

    text: str
    tokens: list[Token] = field(default_factory=list)
    #: From the position of a bracket to that of its partner.
    partner: dict[int, int] = field(default_factory=dict)
    #: For each token, the position of the innermost bracket around it, or -1.
    around: list[int] = field(default_factory=list)
    #: The texts of attributes, and the position of the token that follows each.
    attributes: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tokenize()
        self._match()

    def spaced(self, position: int) -> bool:
        """Whether a token has space on both sides, as binary operators have in formatted code."""
        token = self.tokens[position]
        return self.text[token.start - 1].isspace() and self.text[token.end].isspace()

    def _tokenize(self) -> None:
        line = 0
        raw = list(pieces(self.text))
        skip_to = -1
        for number, (kind, start, end) in enumerate(raw):
            text = self.text[start:end]
            if kind not in ("space", "comment") and number >= skip_to:
                after = attribute_end(self.text, raw, number)
                if after is None:
                    self.tokens.append(Token(kind, text, start, end, line))
                else:
                    self.attributes.append((self.text[start : raw[after - 1][2]], len(self.tokens)))
                    skip_to = after
            line += text.count("\n")

    def _match(self) -> None:
        opened: list[int] = []
        for position, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in CLOSING.values():
                start = opened.pop()
                self.partner[start] = position
                self.partner[position] = start
            self.around.append(opened[-1] if opened else -1)
            if token.kind == "mark" and token.text in CLOSING:
                opened.append(position)


def pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Every token, space and comment of a text: its kind, start and end."""
    at = 0
    while at < len(text):
        if text.startswith("/*", at):
            end = block_comment_end(text, at)
            yield "comment", at, end
        else:
            found = TOKEN.match(text, at)
            if found is None:
                raise ValueError(f"no Rust at offset {at}: {text[at : at + 20]!r}")
            end = found.end()
            yield kind_of(found), at, end
        at = end


def kind_of(found: re.Match[str]) -> str:
    kind = next(name for name, value in found.groupdict().items() if value is not None and name != "hashes")
    return {"raw": "text", "char": "text"}.get(kind, kind)


def block_comment_end(text: str, at: int) -> int:
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise ValueError(f"a comment does not end: {text[at : at + 20]!r}")


def attribute_end(text: str, raw: list[tuple[str, int, int]], number: int) -> int | None:
    """The number of the piece behind the attribute that starts here; `None` if none does."""
    if text[raw[number][1]] != "#" or raw[number][0] != "mark":
        return None
    opening = number + 1
    if opening < len(raw) and text[raw[opening][1]] == "!":
        opening += 1
    if opening >= len(raw) or text[raw[opening][1]] != "[":
        return None
    depth = 0
    for at in range(opening, len(raw)):
        if raw[at][0] == "mark":
            depth += {"[": 1, "]": -1}.get(text[raw[at][1] : raw[at][2]], 0)
        if depth == 0:
            return at + 1
    return None


#: What begins an item, which has no end at a comma.
ITEMS = {"pub", "fn", "impl", "mod", "struct", "enum", "trait", "unsafe", "async", "extern", "type", "use"}
CONSTANTS = {"const", "static"}


def item_end(source: Source, position: int) -> int:
    """The position of the last token of the item, statement, field or arm that starts here."""
    begin = source.tokens[position].text
    ends = {";"} if begin in CONSTANTS else {"{", ";"} if begin in ITEMS else {"{", ";", ","}
    at = position
    while at < len(source.tokens):
        text = source.tokens[at].text
        if text in ends:
            return source.partner.get(at, at)
        if text in CLOSING:
            at = source.partner[at]
        elif text in CLOSING.values():
            return at - 1
        at += 1
    return len(source.tokens) - 1
