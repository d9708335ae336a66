"""The packages to collect from: a text file, one a line, `#` begins a comment.

    name==version | what its tests need | paths of tests and arguments for pytest

The second and third part may be left out. Without a version the newest is taken; without paths, the tests are looked
for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .. import functions


@dataclass(frozen=True)
class Package:
    name: str
    version: str = ""
    requirements: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def pinned(self) -> str:
        return f"{self.name}=={self.version}" if self.version else self.name


def read(path: Path) -> list[Package]:
    """The packages of a list. An error names the wrong line."""
    packages: list[Package] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        head, requirements, arguments, *rest = [*(part.strip() for part in line.split("|")), "", ""]
        name, _, version = head.partition("==")
        if any(rest) or not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", name):
            raise ValueError(f"{path}, line {number}: write NAME==VERSION | REQUIREMENTS | TESTS")
        if not functions.usable(name):
            raise ValueError(f"{path}, line {number}: {name} is one of the projects that predictions are judged on")
        if any(functions.canonical(name) == functions.canonical(other.name) for other in packages):
            raise ValueError(f"{path}, line {number}: {name} is there twice")
        packages.append(Package(name, version, tuple(requirements.split()), tuple(arguments.split())))
    return packages


def pin(path: Path, versions: dict[str, str]) -> int:
    """Adds versions to names that have none, and returns their number. Everything else in the list stays."""
    lines, count = [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        name = line.partition("#")[0].partition("|")[0].strip()
        if name in versions and "==" not in name:
            line, count = line.replace(name, f"{name}=={versions[name]}", 1), count + 1
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return count
