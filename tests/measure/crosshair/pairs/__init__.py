"""The pairs of the comparison with CrossHair: reading them, as text and as functions."""

import ast
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
FILES = ("integers", "texts", "lists", "mappings")


@dataclass(frozen=True)
class Pair:
    name: str
    #: The module that holds both versions, `integers`.
    module: str
    #: `changing` or `preserving`, written down before any tool ran.
    label: str
    why: str
    #: The versions as two texts that each define `name`.
    old: str
    new: str

    def functions(self) -> tuple[Callable, Callable]:
        module = importlib.import_module(f"{__package__}.{self.module}" if __package__ else self.module)
        return getattr(module, f"{self.name}_old"), getattr(module, f"{self.name}_new")


def read() -> list[Pair]:
    """Every pair, in the order of the files."""
    return [pair for name in FILES for pair in _read_file(FOLDER / f"{name}.py")]


def _read_file(file: Path) -> list[Pair]:
    source = file.read_text()
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    pairs = []
    for name, new in functions.items():
        if not name.endswith("_new"):
            continue
        stem = name.removesuffix("_new")
        label, _, why = ast.get_docstring(new).partition(": ")
        label = label.lower()
        assert label in ("changing", "preserving"), f"{file.name}: the docstring of {name} holds no label"
        old = functions[f"{stem}_old"]
        pairs.append(Pair(stem, file.stem, label, why, _text(old, stem), _text(new, stem)))
    return pairs


def _text(function: ast.FunctionDef, name: str) -> str:
    """The function under the name that both versions share, without the docstring that holds the label."""
    function = ast.parse(ast.unparse(function)).body[0]
    if ast.get_docstring(function):
        del function.body[0]
    own = function.name
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == own:
            node.id = name
    function.name = name
    return ast.unparse(function) + "\n"
