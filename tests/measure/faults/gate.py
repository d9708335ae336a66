"""Runs a gate's tests with seeded faults switched on, and says which test catches which fault.

A stage of pytest runs once without a fault, which says which tests reach which fault. Each fault then runs with those
tests alone (`attribution.py`).

A stage of Rust runs with all faults at once that nothing has caught yet. What fails then is run again, without a fault
and with each fault alone, which says whose failure it is. A fault can hide another, so the rest is tried together until
nothing new is caught. Two that cancel each other out are tried apart, those with odd numbers without those with even
ones. A gate of three minutes is run some five times, and not sixty times.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from .attribution import reaching, tests_of, tried
from .patches import Fault
from .stages import Stage, execute
from .switch import activate, folder, reached

#: How often the rest of the faults is tried together.
ROUNDS = 6


@contextmanager
def alone(tree: Path) -> Iterator[None]:
    """One run at a time has the switches of a tree."""
    folder(tree).mkdir(parents=True, exist_ok=True)
    with (folder(tree) / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run uses the switches of {tree}") from None
        try:
            yield
        finally:
            activate(tree)


@dataclass
class Table:
    """The rows of the faults, written to a file after each change."""

    file: Path
    rows: dict[str, dict]
    log: Callable[[str], None]

    def left(self, faults: Sequence[Fault], stage: Stage) -> list[Fault]:
        """The faults that nothing has caught yet, if the gate runs a stage for them."""
        return [
            fault
            for fault in faults
            if not self.rows.get(str(fault.number), {}).get("caught")
            and (not stage.crates or fault.crate in stage.crates)
        ]

    def row(self, fault: Fault) -> dict:
        return self.rows.setdefault(str(fault.number), {"caught": False, "by": None, "reached": False})

    def catch(self, fault: Fault, stage: Stage, by: str) -> None:
        self.rows[str(fault.number)] = {"caught": True, "by": by, "stage": stage.name, "reached": True}

    def save(self) -> None:
        """Writes the file as a whole or not at all."""
        beside = self.file.with_name(self.file.name + ".new")
        beside.write_text(json.dumps(self.rows, indent=1) + "\n")
        beside.replace(self.file)


def run(
    tree: Path,
    faults: Sequence[Fault],
    gate: Sequence[Stage],
    out: Path,
    log: Callable[[str], None] = print,
    seconds: float = inf,
) -> None:
    """Writes a row for each fault that has none yet, or none that caught it.

    Of a stage of pytest, a fault has so many `seconds`.
    """
    table = Table(out, json.loads(out.read_text()) if out.exists() else {}, log)
    with alone(tree):
        for stage in gate:
            if stage.serial:
                one_by_one(tree, faults, stage, table, seconds)
            else:
                in_rounds(tree, faults, stage, table)


def one_by_one(tree: Path, faults: Sequence[Fault], stage: Stage, table: Table, seconds: float) -> None:
    """Tries each fault with the tests that reach it. What ran with it before does not run again."""
    if not table.left(faults, stage):
        return
    reach = table.file.with_name(f"{table.file.stem}-reach-{stage.name.replace(' ', '-')}.json")
    tests = tests_of(tree, stage, reach, table.log)
    for fault in table.left(faults, stage):
        row = table.row(fault)
        those = reaching(tests, fault.number)
        row["reached"] |= bool(those)
        row.pop("undecided", None)
        ran = row.setdefault("ran", {}).setdefault(stage.name, 0)
        found = tried(tree, fault, stage, those[ran:], seconds, table.log)
        row["ran"][stage.name] += found.tests
        row.setdefault("of", {})[stage.name] = len(those)
        table.log(f"{fault.number:2} ran with {row['ran'][stage.name]} of {len(those)} tests")
        if found.by is not None:
            table.catch(fault, stage, found.by)
        table.save()


def in_rounds(tree: Path, faults: Sequence[Fault], stage: Stage, table: Table) -> None:
    """Tries all faults at once, again and again, and then those with even and those with odd numbers."""
    for remainders in ((0, 1), (0,), (1,)):
        for _ in range(ROUNDS):
            left = [fault for fault in table.left(faults, stage) if fault.number % 2 in remainders]
            found = together(tree, left, stage, table.log)
            for fault in left:
                row = table.row(fault)
                row["reached"] |= fault.number in found.reached
                row["undecided"] = found.is_undecided and row["reached"]
                if (by := found.caught.get(fault.number)) is not None:
                    table.catch(fault, stage, by)
            table.save()
            if not found.caught:
                break


@dataclass
class Found:
    """What a run of a stage with several faults showed."""

    #: By the number of the fault, the test.
    caught: dict[int, str] = field(default_factory=dict)
    reached: set[int] = field(default_factory=set)
    #: The run failed, and named no test that did.
    is_undecided: bool = False


def together(tree: Path, faults: Sequence[Fault], stage: Stage, log: Callable[[str], None]) -> Found:
    """Runs a stage with all these faults at once, and what fails with each of them alone."""
    found = Found()
    if not faults:
        return found
    activate(tree, *(fault.number for fault in faults))
    ran = execute(tree, stage, stage.arguments())
    found.reached = reached(tree) & {fault.number for fault in faults}
    suspects = stage.failed(ran.output)
    found.is_undecided = ran.status != 0 and not suspects
    log(f"{ran.seconds:7.1f} s {stage.name}, {len(faults)} faults: {len(suspects)} tests failed, status {ran.status}")
    if suspects:
        activate(tree)
        anyway = stage.failed(execute(tree, stage, stage.arguments(suspects)).output)
        for test in anyway:
            log(f"          fails without a fault: {test}")
        suspects = [test for test in suspects if test not in anyway]
    for fault in faults:
        if suspects and fault.number in found.reached and (by := caught(tree, fault, stage, suspects)):
            found.caught[fault.number] = by
            # At once: the attribution of many failures takes long.
            log(f"{fault.number:2} {fault.file}:{fault.line} caught by `{by}`")
    return found


def caught(tree: Path, fault: Fault, stage: Stage, suspects: Sequence[str]) -> str | None:
    """The first of these tests, which pass without a fault, that fails with this one alone, and fails again."""
    activate(tree, fault.number)
    left = list(suspects)
    while left:
        failed = stage.failed(execute(tree, stage, stage.arguments(left, stops=True)).output)
        for test in failed:
            if test in stage.failed(execute(tree, stage, stage.arguments([test])).output):
                return test
        # What does not fail again catches nothing, and may have kept others from running.
        left = [test for test in left if test not in failed] if failed else []
    return None


def said(row: dict | None) -> str:
    """A row of the table for people."""
    if row is None:
        return "not measured"
    if row["caught"]:
        return "caught by `" + re.sub(r"^\(binary_id\(=(.*)\) & test\(=(.*)\)\)$", r"\1 \2", row["by"]) + "`"
    if row.get("undecided"):
        return "not decided"
    ran, of = (sum(row.get(what, {}).values()) for what in ("ran", "of"))
    if ran < of:
        return f"not decided: not caught by {ran} of {of} tests of pytest"
    return "not caught" if row["reached"] else "not reached"


def report(faults: Sequence[Fault], gates: dict[str, dict]) -> str:
    """Gates fault by fault as a Markdown table."""
    lines = [
        "| | fault | mutation | " + " | ".join(gates) + " |",
        "|---" * (3 + len(gates)) + "|",
    ]
    for fault in faults:
        rows = [said(table.get(str(fault.number))) for table in gates.values()]
        cells = [str(fault.number), f"`{fault.file}:{fault.line}`", fault.description, *rows]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for name, table in gates.items():
        caught = sum(table.get(str(fault.number), {}).get("caught", False) for fault in faults)
        lines += ["", f"Of {len(faults)} faults {name} catches {caught}."]
    return "\n".join(lines)
