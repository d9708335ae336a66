"""Functions with what is known of their value sites: the files that all steps read and write.

A file is gzipped JSON lines, one function each: `package`, `file`, `qualname`, `text` (dedented, without decorators),
and `sites`, each with `start` and `end` (characters of the text), `kind`, and `counts`: how often each class was seen,
by the number of the class (`classes.py`). A function of which nothing is known has no sites; its text is still text.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

#: The projects that the papers evaluate on, spelled as package names. Nothing is ever learned from them.
_EVALUATED = (
    "airflow apache-airflow black fastapi flask httpie pandas poetry poetry-core scikit-learn scrapy thealgorithms"
)
EVALUATED = frozenset(_EVALUATED.split())
#: One package in this many is held out as a whole.
HELD = 8


def canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def held_out(package: str) -> bool:
    """Whether a package is held out. This depends only on its name, so that it is the same for everybody."""
    return int.from_bytes(hashlib.sha1(f"held {canonical(package)}".encode()).digest()) % HELD == 0


def usable(package: str) -> bool:
    return canonical(package) not in EVALUATED


def chance(*parts: object) -> float:
    """A number from 0 to 1 that depends only on the argument."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha1(text.encode()).digest()[:7]) / 2**56


def read(path: Path) -> Iterator[dict]:
    """The functions of a file, or of all files of a folder in the order of their names."""
    paths = sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]
    if not paths:
        raise ValueError(f"{path} has no files that end in .jsonl.gz")
    for each in paths:
        number = 0
        with gzip.open(each, "rt", encoding="utf-8") as file:
            try:
                for line in file:
                    number += 1
                    yield _function(line)
            except (EOFError, ValueError, zlib.error) as error:
                raise ValueError(f"{each}, line {number}: {error}") from None


def _function(line: str) -> dict:
    function = json.loads(line)
    if not isinstance(function, dict):
        raise ValueError("a function is a JSON object, and this is none")
    if missing := sorted({"package", "text", "sites"} - function.keys()):
        raise ValueError(f"`{missing[0]}` is missing")
    return function


def write(path: Path, functions: Iterable[dict]) -> int:
    """Writes all or nothing. The same functions give the same bytes."""
    part = path.with_name(f"{path.name}.part")
    count = 0
    with part.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
        for function in functions:
            file.write(json.dumps(function, ensure_ascii=False).encode() + b"\n")
            count += 1
    part.replace(path)
    return count
