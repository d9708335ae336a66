"""Runs `twincell study` over the changes and prints which are called changing."""

import difflib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path


def judge(file: Path, context: str, options: list[str]) -> float:
    """Prints the verdicts, and returns the share of changes that are called changing."""
    changes = [json.loads(line) for line in file.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "results.jsonl")
        command = [sys.executable, "-m", "twincell", "study", str(file), "--out", str(written), "--context", context]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
        results = [json.loads(line) for line in written.read_text().splitlines()]
    judged = list(zip(changes, results, strict=True))
    alarms = [(change, result) for change, result in judged if result["verdict"] == "changing"]
    undecided = sum(result["verdict"] == "inconclusive" for _, result in judged)
    print(f"\n## context {context}: {len(judged)} changes\n")
    print(f"called changing: {len(alarms)} ({len(alarms) / len(judged):.1%}), inconclusive: {undecided}\n")
    print("| made by | changes | called changing | inconclusive |\n|---|---|---|---|")
    for kind, number in sorted(Counter(change["rule"] for change in changes).items()):
        own = Counter(result["verdict"] for change, result in judged if change["rule"] == kind)
        print(f"| {kind} | {number} | {own['changing']} | {own['inconclusive']} |")
    for change, result in alarms:
        print(shown(change, result))
    return len(alarms) / len(judged)


def shown(change: dict, result: dict) -> str:
    """The diff of a change with what twincell says against it."""
    lines = [f"\n### {change['id']}", result["reason"]]
    for found in result["evidence"]:
        lines.append(f"  {found['channel']} {found['place']}: old {found['old'][:300]} new {found['new'][:300]}")
    old, new = change["old"].splitlines(), change["new"].splitlines()
    lines += list(difflib.unified_diff(old, new, "old", "new", lineterm="", n=4))[2:]
    return "\n".join(lines)
