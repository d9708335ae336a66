"""How many commits of a history `twincell mine` reads in a second.

    python -m tests.measure.history [COMMITS] [--json]

A repository is made of the standard library's own files: each commit changes an integer in one to three of their
functions, one in ten a comment, one in twenty is a merge. It is packed as a clone is.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDERS = ["", "asyncio", "email", "http", "importlib", "json", "logging", "multiprocessing", "unittest", "xml/dom"]


def sources() -> dict[str, str]:
    root = Path(sysconfig.get_paths()["stdlib"])
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.py")):
            try:
                text = path.read_text()
                ast.parse(text)
            except (UnicodeDecodeError, SyntaxError):
                continue
            if "test" not in path.name and len(text) > 500:
                found[str(path.relative_to(root))] = text
    return found


def edited(text: str, random: random.Random) -> str:
    """The text with another integer in one of its functions."""
    numbers = [
        node
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    if not numbers:
        return text + f"# {random.random()}\n"
    number = random.choice(numbers)
    lines = text.splitlines(keepends=True)
    line = lines[number.lineno - 1].encode()
    changed = line[: number.col_offset] + str(random.randrange(1000)).encode() + line[number.end_col_offset :]
    lines[number.lineno - 1] = changed.decode()
    return "".join(lines)


def make(folder: Path, commits: int) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    chance, files = random.Random(7), sources()
    out = bytearray()

    def data(text: str) -> bytes:
        content = text.encode()
        return b"data %d\n%s\n" % (len(content), content)

    def commit(number: int, changed: dict[str, str], merged: int | None = None) -> None:
        out.extend(b"commit refs/heads/main\nmark :%d\n" % (number + 1))
        out.extend(b"committer A <a@x> %d +0000\n" % (1_600_000_000 + 600 * number))
        out.extend(data(chance.choice(["Refactor", "Fix", "Simplify", "Add"]) + f" {number}"))
        if merged is not None:
            out.extend(b"merge :%d\n" % (merged + 1))
        for name, text in changed.items():
            out.extend(b"M 644 inline %s\n" % name.encode() + data(text))

    commit(0, files)
    for number in range(1, commits):
        if number % 20 == 0:
            commit(number, {}, merged=number - 3)
            continue
        changed = {}
        for name in chance.sample(sorted(files), chance.choice([1, 1, 1, 2, 3])):
            files[name] = files[name] + f"# {number}\n" if number % 10 == 1 else edited(files[name], chance)
            changed[name] = files[name]
        commit(number, changed)
    subprocess.run(["git", "fast-import", "--quiet"], input=bytes(out), cwd=folder, check=True)
    subprocess.run(["git", "repack", "-adq"], cwd=folder, check=True)


def measure(commits: int) -> list[dict[str, Any]]:
    """Mines a history with several options, and prints a line for each."""
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "history"
        make(folder, commits)
        files = sources()
        print(f"{commits} commits, {len(files)} files, {sum(map(len, files.values())) / 1e6:.1f} MB of Python")
        for options in [
            ["--jobs", "1"],
            ["--jobs", "2"],
            ["--single-function"],
            ["--grep", "refactor", "--no-modules"],
        ]:
            out = Path(temporary) / "changes.jsonl"
            begin = time.perf_counter()
            command = [sys.executable, "-m", "twincell", "mine", str(folder), "--out", str(out), *options]
            summary = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
            seconds = time.perf_counter() - begin
            size = out.stat().st_size / 1e6
            rate = commits / seconds
            print(f"{' '.join(options):32} {seconds:6.1f} s {rate:7.0f} commits/s, {summary}, {size:.0f} MB")
            rows.append({"options": options, "seconds": seconds, "commits_a_second": rate})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", type=int, nargs="?", default=5000, metavar="COMMITS")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the lines as errors")
    arguments = parser.parse_args()
    with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        rows = measure(arguments.commits)
    if arguments.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
