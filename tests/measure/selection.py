"""Whether a selection of tests is safe, and how much it spares, over commits of a repository.

`python -m tests.measure.selection REPO --python PYTHON [--commits N] [--seed S] [--keep FOLDER] [--testmon]`

REPO is a git repository, and PYTHON an interpreter that has what its tests need. Of commits with one parent that change
a Python file, some are drawn. Both versions are checked out and their tests run, with the functions that each test
enters. A test has to be selected if its outcome differs, if it enters a function whose meaning differs, or if it enters
other functions. One of which twincell says that all changed functions that it uses are proved to do the same has to
have the same outcome. A difference that the selection does not explain is looked at again: what changes from run to run
is no difference. Beside it stand the graph of imports, where a test file is selected if it reaches a changed file, and
pytest-testmon if it is installed there and asked for.

With `--mutations N`, one function after the other gets a statement that does nothing, and every test that enters the
function has to be selected.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

PLUGIN = """
import json, os, sys, threading
import pytest
ROOT, OUT = os.environ["SELECTION_ROOT"], os.environ["SELECTION_OUT"]
entered, tests, paths = set(), {}, {}

def path_of(name):
    known = paths.get(name)
    if known is None:
        full = os.path.realpath(name)
        inside = full.startswith(ROOT + os.sep) and not name.startswith("<")
        known = paths[name] = os.path.relpath(full, ROOT) if inside else ""
    return known

def enter(frame, event, value):
    entered.add(frame.f_code)

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    entered.clear()
    threading.settrace(enter)
    sys.settrace(enter)
    yield
    sys.settrace(None)
    one = tests.setdefault(item.nodeid, {"outcome": "", "entered": []})
    inside = {(path_of(code.co_filename), code.co_qualname) for code in list(entered)}
    one["entered"] = sorted([path, name] for path, name in inside if path)

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    one = tests.setdefault(item.nodeid, {"outcome": "", "entered": []})
    one["outcome"] += report.when[0] + report.outcome[0] + ("x" if hasattr(report, "wasxfail") else "")

def pytest_unconfigure(config):
    with open(OUT, "w") as file:
        json.dump(tests, file)
"""


def git(repo, *arguments):
    done = subprocess.run(["git", "-C", str(repo), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def commits(repo, count, seed, newest):
    """Commits with one parent that change Python, drawn from the newest ones."""
    lines = git(repo, "log", "--no-merges", f"-{newest}", "--format=%H %P", "--", "*.py").splitlines()
    pairs = [tuple(line.split()) for line in lines if len(line.split()) == 2]
    random.Random(seed).shuffle(pairs)
    return [(old, new) for new, old in pairs[:count]]


def checkout(clone, folder, commit):
    if not folder.exists():
        git(clone, "worktree", "add", "--detach", "--force", str(folder), commit)
    git(folder, "checkout", "--force", "--detach", commit)
    git(folder, "clean", "-fdxq")


def run_tests(folder, python, options=(), paths=(), timeout=900):
    """The tests of a checkout: outcome and entered functions by test, or nothing if pytest gives no result."""
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        (here / "selection_plugin.py").write_text(PLUGIN, encoding="utf-8")
        out = here / "out.json"
        search = [str(here), str(folder / "src"), str(folder)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(search),
            "SELECTION_ROOT": os.path.realpath(folder),
            "SELECTION_OUT": str(out),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        flags = ["-q", "-p", "selection_plugin", "-p", "no:cacheprovider", *options]
        command = [str(python), "-m", "pytest", *flags, "--continue-on-collection-errors", *paths]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return None
        if not out.exists():
            sys.stderr.write(done.stdout.decode(errors="replace")[-500:] + done.stderr.decode(errors="replace")[-500:])
            return None
        raw = json.loads(out.read_text(encoding="utf-8"))
    if not raw:
        return None
    found = {}
    for node, result in raw.items():
        path, *rest = node.split("[")[0].split("::")
        name = f"{path}::{'.'.join(rest)}"
        one = found.setdefault(name, {"outcomes": [], "entered": set()})
        one["outcomes"].append(result["outcome"])
        one["entered"].update((path, unit(qualname)) for path, qualname in result["entered"] if path.endswith(".py"))
    return {
        name: {"outcomes": sorted(one["outcomes"]), "entered": sorted(one["entered"])} for name, one in found.items()
    }


def unit(qualname):
    """The function of a module or of a class that holds a piece of code."""
    outer = qualname.split(".<locals>")[0]
    return "<module>" if outer.startswith("<") else outer


class Plain(ast.NodeTransformer):
    """Takes docstrings and annotations of functions away."""

    def visit_function(self, node):
        self.generic_visit(node)
        node.returns = None
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for one in every:
            if one is not None:
                one.annotation = None
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body = node.body[1:]
        node.type_comment = None
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function


def meanings(folder):
    """Each function of a checkout by path and name, with a hash of what it means."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        relative = str(path.relative_to(folder))
        try:
            tree = Plain().visit(ast.parse(path.read_bytes()))
        except (SyntaxError, ValueError, RecursionError):
            continue

        def visit(body, prefix, relative=relative):
            for node in body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    name = prefix + node.name
                    text = ast.dump(node)
                    old = found.get((relative, name), "")
                    found[relative, name] = hashlib.sha256((old + text).encode()).hexdigest()
                elif isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
                else:
                    for inner in ("body", "orelse", "finalbody"):
                        visit(getattr(node, inner, []) or [], prefix)
                    for handler in getattr(node, "handlers", []):
                        visit(handler.body, prefix)

        visit(tree.body, "")
    return found


def imports(folder, patterns):
    """The graph of imports of a checkout: files by path, with those that each imports."""
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.py")}
    graph = {}

    def find(dotted, near):
        inner = dotted.replace(".", "/")
        for start in (near, "src/", ""):
            for path in (f"{start}{inner}.py", f"{start}{inner}/__init__.py"):
                if path in files:
                    return path
        return None

    for path in files:
        here = path.rpartition("/")[0]
        near = f"{here}/" if here else ""
        wanted = set()
        try:
            tree = ast.parse((folder / path).read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    parts = alias.name.split(".")
                    wanted.update(find(".".join(parts[: end + 1]), near) for end in range(len(parts)))
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    around = here.split("/") if here else []
                    around = around[: len(around) - node.level + 1]
                    base = ".".join([*around, *([node.module] if node.module else [])])
                parts = base.split(".") if base else []
                wanted.update(find(".".join(parts[: end + 1]), near) for end in range(len(parts)))
                wanted.update(find(f"{base}.{alias.name}" if base else alias.name, near) for alias in node.names)
        while here:
            wanted |= {f"{here}/__init__.py", f"{here}/conftest.py"} & files
            here = here.rpartition("/")[0]
        wanted |= {"conftest.py"} & files
        graph[path] = wanted - {None, path}
    return graph


def reach(graph, path):
    seen, open_paths = {path}, [path]
    while open_paths:
        for other in graph.get(open_paths.pop(), ()):
            if other not in seen:
                seen.add(other)
                open_paths.append(other)
    return seen


def by_imports(old, new, changed, patterns):
    """The test files that reach a changed file in one of the versions."""
    found = set()
    for folder in (old, new):
        graph = imports(folder, patterns)
        for path in graph:
            if any(fnmatch(path.rpartition("/")[2], pattern) for pattern in patterns) and reach(graph, path) & changed:
                found.add(path)
    return found


def kept(folder, key, make):
    """A result that is kept between runs of this program."""
    if folder is None:
        return make()
    path = folder / f"{key}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    value = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return value


def differences(before, after, changed):
    """The tests of both versions that a change shows in, each with why."""
    found = {}
    for name, new in after.items():
        old = before.get(name)
        if old is None:
            found[name] = "added"
            continue
        entered = {tuple(one) for one in old["entered"]}, {tuple(one) for one in new["entered"]}
        if old["outcomes"] != new["outcomes"]:
            found[name] = "outcome"
        elif code := sorted((entered[0] | entered[1]) & changed):
            found[name] = "enters {}:{}".format(*code[0])
        elif other := sorted(entered[0] ^ entered[1]):
            found[name] = "enters otherwise {}:{}".format(*other[0])
    return found


def measure(repo, arguments, patterns):
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        clone = work / "clone"
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(repo), str(clone)], check=True)
        old, new = work / "old", work / "new"
        rows = []
        for before, after in commits(repo, arguments.commits, arguments.seed, arguments.newest):
            checkout(clone, old, before)
            checkout(clone, new, after)
            row = one_commit(old, new, before, after, arguments, patterns)
            rows.append({"commit": after[:10], **row})
            print(json.dumps(rows[-1]), flush=True)
        shutil.rmtree(clone, ignore_errors=True)
    return rows


def one_commit(old, new, before, after, arguments, patterns):
    keep = arguments.keep and Path(arguments.keep) / Path(arguments.repo).name
    chosen, listed, facts = selected(new, f"{before}..{after}", arguments)
    options = shlex.split(arguments.pytest)

    def run(folder, commit):
        folder = Path(folder)
        return kept(keep, commit, lambda: run_tests(folder, arguments.python, options))

    results = run(old, before), run(new, after)
    if None in results:
        return {"skipped": "tests do not run"}
    # As with pytest's plugin, what a selection does not know runs: the examples of a docstring.
    chosen = chosen | {name for name in results[1] if name not in listed}
    was, now = meanings(old), meanings(new)
    changed = {key for key in was.keys() | now.keys() if was.get(key) != now.get(key)}
    affected = differences(*results, changed)
    proved = {name for name, test in listed.items() if test["state"] == "cannot_see"} - chosen
    may_enter = {name for name in proved if affected.get(name, "").startswith("enters ")}
    missed = {name: why for name, why in affected.items() if name not in chosen | may_enter}

    def again():
        # What comes and goes by itself is no difference.
        paths = sorted({name.split("::")[0] for name in missed})
        rounds = []
        for _ in range(2):
            runs = [
                run_tests(folder, arguments.python, options, [path for path in paths if (folder / path).exists()])
                for folder in (old, new)
            ]
            rounds.append(differences(runs[0] or {}, runs[1] or {}, changed))
        return sorted(name for name in missed if not all(name in one for one in rounds))

    if missed:
        key = hashlib.sha256(json.dumps(sorted(missed)).encode()).hexdigest()[:8]
        unsteady = set(kept(keep, f"{after}-again-{key}", again))
        missed = {name: why for name, why in missed.items() if name not in unsteady}
    files = {line for line in git(new, "diff", "--name-only", before, after).splitlines() if line.endswith(".py")}
    near = by_imports(old, new, files, patterns)
    total = len(results[1])
    return {
        "tests": total,
        "affected": len(affected),
        "selected": sum(name in chosen for name in results[1]),
        "proved": sum(name in proved for name in results[1]),
        "by_imports": sum(name.split("::")[0] in near for name in results[1]),
        "missed_by_imports": sum(name.split("::")[0] not in near for name in affected),
        "unlisted": sum(name not in listed for name in results[1]),
        **facts,
        **(kept(keep, f"{after}-testmon", lambda: testmon(new, before, after, arguments)) if arguments.testmon else {}),
        "missed": dict(sorted(missed.items())[:20]),
        "missed_count": len(missed),
    }


def testmon(folder, before, after, arguments):
    """The share of cases that pytest-testmon leaves out of a commit, after a run of the version before."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)])}
    command = [arguments.python, "-m", "pytest", "-q", "--testmon", *shlex.split(arguments.pytest)]

    def run(commit):
        git(folder, "checkout", "--force", "--detach", commit)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800)
        counts = re.findall(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?|deselected)", done.stdout)
        return {name: int(count) for count, name in counts}

    run(before)
    counts = run(after)
    git(folder, "clean", "-fdxq")
    return {"testmon_skipped": counts.get("deselected", 0) / max(1, sum(counts.values()))}


def first_statement(source, qualname):
    """The line and column of the first statement of a function behind its docstring, if a line can go before it."""
    body = ast.parse(source).body
    node = None
    for name in qualname.split("."):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        node = next((one for one in body if isinstance(one, kinds) and one.name == name), None)
        if node is None:
            return None
        body = node.body
    first = next((one for one in body if not isinstance(getattr(one, "value", None), ast.Constant)), None)
    if isinstance(node, ast.ClassDef) or first is None or first.lineno == node.lineno:
        return None
    return first.lineno, first.col_offset


def mutations(new, results, arguments):
    """Changes one function after the other, and says which tests that enter it are not selected."""
    entering = {}
    for name, one in results.items():
        for path, qualname in one["entered"]:
            entering.setdefault((path, qualname), set()).add(name)
    drawn = sorted(entering)
    random.Random(arguments.seed).shuffle(drawn)
    rows = []
    for path, qualname in drawn:
        if len(rows) >= arguments.mutations:
            break
        file = new / path
        text = file.read_text(encoding="utf-8") if file.suffix == ".py" and file.exists() else ""
        place = first_statement(text, qualname) if text else None
        if place is None:
            continue
        lines = text.splitlines(keepends=True)
        if lines[place[0] - 1][: place[1]].strip() or lines[place[0] - 1].lstrip().startswith("@"):
            continue
        lines.insert(place[0] - 1, lines[place[0] - 1][: place[1]] + "assert True\n")
        file.write_text("".join(lines), encoding="utf-8")
        chosen, listed, _ = selected(new, "HEAD", arguments)
        file.write_text(text, encoding="utf-8")
        missed = sorted(entering[path, qualname] - chosen)
        rows.append(
            {
                "mutation": f"{path}:{qualname}",
                "tests": len(results),
                "enter": len(entering[path, qualname]),
                "selected": len(chosen & set(results)),
                "missed_count": len(missed),
                "missed": missed[:5],
                "unlisted": sum(name not in listed for name in missed),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def of_mutations(repo, arguments):
    """Mutations of the newest version that is drawn."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        clone = work / "clone"
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(repo), str(clone)], check=True)
        _, commit = commits(repo, 1, arguments.seed, arguments.newest)[0]
        checkout(clone, work / "new", commit)
        keep = arguments.keep and Path(arguments.keep) / repo.name
        options = shlex.split(arguments.pytest)
        results = kept(keep, commit, lambda: run_tests(work / "new", arguments.python, options))
        git(work / "new", "clean", "-fdxq")
        return mutations(work / "new", results, arguments)


def selected(folder, versions, arguments):
    """The names of the tests that are selected, those that are listed, and the seconds that it took."""
    flags = [flag for pattern in arguments.test_files or () for flag in ("--test-files", pattern)]
    command = [arguments.twincell, "impact", "--git", versions, "--tests", "--json", *flags]
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = round(time.monotonic() - start, 3)
    selection = json.loads(done.stdout)
    listed = {f"{test['test']['path']}::{test['test']['qualname']}": test for test in selection["tests"]}
    chosen = {name for name, test in listed.items() if test["runs"]}
    return chosen, listed, {"seconds": seconds, "run_all": selection["run_all"]}


def summary(rows):
    ran = [row for row in rows if "skipped" not in row]
    if not ran:
        return "no commit could run"
    share = lambda key: 1 - sum(row[key] for row in ran) / max(1, sum(row["tests"] for row in ran))  # noqa: E731
    mean = lambda key: sum(1 - row[key] / row["tests"] for row in ran) / len(ran)  # noqa: E731
    mean_of = lambda key: sum(row[key] for row in ran) / len(ran)  # noqa: E731
    return json.dumps(
        {
            "commits": len(ran),
            "not_run": len(rows) - len(ran),
            "safe": sum(not row["missed_count"] for row in ran),
            "skipped_share": round(share("selected"), 3),
            "skipped_mean": round(mean("selected"), 3),
            "imports_safe": sum(not row["missed_by_imports"] for row in ran),
            "imports_skipped_share": round(share("by_imports"), 3),
            "seconds_most": max(row["seconds"] for row in ran),
            "seconds_mean": round(sum(row["seconds"] for row in ran) / len(ran), 3),
            "affected_share": round(1 - share("affected"), 3),
            "proved": sum(row["proved"] for row in ran),
            **({"testmon_mean": round(mean_of("testmon_skipped"), 3)} if "testmon_skipped" in ran[0] else {}),
        }
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repo")
    parser.add_argument("--python", required=True, help="an interpreter of 3.11 or later that has what the tests need")
    parser.add_argument("--twincell", default="twincell", help="the command to measure")
    parser.add_argument("--testmon", action="store_true", help="run pytest-testmon as well")
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--newest", type=int, default=200, help="how many of the newest commits to draw from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test-files", action="append", help="a pattern of names of files that hold tests")
    parser.add_argument("--pytest", default="", help="options of pytest, as one text")
    parser.add_argument("--keep", help="a folder to keep results of tests in")
    parser.add_argument(
        "--mutations", type=int, help="change so many functions of one version, one after the other, instead"
    )
    arguments = parser.parse_args()
    if arguments.mutations:
        rows = of_mutations(Path(arguments.repo).resolve(), arguments)
        safe = sum(not row["missed_count"] for row in rows)
        share = 1 - sum(row["selected"] for row in rows) / max(1, sum(row["tests"] for row in rows))
        print(json.dumps({"mutations": len(rows), "safe": safe, "skipped_share": round(share, 3)}))
        return
    patterns = arguments.test_files or ["test_*.py", "*_test.py"]
    print(summary(measure(Path(arguments.repo).resolve(), arguments, patterns)))


if __name__ == "__main__":
    main()
