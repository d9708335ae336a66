"""Annotations that are understood whole decide which values a function is given."""

import pytest
import twincell

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING

# Refactorings that only a value outside of the annotation tells apart.
SAME_FOR_WHAT_IS_DECLARED = {
    "text": (
        "def f(name: str):\n    if not name:\n        return ''\n    return name[0]\n",
        "def f(name: str):\n    return name[:1]\n",
    ),
    "list_of_numbers": (
        "def f(numbers: list[int]):\n    total = 0\n    for n in numbers:\n        total += n\n    return total\n",
        "def f(numbers: list[int]):\n    return sum(numbers)\n",
    ),
    "dictionary": (
        "def f(names: dict[int, str], key: int):\n    if key in names:\n        return names[key]\n    return '?'\n",
        "def f(names: dict[int, str], key: int):\n    return names.get(key, '?')\n",
    ),
    "optional": (
        "from typing import Optional\n\ndef f(n: Optional[int]):\n    return 0 if n is None else n\n",
        "from typing import Optional\n\ndef f(n: Optional[int]):\n    return n or 0\n",
    ),
    "pair": (
        "def f(pair: tuple[int, str]):\n    return str(pair[0]) + pair[1]\n",
        "def f(pair: tuple[int, str]):\n    number, text = pair\n    return f'{number}{text}'\n",
    ),
    "in_quotes": (
        "def f(texts: 'list[str]'):\n    found = ''\n    for t in texts:\n        found += t\n    return found\n",
        "def f(texts: 'list[str]'):\n    return ''.join(texts)\n",
    ),
}


@over(SAME_FOR_WHAT_IS_DECLARED, seed=range(3))
def test_values_outside_of_the_annotation_make_no_difference(name, runs):
    expect_in(runs, PRESERVING, *SAME_FOR_WHAT_IS_DECLARED[name])


# What the code asks for counts, whatever is declared.
CONTRADICTED = {
    "isinstance": (
        "def f(x: str):\n    if isinstance(x, int):\n        return x + 1\n    return x\n",
        "def f(x: str):\n    if isinstance(x, int):\n        return x + 2\n    return x\n",
    ),
    "is_none": (
        "def f(x: str):\n    if x is None:\n        return 1\n    return x\n",
        "def f(x: str):\n    if x is None:\n        return 2\n    return x\n",
    ),
    "default": (
        "def f(x: int = None):\n    return 'none' if x is None else x\n",
        "def f(x: int = None):\n    return 'nothing' if x is None else x\n",
    ),
    "union": (
        "def f(x: int | list[str]):\n    return len(x) if isinstance(x, list) else x\n",
        "def f(x: int | list[str]):\n    return len(x) + 1 if isinstance(x, list) else x\n",
    ),
    "literal": (
        "from typing import Literal\n\ndef f(mode: Literal['fast', 'slow']):\n    return mode == 'slow'\n",
        "from typing import Literal\n\ndef f(mode: Literal['fast', 'slow']):\n    return mode == 'fast'\n",
    ),
}


@over(CONTRADICTED, seed=range(3))
def test_changes_are_found_within_the_annotation_and_where_the_code_contradicts_it(name, runs):
    expect_in(runs, CHANGING, *CONTRADICTED[name])


# Where annotations allow few values, all combinations run after a search that found nothing.
FEW = "from typing import Literal\n\n\n"
SUPPORTS = {
    "one": ("def f(a: bool):\n    return {}\n", "1 if a else 0", "int(a)", {"exhausted": {"combinations": 2}}),
    "several": (
        FEW + "def f(a: bool | None, b: Literal['x', 'y'] = 'x'):\n    return {}\n",
        "(b, bool(a))",
        "(b, True if a else False)",
        {"exhausted": {"combinations": 6}},
    ),
    "none": ("def f():\n    return {}\n", "[1, 2]", "list((1, 2))", {"exhausted": {"combinations": 1}}),
    "one_with_many": ("def f(a: bool, n: int):\n    return {}\n", "n if a else 0", "n * a", "sampled"),
    "one_without": ("def f(a: bool, b):\n    return {}\n", "(b, a)", "tuple([b, a])", "sampled"),
    "a_name_that_is_drawn": ("def f(a: bool):\n    return {}\n", "(a, other)", "tuple([a, other])", "sampled"),
    "more_arguments": ("def f(a: bool, *more):\n    return {}\n", "1 if a else 0", "int(a)", "sampled"),
}


@pytest.mark.parametrize("name", SUPPORTS)
def test_few_values_all_run(name):
    function, old, new, support = SUPPORTS[name]
    [pair] = twincell.compare(function.format(old), function.format(new), disable=["proof"]).pairs
    assert (pair["verdict"], pair["support"]) == ("likely_preserving", support)


def test_a_difference_on_one_of_few_values_is_found_without_luck():
    modes = [f"m{number}" for number in range(40)]
    code = f"from typing import Literal\n\ndef f(mode: Literal{modes!r}):\n    return {{}}\n"
    [pair] = twincell.compare(code.format("1"), code.format("2 if mode == ''.join(['m', '39']) else 1"), budget=5).pairs
    assert pair["verdict"] == "changing"
    assert "support" not in pair
