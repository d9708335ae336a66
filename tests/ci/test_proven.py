"""The whole proof of the sandbox is due where one of its own files changed, too."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def parts():
    spec = importlib.util.spec_from_file_location("proven", ROOT / ".ci" / "proven.py")
    proven = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(proven)
    return proven.PARTS["sandbox"]


def imported(file):
    """The files beside a test that it imports."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    names = [node.module or alias.name for node in nodes if node.level == 1 for alias in node.names]
    return {file.parent / f"{name.split('.')[0]}.py" for name in names}


def uses_mark(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "sandbox"]
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    return "SANDBOX" in names or any(ast.unparse(one) == "pytest.mark.sandbox" for one in attributes)


def test_every_file_of_the_proof_is_one_that_it_rests_on(parts):
    marked = {file for file in (ROOT / "tests").rglob("*.py") if uses_mark(file)}
    files = marked | {other for file in marked for other in imported(file)}
    assert len(marked) > 5
    assert {str(file.relative_to(ROOT)) for file in files} <= set(parts)


def test_what_it_rests_on_is_there(parts):
    assert [part for part in parts if not (ROOT / part).exists()] == []
