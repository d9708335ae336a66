"""Changes that tools make are one for each function, kept apart where they overlap, and asked for only where they keep
the order of evaluation."""

import ast
import textwrap

import pytest

from tests.measure.toolmade.changes import Change, combined
from tests.measure.toolmade.checked import has_its_names
from tests.measure.toolmade.evaluation import is_first
from tests.measure.toolmade.packages import Package
from tests.measure.toolmade.ruffed import changes

MODULE = textwrap.dedent(
    '''
    def first(x):
        if x == None:
            return 0
        return x


    class C:
        def second(self, x: "int"):
            """Old."""
            return not x in self.items
    '''
)


def change(old, new, function="f"):
    return Change("package", "src/module.py", "ruff", function, old, new)


def test_a_fix_is_one_change_for_each_function_and_docstrings_and_annotations_are_none():
    fixed = MODULE.replace("== None", "is None").replace("not x in", "x not in")
    found = list(changes(Package("p", "1", "src"), {"m.py": MODULE}, {"m.py": fixed}))
    assert [(one.function, one.new) for one in found] == [
        ("first", MODULE.replace("== None", "is None")),
        ("C.second", MODULE.replace("not x in", "x not in")),
    ]
    silent = MODULE.replace("Old.", "New.").replace('"int"', "int")
    assert not list(changes(Package("p", "1", "src"), {"m.py": MODULE}, {"m.py": silent}))


def test_changes_of_other_lines_are_tested_together():
    one = change(MODULE, MODULE.replace("== None", "is None"))
    two = change(MODULE, MODULE.replace("not x in", "x not in"))
    overlapping = change(MODULE, MODULE.replace("x == None", "not x"))
    text, applied = combined([one, two, overlapping])
    assert applied == [one, two]
    assert text == MODULE.replace("== None", "is None").replace("not x in", "x not in")


def test_a_change_that_loses_a_name_is_kept_out():
    assert has_its_names(change(MODULE, MODULE.replace("return x\n", "return 1\n")))
    assert not has_its_names(change(MODULE, MODULE.replace("return x\n", "return y\n")))


@pytest.mark.parametrize(
    ("expression", "wanted", "answer"),
    [
        ("f(x).y + g(z)", "f(x)", True),
        ("x.a + g(z)", "g(z)", True),
        ("f(x) + g(z)", "g(z)", False),
        ("x and g(x)", "g(x)", False),
        ("g(x) and x", "g(x)", True),
        ("a if g(x) else b", "g(x)", True),
        ("g(x) if x else b", "g(x)", False),
        ("[g(x) for x in y]", "g(x)", False),
        ("lambda: g(x)", "g(x)", False),
        ("x < y < g(x)", "g(x)", False),
    ],
)
def test_only_what_is_always_evaluated_first_is_moved(expression, wanted, answer):
    root = ast.parse(expression, mode="eval").body
    node = next(node for node in ast.walk(root) if ast.unparse(node) == wanted)
    assert is_first(root, node) is answer
