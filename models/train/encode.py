"""Functions as rows of tokens with their sites: what training and measuring read.

python -m models.train.encode OUT.npz --tokenizer FILE --from PATH [--apart PATH] [--window N]

A function longer than the window becomes several rows, half a window apart, and each site is read in the row where it
has the most context: the same rows that the predictor makes (`models/src/windows.rs`). What is only pretrained on can
be cut into shorter rows, which train faster. Every site gets its part, once:

- `package`: its package is held out whole, which goes by the package's name;
- `function`: its function is held out, one in twenty;
- `sample`: the site alone is held out, one in twenty; others of the same function are learned from, as in the papers;
- `tuned`: its package is used for choosing and calibrating, and not for learning, one in twenty;
- `learned`: everything else.

With --apart, functions whose text is in the held-out parts of that source are left out.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import command, functions, tokenizer
from .classes import CLASSES

PARTS = ("learned", "sample", "function", "tuned", "package")
KINDS = ("name", "attribute", "call", "subscript")
SHARE = 0.05
BATCH = 512


@dataclass
class Encoded:
    """Rows of tokens, and the sites in the order of their rows."""

    ids: np.ndarray
    #: Row r has the ids from starts[r] to starts[r + 1].
    starts: np.ndarray
    row_function: np.ndarray
    row_package: np.ndarray
    packages: np.ndarray
    site_row: np.ndarray
    site_token: np.ndarray
    site_kind: np.ndarray
    site_part: np.ndarray
    #: The number of a site's name, which `frequency` uses.
    site_name: np.ndarray
    names: np.ndarray
    #: The share of each class among the observed values.
    truth: np.ndarray

    def save(self, path: Path) -> None:
        part = path.with_name(f"{path.name}.part.npz")
        np.savez(part, **vars(self))
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> Encoded:
        try:
            with np.load(path) as file:
                return cls(**{name: file[name] for name in file.files})
        except (ValueError, TypeError, AttributeError, zipfile.BadZipFile):
            raise ValueError(f"{path} was not written by `encode`") from None


def part_of_function(function: dict) -> str:
    package = function["package"]
    if functions.held_out(package):
        return "package"
    if functions.chance("tuned", functions.canonical(package)) < SHARE:
        return "tuned"
    if functions.chance("function", package, function["text"]) < SHARE:
        return "function"
    return "learned"


def name_of(site: str, kind: str) -> str:
    """The last identifier of an expression: for a call, of the callee; for a subscript, of the container."""
    if kind in ("call", "subscript"):
        opening, closing = ("(", ")") if kind == "call" else ("[", "]")
        depth = 0
        for at in range(len(site) - 1, -1, -1):
            depth += (site[at] == closing) - (site[at] == opening)
            if depth == 0:
                site = site[:at]
                break
    site = site.rstrip()
    at = len(site)
    while at and (site[at - 1].isalnum() or site[at - 1] == "_"):
        at -= 1
    return site[at:]


def windows(tokens: int, window: int) -> list[int]:
    if tokens <= window:
        return [0]
    last = tokens - window
    return [*range(0, last, max(window // 2, 1)), last]


def window_of(starts: list[int], window: int, token: int) -> int:
    """The window in which a token has the most tokens on its shorter side. Of equals, the earlier one."""
    best, most = 0, -1
    for number, start in enumerate(starts):
        context = min(token - start, start + window - 1 - token)
        if context > most:
            best, most = number, context
    return best


class Builder:
    """Takes functions one at a time and keeps no text."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.ids: list[np.ndarray] = []
        self.rows: list[tuple[int, int]] = []
        self.sites: list[tuple[int, int, int, int, int]] = []
        self.truth: list[np.ndarray] = []
        self.packages: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.functions = 0

    def add(self, function: dict, ids: list[int], offsets: list[tuple[int, int]]) -> None:
        text = function["text"]
        begins = np.fromiter((start for start, _ in offsets), dtype=np.int64, count=len(offsets))
        starts = windows(len(ids), self.window)
        first = len(self.rows)
        package = self.packages.setdefault(function["package"], len(self.packages))
        of_function = part_of_function(function)
        for start in starts:
            self.ids.append(np.array(ids[start : start + self.window], dtype=np.uint16))
            self.rows.append((self.functions, package))
        sites = []
        for site in function["sites"]:
            token = int(np.searchsorted(begins, site["end"], side="left")) - 1
            counts = np.zeros(len(CLASSES))
            for number, count in site["counts"].items():
                counts[int(number)] = count
            if token < 0 or site["kind"] not in KINDS or not counts.sum():
                continue
            part = of_function
            if part == "learned" and functions.chance("sample", text, site["start"], site["end"]) < SHARE:
                part = "sample"
            best = window_of(starts, self.window, token)
            written = text[site["start"] : site["end"]]
            name = self.names.setdefault(name_of(written, site["kind"]), len(self.names))
            numbers = (first + best, token - starts[best], KINDS.index(site["kind"]), PARTS.index(part), name)
            sites.append((numbers, counts / counts.sum()))
        # By row, so that the sites of a row are together.
        for numbers, truth in sorted(sites, key=lambda site: site[0]):
            self.sites.append(numbers)
            self.truth.append(truth)
        self.functions += 1

    def done(self) -> Encoded:
        rows = np.array(self.rows, dtype=np.int32).reshape(-1, 2)
        sites = np.array(self.sites, dtype=np.int32).reshape(-1, 5)
        return Encoded(
            ids=np.concatenate(self.ids) if self.ids else np.zeros(0, dtype=np.uint16),
            starts=np.cumsum([0] + [len(row) for row in self.ids]),
            row_function=rows[:, 0],
            row_package=rows[:, 1],
            packages=np.array(list(self.packages), dtype=str),
            site_row=sites[:, 0],
            site_token=sites[:, 1].astype(np.int16),
            site_kind=sites[:, 2].astype(np.int8),
            site_part=sites[:, 3].astype(np.int8),
            site_name=sites[:, 4],
            names=np.array(list(self.names), dtype=str),
            truth=np.array(self.truth, dtype=np.float16).reshape(-1, len(CLASSES)),
        )


def unique(found: Iterator[dict], without: set[str]) -> Iterator[dict]:
    """Keeps each text once: the copy in a held-out part if there is one, so that no held-out text is learned."""
    kept: dict[str, dict] = {}
    for function in found:
        text = function["text"]
        if not functions.usable(function["package"]) or text in without:
            continue
        before = kept.get(text)
        if before is None or (part_of_function(before) == "learned" and part_of_function(function) != "learned"):
            kept[text] = function
    yield from kept.values()


def encode(found: Iterator[dict], with_: tokenizer.Tokenizer, window: int) -> Encoded:
    builder = Builder(window)
    batch: list[dict] = []

    def flush() -> None:
        for function, encoding in zip(batch, with_.encode_batch([f["text"] for f in batch]), strict=True):
            builder.add(function, encoding.ids, encoding.offsets)
        batch.clear()

    for function in found:
        batch.append(function)
        if len(batch) == BATCH:
            flush()
    flush()
    return builder.done()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--apart", type=Path)
    parser.add_argument("--window", type=int, metavar="N", help="tokens of a row (default: the tokenizer's)")
    given = parser.parse_args()
    tokens, window = tokenizer.load(given.tokenizer)
    without: set[str] = set()
    if given.apart:
        without = {f["text"] for f in functions.read(given.apart) if part_of_function(f) != "learned"}
    encoded = encode(unique(functions.read(given.source), without), tokens, given.window or window)
    encoded.save(given.out)
    counts = {part: int((encoded.site_part == number).sum()) for number, part in enumerate(PARTS)}
    print(f"{len(set(encoded.row_function.tolist()))} functions, {len(encoded.ids)} tokens, sites: {counts}")


if __name__ == "__main__":
    command.run(main)
