"""The functions of packages as snippets: bodies that can run as files, the same ones for the same seed."""

from __future__ import annotations

import ast

from .prefixes import Exits, sample


def test_a_body_leaves_where_its_function_returns():
    (function,) = ast.parse("def f(x):\n    def g(): return 1\n    if x: return\n    return g, 2\n").body
    body = [Exits().visit(statement) for statement in function.body]
    text = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    assert text == "def g():\n    return 1\nif x:\n    exit()\nexit((g, 2))"


def test_a_seed_chooses_the_same_functions(tmp_path):
    texts = []
    for folder in ("a", "b"):
        chosen = sample("click", 1, 5, tmp_path / folder)
        texts.append({file.name: file.read_text() for file in chosen.iterdir()})
    assert texts[0] == texts[1] and len(texts[0]) == 5
    for text in texts[0].values():
        compile(text, "snippet", "exec")
    assert texts[0] != {file.name: file.read_text() for file in sample("click", 2, 5, tmp_path / "c").iterdir()}
