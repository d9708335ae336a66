"""Runs pytest, and notes what became of each test, and which switches it met.

    python reach.py NOTES MARKS ARGUMENTS OF PYTEST ...

MARKS is the file of marks of a switched tree, or `-`. Its marks belong to a test only where tests run one after the
other, so they need `--numprocesses 0`. What the set-up of a shared fixture met counts for each test that uses it.
"""

from __future__ import annotations

import os
import sys

import pytest
from notes import Notes, take


class Outcomes:
    """What pytest tells of its tests. With several processes this runs in the one that has them started."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._ended: dict[str, dict] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._notes.write("begun", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        sums = self._ended.setdefault(report.nodeid, {"seconds": 0.0, "failed": False, "skipped": False})
        sums["seconds"] += report.duration
        sums["failed"] |= report.failed
        sums["skipped"] |= report.skipped
        # A process that died has a report of its own kind.
        if report.when not in ("setup", "call"):
            self._notes.write("ended", report.nodeid, **self._ended.pop(report.nodeid))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._notes.write("ended", report.nodeid, seconds=0.0, failed=True, skipped=False)


class Marks:
    """Reads the marks around each test and around each set-up of a fixture."""

    def __init__(self, marks: str, notes: Notes) -> None:
        self._marks = marks
        self._notes = notes
        #: What the collection met, as by imports, which all tests rest on.
        self._of_all: set[int] | None = None
        #: What the test, and each set-up that is going on, met by now.
        self._met: list[set[int]] = [set()]
        self._of_fixtures: dict[object, set[int]] = {}

    def take(self) -> set[int]:
        return set(take(self._marks))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        # What was met since another test is of a process that the other one left behind.
        before = self.take()
        self._of_all = before if self._of_all is None else self._of_all
        self._met = [set(self._of_all)]
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
    file, marks, *arguments = sys.argv[1:]
    # As for `python -m pytest`.
    sys.path[0] = os.getcwd()
    notes = Notes(file)
    plugins = [Outcomes(notes), *([] if marks == "-" else [Marks(marks, notes)])]
    return int(pytest.main(arguments, plugins=plugins))


if __name__ == "__main__":
    sys.exit(main())
