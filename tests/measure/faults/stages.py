"""The commands of a gate, as `make_test.json` has them, and how they run.

Nothing here builds: the tree is built before, once.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: How long a run may take in seconds, before it is ended. What had failed until then counts.
LIMIT = 5400.0
#: What notes the tests of pytest, and those of nextest.
REACH, RUNNER = (Path(__file__).with_name(name) for name in ("reach.py", "runner.py"))


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
    #: Arguments for tests one after the other. A stage that has them is one of pytest or of nextest, whose tests are
    #: noted one by one, so each fault runs with the tests that reach it.
    serial: Sequence[str] = ()
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
    """One run of a command, which was ended with the signal KILL if it took longer than it may."""

    status: int
    seconds: float
    output: str
    is_over: bool = False


def stages(file: Path, kind: str) -> list[Stage]:
    """The stages of a gate of this kind: `rust`, `python` or `all`."""
    return [stage for one in json.loads(file.read_text()) if (stage := Stage(**one)).kind == kind or kind == "all"]


def environment(tree: Path, more: dict[str, str]) -> dict[str, str]:
    """The environment that the Makefile gives to commands."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONDA_PREFIX")}
    path = os.pathsep.join([str(tree / ".venv/bin"), own.get("PATH", "")])
    return own | {"VIRTUAL_ENV": str(tree / ".venv"), "PATH": path} | more


def noted(
    tree: Path, stage: Stage, arguments: Sequence[str], limit: float = LIMIT, marks: Path | None = None
) -> tuple[list[dict], Ran]:
    """Runs a command of pytest or nextest with notes of each test; with marks if tests run one after the other."""
    with tempfile.TemporaryDirectory() as place:
        notes = Path(place) / "notes"
        noting = [str(notes), str(marks or "-")]
        if stage.kind == "rust":
            runner = " ".join([sys.executable, "-S", str(RUNNER), *noting])
            more = {f"CARGO_TARGET_{host().upper().replace('-', '_')}_RUNNER": runner}
            ran = execute(tree, stage, arguments, limit, more)
        else:
            python, *module = arguments[:3]
            assert module == ["-m", "pytest"]
            ran = execute(tree, stage, [python, str(REACH), *noting, *arguments[3:]], limit)
        text = notes.read_text() if notes.exists() else ""
    # The last line is cut off where the run was ended.
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")], ran


@functools.cache
def host() -> str:
    """The target of this machine's Rust."""
    said = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return re.search(r"^host: (\S+)$", said, re.M)[1]


def execute(
    tree: Path, stage: Stage, arguments: Sequence[str], limit: float = LIMIT, more: dict[str, str] | None = None
) -> Ran:
    """Runs a command in a process group of its own, which ends with it."""
    begun = time.monotonic()
    is_over = False
    # A file, since a process that stays behind would keep a pipe open.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            arguments,
            cwd=tree,
            env=environment(tree, stage.environment | (more or {})),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            is_over = True
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ran(process.returncode, time.monotonic() - begun, text, is_over)
