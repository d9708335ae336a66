"""Runs public notebooks under ipykernel and under twincell's kernel, cell by cell, and says what comes out differently.

    python -m tests.measure.notebooks NAME=CLONE ... [--each N] [--only PATH]

The code of the notebooks runs as it is, outside of any sandbox: take repositories that you trust.

Takes N notebooks of each repository (by a hash of their paths), copies the files of its newest commit for each kernel,
and runs all cells, those after an error too, but no line that installs something. ipykernel runs twice: where its own
outcomes differ (random numbers, times), only statuses and kinds of messages are compared. A notebook ends at a cell
that takes longer than a minute under one of the kernels.

Prints for each notebook what differs, as diffs. Rows for the repositories follow: notebooks, cells, those that were not
reached, that fail under ipykernel, whose texts vary by themselves, and that differ here.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
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

from tests.kernel.client import Client
from tests.kernel.daily import KERNELS, Running, Step, Thing, environment, outcome

HEAD = ("repository", "notebooks", "cells", "not reached", "fail under ipykernel", "vary by themselves", "differ here")
#: Kernels that run each notebook: ipykernel twice.
RUNS = (KERNELS[0], KERNELS[0], KERNELS[1])
#: A line for the shell, or a magic, that installs something.
INSTALLS = re.compile(r"^\s*[!%].*\binstall\b.*$", re.MULTILINE)
#: The fewest code cells of a notebook that is taken.
FEWEST = 5


@dataclass
class Cell:
    """A cell that ran under all kernels."""

    number: int
    code: str
    failed: bool
    varies: bool
    #: What differs, as lines of a diff.
    differs: list[str]


@dataclass
class Compared:
    """A notebook that ran under all kernels."""

    path: str
    cells: list[Cell]
    #: How many cells no kernel or not all of them reached.
    unreached: int


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
        cells = [INSTALLS.sub("", cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        cells = [code for code in cells if code.strip()]
        if kernel.startswith("python") and len(cells) >= FEWEST:
            found[path] = cells
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
    command = ["git", "-C", str(clone), *arguments]
    alone = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    return subprocess.run(command, check=True, capture_output=True, input=given, env=alone).stdout


def run(kernel: str, folder: Path, path: str, cells: list[str]) -> list[Step]:
    """What came of each cell, up to the first that does not end."""
    place = (folder / path).parent
    steps: list[Step] = []
    with Client.start(kernel, cwd=str(place), env=environment(place)) as client:
        running = Running(client, place)
        for number, code in enumerate(cells):
            try:
                steps += running.do(Thing(path, str(number), [code]))
            except (TimeoutError, RuntimeError):
                print(f"{path}: cell {number} does not end under {kernel}", flush=True)
                break
    return steps


def compare(cells: list[str], steps: list[list[Step]]) -> list[Cell]:
    """What came of each cell under the kernels of `RUNS`, as far as all of them came."""
    compared = []
    for number, (code, *of) in enumerate(zip(cells, *steps, strict=False)):
        theirs, again, ours = (outcome(step, False) for step in of)
        varies = theirs != again
        if varies:
            theirs, again, ours = (outcome(step, True) for step in of)
        differs = [] if ours in (theirs, again) else diff(theirs, ours)
        compared.append(Cell(number, code, of[0].reply["status"] != "ok", varies, differs))
    return compared


def diff(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    texts = [json.dumps(one, indent=1, ensure_ascii=False, sort_keys=True).splitlines() for one in (theirs, ours)]
    return list(difflib.unified_diff(*texts, *RUNS[1:], lineterm="", n=1))


def measure(clone: Path, each: int, only: str | None = None) -> list[Compared]:
    """Runs notebooks of a repository, and prints what differs."""
    found = notebooks(clone)
    chosen = sorted(found, key=lambda path: hashlib.sha256(path.encode()).digest())[:each]
    archive = files(clone)
    compared = []
    for path in chosen if only is None else {only} & set(found):
        with tempfile.TemporaryDirectory() as place:
            folders = [Path(place) / kernel / str(number) for number, kernel in enumerate(RUNS)]
            for folder in folders:
                with tarfile.open(fileobj=BytesIO(archive)) as packed:
                    packed.extractall(folder, filter=harmless)
            with ThreadPoolExecutor() as pool:
                steps = list(pool.map(run, RUNS, folders, [path] * len(RUNS), [found[path]] * len(RUNS)))
        cells = compare(found[path], steps)
        print(f"{path}: {len(cells)} cells", flush=True)
        for cell in cells:
            if cell.differs:
                print("\n".join([f"cell {cell.number}: {cell.code.splitlines()[0]}", *cell.differs]), flush=True)
        compared.append(Compared(path, cells, len(found[path]) - len(cells)))
    return compared


def row(name: str, of: list[Compared]) -> tuple[str, ...]:
    """The figures of a repository."""
    cells = [cell for notebook in of for cell in notebook.cells]
    counts = (
        len(of),
        len(cells),
        sum(notebook.unreached for notebook in of),
        sum(cell.failed for cell in cells),
        sum(cell.varies for cell in cells),
        sum(bool(cell.differs) for cell in cells),
    )
    return (name, *map(str, counts))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("repositories", nargs="+", metavar="NAME=CLONE")
    options.add_argument("--each", type=int, default=5, help="how many notebooks of each")
    options.add_argument("--only", metavar="PATH", help="the path of the only notebook to run, where there is one")
    told = options.parse_args()
    found = {}
    for repository in told.repositories:
        name, equals, clone = repository.partition("=")
        if not equals or not Path(clone).is_dir():
            options.error(f"{repository}: give NAME=CLONE, with the folder of a repository")
        found[name] = measure(Path(clone), told.each, told.only)
    everything = [notebook for of in found.values() for notebook in of]
    rows = [HEAD, ("---",) * len(HEAD), *(row(name, of) for name, of in found.items()), row("all", everything)]
    print("\n".join(f"| {' | '.join(texts)} |" for texts in rows))


if __name__ == "__main__":
    main()
