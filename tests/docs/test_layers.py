"""Arrows point down: which crate, folder and file may use which is what `layers.toml` says, and no circle is new."""

import sys
from itertools import pairwise, product
from pathlib import Path

import pytest

from .imports import circle, knots, python, rust, typescript, way

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it where Python has no reader of its own.

ROOT = Path(__file__).parents[2]
LAYERS = tomllib.loads((ROOT / "tests" / "docs" / "layers.toml").read_text(encoding="utf-8"))
CRATES = LAYERS.pop("crates")
ROOTS = {"lib", "main", "__init__"}


def heights(layers):
    """The number of each name's layer."""
    return {name: height for height, names in enumerate(layers) for name in names.split()}


def module(file):
    """The module of a file: the file or folder at the top, without its ending."""
    return file.split("/")[0].rsplit(".", 1)[0]


def without(graph, removed):
    """The graph without some of its arrows."""
    return {file: [target for target in used if (file, target) not in removed] for file, used in graph.items()}


def of_modules(graph):
    """The graph of modules, from one of files."""
    modules = {}
    for file, used in graph.items():
        modules.setdefault(module(file), set()).update(module(target) for target in used)
    return {name: sorted(used - {name} - ROOTS) for name, used in modules.items() if name not in ROOTS}


def complaints(folder, graph, layers, known_circles=()):
    """What a graph has that its layers do not allow, and what they list for nothing; a line for each."""
    height = heights(layers)
    known = [tuple(arrow.split(" -> ")) for arrow in known_circles]
    modules = {module(file) for file in graph} - ROOTS
    for name in sorted(modules - set(height)):
        yield f"{folder}: layers.toml names no layer for {name}"
    for name in sorted(set(height) - modules):
        yield f"{folder}: layers.toml has a layer for {name}, which is not there"
    upward = []
    for file, used in graph.items():
        for target, name in used.items():
            here, there = height.get(module(file)), height.get(module(target))
            if here is not None and there is not None and here < there and (file, target) not in known:
                upward.append((file, target))
                forbidden = f"layers.toml has {module(target)} above {module(file)}"
                yield f"{folder}/{file} uses {name} of {target}, but {forbidden}"
    rest = without(graph, known)
    for file, target in known:
        if target not in graph.get(file, ()):
            yield f"{folder}: {file} no longer uses {target}; remove the arrow from layers.toml"
        elif module(file) == module(target):
            if way(rest, target, file) is None:
                yield f"{folder}: {file} -> {target} closes no circle any more; remove it from layers.toml"
        elif way(of_modules(rest), module(target), module(file)) is None:
            place = f"put {module(file)} above {module(target)} in layers.toml, without the arrow"
            yield f"{folder}: {file} -> {target} closes no circle any more; {place}"
    rest = without(rest, upward)
    if found := circle(rest) or circle(of_modules(rest)):
        closed = [*found, found[0]]
        names = [name_of(graph, file, target) for file, target in pairwise(closed)]
        yield f"{folder}: a new circle of imports, {' -> '.join(closed)}, by {', '.join(names)}"


def name_of(graph, start, target):
    """The name by which a file uses another one, or a module: one of its files."""
    if start in graph:
        return graph[start][target]
    files = [file for file in graph if module(file) == start]
    return next(name for file in files for used, name in graph[file].items() if module(used) == target)


def graph_of(folder):
    if folder.startswith("kernel/python"):
        return python(ROOT / folder, "twincell")
    return typescript(ROOT / folder) if folder.startswith("widgets/js") else rust(ROOT / folder)


@pytest.mark.parametrize("folder", LAYERS)
def test_files_use_only_what_their_layer_allows(folder):
    found = list(complaints(folder, graph_of(folder), **LAYERS[folder]))
    assert not found, "\n" + "\n".join(found)


#: The most files of which each reaches all others.
MOST_IN_CIRCLES = 3


@pytest.mark.parametrize("folder", LAYERS)
def test_circles_are_small_and_stay_in_one_folder(folder):
    for knot in knots(graph_of(folder)):
        assert len(knot) <= MOST_IN_CIRCLES, knot
        assert len({Path(file).parent for file in knot}) == 1, knot


def manifests():
    """The manifest of each crate of the workspace, by the crate's name without `twincell-`."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    paths = sorted(path for member in members for path in ROOT.glob(f"{member}/Cargo.toml"))
    return {path.parent.name: (path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths}


def test_crates_depend_only_on_lower_layers():
    height = heights(CRATES["layers"])
    found = []
    for crate, (path, manifest) in manifests().items():
        for table, name in product(("dependencies", "build-dependencies"), height):
            if f"twincell-{name}" not in manifest.get(table, {}):
                continue
            if height[name] >= height[crate] or name in CRATES["for_tests"].split():
                where = "is only for tests" if name in CRATES["for_tests"].split() else f"is not below {crate}"
                found.append(f"{path.relative_to(ROOT)}: depends on {name}, which {where} in layers.toml")
    assert not found, "\n" + "\n".join(found)


def test_every_crate_has_a_layer_and_layers_of_its_own():
    crates = manifests()
    assert set(heights(CRATES["layers"])) == set(crates)
    folders = {(path.parent / "src").relative_to(ROOT).as_posix() for path, _ in crates.values()}
    several = {folder for folder in folders if len(list((ROOT / folder).iterdir())) > 2}
    assert several <= set(LAYERS)


# What follows is about the readers and the rules themselves, on made-up files.


@pytest.fixture
def source(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "use crate::b::c::Thing;",
        "use crate::{b::{self, c::Thing}, other};",
        "use super::b::c as sea; fn f() { sea::Thing }",
        "fn f() -> super::b::c::Thing {}",
        "use crate::b::Renamed;",
        "fn f() { crate::b::Renamed::new() }",
        'fn f() { let r = r#"a "quote" "#; let c = \'"\'; crate::b::c::run() }',
        "use std::{fmt, io};\npub(crate) use crate::b::c::Thing;\nfn f(x: &'static Thing) {}",
    ],
)
def test_imports_of_rust_lead_to_the_file_that_defines_the_name(text, source):
    folder = source(
        {
            "lib.rs": "mod a; mod b;",
            "a.rs": text,
            "b/mod.rs": "mod c; pub use c::Thing as Renamed;",
            "b/c.rs": "pub struct Thing; pub fn run() {}",
        }
    )
    assert list(rust(folder)["a.rs"]) == ["b/c.rs"]


@pytest.mark.parametrize(
    "text",
    [
        "// crate::b::Thing",
        'const TEXT: &str = "use crate::b::Thing;";',
        "#[cfg(test)]\nmod tests {\n    use crate::b::Thing;\n}",
        "#[cfg(test)]\nuse crate::b::Thing;",
        "pub use crate::b::Thing;",
        "use crate::Shared;",
        "use std::b::Thing;",
    ],
)
def test_tests_comments_exports_and_the_root_are_no_use_of_a_file(text, source):
    folder = source({"lib.rs": "mod a; mod b; pub struct Shared;", "a.rs": text, "b.rs": "pub struct Thing;"})
    assert rust(folder)["a.rs"] == {}


def test_imports_of_python_count_wherever_they_stand(source):
    text = "import os\nfrom . import _b\ndef f():\n    from p.q import c\n    import p._d\n"
    folder = source({"__init__.py": "", "a.py": text, "_b.py": "", "q/__init__.py": "", "q/c.py": "", "_d.py": ""})
    assert list(python(folder, "p")["a.py"]) == ["_b.py", "q/c.py", "_d.py"]


def test_imports_of_typescript_count_over_several_lines(source):
    text = 'import {\n  b,\n} from "./b";\nimport style from "./style.css";\nconst c = import("./views/c");\n'
    folder = source({"a.ts": text, "b.ts": "", "views/c.ts": 'export * from "../b";\n'})
    graph = typescript(folder)
    assert graph == {"a.ts": {"b.ts": "./b", "views/c.ts": "./views/c"}, "b.ts": {}, "views/c.ts": {"b.ts": "../b"}}


DOWN = {"low.rs": {}, "high.rs": {"low.rs": "y"}}
UP = {"low.rs": {"high.rs": "crate::high::X"}, "high.rs": {}}
BOTH = {**DOWN, **UP, "high.rs": {"low.rs": "y"}}
WITHIN = {"low.rs": {}, "high/a.rs": {"high/b.rs": "x"}, "high/b.rs": {"high/a.rs": "y"}}


@pytest.mark.parametrize(
    ("graph", "known", "complaint"),
    [
        (UP, [], "src/low.rs uses crate::high::X of high.rs, but layers.toml has high above low"),
        (DOWN, ["low.rs -> high.rs"], "src: low.rs no longer uses high.rs; remove the arrow from layers.toml"),
        (
            UP,
            ["low.rs -> high.rs"],
            "src: low.rs -> high.rs closes no circle any more; put low above high in layers.toml, without the arrow",
        ),
        (WITHIN, [], "src: a new circle of imports, high/a.rs -> high/b.rs -> high/a.rs, by x, y"),
        ({**DOWN, "new.rs": {}}, [], "src: layers.toml names no layer for new"),
        ({"low.rs": {}}, [], "src: layers.toml has a layer for high, which is not there"),
    ],
)
def test_what_breaks_a_rule_is_named_in_one_line(graph, known, complaint):
    assert list(complaints("src", graph, ["low", "high"], known)) == [complaint]


@pytest.mark.parametrize(
    ("graph", "known"),
    [(DOWN, []), (BOTH, ["low.rs -> high.rs"]), (WITHIN, ["high/a.rs -> high/b.rs"])],
)
def test_arrows_that_point_down_and_known_circles_are_allowed(graph, known):
    assert list(complaints("src", graph, ["low", "high"], known)) == []


def test_a_circle_of_folders_needs_no_circle_of_files():
    graph = {"a/x.rs": {"b/y.rs": "x"}, "a/z.rs": {}, "b/y.rs": {"a/z.rs": "y"}}
    assert list(complaints("src", graph, ["a b"])) == ["src: a new circle of imports, a -> b -> a, by x, y"]
