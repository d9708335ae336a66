"""Compares what `impact` says of statements with what they read when tests run (Definition 3.1 of SEM-DCIA's paper).

A tracer notes, for each line of both versions, the sequence of the values that it reads. A line whose sequence differs
must be changed or impacted. Pairs of versions are mutants of one line, or commits. Tests are part of the program: those
of docstrings become functions of a module, so that what one example gives to another is seen. Fixes are those of
QuixBugs, on its cases that end in both versions.

    python -m tests.measure.impact_soundness mutants FOLDER PACKAGE --count 40
    python -m tests.measure.impact_soundness mutants FOLDER PACKAGE --tests tests/test_utils.py
    python -m tests.measure.impact_soundness commits REPOSITORY PACKAGE --tests tests --count 20
    python -m tests.measure.impact_soundness fixes QUIXBUGS python_programs

All levels are followed: what the command `twincell impact` says in the end must be sound.
"""

import argparse
import ast
import difflib
import doctest
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

TRACER = Path(__file__).with_name("impact_tracer.py")
GENERATED = "docstring_examples.py"
OPERATORS = {"<": "<=", ">": ">=", "==": "!=", "<=": "<", ">=": ">", "+": "-", "-": "+", "*": "+"}


def mutations(text):
    """The places of a text where one token can be another one: line, first and last column, new token."""
    lines = text.split("\n")
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.end_lineno == node.lineno:
                found.append((node.lineno, node.col_offset, node.end_col_offset, str(node.value + 1)))
                continue
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                left, right = node.left, node.comparators[0]
            elif isinstance(node, ast.BinOp):
                left, right = node.left, node.right
            else:
                continue
            if left.end_lineno == right.lineno:
                start, end = left.end_col_offset, right.col_offset
                other = OPERATORS.get(lines[right.lineno - 1][start:end].strip())
                if other:
                    found.append((right.lineno, start, end, f" {other} "))
    return sorted(set(found))


def extracted(lines, line):
    """The lines of a text in which returned values of the function around a line get a name first."""
    functions = [one for one in ast.walk(ast.parse("\n".join(lines))) if isinstance(one, ast.FunctionDef)]
    around = [one for one in functions if one.lineno <= line <= one.end_lineno]
    returns = {
        node.lineno
        for function in around[-1:]
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None and node.lineno == node.end_lineno
    }
    changed = []
    for number, text in enumerate(lines, 1):
        indent = text[: len(text) - len(text.lstrip())]
        if number in returns and text.strip().startswith("return "):
            changed += [f"{indent}found_value = {text.strip()[7:]}", f"{indent}return found_value"]
        else:
            changed.append(text)
    return changed


def outlined(lines, line):
    """The lines of a text in which the body of the plain function around a line stands in a function of its own."""
    for function in ast.parse("\n".join(lines)).body:
        is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
        if not is_plain or not function.lineno <= line <= function.end_lineno:
            continue
        parts = list(ast.walk(function))
        body = function.body[1:] if ast.get_docstring(function) else function.body
        given = function.args
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in parts) or not body or given.vararg or given.kwarg:
            break
        names = [one.arg for one in given.posonlyargs + given.args + given.kwonlyargs]
        first, last = body[0].lineno - 1, function.end_lineno
        call = f"    return _{function.name}_moved({', '.join(names)})"
        moved = ["", "", f"def _{function.name}_moved({', '.join(names)}):", *lines[first:last]]
        return [*lines[:first], call, *moved, *lines[last:]]
    return lines


def examples(package):
    """The examples of docstrings as a module: a function for each docstring, in which no example stops the next one."""
    parser = doctest.DocTestParser()
    functions = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or not ast.get_docstring(node):
                continue
            body = []
            for example in parser.get_examples(ast.get_docstring(node)):
                source = example.source.rstrip()
                try:
                    compile(source, "", "eval")
                    source = f"print(repr({source}))"
                except SyntaxError:
                    pass
                attempt = f"try:\n{textwrap.indent(source, '    ')}\nexcept Exception:\n    pass"
                try:
                    compile(attempt, "", "exec")
                except SyntaxError:
                    continue
                body.append(attempt)
            if body:
                name = f"test_{len(functions)}_{node.name}"
                functions.append(f"def {name}():\n{textwrap.indent(chr(10).join(body), '    ')}")
    calls = "\n".join(f"    {function[4 : function.index('(')]}()" for function in functions)
    header = f"from {package.name} import *"
    return "\n\n\n".join([header, *functions, f"def test_all():\n{calls}"]) + "\n"


def trace(folder, python, tests, out):
    """Runs the tests of a version. Gives what each line read, or nothing if they did not end."""
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, str(TRACER), str(folder), str(out), *tests]
    try:
        subprocess.run(command, env=environment, capture_output=True, timeout=240, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(out.read_text()) if out.exists() else None


def same_lines(old, new):
    """The lines of a new text with the same lines of the old one, 1-based."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return {block.b + at + 1: block.a + at + 1 for block in matcher.get_matching_blocks() for at in range(block.size)}


def check(old, new, arguments, before, work):
    """The lines that read other values and are neither changed nor impacted, with the counts of the pair."""
    after = trace(new, arguments.python, arguments.tests or [GENERATED], work / "new.json")
    if not before or not after:
        return None
    run = subprocess.run(["twincell", "impact", str(old), str(new), "--json"], capture_output=True, text=True)
    if not run.stdout:
        raise SystemExit(run.stderr.strip())
    result = json.loads(run.stdout)
    states = {}
    for statement in result["statements"]:
        is_affected = statement["state"] != "not_impacted"
        for line in range(statement["lines"][0], statement["lines"][1] + 1):
            key = (statement["path"], line)
            states[key] = states.get(key, False) or is_affected
    differing, missed = 0, []
    for path in sorted({path for path, _ in states}):
        if not (old / path).exists():
            continue
        pairs = same_lines((old / path).read_text(), (new / path).read_text())
        for line, counterpart in pairs.items():
            ours, theirs = before.get(f"{path}:{counterpart}"), after.get(f"{path}:{line}")
            if ours == theirs or ours == "noise" or (path, line) not in states:
                continue
            differing += 1
            if not states[(path, line)]:
                missed.append((path, line, ours, theirs))
    return {"lines": len(states), "impacted": sum(states.values()), "differing": differing, "missed": missed}


def steady(folder, arguments, work):
    """What a version reads, without what differs from run to run."""
    tests = arguments.tests or [GENERATED]
    one = trace(folder, arguments.python, tests, work / "one.json")
    other = trace(folder, arguments.python, tests, work / "other.json")
    if one is None or other is None:
        return None
    return {line: one.get(line) if one.get(line) == other.get(line) else "noise" for line in one | other}


def mutants(arguments, work):
    """Pairs of the folder and a mutant of it."""
    old = work / "old"
    shutil.copytree(arguments.folder, old, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    package = old / arguments.package
    if not arguments.tests:
        (old / GENERATED).write_text(examples(package))
    before = steady(old, arguments, work)
    places = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(old)
        # Only lines that the tests run.
        places += [(relative, one) for one in mutations(path.read_text()) if f"{relative}:{one[0]}" in (before or {})]
    chosen = random.Random(arguments.seed).sample(places, min(arguments.count, len(places)))
    for number, (relative, (line, start, end, token)) in enumerate(chosen):
        new = work / "new"
        shutil.rmtree(new, ignore_errors=True)
        shutil.copytree(old, new)
        lines = (new / relative).read_text().split("\n")
        if arguments.extract != "functions" or number % 2:
            lines[line - 1] = lines[line - 1][:start] + token + lines[line - 1][end:]
        mutated = lines[line - 1].strip()
        if arguments.extract == "values":
            lines = extracted(lines, line)
        elif arguments.extract == "functions":
            lines = outlined(lines, line)
        (new / relative).write_text("\n".join(lines))
        yield f"{relative}:{line} {mutated}", old, new, before


def commits(arguments, work):
    """Pairs of adjacent commits that change the package."""
    git = ["git", "-C", arguments.folder]
    log = [*git, "log", "--no-merges", "--format=%h", "-n", str(arguments.skip + 40 * arguments.count)]
    names = subprocess.run([*log, "--", arguments.package], capture_output=True, text=True, check=True).stdout.split()
    names = names[arguments.skip :]
    for name in names[:: max(1, len(names) // arguments.count)][: arguments.count]:
        for side, revision in (("old", f"{name}~1"), ("new", name)):
            shutil.rmtree(work / side, ignore_errors=True)
            (work / side).mkdir()
            archive = subprocess.run([*git, "archive", revision], capture_output=True, check=True).stdout
            subprocess.run(["tar", "x", "-C", str(work / side)], input=archive, check=True)
        # The same tests run on both.
        for test in arguments.tests:
            top = test.split("/")[0]
            shutil.rmtree(work / "old" / top, ignore_errors=True)
            if (work / "new" / top).exists():
                shutil.copytree(work / "new" / top, work / "old" / top)
        yield name, work / "old", work / "new", steady(work / "old", arguments, work)


#: Runs the cases of a program, and prints the numbers of those that end within so many lines and calls.
ENDING = """
import json, sys
sys.path.insert(0, sys.argv[1])
from importlib import import_module
function = getattr(import_module("programs." + sys.argv[2]), sys.argv[2])
left = 0
def tracer(*_):
    global left
    left -= 1
    if left < 0:
        raise TimeoutError
    return tracer
for number, arguments in enumerate(json.load(sys.stdin)):
    left = 50_000
    sys.settrace(tracer)
    try:
        found = function(*arguments)
        if hasattr(found, "__next__"):
            list(found)
    except (TimeoutError, RecursionError):
        continue
    except Exception:
        pass
    finally:
        sys.settrace(None)
    print(number)
"""


def ending(folder, name, cases, python):
    """The numbers of the cases that end."""
    command = [python, "-c", ENDING, str(folder), name]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=120, check=False)
    return {int(number) for number in done.stdout.split()}


def fixes(arguments, work):
    """Pairs of a program of QuixBugs and its fix."""
    top = Path(arguments.folder)
    for cases in sorted((top / "json_testcases").glob("*.json")):
        name = cases.stem
        for side, folder in (("old", arguments.package), ("new", f"correct_{arguments.package}")):
            shutil.rmtree(work / side, ignore_errors=True)
            (work / side / "programs").mkdir(parents=True)
            shutil.copy(top / folder / f"{name}.py", work / side / "programs")
        given = [json.loads(line)[0] for line in cases.read_text().splitlines() if line.strip()]
        given = [one if isinstance(one, list) else [one] for one in given]
        both = ending(work / "old", name, given, arguments.python) & ending(work / "new", name, given, arguments.python)
        attempts = [
            f"    try:\n        found = {name}(*{given[one]!r})\n"
            "        print(list(found) if hasattr(found, '__next__') else found)\n"
            "    except Exception:\n        pass"
            for one in sorted(both)
        ]
        body = "\n".join(attempts) or "    pass"
        for side in ("old", "new"):
            (work / side / GENERATED).write_text(f"from programs.{name} import {name}\n\n\ndef test_all():\n{body}\n")
        yield name, work / "old", work / "new", steady(work / "old", arguments, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["mutants", "commits", "fixes"])
    parser.add_argument("folder")
    parser.add_argument("package")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument(
        "--extract",
        choices=["values", "functions"],
        help="also give names to what the changed function returns, or move its body into a function of its own; with "
        "functions, every second pair has no other change",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0)
    arguments = parser.parse_args()
    total = {"pairs": 0, "differing": 0, "missed": 0, "unfinished": 0}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        kind = {"mutants": mutants, "commits": commits, "fixes": fixes}[arguments.kind]
        for name, old, new, before in kind(arguments, work):
            found = check(old, new, arguments, before, work)
            if found is None:
                total["unfinished"] += 1
                print(f"{name}: the tests did not end", flush=True)
                continue
            total["pairs"] += 1
            total["differing"] += found["differing"]
            total["missed"] += len(found["missed"])
            print(
                f"{name}: {found['impacted']} of {found['lines']} lines impacted,"
                f" {found['differing']} read other values, {len(found['missed'])} missed",
                flush=True,
            )
            for path, line, ours, theirs in found["missed"][:5]:
                print(f"    {path}:{line} {ours} {theirs}", flush=True)
    print(json.dumps(total))


if __name__ == "__main__":
    main()
