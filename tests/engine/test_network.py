"""What holds with the shipped network, whatever it predicts. The other tests of this folder use no network."""

import pytest
import twincell
from twincell import _twincell

from .constructs import CONSTRUCTS
from .snippets import PRESERVING, expect
from .test_determinism import reports
from .test_techniques import OPERATORS


def test_the_network_is_the_default():
    report = _twincell.compare("def f(x):\n    return x\n", "def f(x):\n    return -x\n").to_dict()
    assert report["predictor"].startswith("neural (")


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_refactoring_is_no_change_and_a_change_is(name):
    old, same, changed = CONSTRUCTS[name]
    options = {"context": "function", "predictor": "neural"}
    refactored = twincell.compare(old, same, **options)
    assert refactored.verdict in ("likely_preserving", "identical"), refactored.to_dict()["pairs"][0]["reason"]
    differs = twincell.compare(old, changed, **options)
    assert differs.verdict == "changing", differs.to_dict()["pairs"][0]["reason"]


@pytest.mark.parametrize("expression", OPERATORS[::5])
def test_an_expression_over_injected_objects_is_consistent(expression):
    old = f"def f(x, y):\n    return [{expression}]\n"
    new = f"def f(x, y):\n    found = {expression}\n    return [found]\n"
    expect(PRESERVING, old, new, context="function", predictor="neural", budget=100)


@pytest.mark.parametrize("context", ["function", "module"])
def test_the_same_seed_gives_the_same_report(context):
    options = {"seed": 7, "context": context, "predictor": "neural"}
    first = reports(**options)
    assert first == reports(**options, jobs=1)
    assert first == reports(**options, jobs=2)
