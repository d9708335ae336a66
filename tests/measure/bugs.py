"""Real bugs and their fixes: which of them twincell shows, how strongly, and with which reproducers.

    python -m tests.measure.bugs make FILE.jsonl BUGSINPY PROJECT=CLONE [PROJECT=CLONE ...]
    python -m tests.measure.bugs judge FILE.jsonl [--context module] [--context function] [--seed N] [--same-packages]

`BUGSINPY` is a clone of the data set BugsInPy (https://github.com/soarsmu/BugsInPy), and `CLONE` one of the project;
the figures in the documentation are of tqdm, luigi, thefuck, scrapy and httpie. A clone may lack a work tree. `make`
writes one change for each function, class and snippet in which a fix changed more than comments, docstrings,
annotations and imports, with both modules. It takes the Python files of the recorded patch that are no tests, from
the recorded commits; where a clone lacks one of the two commits, the patch leads to it from the other. `judge` runs
`twincell study` and the reproducers, as audit.py does. A bug counts as shown if one of its changes is called
changing. `--check` ends with status 1 below the promised shares.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .audit import Audited, audited, clean_python
from .parts import changed

#: Shares of bugs shown, of bugs with observable evidence, and of changing verdicts whose reproducer holds, in module
#: context.
PROMISED = (0.95, 0.75, 0.90)


def git(clone: Path, *arguments: str) -> bytes | None:
    """What git prints; `None` where it fails."""
    ran = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True)
    return ran.stdout if ran.returncode == 0 else None


def text_at(clone: Path, commit: str, path: str) -> str | None:
    """A file as a commit has it."""
    found = git(clone, "show", f"{commit}:{path}")
    return None if found is None else found.decode(errors="replace")


def patched(text: str, path: str, patch: bytes, *options: str) -> str | None:
    """A file after a patch."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, newline="")
        Path(folder, "the.patch").write_bytes(patch)
        if git(Path(folder), "apply", "--whitespace=nowarn", f"--include={path}", *options, "the.patch") is None:
            return None
        return file.read_bytes().decode(errors="replace")


def versions(clone: Path, path: str, commits: list[str], patch: bytes) -> tuple[str | None, str | None]:
    """The buggy and the fixed text of a file."""
    buggy, fixed = (text_at(clone, commit, path) for commit in commits)
    there = [git(clone, "cat-file", "-e", commit) is not None for commit in commits]
    if buggy is not None and not there[1]:
        fixed = patched(buggy, path, patch)
    if fixed is not None and not there[0]:
        buggy = patched(fixed, path, patch, "--reverse")
    return buggy, fixed


def facts(bugsinpy: Path, project: str, number: int) -> dict[str, str]:
    """What the data set says of a bug."""
    text = text_at(bugsinpy, "HEAD", f"projects/{project}/bugs/{number}/bug.info") or ""
    return dict(re.findall(r'^(\w+)\s*=\s*"([^"]*)"', text, re.M))


def bugs(bugsinpy: Path, project: str) -> Iterator[tuple[int, list[str], bytes]]:
    """Number, both commits and patch of each bug of a project."""
    listed = (git(bugsinpy, "ls-tree", "--name-only", "HEAD", f"projects/{project}/bugs/") or b"").decode().split()
    for number in sorted(int(folder.rpartition("/")[2]) for folder in listed):
        said = facts(bugsinpy, project, number)
        patch = git(bugsinpy, "show", f"HEAD:projects/{project}/bugs/{number}/bug_patch.txt") or b""
        yield number, [said["buggy_commit_id"], said["fixed_commit_id"]], patch


def changes(bugsinpy: Path, project: str, clone: Path) -> Iterator[dict]:
    """The changes of all fixes of a project. A file that cannot be parsed is one change as a whole."""
    for number, commits, patch in bugs(bugsinpy, project):
        paths = re.findall(r"^\+\+\+ b/(\S+\.py)\s*$", patch.decode(errors="replace"), re.M)
        for path in paths:
            old, new = versions(clone, path, commits, patch)
            if "test" in path or old is None or new is None or old == new:
                continue
            shared = {"project": project, "commit": commits[1], "file": path, "label": "changing"}
            shared |= {"bug": f"{project}-{number}", "old_module": old, "new_module": new}
            try:
                found = list(changed(old, new))
            except (SyntaxError, ValueError):
                yield shared | {"id": f"{project}-{number}:{path}", "old": old, "new": new}
                continue
            for name, before, after in found:
                key = f"{project}-{number}:{path}:{name}"
                yield shared | {"id": key, "function": name, "old": before, "new": after}


def make(arguments: argparse.Namespace) -> int:
    written = []
    for described in arguments.clones:
        project, _, clone = described.partition("=")
        found = list(changes(arguments.bugsinpy, project, Path(clone)))
        there = [number for number, _, _ in bugs(arguments.bugsinpy, project)]
        with_changes = {change["bug"] for change in found}
        without = [number for number in there if f"{project}-{number}" not in with_changes]
        left = f", without a change: {without}" if without else ""
        print(f"{project}: {len(there)} bugs, {len(found)} changes{left}")
        written += found
    arguments.file.write_text("".join(json.dumps(change) + "\n" for change in written), encoding="utf-8")
    return 0


def is_observable(one: Audited) -> bool:
    is_strong = any(evidence["strength"] == "observable" for evidence in one.finding["evidence"])
    return one.finding["verdict"] == "changing" and is_strong


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def figures(found: Iterable[list[Audited]]) -> tuple[str, tuple[float, float, float]]:
    """The shares of some bugs, as a text and as numbers in the order of `PROMISED`."""
    found = list(found)
    shown = sum(any(one.finding["verdict"] == "changing" for one in bug) for bug in found)
    strong = sum(any(map(is_observable, bug)) for bug in found)
    outcomes = Counter(one.outcome for bug in found for one in bug if one.outcome)
    verdicts, offered = outcomes.total(), outcomes.total() - outcomes["none"]
    shares = share(shown, len(found)), share(strong, len(found)), share(outcomes["holds"], verdicts)
    return (
        f"shown {shown}/{len(found)} ({shares[0]:.1%}), "
        f"with observable evidence {strong}/{len(found)} ({shares[1]:.1%}), reproducers hold "
        f"{outcomes['holds']}/{verdicts} changing verdicts ({shares[2]:.1%}) "
        f"and {outcomes['holds']}/{offered} that are offered"
    ), shares


def judge(arguments: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in arguments.file.read_text(encoding="utf-8").splitlines()]
    bug_of = {row["id"]: (row["project"], row["bug"]) for row in rows}
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        python = sys.executable if arguments.same_packages else clean_python(Path(name) / "environment")
        for context in arguments.context or ["module", "function"]:
            by_bug: defaultdict[tuple[str, str], list[Audited]] = defaultdict(list)
            for one in audited(python, arguments.file, context, arguments.seed, folder):
                by_bug[bug_of[one.name]].append(one)
            met = report(context, by_bug) and met
    return 0 if met or not arguments.check else 1


def report(context: str, by_bug: dict[tuple[str, str], list[Audited]]) -> bool:
    """Prints the shares, what is missed and which reproducers do not hold; whether the promises are kept."""
    print(f"\ncontext {context}: {len(by_bug)} bugs, {sum(map(len, by_bug.values()))} changes")
    for project in dict.fromkeys(project for project, _ in by_bug):
        print(f"  {project:<9} {figures(found for (of, _), found in by_bug.items() if of == project)[0]}")
    line, shares = figures(by_bug.values())
    print(f"  {'all':<9} {line}")
    print("  missed:")
    for (_, bug), found in by_bug.items():
        if all(one.finding["verdict"] != "changing" for one in found):
            for one in found:
                print(f"    {bug:<12} {one.name.partition(':')[2]}: {one.finding['verdict']}; {one.finding['reason']}")
    print("  shown by a call pattern only:")
    for (_, bug), found in by_bug.items():
        weak = [one for one in found if one.finding["verdict"] == "changing"]
        if weak and not any(map(is_observable, found)):
            print(f"    {bug:<12} {weak[0].name.partition(':')[2]}: {weak[0].finding['reason']}")
    print("  without a reproducer that holds:")
    for found in by_bug.values():
        for one in found:
            if one.outcome in ("none", "does not hold"):
                print(f"    {one.outcome:<14} {one.name}: {one.why}")
    return context != "module" or all(share >= promised for share, promised in zip(shares, PROMISED, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(required=True)
    making = jobs.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("bugsinpy", type=Path, metavar="BUGSINPY")
    making.add_argument("clones", nargs="+", metavar="PROJECT=CLONE")
    making.set_defaults(run=make)
    judging = jobs.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--context", choices=["function", "module"], action="append")
    judging.add_argument("--seed", type=int, default=0)
    judging.add_argument("--same-packages", action="store_true", help="run reproducers in this environment")
    judging.add_argument("--out", type=Path, help="folder that keeps findings and reproducers")
    judging.add_argument("--check", action="store_true")
    judging.set_defaults(run=judge)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
