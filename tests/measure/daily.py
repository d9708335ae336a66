"""Counts the daily things that work under ipykernel and under twincell's kernel.

    python -m tests.measure.daily [GROUP ...]

Prints a row for each group: things, how many work under each kernel, how many only under one, and how many come out
differently where they work under both. Things whose packages are missing are left out. Names of what differs follow.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.kernel.daily import Compared, Kernels, compare, things

HEAD = ("group", "things", "work under ipykernel", "work here", "only there", "only here", "differ")


def measure(groups: list[str], folder: Path) -> list[Compared]:
    """Does all things of these groups, or of all."""
    found = []
    for group in dict.fromkeys(thing.group for thing in things()):
        if groups and group not in groups:
            continue
        kernels = Kernels(folder / group)
        for thing in things():
            if thing.group == group and not thing.missing:
                found.append(compare(thing, kernels))
        kernels.close()
    return found


def row(name: str, found: list[Compared]) -> tuple[str, ...]:
    """The figures of a group."""
    counts = (
        len(found),
        sum(not one.theirs for one in found),
        sum(not one.ours for one in found),
        sum(not one.theirs and bool(one.ours) for one in found),
        sum(bool(one.theirs) and not one.ours for one in found),
        sum(not one.theirs and not one.ours and not one.same for one in found),
    )
    return (name, *map(str, counts))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = measure(sys.argv[1:], Path(folder))
    groups = {one.thing.group: [other for other in found if other.thing.group == one.thing.group] for one in found}
    rows = [HEAD, ("---",) * len(HEAD), *(row(name, of) for name, of in groups.items()), row("all", found)]
    print("\n".join(f"| {' | '.join(cells)} |" for cells in rows))
    for one in found:
        if one.theirs or one.ours or not one.same:
            print(f"{one.thing.title}: there {one.theirs or 'works'}, here {one.ours or 'works'}, same {one.same}")


if __name__ == "__main__":
    main()
