"""Tries faults one by one, each with the tests that reach it.

A run without a fault says which tests meet which switch. A fault then runs with those tests alone. What reaches few
faults comes first, since it is the nearest to the line. A test catches a fault if it fails with it, fails again alone,
and passes alone without it. A test that does not end fails too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .patches import Fault
from .stages import Stage, noted
from .switch import activate, folder

#: A run of tests may take so many seconds, and so many times as long as the tests took without a fault.
START = 60.0
SLOWER = 5.0
#: How many seconds the first tests of a fault took together; each next run of them has twice as many.
FIRST = 15.0


@dataclass
class Test:
    """What a run without a fault showed of a test."""

    name: str
    seconds: float
    passes: bool
    #: The numbers of the switches that it met.
    met: list[int] = field(default_factory=list)

    #: No class of tests for pytest.
    __test__ = False

    @property
    def file(self) -> str:
        """What may share a process. Each test of nextest has a process of its own."""
        return self.name.partition("::")[0] if "::" in self.name and not self.name.startswith("(") else self.name


def tests_of(tree: Path, stage: Stage, file: Path, log: Callable[[str], None]) -> list[Test]:
    """What each test of a stage reaches. Read from the file, if it was found out before."""
    if file.exists():
        return [Test(**one) for one in json.loads(file.read_text())]
    activate(tree)
    arguments = [*stage.arguments(), *stage.serial]
    notes, ran = noted(tree, stage, arguments, marks=folder(tree) / "reached")
    if not notes:
        raise SystemExit(f"{stage.name} ran no test:\n{ran.output}")
    met = {one["test"]: one["switches"] for one in notes if one["what"] == "met"}
    ended = {one["test"]: one for one in notes if one["what"] == "ended"}
    tests = [
        Test(name, one["seconds"], not one["failed"] and not one["skipped"], met.get(name, []))
        for name, one in ended.items()
    ]
    log(f"{ran.seconds:7.1f} s {stage.name}: {len(tests)} tests, {sum(bool(test.met) for test in tests)} reach a fault")
    file.write_text(json.dumps([vars(test) for test in tests], indent=1) + "\n")
    return tests


def reaching(tests: Sequence[Test], number: int) -> list[Test]:
    """The tests that pass and reach a fault, and then others of the same files.

    What reaches few other faults comes first, and what is short. Of tests that share a process, only the first one
    meets what a process does once, so the others count where few tests of a file met it.
    """
    by_file: dict[str, list[Test]] = {}
    for test in tests:
        if test.passes:
            by_file.setdefault(test.file, []).append(test)
    found: list[Test] = []
    others: list[tuple[float, float, Test]] = []
    for of_file in by_file.values():
        those = [test for test in of_file if number in test.met]
        found += those
        if those:
            share = len(those) / len(of_file)
            others += [(share, test.seconds, test) for test in of_file if number not in test.met]
    found.sort(key=lambda test: (len(test.met), test.seconds))
    return found + [test for *_, test in sorted(others, key=lambda one: one[:2])]


def chunks(tests: Sequence[Test]) -> Iterator[list[Test]]:
    """All tests in turn, in runs that become longer."""
    chunk: list[Test] = []
    wanted = FIRST
    for test in tests:
        chunk.append(test)
        if sum(one.seconds for one in chunk) >= wanted:
            yield chunk
            chunk, wanted = [], wanted * 2
    if chunk:
        yield chunk


@dataclass
class Tried:
    """What the tests that reach a fault say of it."""

    by: str | None = None
    #: How many of them ran with it.
    tests: int = 0


def tried(
    tree: Path, fault: Fault, stage: Stage, tests: Sequence[Test], seconds: float, log: Callable[[str], None]
) -> Tried:
    """Runs tests with a fault until one catches it, or until they took so many seconds without a fault."""
    found = Tried()
    spent = 0.0
    for chunk in chunks(tests):
        left = {test.name: test for test in chunk}
        while left and spent < seconds:
            activate(tree, fault.number)
            suspects, ended, took = run_chunk(tree, stage, list(left.values()))
            spent += took
            for name in suspects:
                if (why := is_due_to(tree, fault, stage, left[name])) is not None:
                    found.tests += 1
                    found.by = name
                    log(f"{fault.number:2} {fault.file}:{fault.line} caught by `{name}` ({why})")
                    return found
                log(f"{fault.number:2} does not fail again, or not because of the fault: {name}")
            done = set(suspects) | ended or set(left)
            found.tests += len(done)
            left = {name: test for name, test in left.items() if name not in done}
    return found


def run_chunk(tree: Path, stage: Stage, tests: Sequence[Test]) -> tuple[list[str], set[str], float]:
    """Runs tests until one fails. Which failed or did not end, which ended, and the seconds that it took."""
    names = [test.name for test in tests]
    limit = START + SLOWER * sum(test.seconds for test in tests)
    notes, ran = noted(tree, stage, stage.arguments(names, stops=True), limit)
    begun = [one["test"] for one in notes if one["what"] == "begun"]
    ended = {one["test"]: one["failed"] for one in notes if one["what"] == "ended"}
    suspects = [name for name in names if ended.get(name)]
    if not suspects and (ran.is_over or ran.status):
        # It may hang in a test, before the first, or after the last one.
        suspects = [name for name in names if name in begun and name not in ended] or names[:1]
    return suspects, set(ended) & set(names), ran.seconds


def is_due_to(tree: Path, fault: Fault, stage: Stage, test: Test) -> str | None:
    """How a test fails alone with a fault, if it passes alone without it."""
    limit = START + SLOWER * test.seconds
    arguments = [*stage.arguments([test.name]), *stage.serial]
    outcomes = []
    for numbers in ([fault.number], []):
        activate(tree, *numbers)
        ran = noted(tree, stage, arguments, limit)[1]
        outcomes.append("hangs" if ran.is_over else "fails" if ran.status else None)
        if outcomes[0] is None:
            return None
    return outcomes[0] if outcomes[1] is None else None
