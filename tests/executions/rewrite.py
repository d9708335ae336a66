"""Writes the snapshots of all fixtures that run here, and removes those without a fixture."""

from .fixture import ALL, SNAPSHOTS
from .render import rendered


def main():
    for fixture in ALL.values():
        if not fixture.lacks:
            fixture.snapshot.parent.mkdir(parents=True, exist_ok=True)
            fixture.snapshot.write_text(rendered(fixture.execution(), fixture.is_single), encoding="utf-8")
    for snapshot in set(SNAPSHOTS.rglob("*.txt")) - {fixture.snapshot for fixture in ALL.values()}:
        snapshot.unlink()


if __name__ == "__main__":
    main()
