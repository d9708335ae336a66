"""Faults as patch files. A patch is a plain unified diff of one line; the lines above it say what the fault is.

`git apply` skips those lines. The columns say which part of the line is exchanged, so a patch is all that the switch
needs (`switch.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .mutations import Mutation

FOLDER = Path(__file__).parent
#: Lines of context, as git has them.
CONTEXT = 3
#: An expression with fewer characters says nothing without its line.
SHORT = 8


@dataclass(frozen=True)
class Fault:
    """A mutation of one line of a file, with the lines around it."""

    number: int
    crate: str
    file: str
    operator: str
    #: 1-based, in the commit that the fault was chosen for.
    line: int
    before: tuple[str, ...]
    old: str
    #: `None` if the line is removed.
    new: str | None
    after: tuple[str, ...]
    #: The part of the old line that is exchanged, 0-based and without the end.
    columns: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.number:02}-{self.crate}.patch"

    @property
    def original(self) -> str:
        """The expression or the statement."""
        return self.old[slice(*self.columns)]

    @property
    def mutant(self) -> str | None:
        """What takes its place."""
        if self.new is None:
            return None
        return self.new[self.columns[0] : len(self.new) - (len(self.old) - self.columns[1])]

    @property
    def description(self) -> str:
        """`a < b` -> `a <= b`. What is as short as a number stands with its line."""
        if self.mutant is None:
            return f"`{self.original}` removed"
        if len(self.original) < SHORT:
            return f"`{self.old.strip()}` -> `{(self.new or '').strip()}`"
        return f"`{self.original}` -> `{self.mutant}`"


def lines_of(text: str) -> list[str]:
    """The lines of a text as git counts them."""
    return text.removesuffix("\n").split("\n")


def fault(number: int, crate: str, file: str, text: str, mutation: Mutation) -> Fault:
    """A mutation of a file's text as a fault."""
    lines = lines_of(text)
    old = lines[mutation.line]
    begin = sum(len(line) + 1 for line in lines[: mutation.line])
    columns = (mutation.start - begin, mutation.end - begin)
    new = None
    if mutation.replacement is not None:
        new = old[: columns[0]] + mutation.replacement + old[columns[1] :]
    before = tuple(lines[max(0, mutation.line - CONTEXT) : mutation.line])
    after = tuple(lines[mutation.line + 1 : mutation.line + 1 + CONTEXT])
    return Fault(number, crate, file, mutation.operator, mutation.line + 1, before, old, new, after, columns)


def written(one: Fault) -> str:
    """The text of a patch file."""
    start, length = one.line - len(one.before), len(one.before) + 1 + len(one.after)
    lines = [
        f"fault: {one.number} in {one.crate}",
        f"operator: {one.operator}",
        f"columns: {one.columns[0]}-{one.columns[1]}",
        "",
        f"--- a/{one.file}",
        f"+++ b/{one.file}",
        f"@@ -{start},{length} +{start},{length - (one.new is None)} @@",
        *(" " + line for line in one.before),
        "-" + one.old,
        *([] if one.new is None else ["+" + one.new]),
        *(" " + line for line in one.after),
    ]
    return "\n".join(lines) + "\n"


def read(text: str) -> Fault:
    """The fault of a patch file."""
    said = dict(re.findall(r"^(fault|operator|columns): (.*)$", text, re.M))
    number, crate = re.fullmatch(r"(\d+) in (.*)", said["fault"]).groups()
    columns = tuple(int(column) for column in said["columns"].split("-"))
    file = re.search(r"^--- a/(.*)$", text, re.M)[1]
    start = int(re.search(r"^@@ -(\d+)", text, re.M)[1])
    hunk = text.split("\n@@ ", 1)[1].removesuffix("\n").split("\n")[1:]
    changed = next(at for at, line in enumerate(hunk) if line.startswith("-"))
    is_replaced = changed + 1 < len(hunk) and hunk[changed + 1].startswith("+")
    new = hunk[changed + 1][1:] if is_replaced else None
    return Fault(
        number=int(number),
        crate=crate,
        file=file,
        operator=said["operator"],
        line=start + changed,
        before=tuple(line[1:] for line in hunk[:changed]),
        old=hunk[changed][1:],
        new=new,
        after=tuple(line[1:] for line in hunk[changed + 1 + is_replaced :]),
        columns=columns,
    )


def all_faults(folder: Path = FOLDER) -> list[Fault]:
    """The faults of all patch files, in order."""
    return sorted((read(path.read_text()) for path in folder.glob("[0-9]*.patch")), key=lambda one: one.number)


def place(one: Fault, lines: list[str]) -> int | None:
    """The 0-based line of a file at which a fault applies: the nearest with the same lines around it."""
    block = [*one.before, one.old, *one.after]
    starts = [at for at in range(len(lines) - len(block) + 1) if lines[at : at + len(block)] == block]
    lead = len(one.before)
    return min((at + lead for at in starts), key=lambda at: abs(at + 1 - one.line), default=None)
