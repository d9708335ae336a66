"""Audits the verdicts of a study: runs each reproducer with a plain interpreter, on old and on new.

    python tests/measure/audit.py CHANGES.jsonl [--context module] [--context function] [--seed N] [--json]
        [--same-packages]

The reproducers run under pytest in an environment of their own that has pytest and nothing else; with `--same-packages`
in this one, where twincell is made impossible to import (what imports an installed package needs it there, too).
For every change called changing one line is printed: `holds` (passes on old, fails on new), `does not hold`, or `none`
and why; whether it is an edge case; the difference; then the counts. `--out DIR` keeps the reproducers. `--check` ends
with status 1 when fewer than the promised share hold in module context.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

#: Share of changing verdicts in module context whose reproducer holds.
PROMISED = 0.95
#: How many tests run at once, and the seconds that they, or one by itself, may take.
TOGETHER = 16
PATIENCE = 60
#: Bytes of memory that they may take: a version that never ends must not take all that the machine has.
MEMORY = 2 << 30
BLOCK = "import sys\nsys.modules['twincell'] = None\n"


def clean_python(folder: Path) -> str:
    """The interpreter of a new environment that has pytest and nothing else."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "pytest"], check=True)
    return python


def run(python: str, files: list[Path], subject: str, report: Path) -> dict[str, bool] | None:
    """Which tests pass on this version, by file; `None` when they did not end in time."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    # One file that cannot be imported does not keep the others from running.
    command += ["--continue-on-collection-errors"]
    environment = {**os.environ, "TWINCELL_SUBJECT": subject, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONPATH", None)
    try:
        subprocess.run(
            [*command, f"--junitxml={report}", *map(str, files)],
            cwd=files[0].parent,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            timeout=PATIENCE,
        )
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (subprocess.TimeoutExpired, OSError, ElementTree.ParseError):
        return None
    found: dict[str, bool] = {}
    for case in cases:
        name = (case.get("classname") or case.get("name") or "").rpartition(".")[2]
        found[name] = not any(child.tag in ("failure", "error") for child in case) and found.get(name, True)
    return found


def outcomes(python: str, files: list[Path], subject: str) -> dict[str, bool]:
    """Which reproducers pass on this version: several in one run, or each by itself where that one does not end."""
    found: dict[str, bool] = {}
    for start in range(0, len(files), TOGETHER):
        several = files[start : start + TOGETHER]
        report = several[0].parent / f"{subject}.xml"
        together = run(python, several, subject, report)
        for one in [] if together is not None else several:
            found |= run(python, [one], subject, report) or {}
        found |= together or {}
    return found


@dataclass
class Audited:
    """A finding of a study, under the name that its change has, and what its reproducer does."""

    name: str
    label: str
    finding: dict
    #: `holds`, `does not hold` or `none`, and why; both are empty where the verdict is not `changing`.
    outcome: str = ""
    why: str = ""


def audited(python: str, changes: Path, context: str, seed: int, folder: Path) -> Iterator[Audited]:
    """Compares the changes and runs the reproducers of those called changing."""
    tests, findings = folder / f"tests-{context}", folder / f"findings-{context}.jsonl"
    # Ids of one form, none the beginning of another, so that a file says whose reproducer it is.
    names, labels, lines = {}, {}, []
    for number, line in enumerate(changes.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        change = json.loads(line)
        key = f"c{number:06}"
        names[key], labels[key] = str(change.get("id", number)), change.get("label") or "no label"
        lines.append(json.dumps(change | {"id": key}))
    numbered = folder / f"changes-{context}.jsonl"
    numbered.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "twincell", "study", str(numbered), "--out", str(findings)]
    command += ["--context", context, "--seed", str(seed), "--reproducers", str(tests), "--fresh"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (tests / "conftest.py").write_text(BLOCK)
    files: dict[str, Path] = {}
    for number, file in enumerate(sorted(tests.glob("test_c*.py"))):
        key = file.stem.removeprefix("test_").partition("-")[0]
        if key in names:
            # pytest wants names that are unlike those of modules.
            safe = "".join(c if c.isalnum() else "_" for c in names[key])[:100]
            # Of a change with several, the first counts.
            files.setdefault(key, file.rename(tests / f"test_{number}_{safe}.py"))
    passed = [outcomes(python, list(files.values()), subject) for subject in ("old", "new")]
    for line in findings.read_text(encoding="utf-8").splitlines():
        finding = json.loads(line)
        key = finding["id"]
        one = Audited(names[key], labels[key], finding)
        if finding["verdict"] == "changing":
            file = files.get(key)
            one.outcome, one.why = judged(finding, None if file is None else [of.get(file.stem) for of in passed])
        yield one


def judged(finding: dict, passes: list[bool | None] | None) -> tuple[str, str]:
    """What a reproducer does, and why; `passes` says so for old and for new, and is `None` without a reproducer."""
    evidence = finding["evidence"][0] if finding["evidence"] else {}
    if passes is None:
        return "none", finding["reproducer"].removeprefix("none: ")
    outcome = "holds" if passes == [True, False] else "does not hold"
    texts = [str(evidence.get(side, ""))[:60] for side in ("old", "new")]
    why = f"{evidence.get('place', '')}: {texts[0]!r} -> {texts[1]!r}"
    if outcome != "holds":
        said = {True: "passes", False: "fails", None: "gives no result"}
        why += f" (old {said[passes[0]]}, new {said[passes[1]]})"
    return outcome, why


def audit(python: str, changes: Path, context: str, seed: int, folder: Path) -> Counter[str]:
    """Counts what the reproducers of the changes do; prints a line for each change called changing."""
    counts: Counter[str] = Counter()
    for one in audited(python, changes, context, seed, folder):
        if not one.outcome:
            continue
        evidence = one.finding["evidence"][0] if one.finding["evidence"] else {}
        edge = "edge case" if evidence.get("edge_case") else ""
        counts[one.outcome] += 1
        print(f"{context:<9} {one.name:<24} {one.label:<11} {one.outcome:<14} {edge:<10} {one.why}", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", type=Path)
    parser.add_argument("--context", action="append", choices=["module", "function"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--same-packages", action="store_true")
    parser.add_argument("--out", type=Path, help="folder that keeps the reproducers")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the lines as errors")
    arguments = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        python = sys.executable if arguments.same_packages else clean_python(Path(name) / "environment")
        results = {}
        with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
            for context in arguments.context or ["module", "function"]:
                results[context] = audit(python, arguments.changes, context, arguments.seed, folder)
            for context, counts in results.items():
                total = sum(counts.values())
                share = counts["holds"] / total if total else 1.0
                print(f"{context}: {dict(counts)}, {share:.1%} of {total} changing verdicts hold")
                met = met and (context != "module" or share >= PROMISED)
        if arguments.json:
            print(json.dumps(results))
    return 0 if met or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
