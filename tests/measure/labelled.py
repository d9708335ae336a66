"""Pairs whose labels somebody proved: how many twincell judges right, by kind.

    python -m tests.measure.labelled FILE.jsonl [--kind KIND] [--show] [--json] [--check SHARE]

A line of the file holds a pair: `id`, `kind`, `label` (`preserving` or `changing`), the texts `old` and `new`, the
compared `function` (all of the file where it is left out), and, where the pair is part of a repository, the `path` of
its module and the other `files`. Each pair becomes a repository of two commits, and `twincell compare --git` compares
them. A verdict is right if it is *changing* for a changing pair, and *likely preserving* or *identical* for a
preserving one; *inconclusive* is never right. `--show` also lists the pairs that are judged wrong. `--check` ends with
status 1 below a share.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

#: The verdicts that are right for a label.
RIGHT = {"changing": {"changing"}, "preserving": {"likely_preserving", "identical"}}
#: Columns of the table after the kind: what happened to a pair, and how people call it.
OUTCOMES = ("right", "false alarm", "missed", "inconclusive", "error")
WHO = ("-c", "user.name=twincell", "-c", "user.email=twincell@localhost")


class Judged(NamedTuple):
    """What twincell said of a pair."""

    outcome: str
    sentence: str


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True)


def judged(pair: dict[str, Any], options: Iterable[str] = ()) -> Judged:
    """Compares both versions of a pair as two commits of a repository."""
    path = pair.get("path", "module.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        git(folder, "init", "--quiet")
        for old_or_new in ("old", "new"):
            for file, text in {**pair.get("files", {}), path: pair[old_or_new]}.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(text)
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--message", old_or_new)
        of_function = ["--function", pair["function"]] if "function" in pair else []
        command = ["compare", "--git", "HEAD~1..HEAD", *of_function, "--json", *options, path]
        ran = subprocess.run([sys.executable, "-m", "twincell", *command], cwd=folder, capture_output=True, text=True)
    if not ran.stdout:
        return Judged("error", ran.stderr.strip())
    files = json.loads(ran.stdout)["files"]
    if not files or "comparison" not in files[0]:
        return Judged("error", ran.stderr.strip() or "nothing to compare")
    comparison = files[0]["comparison"]
    verdict, sentence = comparison["verdict"], comparison["sentence"]
    if verdict in RIGHT[pair["label"]]:
        return Judged("right", sentence)
    if verdict == "inconclusive":
        return Judged("inconclusive", sentence)
    return Judged("false alarm" if verdict == "changing" else "missed", sentence)


def table(counts: dict[str, Counter[str]]) -> str:
    """Counts of outcomes by kind, in Markdown, with a row for all."""
    rows = [*counts.items(), ("all", sum(counts.values(), Counter()))]
    lines = [f"| kind | pairs | {' | '.join(OUTCOMES)} |", "|---" * (len(OUTCOMES) + 2) + "|"]
    for kind, count in rows:
        cells = [kind, str(count.total()), *(str(count[outcome]) for outcome in OUTCOMES)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", action="append", help="judge only pairs of this kind; may be given again")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--show", action="store_true", help="list the pairs that are judged wrong")
    parser.add_argument(
        "--check", type=float, metavar="SHARE", help="end with status 1 below this share of right verdicts"
    )
    parser.add_argument("--json", action="store_true", help="print the counts of outcomes by kind as JSON")
    given = parser.parse_args()
    pairs = [json.loads(line) for line in given.file.read_text().splitlines()]
    pairs = [pair for pair in pairs if not given.kind or pair["kind"] in given.kind]
    if not pairs:
        sys.exit("no pair is of this kind")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[str] = []
    for pair in pairs:
        outcome, sentence = judged(pair, ["--seed", given.seed])
        counts[pair["kind"]][outcome] += 1
        if outcome != "right":
            wrong.append(f"{pair['id']}: {outcome}: {sentence}")
    right = sum(count["right"] for count in counts.values()) / len(pairs)
    if given.json:
        print(json.dumps(counts))
    else:
        print(f"{table(counts)}\n\n{right:.1%} right")
    if given.show:
        print("\n".join(["", *wrong]), file=sys.stderr if given.json else sys.stdout)
    if given.check is not None and right < given.check:
        sys.exit(1)


if __name__ == "__main__":
    main()
