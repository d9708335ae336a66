"""Runs pytest, and notes in a file what became of each test, and which switches it met.

    python reach.py NOTES [--marks MARKS] -- ARGUMENTS OF PYTEST

A note is a line of JSON. It says that a test began; or that it ended, with the seconds that it took and whether it
failed; or, with the file of marks of a switched tree, which switches it met. Marks belong to a test only where tests
run one after the other, so they need `--numprocesses 0`. What the set-up of a shared fixture met counts for each test
that uses the fixture.

A test that hangs has begun and not ended. So this says more than the output, which pytest writes at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import pytest


class Notes:
    """What pytest tells of its tests. With several processes this runs in the one that has them started."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w", buffering=1)
        self._ended: dict[str, dict] = {}

    def write(self, what: str, test: str, **more: object) -> None:
        self._file.write(json.dumps({"what": what, "test": test, **more}) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write("begun", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        sums = self._ended.setdefault(report.nodeid, {"seconds": 0.0, "failed": False, "skipped": False})
        sums["seconds"] += report.duration
        sums["failed"] |= report.failed
        sums["skipped"] |= report.skipped
        # A process that died has a report of its own kind.
        if report.when not in ("setup", "call"):
            self.write("ended", report.nodeid, **self._ended.pop(report.nodeid))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write("ended", report.nodeid, seconds=0.0, failed=True, skipped=False)


class Marks:
    """Reads the marks around each test and around each set-up of a fixture."""

    def __init__(self, marks: Path, notes: Notes) -> None:
        self._marks = marks
        self._notes = notes
        #: What the test, and each set-up that is going on, met by now.
        self._met: list[set[int]] = [set()]
        self._of_fixtures: dict[object, set[int]] = {}

    def take(self) -> set[int]:
        """What was met since the last time. Processes have the file mapped, so it is never shortened."""
        with self._marks.open("r+b") as file:
            marks = file.read()
            file.seek(0)
            file.write(bytes(len(marks)))
        return {number for number, mark in enumerate(marks) if mark}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        # What was met before is of the collection, or of a process that a test left behind.
        self.take()
        self._met = [set()]
        result = yield
        met = self._met[0] | self.take()
        for fixtures in item._fixtureinfo.name2fixturedefs.values() if hasattr(item, "_fixtureinfo") else ():
            met |= set().union(*(self._of_fixtures.get(fixture, ()) for fixture in fixtures))
        self._notes.write("met", item.nodeid, switches=sorted(met))
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        self._met[-1] |= self.take()
        self._met.append(set())
        try:
            return (yield)
        finally:
            met = self._met.pop() | self.take()
            self._met[-1] |= met
            if fixturedef.scope != "function":
                self._of_fixtures.setdefault(fixturedef, set()).update(met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path)
    parser.add_argument("--marks", type=Path)
    at = sys.argv.index("--")
    arguments = parser.parse_args(sys.argv[1:at])
    # As for `python -m pytest`.
    sys.path[0] = os.getcwd()
    notes = Notes(arguments.notes)
    plugins: list[object] = [notes]
    if arguments.marks is not None:
        plugins.append(Marks(arguments.marks, notes))
    return int(pytest.main(sys.argv[at + 1 :], plugins=plugins))


if __name__ == "__main__":
    sys.exit(main())
