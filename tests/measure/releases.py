"""What functions of a package became between one release and a later one: real changes without labels.

    python tests/measure/releases.py make CHANGES.jsonl PACKAGE:OLD:NEW [PACKAGE:OLD:NEW ...] [--most 30] [--seed 0]
    python tests/measure/releases.py judge CHANGES.jsonl [--context module]

`make` fetches both releases with pip, pairs functions and methods by file and qualified name, and keeps those whose
syntax trees differ without docstrings, decorators and annotations, `--most` of them for each package. `judge` says how
many verdicts are inconclusive and why, how much is reached, and what is slow; who wants to know whether the verdicts
are right reads the changes.
"""

import argparse
import ast
import collections
import json
import random
import statistics
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zipfile
from pathlib import Path

MOST_CHARACTERS = 6000
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Bare(ast.NodeTransformer):
    """Leaves out what the selection does not look at."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def functions(text):
    """Qualified name -> (text, bare syntax tree as text); names that stand for several functions are left out."""
    lines = text.splitlines(keepends=True)
    found, twice = {}, set()

    def walk(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, FUNCTIONS):
                name = prefix + node.name
                if name in found:
                    twice.add(name)
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                own = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
                found[name] = own, ast.dump(Bare().visit(node))

    walk(ast.parse(text).body, "")
    return {name: function for name, function in found.items() if name not in twice}


def fetch(package, release, folder):
    """The release's Python files: path -> text."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--dest", folder, f"{package}=={release}"], check=True)
    (archive,) = Path(folder).iterdir()
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            return {name: files.read(name) for name in files.namelist() if name.endswith(".py")}
    with tarfile.open(archive) as files:
        members = [member for member in files.getmembers() if member.isfile() and member.name.endswith(".py")]
        return {member.name.partition("/")[2]: files.extractfile(member).read() for member in members}


def changes(package, old_release, new_release):
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        old_files, new_files = fetch(package, old_release, first), fetch(package, new_release, second)
    for path in sorted(old_files.keys() & new_files.keys()):
        if "test" in path.lower() or old_files[path] == new_files[path]:
            continue
        try:
            modules = [files[path].decode() for files in (old_files, new_files)]
            old, new = map(functions, modules)
        except (SyntaxError, UnicodeDecodeError):
            continue
        for name in sorted(old.keys() & new.keys()):
            texts = old[name][0], new[name][0]
            if old[name][1] != new[name][1] and max(map(len, texts)) <= MOST_CHARACTERS:
                yield {
                    "id": f"{package}:{path}:{name}",
                    "label": "unclear",
                    "function": name,
                    "old": texts[0],
                    "new": texts[1],
                    "old_module": modules[0],
                    "new_module": modules[1],
                }


def make(arguments):
    chosen = []
    for described in arguments.packages:
        found = list(changes(*described.split(":")))
        kept = random.Random(arguments.seed).sample(found, min(arguments.most, len(found)))
        print(f"{described}: {len(found)} changed functions, {len(kept)} kept")
        chosen += kept
    arguments.file.write_text(
        "".join(json.dumps(change) + "\n" for change in sorted(chosen, key=lambda row: row["id"]))
    )


def judge(arguments):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as results:
        command = ["twincell", "study", str(arguments.file), "--out", results.name, "--context", arguments.context]
        subprocess.run(command, check=True)
        rows = [json.loads(line) for line in Path(results.name).read_text().splitlines()]
    times = sorted(row["milliseconds"] for row in rows)
    reached = [row["changed_lines_reached"] for row in rows if row["changed_lines_reached"] is not None]
    print(f"\ncontext {arguments.context}, {len(rows)} changes")
    for verdict, count in collections.Counter(row["verdict"] for row in rows).most_common():
        print(f"  {verdict:20} {count:5}  {count / len(rows):.1%}")
    for reason, count in collections.Counter(
        row["reason"] for row in rows if row["verdict"] == "inconclusive"
    ).most_common():
        print(f"    {count:3}  {reason[:110]}")
    print(f"any changed line reached: {sum(share > 0 for share in reached) / max(len(reached), 1):.1%}")
    print(f"milliseconds: median {statistics.median(times):.0f}, 90 % {times[int(len(times) * 0.9)]:.0f}")
    for row in sorted(rows, key=lambda row: -row["milliseconds"])[:5]:
        print(f"  {row['milliseconds']:8.0f}  {row['id']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("file", type=Path)
    making.add_argument("packages", nargs="+", metavar="PACKAGE:OLD:NEW")
    making.add_argument("--most", type=int, default=30)
    making.add_argument("--seed", type=int, default=0)
    making.set_defaults(run=make)
    judging = commands.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--context", choices=("function", "module"), default="module")
    judging.set_defaults(run=judge)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
