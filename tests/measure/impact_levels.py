"""How many statements each level of change impact analysis leaves, on adjacent commits of clones.

This is Table 3 of SEM-DCIA's paper.

    python -m tests.measure.impact_levels CLONE:PACKAGE [CLONE:PACKAGE ...] [--rows ROWS.jsonl]
    python -m tests.measure.impact_levels CLONE:PACKAGE ... --sources functions
    python -m tests.measure.impact_levels CLONE:PACKAGE ... --subject "refactor|simplif|rename"

PACKAGE is a folder of the clone; a commit is taken if the code of one of its files differs, apart from docstrings and
layout, and if each file that differs parses in both versions. `--subject` takes only commits whose subjects match.
Both versions are extracted below `--folder`. With `--sources functions`, DCIA takes all of a changed function for
changed, as in the paper's evaluation.
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


def measured(clone: str, package: str, commit: str, sources: str, folder: Path) -> dict:
    name = f"{Path(clone).name}-{commit[:10]}"
    sides = [folder / name / side for side in ("old", "new")]
    for side, revision in zip(sides, (f"{commit}~1", commit), strict=True):
        if not side.exists():
            extract(clone, revision, package, side)
    command = ["twincell", "impact", *map(str, sides), "--sources", sources, "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if not run.stdout:
        raise SystemExit(f"{name}: {run.stderr.strip()}")
    found = json.loads(run.stdout)
    states = [one["state"] for one in found["statements"]]
    return {
        "name": name,
        "lines": sum(len(file.read_bytes().splitlines()) for file in sides[1].rglob("*.py")),
        "statements": len(states),
        "changed": states.count("changed"),
        "levels": found["levels"],
    }


def row(found: dict) -> str:
    dcia, *levels = found["levels"]
    cells = [f"{found['name']:28} {found['lines']:6} {found['statements']:6} {found['changed']:5}"]
    cells.append(f"{dcia['impacted']:6} {share(found, dcia):5.1f} % {dcia['milliseconds']:6} ms")
    for level in levels:
        cells.append(f"{level['impacted']:6} {reduction(found, level):5.1f} % {level['milliseconds']:6} ms")
    return " | ".join(cells)


def share(found: dict, level: dict) -> float:
    """How many percent of the statements a level leaves."""
    return 100 * level["impacted"] / found["statements"]


def reduction(found: dict, level: dict) -> float:
    """How many percent fewer statements a level leaves than DCIA. Changed ones are among them, as in the paper."""
    dcia, left = (one["impacted"] + found["changed"] for one in (found["levels"][0], level))
    return 100 * (dcia - left) / dcia if dcia else 0.0


def at(found: dict, k: int) -> dict:
    """The level `k`, or the last one before it."""
    return [level for level in found["levels"] if level["k"] is None or level["k"] <= k][-1]


def summary(rows: list[dict]) -> dict:
    first = [share(one, one["levels"][0]) for one in rows]
    last = [share(one, one["levels"][-1]) for one in rows]
    depths = sorted({level["k"] for one in rows for level in one["levels"]} - {None})
    times = [one["levels"][-1]["milliseconds"] / one["levels"][0]["milliseconds"] for one in rows]
    slowest = max(rows, key=lambda one: one["levels"][-1]["milliseconds"])
    return {
        "pairs": len(rows),
        "impacted by DCIA, mean %": round(statistics.mean(first), 1),
        "impacted by DCIA, median %": round(statistics.median(first), 1),
        "impacted at max, mean %": round(statistics.mean(last), 1),
        "impacted at max, median %": round(statistics.median(last), 1),
        "reduction, mean %": {k: round(statistics.mean(reduction(one, at(one, k)) for one in rows), 1) for k in depths},
        "time to that of DCIA, median": round(statistics.median(times), 2),
        "slowest": [slowest["name"], slowest["lines"], slowest["levels"][-1]["milliseconds"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", metavar="CLONE:PACKAGE")
    parser.add_argument("--sources", choices=["statements", "functions"], default="statements")
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
            rows.append(measured(clone, package, commit, arguments.sources, arguments.folder))
            print(row(rows[-1]), flush=True)
    if arguments.rows:
        arguments.rows.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    print(json.dumps(summary(rows), indent=2))


if __name__ == "__main__":
    main()
