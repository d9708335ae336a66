"""Runs a gate's tests with seeded faults switched on, and says which test catches which fault.

A stage of pytest or nextest runs once without a fault, which says which tests reach which fault. Each fault then runs
with those tests alone (`attribution.py`). Of another stage, all of it runs with each fault that any of it reaches.

All faults together are no way: one ends whole processes of tests or lets them hang, and nobody can tell the failures of
the others apart.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path

from .attribution import reaching, tests_of, tried
from .patches import Fault
from .stages import Stage, execute
from .switch import activate, folder, reached


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

    A fault has so many `seconds` in each stage that tries tests one by one.
    """
    table = Table(out, json.loads(out.read_text()) if out.exists() else {}, log)
    with alone(tree):
        for stage in gate:
            if stage.serial:
                one_by_one(tree, faults, stage, table, seconds)
            else:
                as_a_whole(tree, faults, stage, table)
            table.save()


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


def as_a_whole(tree: Path, faults: Sequence[Fault], stage: Stage, table: Table) -> None:
    """Runs all of a stage with each fault that it reaches. What fails with it twice, and not without it, catches it."""
    left = table.left(faults, stage)
    if not left:
        return
    activate(tree)
    without = execute(tree, stage, stage.arguments())
    met, anyway = reached(tree), stage.failed(without.output)
    table.log(f"{without.seconds:7.1f} s {stage.name}: {len(anyway)} tests fail without a fault")
    for fault in left:
        row = table.row(fault)
        row["reached"] |= fault.number in met
        if fault.number in met:
            activate(tree, fault.number)
            runs = [execute(tree, stage, stage.arguments()) for _ in range(2)]
            first, again = (set(stage.failed(ran.output)) - set(anyway) for ran in runs)
            row["undecided"] = any(ran.status for ran in runs) and not (first or again or without.status)
            if by := sorted(first & again):
                table.catch(fault, stage, by[0])
                table.log(f"{fault.number:2} {fault.file}:{fault.line} caught by `{by[0]}`")
        table.save()


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
        return f"not decided: not caught by {ran} of {of} tests"
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
