"""Fixtures: a program with its decisions in comments above it, and its execution.

    # What the fixture shows.
    # x.size = 3
    # seed = 1
    def f(x):
        return x.size
    # ---
    def f(x):
        return x.size + 1

A line with ` = ` is a decision by access path, written as `twincell._twincell.execute` reads it, or one of the options
below. `# python >= 3.12` names the oldest Python that can read the program, and `# needs numpy` a package. Without
`# ---`, both versions are the same text.
"""

import re
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from twincell._twincell import execute

FOLDER = Path(__file__).parent
FIXTURES = FOLDER / "fixtures"
SNAPSHOTS = FOLDER / "snapshots"
SEPARATOR = "# ---\n"
OPTIONS = {"context", "function", "isolation"}


@dataclass(frozen=True)
class Fixture:
    name: str
    old: str
    new: str
    seed: int = 0
    decisions: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    python: tuple[int, ...] = (3, 10)
    packages: tuple[str, ...] = ()

    @property
    def is_single(self):
        return self.old == self.new

    @property
    def lacks(self):
        """What is missing here to run it."""
        python = [] if sys.version_info >= self.python else [f"Python {'.'.join(map(str, self.python))}"]
        return python + [name for name in self.packages if find_spec(name) is None]

    @property
    def snapshot(self):
        return SNAPSHOTS / f"{self.name}.txt"

    def execution(self):
        found = execute(self.old, self.new, [(self.seed, self.decisions)], predictor="frequency", **self.options)
        record = found["executions"][0]["record"]
        asked = {choice["path"] for choice in record["choices"]} if record else set(self.decisions)
        unused = self.decisions.keys() - asked
        assert not unused, f"{self.name}: the execution asked for none of {', '.join(sorted(unused))}"
        return found


def read(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    header = []
    while lines and lines[0].startswith("# ") and lines[0] != SEPARATOR:
        header.append(lines.pop(0)[2:].strip())
    old, *rest = "".join(lines).split(SEPARATOR)
    written = [line.split(" = ", 1) for line in header if " = " in line]
    given = {path.strip(): value.strip() for path, value in written}
    oldest = [re.fullmatch(r"python >= (\d+)\.(\d+)", line) for line in header]
    return Fixture(
        name=path.relative_to(FIXTURES).with_suffix("").as_posix(),
        old=old,
        new=rest[0] if rest else old,
        seed=int(given.pop("seed", 0)),
        options={name: given.pop(name) for name in OPTIONS & set(given)},
        decisions=given,
        python=next((tuple(map(int, match.groups())) for match in oldest if match), (3, 10)),
        packages=tuple(line.removeprefix("needs ") for line in header if line.startswith("needs ")),
    )


ALL = {found.name: found for found in map(read, sorted(FIXTURES.rglob("*.py")))}
