"""Snippets that miss something: how many of their lines run behind the prefixes that twincell finds.

    python -m tests.measure.prefixes FOLDER [FOLDER ...] [--every N] [--ablation] [--replay] [--keep DIR] [-- OPTION...]
    python -m tests.measure.prefixes --package NAME [--package NAME ...] [--seed N] [--count N] [...]

Each `.py` file of a folder is a snippet. `--package` takes the bodies of functions of an installed package: `--count`
of them, chosen by `--seed`. The tables are those of `twincell prefix --study`, which makes them; options behind `--`
are its.

`--every N` takes every Nth file. `--ablation` makes the study once more for each part of a search that can be left
out: the predictor, error guidance, coverage guidance, the solver. `--keep` is where snippets and rows stay, so that the
same command resumes. `--replay` runs each chosen prefix with its snippet in a plain Python without twincell, outside of
the sandbox, and counts those that do not execute what the result says: only for snippets that you trust.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import twincell

#: What a study is called, and the options that make it.
WHOLE = {"whole": []}
ABLATION = {
    "predictor: frequencies": ["--predictor", "frequency"],
    "predictor: chance": ["--predictor", "uniform"],
    "without error guidance": ["--disable", "errors"],
    "without coverage guidance": ["--disable", "coverage"],
    "without the solver": ["--disable", "solver"],
}

#: Runs a program as `python program.py` does, and writes the lines that it executed to a file: also those of its
#: threads, also when it never ends, and also when it closes its output.
TRACER = """
def _traced(program, report, seconds):
    import os, sys, threading
    # Programs may give builtins other meanings.
    from builtins import BaseException, compile, exec, list, open, set, str
    ran = set()
    def trace(frame, event, _):
        if frame.f_code.co_filename == program:
            ran.add(frame.f_lineno)
            return trace
    def tell():
        with open(report, 'w') as file:
            file.write(str(list(ran.copy())))
        os._exit(0)
    with open(program) as file:
        code = compile(file.read(), program, 'exec')
    report = os.path.abspath(report)
    watch = threading.Timer(seconds, tell)
    watch.daemon = True
    watch.start()
    sys.argv = [program]
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        exec(code, sys.modules['__main__'].__dict__)
    except BaseException:
        pass
    sys.settrace(None)
    tell()
import sys
_traced(sys.argv[1], sys.argv[2], float(sys.argv[3]))
"""

#: For how long a program may run, in seconds: what never ends is judged by what it has executed by then.
LONGEST = 40


class Exits(ast.NodeTransformer):
    """Leaves with `exit(...)` where the function itself returns, since nothing can return from a file."""

    def visit_Return(self, node: ast.Return) -> ast.Expr:
        values = [] if node.value is None else [node.value]
        return ast.Expr(ast.Call(ast.Name("exit", ast.Load()), values, []))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def is_python(text: str) -> bool:
    """Whether a text can run as a file: generators and coroutines cannot without their functions."""
    try:
        compile(text, "snippet", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def bodies(package: str) -> Iterator[tuple[str, str]]:
    """The functions of an installed package: a name for each, and its body as a snippet."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"there is no package {package} here: install it, or give another one")
    root = Path(next(iter(found.submodule_search_locations)))
    for file in sorted(root.rglob("*.py")):
        place = file.relative_to(root)
        if any(part.startswith("test") for part in place.parts):
            continue
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                exits = Exits()
                body = [exits.visit(statement) for statement in node.body]
                text = ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n"
                if is_python(text):
                    yield f"{'.'.join(place.with_suffix('').parts)}.{node.name}.{node.lineno}", text


def sample(package: str, seed: int, count: int, folder: Path) -> Path:
    """A folder with bodies of functions of a package, chosen by a seed."""
    every = sorted(bodies(package))
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    return write(folder / f"{package}-{seed}", sorted(chosen))


def every_nth(folder: Path, step: int, into: Path) -> Path:
    """A folder with every Nth snippet of another one."""
    files = sorted(folder.glob("*.py"))[::step]
    return write(into / folder.name, [(file.stem, file.read_text(encoding="utf-8")) for file in files])


def write(folder: Path, snippets: list[tuple[str, str]]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in snippets:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def study(name: str, folders: list[Path], rows: Path, options: list[str]) -> str:
    """The tables of a study."""
    command = [sys.executable, "-m", "twincell", "prefix", "--study", str(rows), *options, *map(str, folders)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    return f"## {name}\n\n{done.stdout}"


def replayed(folders: list[Path], seed: int) -> str:
    """How many of the chosen prefixes do not run alone as they should."""
    count, differing = 0, []
    # Programs write into the folder that they were found in.
    os.chdir(tempfile.mkdtemp())
    for file in (file for folder in folders for file in sorted(folder.glob("*.py"))):
        text = file.read_text(encoding="utf-8")
        try:
            prefixes = twincell.prefix(text, seed=seed)
        except twincell.TwincellError:
            continue
        tree = prefixes.to_dict()
        count += len(tree["chosen"])
        differing += [
            f"{file}, prefix {number}" for number in tree["chosen"] if not runs_alone(prefixes, number, text, tree)
        ]
    return "\n".join([f"{len(differing)} of {count} chosen prefixes differ alone", *differing])


def runs_alone(prefixes: twincell.Prefixes, number: int, text: str, tree: dict[str, Any]) -> bool:
    """Whether a plain Python executes the lines that a prefix is said to cover."""
    if "from __future__" in text:
        return True
    program = prefixes.program(number)
    # Code that awaits stands in a function, which two lines behind it call.
    behind = 2 if "\nasync def main():\n" in program.removesuffix(text) else 0
    before = len(program.splitlines()) - len(text.splitlines()) - behind
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(program, encoding="utf-8")
        command = [sys.executable, "-c", TRACER, "program.py", "report.json", str(LONGEST)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet) as program:
            try:
                program.wait(3 * LONGEST)
            except subprocess.TimeoutExpired:
                return False
            finally:
                # With what it has started.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
        try:
            ran = {line - before for line in json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))}
        except (OSError, ValueError):
            return False
    places = extents(text)
    return all(ran & set(places.get(line, [line])) for line in tree["nodes"][number]["completed"])


def extents(text: str) -> dict[int, range]:
    """The lines of each statement without the statements in it, by its first: `if (` alone runs nothing."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            inner = getattr(node, "body", None)
            end = inner[0].lineno - 1 if isinstance(inner, list) and inner else node.end_lineno or node.lineno
            found[node.lineno] = range(node.lineno, max(end, node.lineno) + 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--package", action="append", default=[], dest="packages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--keep", type=Path)
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    arguments, further = parser.parse_args(words[:at]), words[at + 1 :]
    if not arguments.folders and not arguments.packages:
        parser.error("give folders of snippets, or --package NAME")
    with tempfile.TemporaryDirectory() as temporary:
        home = arguments.keep or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        given = [folder.absolute() for folder in arguments.folders]
        folders = [
            every_nth(folder, arguments.every, home / "every") if arguments.every > 1 else folder for folder in given
        ]
        folders += [
            sample(package, arguments.seed, arguments.count, home / "functions") for package in arguments.packages
        ]
        for name, options in (WHOLE | ABLATION if arguments.ablation else WHOLE).items():
            rows = home / f"{name.replace(': ', '-').replace(' ', '-')}.jsonl"
            print(study(name, folders, rows, [*options, "--seed", str(arguments.seed), *further]), flush=True)
        if arguments.replay:
            print(replayed(folders, arguments.seed))


if __name__ == "__main__":
    main()
