"""What the processes of one package have seen, joined.

The records lie where the tests of a foreign package could write, too: anything that is not a record is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

#: Processes of one package whose records are read.
MOST_PARTS = 500
TEXTS = ("package", "file", "qualname", "text")
KINDS = ("name", "attribute", "call", "subscript")
CLASSES = frozenset(map(str, range(12)))


class NoRecord(ValueError):
    """A line is not a record of the recorder."""


def checked(line: str) -> dict:
    """The function of one line of records."""
    try:
        function = json.loads(line)
        is_one = (
            function.keys() == {*TEXTS, "sites"}
            and all(type(function[name]) is str for name in TEXTS)
            and all(is_site(site, len(function["text"])) for site in function["sites"])
        )
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        is_one = False
    if not is_one:
        raise NoRecord("what was seen is damaged: a line of it is not a record")
    return function


def is_site(site: dict, length: int) -> bool:
    counted = site.keys() - {"start", "end", "kind"}
    return (
        type(site["start"]) is type(site["end"]) is int
        and 0 <= site["start"] < site["end"] <= length
        and site["kind"] in KINDS
        and site["counts"].keys() <= CLASSES
        and all(is_counts(site[name]) for name in counted)
    )


def is_counts(counts: dict) -> bool:
    return all(type(count) is int or (type(count) is dict and is_counts(count)) for count in counts.values())


def joined(parts: Iterable[Path]) -> list[dict]:
    """The functions of several files of records. Counts of the same function in several files are added up."""
    functions: dict[tuple, dict] = {}
    regular = [part for part in sorted(parts) if part.is_file() and not part.is_symlink()]
    for part in regular[:MOST_PARTS]:
        with open(part, encoding="utf-8") as lines:
            for line in lines:
                function = checked(line)
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
    """Adds up counts, at any depth. Everything else is the same in both."""
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
