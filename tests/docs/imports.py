"""Which file uses which, read from the texts of Rust, Python and TypeScript, without compiling anything.

Each reader takes a source folder and gives a graph: the path of each file below the folder -> the files that it uses,
with the name by which it uses them. Tests are left out. So is the use of what the root of a file's own folder defines
(`mod.rs`, `lib.rs`, `__init__.py`): types that a folder shares stand there, beside the code that calls its files.
"""

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# Comments and literals of Rust, of which no name counts. A quote that opens no character is a lifetime.
RUST_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n]+?)'""", re.DOTALL
)
RUST_TEST = re.compile(r"#\[cfg\((?:test|all\(test\b.*?\))\)\]\s*(?:#\[[^\]]*\]\s*)*")
RUST_USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
RUST_MODULE = re.compile(r"\bmod\s+(\w+)\s*;")
RUST_PATH = re.compile(r"(?<![\w:.$])(\w+)((?:\s*::\s*\w+)+)")
RUST_ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")


@dataclass
class RustFile:
    """One module of a crate: what it declares, and what it names."""

    module: tuple[str, ...]
    text: str
    # The name that an import binds -> its path; the paths of glob imports.
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    exports: set[str] = field(default_factory=set)
    globs: list[tuple[str, ...]] = field(default_factory=list)

    @cached_property
    def items(self):
        return set(RUST_ITEM.findall(self.text))


def end_of_item(text, start):
    """Where the item ends that begins at a place: behind its semicolon, or behind its braces."""
    depth = 0
    for found in re.compile(r"[;{}()\[\]]").finditer(text, start):
        sign = found.group()
        if sign == ";" and depth == 0:
            return found.end()
        depth += (sign in "{([") - (sign in "})]")
        if sign == "}" and depth == 0:
            return found.end()
    return len(text)


def without_tests(text):
    """The text without comments, literals, and items that only tests have."""
    text = RUST_NO_CODE.sub(" ", text)
    kept, at = [], 0
    for found in RUST_TEST.finditer(text):
        if found.start() >= at:
            kept.append(text[at : found.start()])
            at = end_of_item(text, found.end())
    return "".join(kept) + text[at:]


def leaves(tree):
    """The paths of a `use`, each with the name that it binds: `a::{b, c as d}` -> (a, b) as b, (a, c) as d."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, name = tree.partition(" as ")
        parts = tuple(part.strip() for part in path.split("::") if part.strip())
        if parts and parts[-1] == "self" and len(parts) > 1:
            parts = parts[:-1]
        yield parts, name.strip() or parts[-1]
        return
    head, inner = tree.split("{", 1)
    prefix = tuple(part.strip() for part in head.split("::") if part.strip())
    depth, start = 0, 0
    inner = inner.rstrip().removesuffix("}") + ","
    for at, sign in enumerate(inner):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            if part := inner[start:at].strip():
                for path, name in leaves(part):
                    if path == ("self",):
                        yield prefix, name if name != "self" else prefix[-1]
                    else:
                        yield prefix + path, name
            start = at + 1


def module_of(path):
    """The module of a file: `a/mod.rs` is `a`, `a/b.rs` is `a::b`, `lib.rs` is the root."""
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def rust(folder):
    """The graph of a crate's `src`."""
    files, names = {}, {}
    for path in sorted(folder.rglob("*.rs")):
        local = path.relative_to(folder)
        module = module_of(local)
        files[module] = RustFile(module, without_tests(path.read_text(encoding="utf-8")))
        names[module] = local.as_posix()
    for file in files.values():
        for visibility, tree in RUST_USE.findall(file.text):
            for path, name in leaves(re.sub(r"\s+", " ", tree)):
                if name == "*":
                    file.globs.append(path[:-1])
                else:
                    file.imports[name] = path
                    if visibility:
                        file.exports.add(name)
        file.text = RUST_USE.sub(" ", file.text)
    reached = reached_modules(files)
    graph = {}
    for module in reached:
        used = {}
        for target, name in uses(files, files[module]):
            if target != module[: len(target)]:
                used.setdefault(names[target], name)
        graph[names[module]] = used
    return graph


def reached_modules(files):
    """The modules that `mod` declares outside of tests, from the root on."""
    reached, open_ = [], [()]
    while open_:
        module = open_.pop()
        reached.append(module)
        children = [(*module, name) for name in RUST_MODULE.findall(files[module].text)]
        open_ += [child for child in children if child in files]
    return sorted(reached)


def uses(files, file):
    """The modules that hold what a file names, each with the name."""
    imports = file.imports.items()
    paths = [path for name, path in imports if name not in file.exports or re.search(rf"\b{name}\b", file.text)]
    paths += [(head, *re.findall(r"\w+", rest)) for head, rest in RUST_PATH.findall(file.text)]
    for path in paths:
        found = resolve(files, file.module, path)
        # An import of a module is counted where something of it is named.
        if found is not None and not (found[1] == () and path in file.imports.values()):
            yield found[0], "::".join(path)
    for path in file.globs:
        if (found := resolve(files, file.module, path)) is not None:
            yield found[0], "::".join((*path, "*"))


def resolve(files, module, path, depth=0):
    """The module that defines what a path names, seen from a module, and the rest of the path; none in other crates."""
    if depth > 12 or not path:
        return None
    head, rest = path[0], path[1:]
    if head == "crate":
        return descend(files, (), rest, depth)
    if head == "self":
        return descend(files, module, rest, depth)
    if head == "super":
        return resolve(files, module[:-1], ("self", *rest) if rest[:1] != ("super",) else rest, depth + 1)
    if (*module, head) in files or head in files[module].imports:
        return descend(files, module, path, depth)
    return None


def descend(files, module, path, depth):
    """Follows a path down from a module, through what modules re-export."""
    if not path or depth > 12:
        return module, ()
    file, head, rest = files[module], path[0], path[1:]
    if (*module, head) in files:
        return descend(files, (*module, head), rest, depth)
    if head in file.items:
        return module, path
    if head in file.imports:
        target = file.imports[head]
        if target[0] == head and (*module, head) not in files:
            return None
        return resolve(files, module, (*target, *rest), depth + 1)
    for glob in file.globs:
        found = resolve(files, module, glob, depth + 1)
        if found is not None and head in files[found[0]].items:
            return found[0], path
    return module, path


def python(folder, package):
    """The graph of a package of Python: imports anywhere in a file, also in functions, but those for types alone."""
    graph = {}
    for path in sorted(folder.rglob("*.py")):
        used = {}
        local = path.relative_to(folder)
        here = [package, *local.parent.parts]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = {below for node in ast.walk(tree) if is_for_types(node) for below in ast.walk(node)}
        for node in ast.walk(tree):
            if node in for_types:
                continue
            if isinstance(node, ast.Import):
                wanted = [(alias.name, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = here[: len(here) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                wanted = [(f"{base}.{alias.name}", base) for alias in node.names]
            else:
                continue
            for names in wanted:
                for name in names:
                    parts = name.split(".")
                    if parts[0] == package and (target := python_file(folder, parts[1:])) is not None:
                        if target != local and not (target.name == "__init__.py" and target.parent in local.parents):
                            used.setdefault(target.as_posix(), name)
                        break
        graph[local.as_posix()] = used
    return graph


def is_for_types(node):
    """Whether a statement is `if TYPE_CHECKING:`, whose body never runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def python_file(folder, parts):
    """The file of a module, or none where the last part names something else."""
    for local in (Path(*parts).with_suffix(".py") if parts else None, Path(*parts, "__init__.py")):
        if local is not None and (folder / local).is_file():
            return local
    return None


TYPESCRIPT_IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"']*?["'](\.[^"']*)["']|\bimport\(\s*["'](\.[^"']*)["']""", re.MULTILINE
)


def typescript(folder):
    """The graph of a folder of TypeScript, types and values alike."""
    graph = {}
    for path in sorted(folder.rglob("*.ts")):
        if path.name.endswith(".d.ts"):
            continue
        used = {}
        for fixed, lazy in TYPESCRIPT_IMPORT.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / (fixed or lazy)).resolve()
            for file in (target.with_name(target.name + ".ts"), target / "index.ts"):
                if file.is_file():
                    used.setdefault(file.relative_to(folder.resolve()).as_posix(), fixed or lazy)
        graph[path.relative_to(folder).as_posix()] = used
    return graph


def way(graph, start, end):
    """The shortest way from a node to another one, as a list of nodes; none where there is none."""
    before, open_ = {start: None}, [start]
    for node in open_:
        for target in graph.get(node, ()):
            if target not in before:
                before[target] = node
                open_.append(target)
    if end not in before:
        return None
    found = [end]
    while found[-1] != start:
        found.append(before[found[-1]])
    return found[::-1]


def knots(graph):
    """The sets of files that reach each other."""
    reached = {file: reachable(graph, file) for file in graph}
    found = {frozenset([file, *(other for other in reached[file] if file in reached[other])]) for file in graph}
    return sorted((sorted(knot) for knot in found if len(knot) > 1), key=len)


def reachable(graph, start):
    """What a node leads to."""
    found, open_ = set(), [start]
    for node in open_:
        for target in graph.get(node, ()):
            if target not in found:
                found.add(target)
                open_.append(target)
    return found


def circle(graph):
    """A shortest circle, as a list of nodes in which each uses the next; none where there is none."""
    free = dict(graph)
    # What uses nothing that is left is on no circle.
    while idle := [node for node, used in free.items() if not any(target in free for target in used)]:
        for node in idle:
            del free[node]
    found = [way(free, target, node) for node, used in free.items() for target in used if target in free]
    shortest = min(filter(None, found), key=len, default=None)
    if shortest is None:
        return None
    first = shortest.index(min(shortest))
    return shortest[first:] + shortest[:first]
