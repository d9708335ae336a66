"""Audits the verdicts of a study: runs each reproducer with a plain interpreter, on old and on new.

    python tests/measure/audit.py CHANGES.jsonl [--context module] [--context function] [--seed N] [--same-packages]

The reproducers run under pytest in an environment of their own that has pytest and nothing else; with `--same-packages`
in this one, where twincell is made impossible to import (what imports an installed package needs it there, too).
For every change called changing one line is printed: `holds` (passes on old, fails on new), `does not hold`, or `none`
and why; then the counts. `--check` ends with status 1 when fewer than the promised share hold in module context.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

#: Share of changing verdicts in module context whose reproducer holds.
PROMISED = 0.9
#: Seconds that one test may take.
PATIENCE = 60
BLOCK = "import sys\nsys.modules['twincell'] = None\n"


def clean_python(folder: Path) -> str:
    """The interpreter of a new environment that has pytest and nothing else."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "pytest"], check=True)
    return python


def passes(python: str, file: Path, subject: str) -> bool | None:
    """Does the test pass on this version? `None` when it did not end in time, or could not be run as a test."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", str(file)]
    environment = {**os.environ, "TWINCELL_SUBJECT": subject, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(command, cwd=file.parent, env=environment, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    return {0: True, 1: False}.get(done.returncode)


def audit(python: str, changes: Path, context: str, seed: int, folder: Path) -> Counter[str]:
    """Compares the changes and runs what reproduces them; prints a line each."""
    tests, findings = folder / f"tests-{context}", folder / f"findings-{context}.jsonl"
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(findings)]
    command += ["--context", context, "--seed", str(seed), "--reproducers", str(tests)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (tests / "conftest.py").write_text(BLOCK)
    labels = {}
    for number, line in enumerate(changes.read_text(encoding="utf-8").splitlines(), 1):
        change = json.loads(line)
        labels[str(change.get("id", number))] = change.get("label") or "no label"
    counts: Counter[str] = Counter()
    for line in findings.read_text(encoding="utf-8").splitlines():
        finding = json.loads(line)
        if finding["verdict"] != "changing":
            continue
        name = str(finding["id"])
        safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in name)[:120]
        files = sorted({*tests.glob(f"{safe}.py"), *tests.glob(f"{safe}-*.py")})
        if not files:
            outcome, why = "none", finding["reproducer"].removeprefix("none: ")
        else:
            old, new = passes(python, files[0], "old"), passes(python, files[0], "new")
            outcome = "holds" if old is True and new is False else "does not hold"
            said = {True: "passes", False: "fails", None: "gives no result"}
            evidence = finding["evidence"][0] if finding["evidence"] else {"place": "", "old": "", "new": ""}
            why = f"{evidence['place']}: {evidence['old'][:60]!r} -> {evidence['new'][:60]!r}"
            if outcome != "holds":
                why += f" (old {said[old]}, new {said[new]})"
        counts[outcome] += 1
        print(f"{context:<9} {name:<24} {labels.get(name, ''):<11} {outcome:<14} {why}", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", type=Path)
    parser.add_argument("--context", action="append", choices=["module", "function"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--same-packages", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = sys.executable if arguments.same_packages else clean_python(folder / "environment")
        results = {}
        for context in arguments.context or ["module", "function"]:
            results[context] = audit(python, arguments.changes, context, arguments.seed, folder)
        for context, counts in results.items():
            total = sum(counts.values())
            share = counts["holds"] / total if total else 1.0
            print(f"{context}: {dict(counts)}, {share:.1%} of {total} changing verdicts hold")
            met = met and (context != "module" or share >= PROMISED)
    return 0 if met or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
