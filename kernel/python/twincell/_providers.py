"""Values of classes that installed libraries bring: tables named by entry points of the group `twincell.values`.

A table is read and never run: the module is found without importing it, and the name in it must be bound to literals.
The values are expressions, which only workers evaluate.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.metadata
from pathlib import Path

GROUP = "twincell.values"
#: The largest module that is read, in bytes.
LARGEST = 1 << 20


def of_libraries() -> tuple[list[tuple[str, list[str] | str]], list[str]]:
    """The values of each class, and what is wrong with tables, a line each."""
    found: list[tuple[str, list[str] | str]] = []
    problems: list[str] = []
    entries = {(entry.name, entry.value): entry for entry in importlib.metadata.entry_points(group=GROUP)}
    for _, entry in sorted(entries.items()):
        try:
            found.extend(_table(entry.value).items())
        except (ValueError, TypeError, OSError, SyntaxError, RecursionError, MemoryError) as error:
            reason = " ".join(str(error).split())
            problems.append(f"the values of {entry.name} ({entry.value}) are not used: {reason}")
    return found, problems


def _table(reference: str) -> dict[str, list[str] | str]:
    module, _, name = reference.partition(":")
    path = _file(module)
    if path is None:
        raise ValueError(f"there is no file of the module {module}")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} has more than {LARGEST >> 20} MiB")
    for statement in ast.parse(path.read_bytes()).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if value is not None and any(isinstance(one, ast.Name) and one.id == name for one in targets):
            return _checked(ast.literal_eval(value))
    raise ValueError(f"{module} does not bind {name or 'a name'} to a dictionary of literals")


def _checked(table: object) -> dict[str, list[str] | str]:
    if not isinstance(table, dict):
        raise ValueError("it is no dictionary from names of classes")
    for name, values in table.items():
        is_list = isinstance(values, list) and all(isinstance(value, str) for value in values)
        if not isinstance(name, str) or not (is_list or isinstance(values, str)):
            raise ValueError(f"{name!r} has neither a list of expressions nor the name of a function")
    return table


def _file(module: str) -> Path | None:
    """The file of a module. Nothing is imported, not even the package that holds it."""
    first, *rest = module.split(".")
    spec = importlib.machinery.PathFinder.find_spec(first)
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or []:
        inner = Path(folder, *rest)
        for candidate in (inner.with_suffix(".py"), inner / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None
