"""Runs a gate's tests with one fault after the other switched on, and says which test catches it.

A gate is a file of stages (`make_test.json`): a command, the units that it can run alone (packages, test files), how a
failed test shows in its output. Nothing here builds: the tree is built before, once.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from .patches import Fault
from .switch import activate, folder, reached

#: How much longer than without a fault a part of the gate may take before the fault counts as caught.
PATIENCE = 5
#: The least limit in seconds, and the limit where nothing was measured.
LEAST, UNMEASURED = 600.0, 7200.0
#: How many failures that do not repeat are set aside for one fault.
UNREPEATED = 5


@dataclass(frozen=True)
class Stage:
    """A command of a gate."""

    name: str
    #: `rust` or `python`.
    kind: str
    command: Sequence[str]
    #: A failed test in a line of the output, and the unit that runs this test alone.
    test: dict[str, str]
    #: What can run alone: `of` says what there is, the rest how a command names it.
    units: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    #: Exit statuses other than 0 that are no failure.
    passes: Sequence[int] = ()
    #: Arguments to end with the first failure, and to go on.
    stop: Sequence[str] = ()
    complete: Sequence[str] = ()
    #: By crate, the beginnings of the units to run first.
    first: dict[str, Sequence[str]] = field(default_factory=dict)
    #: The crates whose change makes the gate run this stage; empty for a stage that always runs.
    crates: Sequence[str] = ()

    def arguments(self, units: Sequence[str], without: Iterable[str] = (), stops: bool = True) -> list[str]:
        """The command for some units, which leaves tests out."""
        more = [self.units["without"].format(test) for test in without] if self.units else []
        each = [self.units.get("each", "{}").format(unit) for unit in units]
        if "join" in self.units:
            # The unit of one test is an expression already.
            each = [f"({self.units['join'].join(each)})" + "".join(more)]
            more = []
        words: list[str] = []
        for word in self.command:
            words += [*each, *more] if word == "{units}" else [word]
        return words + list(self.stop if stops else self.complete)

    def alone(self, test: str) -> list[str]:
        """The command for one test."""
        return [word if word != "{units}" else test for word in self.command]

    def failed(self, output: str) -> list[str]:
        """The tests that failed, as units."""
        found = re.finditer(self.test["pattern"], output, re.M)
        return list(dict.fromkeys(self.test["unit"].format(*one.groups()) for one in found))

    def there(self, tree: Path) -> list[str]:
        """All units."""
        if not self.units:
            return [""]
        if self.units["of"] == "packages":
            return packages(tree)
        return sorted(path.relative_to(tree).as_posix() for path in tree.glob(self.units["of"]))

    def is_first(self, unit: str, crate: str) -> bool:
        if self.kind == "rust":
            return unit == ("twincell" if crate == "kernel" else f"twincell-{crate}")
        return unit.startswith(tuple(self.first.get(crate, ())))


@dataclass(frozen=True)
class Ran:
    """One run of a command."""

    status: int
    seconds: float
    output: str
    timed_out: bool = False


@dataclass
class Reach:
    """What each unit of a gate meets without a fault, how long it takes, and what fails in it."""

    #: By stage and unit.
    switches: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    failed: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def failures(self, stage: str) -> list[str]:
        return [test for tests in self.failed.get(stage, {}).values() for test in tests]


def stages(file: Path, kind: str) -> list[Stage]:
    """The stages of a gate of this kind: `rust`, `python` or `all`."""
    return [stage for one in json.loads(file.read_text()) if (stage := Stage(**one)).kind == kind or kind == "all"]


def packages(tree: Path) -> list[str]:
    """The packages of the workspace."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    known = json.loads(subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout)
    return sorted(package["name"] for package in known["packages"])


def environment(tree: Path, more: dict[str, str]) -> dict[str, str]:
    """The environment that the Makefile gives to commands."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONDA_PREFIX")}
    path = os.pathsep.join([str(tree / ".venv/bin"), own.get("PATH", "")])
    return own | {"VIRTUAL_ENV": str(tree / ".venv"), "PATH": path} | more


def execute(tree: Path, stage: Stage, arguments: Sequence[str], limit: float) -> Ran:
    """Runs a command in a process group of its own, which ends with it."""
    begun = time.monotonic()
    timed_out = False
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
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    status = 0 if process.returncode in stage.passes else process.returncode
    return Ran(status, time.monotonic() - begun, text, timed_out)


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
            activate(tree, 0)


def groups(stage: Stage, units: Sequence[str], crate: str, reach: Reach | None) -> list[list[str]]:
    """The units in the order of running: those of the crate, then the others, each time the quick ones first."""
    seconds = reach.seconds.get(stage.name, {}) if reach else {}
    ordered = sorted(units, key=lambda unit: seconds.get(unit, 0.0))
    near = [unit for unit in ordered if stage.is_first(unit, crate)]
    far = [unit for unit in ordered if not stage.is_first(unit, crate)]
    return [group for group in (near, far) if group]


def limit_for(stage: Stage, units: Sequence[str], reach: Reach | None) -> float:
    if reach is None:
        return UNMEASURED
    return max(LEAST, PATIENCE * sum(reach.seconds.get(stage.name, {}).get(unit, 0.0) for unit in units))


def catch(tree: Path, fault: Fault, gate: Sequence[Stage], reach: Reach | None) -> dict:
    """Whether a gate catches a fault: a row of the table."""
    begun = time.monotonic()
    row: dict = {"caught": False, "by": None, "stage": None, "set_aside": [], "undecided": []}
    met = False
    for stage in gate:
        if stage.crates and fault.crate not in stage.crates:
            continue
        units = stage.there(tree)
        if reach is not None:
            known = reach.switches[stage.name]
            units = [unit for unit in units if fault.number in known.get(unit, [fault.number])]
        for group in groups(stage, units, fault.crate, reach):
            activate(tree, fault.number)
            by = caught_in(tree, fault, stage, group, reach, row)
            met |= fault.number in reached(tree)
            if by is not None:
                row |= {"caught": True, "by": by, "stage": stage.name, "reached": True}
                return row | {"seconds": round(time.monotonic() - begun, 1)}
    return row | {"reached": met, "seconds": round(time.monotonic() - begun, 1)}


def caught_in(
    tree: Path, fault: Fault, stage: Stage, group: Sequence[str], reach: Reach | None, row: dict
) -> str | None:
    """The test of some units that fails with a fault, and not without it. Each failure is repeated.

    What cannot be repeated catches nothing: the row has it as undecided.
    """
    limit = limit_for(stage, group, reach)
    known = reach.failures(stage.name) if reach else []
    unrepeated: list[str] = []
    while True:
        ran = execute(tree, stage, stage.arguments(group, [*known, *unrepeated]), limit)
        if ran.status == 0 and not ran.timed_out:
            return None
        failed = [test for test in stage.failed(ran.output) if test not in known]
        if not failed:
            end = f"no end in {limit:.0f} s" if ran.timed_out else f"exit status {ran.status}: {last_line(ran.output)}"
            row["undecided"].append(end)
            return None
        if is_caught_by(tree, fault, stage, failed[0], limit):
            return failed[0]
        if len(unrepeated) >= UNREPEATED:
            row["undecided"].append(failed[0])
            return None
        unrepeated.append(failed[0])
        row["set_aside"].append(failed[0])


def is_caught_by(tree: Path, fault: Fault, stage: Stage, test: str, limit: float) -> bool:
    """Whether a test passes without the fault and fails with it."""
    number = fault.number
    activate(tree, 0)
    passes = execute(tree, stage, stage.alone(test), limit).status == 0
    activate(tree, number)
    return passes and execute(tree, stage, stage.alone(test), limit).status != 0


def last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")


def run(
    tree: Path,
    faults: Sequence[Fault],
    gate: Sequence[Stage],
    out: Path,
    reach: Reach | None,
    log: Callable[[str], None] = print,
) -> None:
    """Writes a row for each fault that has none yet."""
    rows = json.loads(out.read_text()) if out.exists() else {}
    with alone(tree):
        for fault in faults:
            if str(fault.number) in rows:
                continue
            rows[str(fault.number)] = row = catch(tree, fault, gate, reach)
            save(out, rows)
            log(f"{fault.number:2} {fault.file}:{fault.line} {said(row)}")


def measure_reach(tree: Path, gate: Sequence[Stage], out: Path, log: Callable[[str], None] = print) -> None:
    """Runs each unit of a gate alone and without a fault, and writes which switches it meets and what fails."""
    reach = read_reach(out) if out.exists() else Reach()
    with alone(tree):
        for stage in gate:
            switches = reach.switches.setdefault(stage.name, {})
            for unit in stage.there(tree):
                if unit in switches:
                    continue
                activate(tree, 0)
                ran = execute(tree, stage, stage.arguments([unit], stops=False), UNMEASURED)
                failed = stage.failed(ran.output)
                if ran.status and not failed:
                    raise SystemExit(f"{stage.name} {unit}: {last_line(ran.output)}\n{ran.output[-4000:]}")
                switches[unit] = sorted(reached(tree))
                reach.seconds.setdefault(stage.name, {})[unit] = round(ran.seconds, 1)
                reach.failed.setdefault(stage.name, {})[unit] = failed
                save(out, vars(reach))
                log(f"{ran.seconds:7.1f} s {stage.name} {unit}: {len(switches[unit])} switches {' '.join(failed)}")


def read_reach(file: Path) -> Reach:
    return Reach(**json.loads(file.read_text()))


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
        by = re.sub(r"^binary_id\(=(.*)\) & test\(=(.*)\)$", r"\1 \2", row["by"])
        return f"caught in {row['seconds']:.0f} s by `{by}`"
    if row.get("undecided"):
        return f"not decided: {row['undecided'][0]}"
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
