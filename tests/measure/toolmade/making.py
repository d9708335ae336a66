"""So many changes, spread over the tools and over the packages."""

import ast
import random
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import roped, ruffed
from .changes import Change
from .checked import correct, has_its_names
from .packages import Package, fetch, modules

#: The share of each kind in percent. What a kind does not fill goes to the others.
SHARES = {
    "ruff": 34,
    "extract variable": 14,
    "rename local": 12,
    "extract function": 10,
    "rename private function": 8,
    "rename parameter": 8,
    "inline variable": 8,
    "inline function": 6,
}


def make(packages: Iterable[Package], sources: Path, work: Path, count: int, draw: random.Random) -> list[Change]:
    """The changes, sorted by their names."""
    roots = {package: fetch(package, sources) for package in packages}
    wanted = {kind: 2 + count * share // 100 for kind, share in SHARES.items()}
    chosen: list[Change] = []
    for kind, found in _made(roots, work, draw).items():
        # Some more than wanted, since tests keep some out.
        chosen += [change for change in _in_turn(found, 2 * wanted[kind]) if has_its_names(change)][
            : 4 * wanted[kind] // 3
        ]
    tested = _tested(chosen, roots, work)
    kept = []
    for kind, number in wanted.items():
        kept += [change for change in tested if change.kind == kind][:number]
    rest = [change for change in tested if change not in kept]
    kept = draw.sample(kept, count) if len(kept) > count else kept + rest[: count - len(kept)]
    return sorted(kept, key=lambda change: change.id)


def _made(roots: dict[Package, Path], work: Path, draw: random.Random) -> dict[str, list[Iterator[Change]]]:
    """For each kind, what is made of each package."""
    made: dict[str, list[Iterator[Change]]] = {kind: [] for kind in SHARES}
    for package, root in roots.items():
        before = dict(modules(package, root))
        copy = work / f"{package.name}-fixed"
        shutil.copytree(root / package.source, copy / package.source)
        ruffed.fixed(copy, package.source)
        fixed = list(ruffed.changes(package, before, dict(modules(package, copy))))
        draw.shuffle(fixed)
        made["ruff"].append(iter(fixed))
        for kind in roped.KINDS:
            # A stream of its own, so that no kind depends on how many of another were taken.
            own = random.Random(f"{kind} {package.name} {draw.random()}")
            made[kind].append(roped.changes(package, root, kind, own))
    return made


def _in_turn(found: list[Iterator[Change]], most: int) -> list[Change]:
    """At most so many, one of each package in turn."""
    chosen: list[Change] = []
    pending = list(found)
    while pending and len(chosen) < most:
        for source in list(pending):
            change = next(source, None)
            if change is None:
                pending.remove(source)
            elif len(chosen) < most:
                ast.parse(change.new)
                chosen.append(change)
    return chosen


def _tested(changes: list[Change], roots: dict[Package, Path], work: Path) -> list[Change]:
    """Those under which the tests of their packages pass, in their order."""
    right: set[Change] = set()
    for package, root in roots.items():
        own = [change for change in changes if change.package == package.name]
        passed = correct(package, root, own, work)
        right |= set(passed)
        print(f"{package.name}: the tests pass with {len(passed)} of {len(own)} changes", flush=True)
        for change in own:
            if change not in right:
                print(f"  kept out: {change.id}", flush=True)
    return [change for change in changes if change in right]
