"""Runs a gate's tests with seeded faults switched on, and says which test catches which fault.

All faults that nothing has caught yet are on at once. What fails then is run again, without a fault and with each fault
alone, which says whose failure it is. A fault can hide another, so the rest is tried together until nothing new is
caught. Two that cancel each other out are tried apart, those with odd numbers without those with even ones. A gate of
ten minutes is run some five times, and not sixty times.

A gate is a file of stages (`make_test.json`): a command, and how a failed test shows in its output. Nothing here
builds: the tree is built before, once.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from .patches import Fault
from .switch import activate, folder, reached

#: How long a run may take in seconds, before it is ended. What had failed until then counts.
LIMIT = 5400.0
#: How often the rest of the faults is tried together.
ROUNDS = 6


@dataclass(frozen=True)
class Stage:
    """A command of a gate."""

    name: str
    #: `rust` or `python`.
    kind: str
    #: `{tests}` is where the tests stand, if only some are to run.
    command: Sequence[str]
    #: A failed test in a line of the output, and how a command names it.
    test: dict[str, str]
    #: What takes the place of `{tests}`: `all` of them, or some that are joined by `join`, each an argument without it.
    tests: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    #: Arguments to go on after a failure, and to end with the first one.
    complete: Sequence[str] = ()
    stop: Sequence[str] = ()
    #: The crates whose change makes the gate run this stage; empty for a stage that always runs.
    crates: Sequence[str] = ()

    def arguments(self, tests: Sequence[str] = (), stops: bool = False) -> list[str]:
        """The command for some tests, or for all."""
        chosen = list(tests) or [one for one in [self.tests.get("all")] if one]
        if tests and "join" in self.tests:
            chosen = [self.tests["join"].join(tests)]
        words = [more for word in self.command for more in (chosen if word == "{tests}" else [word])]
        return words + list(self.stop if stops else self.complete)

    def failed(self, output: str) -> list[str]:
        """The tests that failed."""
        found = re.finditer(self.test["pattern"], output, re.M)
        return list(dict.fromkeys(self.test["unit"].format(*one.groups()) for one in found))


@dataclass(frozen=True)
class Ran:
    """One run of a command."""

    status: int
    seconds: float
    output: str


def stages(file: Path, kind: str) -> list[Stage]:
    """The stages of a gate of this kind: `rust`, `python` or `all`."""
    return [stage for one in json.loads(file.read_text()) if (stage := Stage(**one)).kind == kind or kind == "all"]


def environment(tree: Path, more: dict[str, str]) -> dict[str, str]:
    """The environment that the Makefile gives to commands."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONDA_PREFIX")}
    path = os.pathsep.join([str(tree / ".venv/bin"), own.get("PATH", "")])
    return own | {"VIRTUAL_ENV": str(tree / ".venv"), "PATH": path} | more


def execute(tree: Path, stage: Stage, arguments: Sequence[str]) -> Ran:
    """Runs a command in a process group of its own, which ends with it."""
    begun = time.monotonic()
    # A file, since a process that stays behind would keep a pipe open.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            arguments,
            cwd=tree,
            env=environment(tree, stage.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ran(process.returncode, time.monotonic() - begun, text)


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


def run(
    tree: Path,
    faults: Sequence[Fault],
    gate: Sequence[Stage],
    out: Path,
    log: Callable[[str], None] = print,
) -> None:
    """Writes a row for each fault that has none yet, or none that caught it."""
    rows: dict[str, dict] = json.loads(out.read_text()) if out.exists() else {}
    with alone(tree):
        for stage, remainders in itertools.product(gate, ((0, 1), (0,), (1,))):
            for _ in range(ROUNDS):
                left = [
                    fault
                    for fault in faults
                    if not rows.get(str(fault.number), {}).get("caught")
                    and fault.number % 2 in remainders
                    and (not stage.crates or fault.crate in stage.crates)
                ]
                found = together(tree, left, stage, log)
                for fault in left:
                    row = rows.setdefault(str(fault.number), {"caught": False, "by": None, "reached": False})
                    row["reached"] |= fault.number in found.reached
                    row["undecided"] = found.is_undecided and row["reached"]
                    if (by := found.caught.get(fault.number)) is not None:
                        rows[str(fault.number)] = {"caught": True, "by": by, "stage": stage.name, "reached": True}
                save(out, rows)
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


def save(file: Path, content: dict) -> None:
    """Writes a file as a whole or not at all."""
    beside = file.with_name(file.name + ".new")
    beside.write_text(json.dumps(content, indent=1) + "\n")
    beside.replace(file)


def said(row: dict | None) -> str:
    """A row of the table for people."""
    if row is None:
        return "not measured"
    if row["caught"]:
        return "caught by `" + re.sub(r"^\(binary_id\(=(.*)\) & test\(=(.*)\)\)$", r"\1 \2", row["by"]) + "`"
    if row.get("undecided"):
        return "not decided"
    return "not caught" if row["reached"] else "not reached"


def report(faults: Sequence[Fault], old: dict, new: dict) -> str:
    """Both gates fault by fault as a Markdown table."""
    lines = ["| | fault | mutation | old gate | new gate |", "|---|---|---|---|---|"]
    for fault in faults:
        rows = [said(table.get(str(fault.number))) for table in (old, new)]
        cells = [str(fault.number), f"`{fault.file}:{fault.line}`", fault.description, *rows]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    caught = [sum(table.get(str(fault.number), {}).get("caught", False) for fault in faults) for table in (old, new)]
    return "\n".join(
        [*lines, "", f"Of {len(faults)} faults the old gate catches {caught[0]}, the new one {caught[1]}."]
    )
