"""What people do every day works under twincell's kernel where it works under ipykernel."""

import re
from pathlib import Path

import pytest

pytest.importorskip("tomllib")
pytest.importorskip("ipykernel")

from .daily import Kernels, compare, things  # noqa: E402

pytestmark = pytest.mark.long

DOCUMENT = Path(__file__).parents[2] / "docs" / "kernel.md"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """For each group, both kernels."""
    of_group = {}

    def get(group):
        if group not in of_group:
            for other in of_group.values():
                other.close()
            of_group[group] = Kernels(tmp_path_factory.mktemp(group))
        return of_group[group]

    yield get
    for other in of_group.values():
        other.close()


@pytest.mark.parametrize("thing", things(), ids=lambda thing: thing.title)
def test_a_thing_works_as_under_ipykernel(thing, kernels):
    if thing.missing:
        pytest.skip(f"{', '.join(thing.missing)} is not installed")
    compared = compare(thing, kernels(thing.group))
    if thing.differs:
        assert not compared.same, "nothing differs here any more"
    elif not compared.theirs:
        assert compared.ours == []
        assert compared.outcomes[1] == compared.outcomes[0]


def test_there_are_as_many_as_promised():
    assert len(things()) >= 400


def test_the_document_lists_what_differs():
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Daily things")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", section, re.MULTILINE))
    assert {row for row in rows if ": " in row[0]} == {(t.title, t.differs) for t in things() if t.differs}
