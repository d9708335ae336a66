"""How many statements each level of change impact analysis leaves, on adjacent commits of clones.

This is Table 3 of SEM-DCIA's paper.

    python -m tests.measure.impact_levels CLONE:PACKAGE [CLONE:PACKAGE ...] --command LEVELS [--rows ROWS.jsonl]
    python -m tests.measure.impact_levels CLONE:PACKAGE ... --command LEVELS --subject "refactor|simplif|rename"

`LEVELS` is the example `levels` of `core/impact`. PACKAGE is a folder of the clone; a commit is taken if the code of
one of its files differs, apart from docstrings and layout, and if each file that differs parses in both versions.
`--subject` takes only commits whose subjects match. Both versions are extracted below `--folder`.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shutil
import statistics
import subprocess
from pathlib import Path


def git(clone: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def code(clone: str, revision: str, path: str) -> str | None:
    """A file's code without docstrings, or nothing if it does not parse."""
    try:
        tree = ast.parse(git(clone, "show", f"{revision}:{path}"))
    except (subprocess.CalledProcessError, SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        holds = isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if holds and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    return ast.dump(tree)


def changes_code(clone: str, package: str, commit: str) -> bool:
    status = git(clone, "diff", "--no-renames", "--name-status", f"{commit}~1", commit, "--", package).decode()
    differs = False
    for kind, path in (line.split("\t") for line in status.splitlines()):
        if not path.endswith(".py") or "/test" in path:
            continue
        if kind != "M":
            return False
        old, new = code(clone, f"{commit}~1", path), code(clone, commit, path)
        if old is None or new is None:
            return False
        differs |= old != new
    return differs


def sampled(clone: str, package: str, count: int, seed: int, subject: str) -> list[str]:
    log = git(clone, "log", "--no-merges", "--diff-filter=M", "--format=%H %s", "--", f"{package}/").decode()
    lines = [line.split(" ", 1) for line in log.splitlines()]
    commits = [commit for commit, text in lines if re.search(subject, text, re.IGNORECASE)]
    random.Random(seed).shuffle(commits)
    found: list[str] = []
    for commit in commits:
        if len(found) == count:
            break
        if changes_code(clone, package, commit):
            found.append(commit)
    return found


def extract(clone: str, revision: str, package: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    top = str(Path(package).parent)
    tree = revision if top == "." else f"{revision}:{top}"
    archive = git(clone, "archive", tree, Path(package).name)
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)


def measured(clone: str, package: str, commit: str, command: str, folder: Path) -> dict:
    name = f"{Path(clone).name}-{commit[:10]}"
    sides = [folder / name / side for side in ("old", "new")]
    for side, revision in zip(sides, (f"{commit}~1", commit), strict=True):
        if not side.exists():
            extract(clone, revision, package, side)
    run = subprocess.run([command, *map(str, sides)], check=True, capture_output=True, text=True)
    return {"name": name, **json.loads(run.stdout)}


def row(found: dict) -> str:
    statements = found["statements"]
    levels = {level["k"]: level for level in found["levels"]}
    dcia = levels.pop(None)
    cells = [f"{found['name']:28} {found['lines']:6} {statements:6} {found['changed']:5}"]
    cells.append(f"{dcia['impacted']:6} {100 * dcia['impacted'] / statements:5.1f} % {dcia['seconds']:6.2f} s")
    for k, level in levels.items():
        cells.append(f"{level['impacted']:6} {reduction(found, k):5.1f} % {level['seconds']:6.2f} s")
    return " | ".join(cells)


def reduction(found: dict, k: int) -> float:
    """How many percent fewer statements a level leaves than DCIA."""
    levels = {level["k"]: level for level in found["levels"]}
    dcia = levels.pop(None)["impacted"]
    level = levels.get(k) or levels[max(levels)]
    return 100 * (dcia - level["impacted"]) / dcia if dcia else 0.0


def until(found: dict, level: int) -> float:
    return found["model"] + found["levels"][level]["seconds"]


def summary(rows: list[dict]) -> dict:
    share = [100 * one["levels"][0]["impacted"] / one["statements"] for one in rows]
    last = [100 * one["levels"][-1]["impacted"] / one["statements"] for one in rows]
    depths = sorted({level["k"] for one in rows for level in one["levels"]} - {None})
    # Opening the projects and finding their calls is part of both.
    times = [until(one, -1) / until(one, 0) for one in rows]
    slowest = max(rows, key=lambda one: until(one, -1))
    return {
        "pairs": len(rows),
        "impacted by DCIA, mean %": round(statistics.mean(share), 1),
        "impacted by DCIA, median %": round(statistics.median(share), 1),
        "impacted at max, mean %": round(statistics.mean(last), 1),
        "reduction, mean %": {k: round(statistics.mean(reduction(one, k) for one in rows), 1) for k in depths},
        "time to that of DCIA, median": round(statistics.median(times), 2),
        "slowest": [slowest["name"], slowest["lines"], round(until(slowest, -1), 1)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", metavar="CLONE:PACKAGE")
    parser.add_argument("--command", required=True)
    parser.add_argument("--count", type=int, default=6, help="commits of each clone [default: 6]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", default="", help="a regular expression for subjects of commits")
    parser.add_argument("--folder", type=Path, default=Path("target/impact_levels"))
    parser.add_argument("--rows", type=Path, help="where to write the rows as JSON")
    arguments = parser.parse_args()
    rows = []
    for pair in arguments.clones:
        clone, package = pair.rsplit(":", 1)
        for commit in sampled(clone, package, arguments.count, arguments.seed, arguments.subject):
            rows.append(measured(clone, package, commit, arguments.command, arguments.folder))
            print(row(rows[-1]), flush=True)
    if arguments.rows:
        arguments.rows.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    print(json.dumps(summary(rows), indent=2))


if __name__ == "__main__":
    main()
