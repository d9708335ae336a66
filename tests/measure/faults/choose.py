"""Draws faults: five in each crate, every line of a crate that can be mutated with the same probability.

A mutation may not compile, plain or behind its switch: types are not known here. `compiling` replaces such a fault by
the next line that was drawn, until all compile. So the list depends on the seed and the tree only.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .mutations import Mutation, candidates, test_modules
from .patches import Fault, fault, lines_of, written
from .switch import LIBRARY, switch

CRATES = {
    "engine": "core/engine",
    "runtime": "runtime",
    "values": "core/values",
    "behavior": "core/behavior",
    "search": "core/search",
    "compare": "core/compare",
    "prefix": "core/prefix",
    "project": "core/repo",
    "amplify": "core/amplify",
    "kernel": "kernel",
    "cli": "cli",
    "widgets": "widgets",
}
EACH = 5


def sources(folder: Path) -> list[Path]:
    """The files of a crate that are compiled into it outside of tests."""
    files = sorted((folder / "src").rglob("*.rs"))
    only_tests = set()
    for file in files:
        home = file.parent if file.name in ("lib.rs", "mod.rs", "main.rs") else file.with_suffix("")
        for name in test_modules(file.read_text()):
            only_tests |= {home / f"{name}.rs", home / name / "mod.rs"}
    return [file for file in files if file not in only_tests and file.name != "tests.rs"]


def drawn(tree: Path, crate: str, seed: int) -> Iterator[tuple[str, str, Mutation]]:
    """The lines of a crate that can be mutated, in random order: the file, its text and a mutation of the line."""
    draw = random.Random(f"{seed} {crate}")
    lines = []
    for file in sources(tree / CRATES[crate]):
        text = file.read_text()
        name = file.relative_to(tree).as_posix()
        lines += [(name, text, mutations) for _, mutations in candidates(text).items()]
    draw.shuffle(lines)
    for name, text, mutations in lines:
        yield name, text, draw.choice(mutations)


class Choice:
    """The faults that are chosen, and the next ones."""

    def __init__(self, tree: Path, seed: int, crates: Sequence[str] = tuple(CRATES)) -> None:
        self._drawn = {crate: drawn(tree, crate, seed) for crate in crates}
        self._numbers = {crate: range(at * EACH + 1, (at + 1) * EACH + 1) for at, crate in enumerate(crates)}
        self.faults = {number: self._next(crate, number) for crate in crates for number in self._numbers[crate]}

    def _next(self, crate: str, number: int) -> Fault:
        file, text, mutation = next(self._drawn[crate])
        return fault(number, crate, file, text, mutation)

    def replace(self, number: int) -> None:
        """Takes the next line of the same crate."""
        self.faults[number] = self._next(self.faults[number].crate, number)


def compiling(repository: Path, choice: Choice, target: Path | None, log: Callable[[str], None] = print) -> None:
    """Replaces faults until all compile: all plain ones in one tree, and all behind switches.

    The tree must be clean in git. It is as before at the end.
    """
    whole = {LIBRARY: (repository / LIBRARY).read_text()}
    while True:
        faults = list(choice.faults.values())
        for form in (apply_all, switch):
            for one in faults:
                whole.setdefault(one.file, (repository / one.file).read_text())
            try:
                form(repository, faults)
                wrong = broken(repository, faults, target)
            finally:
                for path, text in whole.items():
                    (repository / path).write_text(text)
            if wrong:
                break
        else:
            return
        for one in wrong:
            log(f"does not compile: {one.number} {one.file}:{one.line} {one.description}")
            choice.replace(one.number)


def apply_all(tree: Path, faults: Sequence[Fault]) -> None:
    """All faults in one tree, as they are. A statement is blanked, so that lines keep their numbers."""
    for one in faults:
        path = tree / one.file
        lines = lines_of(path.read_text())
        lines[one.line - 1] = one.new or ""
        path.write_text("\n".join(lines) + "\n")


def broken(tree: Path, faults: Sequence[Fault], target: Path | None) -> list[Fault]:
    """The faults at which `cargo check` finds errors."""
    command = ["cargo", "check", "--workspace", "--keep-going", "--message-format", "json"]
    command += [] if target is None else ["--target-dir", str(target)]
    ran = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    at = {(one.file, one.line): one for one in faults}
    found: dict[int, Fault] = {}
    others = []
    for line in ran.stdout.splitlines():
        message = json.loads(line).get("message") if line.startswith("{") else None
        if not message or message.get("level") != "error":
            continue
        places = list(places_of(message))
        hits = [at[place] for place in places if place in at]
        found |= {one.number: one for one in hits}
        others += [] if hits or not places else [message.get("rendered")]
    if ran.returncode and not found:
        raise SystemExit("\n".join(others) or ran.stderr)
    return list(found.values())


def places_of(message: dict) -> Iterator[tuple[str, int]]:
    """The lines that a message of the compiler names."""
    for span in message.get("spans", []):
        for line in range(span["line_start"], span["line_end"] + 1):
            yield span["file_name"], line
    for child in message.get("children", []):
        yield from places_of(child)


def write(faults: Sequence[Fault], folder: Path) -> None:
    """Writes the patch files anew."""
    for old in folder.glob("[0-9]*.patch"):
        old.unlink()
    for one in faults:
        (folder / one.name).write_text(written(one))
