"""Real commits as a person sees them in a terminal: the lines that `twincell compare --git` prints, and its time.

    python -m tests.measure.commits ROWS.jsonl NAME=CLONE [NAME=CLONE ...] [--count 10] [--python PYTHON]

Of each clone, the newest commits are taken that are no merges and modify Python code outside of tests and docs. A row
for each, with what was printed on 100 columns, goes to ROWS; commits that have one are not compared again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .fixes import work_tree

#: Parts of paths of files that are not the code of a package.
OTHERS = ("test", "doc", "example", "setup.py", "conftest.py")


def git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True, text=True).stdout


def commits(repository: Path, count: int) -> list[str]:
    log = git(repository, "log", "--no-merges", "--diff-filter=M", "--name-only", "--format=commit %H", "--", "*.py")
    found: list[str] = []
    for block in log.split("commit ")[1:]:
        commit, *paths = block.split()
        if any(not any(other in path for other in OTHERS) for path in paths):
            found.append(commit)
        if len(found) == count:
            break
    return found


def compared(repository: Path, commit: str, options: list[str]) -> dict:
    command = [sys.executable, "-m", "twincell", "compare", "--git", f"{commit}~1..{commit}", *options]
    began = time.monotonic()
    ran = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    row: dict = {"commit": commit, "subject": git(repository, "log", "-1", "--format=%s", commit).strip()}
    row |= {"status": ran.returncode, "seconds": round(time.monotonic() - began, 1)}
    return row | {"lines": len(ran.stdout.splitlines()), "text": ran.stdout, "problem": ran.stderr.strip()[-300:]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("clones", nargs="+", metavar="NAME=CLONE")
    parser.add_argument("--count", type=int, default=10, help="commits of each clone [default: 10]")
    parser.add_argument("--python", help="a Python that has twincell and what the packages need")
    parser.add_argument("--folder", type=Path, default=Path("target/commits"), help="for work trees")
    arguments = parser.parse_args()
    options = ["--python", arguments.python] if arguments.python else []
    text = arguments.file.read_text(encoding="utf-8") if arguments.file.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {(row["project"], row["commit"]) for row in rows}
    for described in arguments.clones:
        name, clone = described.split("=", 1)
        repository = work_tree(Path(clone), arguments.folder.absolute() / name)
        for commit in commits(repository, arguments.count):
            if (name, commit) in done:
                continue
            row = {"project": name} | compared(repository, commit, options)
            rows.append(row)
            with arguments.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            first = row["text"].splitlines()[:1]
            print(name, commit[:10], row["lines"], "lines", row["seconds"], "s:", *first, flush=True)
    for name in [*dict.fromkeys(row["project"] for row in rows), None]:
        own = [row for row in rows if name in (None, row["project"])]
        lines, seconds = ([row[key] for row in own] for key in ("lines", "seconds"))
        print(
            f"{name or 'all':<10} {len(own):>3} commits: lines median {statistics.median(lines)}, most {max(lines)}; "
            f"seconds median {statistics.median(seconds)}, most {max(seconds)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
