"""Attacks proofs of equivalence: each proved pair runs on many hostile arguments, and any difference refutes the proof.

    cargo build -p twincell-prove --example prove
    python -m tests.measure.prove_attack [--executions N] [--prover PROGRAM] [--show] FILE...

A file is a list of changes as `twincell study` reads it (`.jsonl`: old, new, function, label), or a table of pairs of
the prover's tests (`.txt`). A folder is a package: its functions are rewritten by all rules of `metamorphic`, as often
as `--rewritings` says. Values of types that a proof does not name are objects that log whatever is done with them,
answer by chance, and fail now and then. Both versions get equal chances, so what they return, raise and log must be
equal.
"""

import argparse
import ast
import builtins
import copy
import json
import random
import resource
import signal
import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROVER = ROOT / "target" / "debug" / "examples" / "prove"
#: How many operations of hostile objects one execution may have, and how long it may take without any.
MOST_OPERATIONS, SECONDS = 120, 0.03
#: How often an execution may be cut before a pair is left.
MOST_CUT = 6
FAILURES = (ValueError, KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError, RuntimeError, OSError)
#: Builtins that reach out, or into frames.
REPLACED = (
    "open",
    "input",
    "exec",
    "eval",
    "compile",
    "breakpoint",
    "exit",
    "quit",
    "help",
    "id",
    "print",
    "memoryview",
)


class Cut(BaseException):
    """An execution that takes too long. The code may catch it, so it is noted, too."""

    happened = False

    def __init__(self) -> None:
        Cut.happened = True


class World:
    """The chances of one execution, and the trace of what was done with hostile objects."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.trace: list[Any] = []
        self.count = 0
        #: How often something fails.
        self.failing = self.draw.choice((0.0, 0.05, 0.2))

    def thing(self) -> "Thing":
        self.count += 1
        return Thing(self, self.count)

    def log(self, *what: Any) -> None:
        if len(self.trace) > MOST_OPERATIONS:
            raise Cut
        self.trace.append(tuple(described(one) for one in what))
        if self.draw.random() < self.failing:
            raise self.draw.choice(FAILURES)(f"failure {len(self.trace)}")

    def value(self, depth: int = 0) -> Any:
        chance = self.draw.random()
        if chance < 0.45:
            return self.thing()
        return scalar(self.draw) if chance < 0.8 or depth > 1 else self.container(depth)

    def container(self, depth: int) -> Any:
        items = [self.value(depth + 1) for _ in range(self.draw.randrange(4))]
        kind = self.draw.randrange(3)
        if kind == 0:
            return items
        return tuple(items) if kind == 1 else {self.draw.choice("abc"): item for item in items}


class Thing:
    """An object whose every operation is logged and answered by chance."""

    def __init__(self, world: World, number: int) -> None:
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_number", number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        world = object.__getattribute__(self, "_world")
        world.log("get", self, name)
        return world.value()

    def __setattr__(self, name: str, value: Any) -> None:
        self._world.log("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._world.log("delete", self, name)


def _operation(name: str, answer: str) -> Any:
    def method(self: Thing, *arguments: Any, **keywords: Any) -> Any:
        world = object.__getattribute__(self, "_world")
        world.log(name, self, arguments, keywords)
        match answer:
            case "bool":
                return world.draw.random() < 0.5
            case "length":
                return world.draw.randrange(4)
            case "text":
                return f"text {world.draw.randrange(3)}"
            case "number":
                return world.draw.randrange(5)
            case "next":
                if world.draw.random() < 0.35:
                    raise StopIteration
            case "self":
                return self
            case "exit":
                return world.draw.random() < 0.2
            case "refused" if world.draw.random() < 0.3:
                return NotImplemented
        return world.value()

    return method


for _names, _answer in (
    ("add sub mul truediv floordiv mod pow matmul lshift rshift and or xor", "refused"),
    ("radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rlshift rrshift rand ror rxor", "refused"),
    ("iadd isub imul itruediv ifloordiv imod ipow iand ior ixor eq ne lt le gt ge", "refused"),
    ("neg pos invert abs call getitem setitem delitem enter", "value"),
    ("bool contains", "bool"),
    ("len", "length"),
    ("str repr format", "text"),
    ("hash int index", "number"),
    ("iter", "self"),
    ("next", "next"),
    ("exit", "exit"),
):
    for _name in _names.split():
        setattr(Thing, f"__{_name}__", _operation(_name, _answer))
Thing.__await__ = lambda self: iter([self._world.log("await", self)])


def described(value: Any, depth: int = 0) -> Any:
    """A value as something that compares without running its code. Objects are told apart by their numbers."""
    if type(value) is Thing:
        return ("thing", object.__getattribute__(value, "_number"))
    if depth > 6:
        return "deep"
    match value:
        case bool() | int() | str() | bytes() | None:
            return (type(value).__name__, value)
        case float() | complex():
            return (type(value).__name__, repr(value))
        case list() | tuple():
            return (type(value).__name__, tuple(described(item, depth + 1) for item in value))
        case dict():
            return ("dict", tuple((described(k, depth + 1), described(v, depth + 1)) for k, v in value.items()))
        case set() | frozenset():
            return ("set", tuple(sorted(repr(described(item, depth + 1)) for item in value)))
        case UnboundLocalError():
            # Its message has the name of a local, which says nothing.
            return "UnboundLocalError"
        case BaseException():
            return (type(value).__name__, described(value.args, depth + 1))
        case slice():
            return ("slice", described((value.start, value.stop, value.step), depth + 1))
        case _ if isinstance(value, type):
            return ("class", value.__name__)
        case range():
            return ("range", repr(value))
    return ("other", type(value).__name__)


def scalar(draw: random.Random) -> Any:
    return draw.choice(
        (
            None,
            True,
            False,
            0,
            1,
            -1,
            2,
            3,
            7,
            10**20,
            0.0,
            -0.0,
            1.5,
            float("nan"),
            float("inf"),
            "",
            "a",
            "ab",
            "1",
            " x ",
            b"a",
        )
    )


def of_class(name: str, draw: random.Random) -> Any:
    """A value of exactly this type."""
    head, _, inner = name.partition("[")
    inner = inner.removesuffix("]")
    match head:
        case "int":
            return draw.choice(
                (0, 1, -1, 2, 3, 4, 5, 7, 8, 10, -2, -3, 12, 100, 400, draw.randrange(-50, 50), 2**40 + 1)
            )
        case "bool":
            return draw.random() < 0.5
        case "float":
            return draw.choice((0.0, -0.0, 1.0, 0.1, 0.2, 0.3, 1e300, -1.5, float("nan"), float("inf"), draw.random()))
        case "str":
            letters = "aAb1 -_.éß:/xyz"
            return draw.choice(("", "a", "ab", "A", " ", "".join(draw.choices(letters, k=draw.randrange(6)))))
        case "None":
            return None
        case "list":
            return [of_class(inner or "object", draw) for _ in range(draw.choice((0, 1, 1, 2, 3, 4, 5)))]
        case "dict":
            key, _, value = inner.partition(", ")
            pairs = range(draw.choice((0, 1, 2, 3)))
            return {of_class(key or "str", draw): of_class(value or "object", draw) for _ in pairs}
    return scalar(draw)


class Runner:
    """Runs one function in a module of hostile objects and of the functions that a proof looked into."""

    def __init__(self, text: str, looked_into: list[str]) -> None:
        tree = ast.parse("\n".join(map(textwrap.dedent, [text, *looked_into])))
        function, *called = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        function.decorator_list = []
        for node in ast.walk(tree):
            # Annotations are evaluated when the function is made, and nothing else.
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                node.returns = None
            if isinstance(node, ast.arg):
                node.annotation = None
        self.name = function.name
        self.parameters = function.args
        self.called = {one.name for one in called}
        module = ast.Module([function, *called], [])
        self.code = compile(ast.fix_missing_locations(module), "<attacked>", "exec")
        self.names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - self.called
        caught = {
            node.id
            for handler in ast.walk(tree)
            if isinstance(handler, ast.ExceptHandler) and handler.type
            for node in ast.walk(handler.type)
            if isinstance(node, ast.Name)
        }
        self.exceptions = {
            one for one in self.names if one in caught or one.endswith(("Error", "Exception", "Warning"))
        }

    def run(self, seed: int, types: dict[str, str], names: list[str]) -> Any:
        """What it did; nothing if it was cut. Both versions get the same names."""
        world = World(seed)
        Cut.happened = False
        space: dict[str, Any] = {}
        replaced = dict(vars(builtins))
        for name in REPLACED:
            replaced[name] = world.thing()
        replaced["__import__"] = lambda *arguments: (world.log("import", arguments[0], arguments[3:]), world.thing())[1]
        space["__builtins__"] = replaced
        space["__name__"] = "attacked"
        for name in names:
            space[name] = type(name, (Exception,), {}) if name in self.exceptions else world.thing()
        # Defaults are evaluated before any version runs.
        failing, world.failing = world.failing, 0.0
        exec(self.code, space)
        world.failing = failing
        function = space[self.name]
        positional, keywords = self._arguments(world, types)
        try:
            result = ("returned", self._finished(world, function(*positional, **keywords)))
        except Cut:
            return None
        except RecursionError:
            return None
        except BaseException as error:
            result = ("raised", described(error))
        if Cut.happened:
            return None
        outside = {name: described(space.get(name)) for name in names if name != self.name}
        return result, world.trace, described(positional), described(keywords), outside

    def _arguments(self, world: World, types: dict[str, str]) -> tuple[list[Any], dict[str, Any]]:
        def value(parameter: ast.arg) -> Any:
            if parameter.arg in types:
                return of_class(types[parameter.arg], world.draw)
            return world.value() if world.draw.random() < 0.85 else scalar(world.draw)

        own = self.parameters
        positional = [value(parameter) for parameter in own.posonlyargs + own.args]
        optional = len(own.defaults)
        if optional and world.draw.random() < 0.2:
            positional = positional[: len(positional) - world.draw.randrange(optional + 1)]
        elif own.vararg and world.draw.random() < 0.6:
            positional += [world.value() for _ in range(world.draw.randrange(3))]
        # The same list may come twice.
        alike = [one for one in positional if type(one) is list]
        if (
            len(alike) > 1
            and len({types.get(parameter.arg) for parameter in own.args}) == 1
            and world.draw.random() < 0.2
        ):
            positional = [alike[0] if type(one) is list else one for one in positional]
        keywords = {parameter.arg: value(parameter) for parameter in own.kwonlyargs}
        if own.kwarg and world.draw.random() < 0.6:
            keywords["other"] = world.value()
        return positional, keywords

    def _finished(self, world: World, result: Any) -> Any:
        """What a generator gives; anything else as it is, with calls of functions that were returned."""
        if hasattr(type(result), "send"):
            given = []
            try:
                sent = None
                for _ in range(12):
                    chance = world.draw.random()
                    if given and chance < 0.05:
                        given.append(described(result.throw(ValueError("thrown"))))
                    else:
                        given.append(described(result.send(sent)))
                    sent = world.value()
                result.close()
            except StopIteration as stop:
                given.append(("end", described(stop.value)))
            except Cut:
                raise
            except Exception as error:
                given.append(("raised", described(error)))
            return given
        shape: dict[int, int] = {}
        return described(result), _sharing(result, shape)


def _sharing(value: Any, seen: dict[int, int]) -> Any:
    """Which containers within a value are the same."""
    if not isinstance(value, (list, dict, set, tuple)):
        return 0
    if isinstance(value, (list, dict, set)):
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen) + 1
    items = value.values() if isinstance(value, dict) else value
    return seen.get(id(value), 0), tuple(_sharing(item, seen) for item in items)


def attack(pair: dict[str, Any], answer: dict[str, Any], executions: int) -> tuple[int, int, int | None]:
    """How many executions were compared and how many were cut, and the seed that refutes the proof, if one does."""
    types = {argument["parameter"]: argument["class"] for argument in answer["arguments"]}
    old, new = (
        Runner(
            _function(pair[side], pair["function"]),
            [text for name in answer.get("looked_into", []) if (text := _defined(pair[side], name))],
        )
        for side in ("old", "new")
    )
    names = sorted((old.names | new.names) - set(vars(builtins)) - old.called - new.called)
    old.exceptions = new.exceptions = old.exceptions | new.exceptions
    compared = cut = 0
    for seed in range(executions):
        results = _both(old, new, seed, types, names)
        if None in results:
            cut += 1
            if cut > MOST_CUT and cut * 4 > compared:
                break
            continue
        compared += 1
        if results[0] != results[1]:
            return compared, cut, seed
    return compared, cut, None


def _both(old: Runner, new: Runner, seed: int, types: dict[str, str], names: list[str]) -> list[Any]:
    try:
        # It goes off again and again, since the code may have a loop without an end in a `finally`.
        signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
        try:
            return [runner.run(seed, types, names) for runner in (old, new)]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (Cut, MemoryError, RecursionError):
        signal.setitimer(signal.ITIMER_REAL, 0)
        return [None, None]


def _function(text: str, name: str) -> str:
    """The text of a function by its qualified name."""
    body: list[ast.stmt] = ast.parse(textwrap.dedent(text)).body
    *outer, last = name.split(".")
    for part in outer:
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == part), body)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in body if isinstance(node, kinds) and node.name == last]
    found = found or [node for node in body if isinstance(node, kinds)]
    return ast.unparse(found[-1])


def _defined(module: str, name: str) -> str | None:
    """The text of a function of a module itself; nothing if the module has none of this name."""
    body = ast.parse(textwrap.dedent(module)).body
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return ast.unparse(found[-1]) if found else None


def answers(pairs: list[dict[str, Any]], prover: Path) -> list[dict[str, Any]]:
    lines = [json.dumps({key: pair[key] for key in ("old", "new", "function")}) + "\n" for pair in pairs]
    done = subprocess.run([prover], input="".join(lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def read(path: Path, rewritings: int, seed: int) -> list[dict[str, Any]]:
    if path.is_dir():
        return rewritten(path, rewritings, seed)
    if path.suffix == ".txt":
        return list(_cases(path.read_text()))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        {**row, "old": row.get("old_module") or row["old"], "new": row.get("new_module") or row["new"]} for row in rows
    ]


def _cases(text: str) -> Iterator[dict[str, Any]]:
    for case in text.split("=== ")[1:]:
        title = case.partition("\n")[0]
        texts = [part.partition("\n")[2].strip() + "\n" for part in case.split("\n--- ")[1:]]
        old, new, near = texts
        yield {"id": title, "function": "f", "label": "preserving", "old": old, "new": new}
        yield {"id": f"{title}: near", "function": "f", "label": "changing", "old": old, "new": near}


def rewritten(folder: Path, rewritings: int, seed: int) -> list[dict[str, Any]]:
    """Functions of a package, rewritten by the rules of `metamorphic`, drawn evenly over the rules."""
    from .metamorphic.changes import CHANGING, PRESERVING
    from .metamorphic.functions import _functions
    from .metamorphic.rewriting import Site

    draw = random.Random(seed)
    origins = [
        origin
        for file in sorted(folder.rglob("*.py"))
        if not {"tests", "test", "docs"} & set(file.relative_to(folder).parts)
        for origin in _functions(folder.name, file.relative_to(folder).as_posix(), file)
    ]
    draw.shuffle(origins)
    found = []
    for label, rules in (("preserving", PRESERVING), ("changing", CHANGING)):
        for rule in rules:
            count = 0
            for origin in draw.sample(origins, len(origins)):
                if count >= rewritings:
                    break
                old = ast.parse(origin.text).body[0]
                site = Site(copy.deepcopy(old), ast.parse(origin.source), origin.qualname.rpartition(".")[0] or None)
                try:
                    edits = list(rule(site))
                except Exception:
                    continue
                if not edits or site.methods:
                    continue
                draw.choice(edits)()
                ast.fix_missing_locations(site.function)
                new = ast.unparse(site.function) + "\n"
                if site.methods or ast.dump(ast.parse(new).body[0]) == ast.dump(old):
                    continue
                helpers = "".join("\n\n" + ast.unparse(ast.fix_missing_locations(one)) for one in site.helpers)
                count += 1
                found.append(
                    {
                        "id": f"{rule.__name__}:{folder.name}/{origin.file}:{origin.qualname}",
                        "function": origin.qualname,
                        "rule": rule.__name__,
                        "label": label,
                        "old": origin.source,
                        "new": origin.replaced(new) + helpers + "\n" * bool(helpers),
                    }
                )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, help="so many pairs of random functions, too")
    parser.add_argument("--executions", type=int, default=10_000)
    parser.add_argument("--prover", type=Path, default=PROVER)
    parser.add_argument("--rewritings", type=int, default=20, help="of each rule in each folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [read(path, arguments.rewritings, arguments.seed) for path in arguments.files]
    if arguments.random:
        from .random_pairs import pairs as random_pairs

        arguments.files.append(Path("random"))
        tables.append(random_pairs(arguments.random, arguments.seed))
    all_found = [answers(pairs, arguments.prover) for pairs in tables]
    # What is attacked may not take all memory.
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    signal.signal(signal.SIGALRM, _cut)
    refuted = 0
    for path, pairs, found in zip(arguments.files, tables, all_found, strict=True):
        table = Counter((pair["label"], answer["answer"]) for pair, answer in zip(pairs, found, strict=True))
        executions = cuts = 0
        for pair, answer in zip(pairs, found, strict=True):
            if answer["answer"] != "equivalent":
                continue
            compared, cut, seed = attack(pair, answer, arguments.executions)
            executions, cuts = executions + compared, cuts + cut
            if seed is not None:
                refuted += 1
                print(f"REFUTED {pair['id']} by seed {seed}: {json.dumps(answer)}")
                for side in ("old", "new"):
                    print(textwrap.indent(_function(pair[side], pair["function"]), "    "), "\n")
            elif pair["label"] == "changing" and arguments.show:
                print(f"labelled changing, proved and not refuted: {pair['id']}")
        for label in sorted({pair["label"] for pair in pairs}, reverse=True):
            proved, unknown = table[label, "equivalent"], table[label, "unknown"]
            print(f"{path.name}: {label}: {proved} of {proved + unknown} proved")
        print(f"{path.name}: {executions} executions compared, {cuts} cut, {refuted} proofs refuted so far")
    return 1 if refuted else 0


def _cut(*_: Any) -> None:
    raise Cut


if __name__ == "__main__":
    sys.exit(main())
