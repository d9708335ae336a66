"""What one execution of each fixture does is what its snapshot says."""

import difflib
import re

import pytest

from .fixture import ALL, FIXTURES, SNAPSHOTS
from .render import rendered


@pytest.mark.parametrize("name", ALL)
def test_an_execution_is_as_its_snapshot_says(name):
    fixture = ALL[name]
    if fixture.lacks:
        pytest.skip(f"it needs {' and '.join(fixture.lacks)}")
    known = fixture.snapshot.read_text(encoding="utf-8") if fixture.snapshot.exists() else ""
    now = rendered(fixture.execution(), fixture.is_single)
    difference = difflib.unified_diff(known.splitlines(), now.splitlines(), "snapshot", "now", lineterm="")
    assert now == known, "\n".join([f"{name} differs from its snapshot. If it is right: make snapshots", *difference])


def test_each_fixture_says_what_it_shows():
    first = {name: (FIXTURES / f"{name}.py").read_text(encoding="utf-8").splitlines()[0] for name in ALL}
    assert [name for name, line in first.items() if not re.fullmatch(r"# (?!.* = ).*[.:]", line)] == []


def test_each_snapshot_has_its_fixture():
    assert {path.relative_to(SNAPSHOTS).with_suffix("").as_posix() for path in SNAPSHOTS.rglob("*.txt")} == set(ALL)
