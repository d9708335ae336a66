"""Runs public notebooks under ipykernel and under twincell's kernel, cell by cell, and says what comes out differently.

    python -m tests.measure.notebooks NAME=CLONE ... [--each N] [--only PATH]

Takes N notebooks of each repository (by a hash of their paths), copies the files of its newest commit for each kernel,
and runs all cells, those after an error too. Cells that install packages are left out. ipykernel runs twice: where its
own outcomes differ (random numbers, times), only statuses and kinds of messages are compared.

Prints for each notebook what differs, as diffs. Rows for the repositories follow: notebooks, cells, cells that fail
under ipykernel, those whose texts vary by themselves, and those that differ here.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat

from tests.kernel.daily import KERNELS, Running, Step, Thing, outcome

HEAD = ("repository", "notebooks", "cells", "fail under ipykernel", "vary by themselves", "differ here")
#: Kernels that run each notebook: ipykernel twice.
RUNS = (KERNELS[0], KERNELS[0], KERNELS[1])
INSTALLS = re.compile(r"\b(pip3?|conda|mamba|apt|apt-get|npm)\s+install\b")
NO_END = "no end"
#: The fewest code cells of a notebook that is taken.
FEWEST = 5


@dataclass
class Cell:
    """A cell that ran under all kernels."""

    path: str
    number: int
    code: str
    failed: bool
    varies: bool
    #: What differs, as lines of a diff.
    differs: list[str]


def notebooks(clone: Path) -> dict[str, list[str]]:
    """The code cells of the notebooks in Python, by their paths."""
    listed = git(clone, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")
    found = {}
    for path in listed:
        if not path.endswith(".ipynb"):
            continue
        try:
            notebook = nbformat.reads(git(clone, "show", f"HEAD:{path}").decode(), as_version=4)
        except (
            nbformat.reader.NotJSONError,
            nbformat.ValidationError,
            UnicodeDecodeError,
            subprocess.CalledProcessError,
        ):
            continue
        kernel = notebook.metadata.get("kernelspec", {}).get("name", "python")
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
        if kernel.startswith("python") and len(cells) >= FEWEST:
            found[path] = [code for code in cells if not INSTALLS.search(code)]
    return found


def files(clone: Path) -> bytes:
    """An archive of the newest commit, without the files that a partial clone lacks."""
    listed = [
        line.split(None, 3)[2:] for line in git(clone, "ls-tree", "-r", "-z", "HEAD").decode().split("\0") if line
    ]
    objects = "\n".join(name for name, _ in listed).encode()
    states = git(clone, "cat-file", "--batch-check", given=objects).decode().splitlines()
    missing = [path for (_, path), state in zip(listed, states, strict=True) if state.endswith("missing")]
    return git(clone, "archive", "HEAD", "--", ".", *(f":(exclude,literal){path}" for path in missing))


def harmless(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """A file of an archive, or nothing where it is a link out of the folder."""
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def git(clone: Path, *arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True, input=given).stdout


def run(kernel: str, folder: Path, path: str, cells: list[str]) -> list[Step]:
    """What came of each cell, up to the first that does not end."""
    steps: list[Step] = []
    with Running.start(kernel, (folder / path).parent) as running:
        for number, code in enumerate(cells):
            try:
                steps += running.do(Thing(path, str(number), [code]))
            except (TimeoutError, RuntimeError):
                steps.append(Step({"status": "error", "ename": NO_END}))
                break
    return steps


def compare(path: str, cells: list[str], steps: list[list[Step]]) -> list[Cell]:
    """What came of each cell under the kernels of `RUNS`."""
    compared = []
    for number, (code, *of) in enumerate(zip(cells, *steps, strict=False)):
        if any(step.reply.get("ename") == NO_END for step in of[:-1]):
            break
        theirs, again, ours = (outcome(step, False) for step in of)
        varies = theirs != again
        if varies:
            theirs, again, ours = (outcome(step, True) for step in of)
        differs = [] if ours in (theirs, again) else diff(theirs, ours)
        compared.append(Cell(path, number, code, of[0].reply["status"] != "ok", varies, differs))
    return compared


def diff(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    texts = [json.dumps(one, indent=1, ensure_ascii=False, sort_keys=True).splitlines() for one in (theirs, ours)]
    return [line for line in difflib.unified_diff(*texts, *RUNS[1:], lineterm="", n=1)]


def measure(clone: Path, each: int, only: str | None) -> list[Cell]:
    """Runs notebooks of a repository, and prints what differs."""
    found = notebooks(clone)
    chosen = [only] if only else sorted(found, key=lambda path: hashlib.sha256(path.encode()).digest())[:each]
    archive = files(clone)
    compared = []
    for path in chosen:
        with tempfile.TemporaryDirectory(prefix="") as place:
            folders = [Path(place) / kernel / str(number) for number, kernel in enumerate(RUNS)]
            for folder in folders:
                tarfile.open(fileobj=BytesIO(archive)).extractall(folder, filter=harmless)
            with ThreadPoolExecutor() as pool:
                steps = pool.map(run, RUNS, folders, [path] * len(RUNS), [found[path]] * len(RUNS))
                cells = compare(path, found[path], list(steps))
        print(f"{path}: {len(cells)} cells", flush=True)
        for cell in cells:
            if cell.differs:
                print("\n".join([f"cell {cell.number}: {cell.code.splitlines()[0]}", *cell.differs]), flush=True)
        compared += cells
    return compared


def row(name: str, cells: list[Cell]) -> tuple[str, ...]:
    """The figures of a repository."""
    paths = len({cell.path for cell in cells})
    counts = (
        sum(cell.failed for cell in cells),
        sum(cell.varies for cell in cells),
        sum(bool(cell.differs) for cell in cells),
    )
    return (name, *map(str, (paths, len(cells), *counts)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("repositories", nargs="+", metavar="NAME=CLONE")
    options.add_argument("--each", type=int, default=5, help="how many notebooks of each")
    options.add_argument("--only", help="the path of the only notebook to run")
    told = options.parse_args()
    found = {}
    for name, _, clone in (repository.partition("=") for repository in told.repositories):
        found[name] = measure(Path(clone), told.each, told.only)
    everything = [cell for cells in found.values() for cell in cells]
    rows = [HEAD, ("---",) * len(HEAD), *(row(name, cells) for name, cells in found.items()), row("all", everything)]
    print("\n".join(f"| {' | '.join(texts)} |" for texts in rows))


if __name__ == "__main__":
    main()
