"""Writes the snapshots of the fixtures that run here: of those that are named, or of all.

python -m tests.executions.rewrite [NAME ...]

Without names, snapshots that have no fixture are removed.
"""

import sys

from .fixture import ALL, SNAPSHOTS
from .render import rendered


def main(names):
    for fixture in [ALL[name] for name in names] or ALL.values():
        if not fixture.lacks:
            fixture.snapshot.parent.mkdir(parents=True, exist_ok=True)
            fixture.snapshot.write_text(rendered(fixture.execution(), fixture.is_single), encoding="utf-8")
    if not names:
        for snapshot in set(SNAPSHOTS.rglob("*.txt")) - {fixture.snapshot for fixture in ALL.values()}:
            snapshot.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
