"""What the processes of one package have seen, joined, and as one compressed file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path


def joined(parts: Iterable[Path]) -> list[dict]:
    """The functions of several files of records; what the same function has in more than one is added up."""
    functions: dict[tuple, dict] = {}
    for part in sorted(parts):
        with open(part, encoding="utf-8") as lines:
            for line in lines:
                function = json.loads(line)
                key = (function["file"], function["qualname"], function["text"])
                known = functions.setdefault(key, function)
                if known is not function:
                    known["sites"] = add_sites(known["sites"], function["sites"])
    return [functions[key] for key in sorted(functions)]


def add_sites(known: list[dict], more: list[dict]) -> list[dict]:
    sites: dict[tuple, dict] = {}
    for site in known + more:
        key = (site["start"], -site["end"], site["kind"])
        sites[key] = added(sites[key], site) if key in sites else site
    return [sites[key] for key in sorted(sites)]


def added(known: object, more: object) -> object:
    """Counts are added up, at any depth; what is no count is the same in both."""
    if isinstance(known, dict) and isinstance(more, dict):
        both = known | more
        places = ("start", "end", "kind")
        return {
            name: added(known[name], more[name]) if name in known and name in more and name not in places else value
            for name, value in both.items()
        }
    if isinstance(known, int) and isinstance(more, int):
        return known + more
    return known


def write(functions: list[dict], path: Path) -> None:
    """Writes one line a function, beside the file and renamed; the same functions give the same bytes."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        for function in functions:
            packed.write(json.dumps(function, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    os.replace(beside, path)
