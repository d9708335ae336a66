"""Real bug fixes: which of them amplified tests detect, by assertions alone and by search, and how long it takes.

    python -m tests.measure.amplify ROWS.jsonl FIXES.jsonl PROJECT=CLONE [PROJECT=CLONE ...] [--only PROJECT-NAME,...]
        [--environment environment-of-mined] [--disable guidance] [--techniques aampl,sbampl] [--replay N]

`FIXES` is what `tests.measure.fixes` wrote, and `CLONE` a clone of the project, also without a work tree. For each
fix the tests of the commit before it are amplified; those of the fix are not read. A fix counts as detected if
twincell gives a test, which it does only for one that passed before the fix and failed after it, five times in a
row. A row for each fix goes to ROWS, and fixes that have one are not run again. With `--replay N`, plain pytest runs
the tests that SBAMPL gave N times on each side, in work trees of their own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .fixes import checked_out, outcomes, work_tree

#: By assertions alone, and by search.
TECHNIQUES = ("aampl", "sbampl")


def amplified(repository: Path, commits: list[str], tests: list[str], python: Path, options: list[str]) -> dict:
    command = [sys.executable, "-m", "twincell", "amplify", "..".join(commits), "--repository", str(repository)]
    command += ["--tests", " ".join(tests), "--python", str(python), "--json", *options]
    began = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True)
    row: dict = {"seconds": round(time.monotonic() - began, 1)}
    if ran.returncode > 2:
        return row | {"problem": ran.stderr.strip()[-300:]}
    found = json.loads(ran.stdout)
    row |= {key: found[key] for key in ("status", "ran", "variants", "cut", "detecting")}
    row |= {"selected": len(found["selected"]), "sentences": [test["sentence"] for test in found["tests"]]}
    row["tests"] = [{key: test[key] for key in ("origin", "file", "old")} for test in found["tests"]]
    row["techniques"] = [test["technique"] for test in found["tests"]]
    return row | {"steps": [test["steps"] for test in found["tests"]]}


def replayed(repository: Path, commits: list[str], patch: Path, tests: list[dict], python: Path, times: int) -> dict:
    """How often each test passed before the fix and failed after it, run by plain pytest in that many processes."""
    names = [test["old"]["id"] for test in tests]
    files = sorted({test["file"] for test in tests})
    good = dict.fromkeys(names, 0)
    for commit, wanted in zip(commits, ("PASSED", "FAILED"), strict=True):
        # The tests are those of the version before the fix.
        with checked_out(repository, commit, commits[0], files) as tree:
            subprocess.run(["git", "-C", str(tree), "apply", str(patch)], check=True)
            for _ in range(times):
                said = outcomes(tree, python, names)
                for name in names:
                    # A test with several cases fails if one does.
                    own = {word for word, case in said if case.split("[")[0] == name}
                    good[name] += own == {wanted} or (wanted == "FAILED" and wanted in own)
    return {"times": times, "good": list(good.values())}


def report(rows: list[dict]) -> None:
    """The table: fixes, those that show today, those that tests reach, detected by each technique, median time."""
    for project in [*dict.fromkeys(row["project"] for row in rows), None]:
        own = [row for row in rows if project in (None, row["project"])]
        summed(project or "all", own)
        shown = [row for row in own if row["shown"]]
        if project is None and len(shown) < len(own):
            summed("that show", shown)
    replays = [(row["replay"]["times"], count) for row in rows if "replay" in row for count in row["replay"]["good"]]
    if replays:
        right = sum(count == 2 * times for times, count in replays)
        print(f"{right} of {len(replays)} tests passed before and failed after the fix in each run of plain pytest")


def is_found(row: dict) -> bool:
    """Whether tests of the project were amplified into one that shows the fix. Injected values do not count."""
    return any(technique != "injected" for technique in row.get("techniques", []))


def summed(name: str, rows: list[dict]) -> None:
    techniques = [technique for technique in TECHNIQUES if all(technique in row for row in rows)]
    reached = [row for row in rows if any(row[technique].get("selected") for technique in techniques)]
    shown = [row for row in rows if row["shown"]]
    line = f"{name:<10} {len(rows):>3} fixes, {len(shown):>3} show, {len(reached):>3} reached"
    for technique in techniques:
        found = sum(is_found(row[technique]) for row in rows)
        median = statistics.median(row[technique]["seconds"] for row in rows)
        line += f"; {technique} {found}/{len(rows)} ({found / len(rows):.0%}), median {median:.1f} s"
    print(line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("fixes", type=Path)
    parser.add_argument("clones", nargs="+", metavar="PROJECT=CLONE")
    parser.add_argument("--only", help="fixes as PROJECT-NAME, separated by commas [default: all]")
    parser.add_argument("--disable", metavar="TECHNIQUES", help="what the search does without [default: nothing]")
    parser.add_argument("--techniques", default=",".join(TECHNIQUES), help="[default: aampl,sbampl]")
    parser.add_argument("--deadline", default="300", metavar="SECONDS", help="of a search [default: 300]")
    parser.add_argument("--environment", default="environment", help="the one in FOLDER [default: environment]")
    parser.add_argument("--replay", type=int, default=0, metavar="N", help="runs of plain pytest [default: 0]")
    parser.add_argument("--folder", type=Path, default=Path("target/fixes"), help="for the environment and clones")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    python = folder / arguments.environment / "bin" / "python"
    clones = dict(described.split("=", 1) for described in arguments.clones)
    text = arguments.file.read_text(encoding="utf-8") if arguments.file.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {(row["project"], row["name"]) for row in rows}
    wanted = set((arguments.only or "").split(",")) - {""}
    common = ["--disable", arguments.disable] if arguments.disable else []
    for line in arguments.fixes.read_text(encoding="utf-8").splitlines():
        fix = json.loads(line)
        project, name, commits = fix["project"], fix["name"], fix["commits"]
        is_wanted = not wanted or f"{project}-{name}" in wanted
        if project not in clones or (project, name) in done or not is_wanted:
            continue
        repository = work_tree(Path(clones[project]), folder / project)
        row = {"project": project, "name": name, "shown": bool(fix["shown"])}
        patch = folder / "tests.patch"
        options = {
            "aampl": ["--budget-rounds", "0"],
            "sbampl": ["--deadline", arguments.deadline, "--patch-old", str(patch)],
        }
        techniques = arguments.techniques.split(",")
        for technique in techniques:
            row[technique] = amplified(repository, commits, fix["modules"], python, common + options[technique])
        if arguments.replay and row.get("sbampl", {}).get("status") == "found":
            found = row["sbampl"]["tests"]
            row["replay"] = replayed(repository, commits, patch, found, python, arguments.replay)
        rows.append(row)
        with arguments.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        said = [f"{key} {row[key].get('status') or row[key]['problem']}" for key in techniques]
        print(project, name, *said, *row[techniques[-1]].get("sentences", [])[:1], sep="; ", flush=True)
    if rows:
        report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
