"""What holds with the shipped network, whatever it predicts. The other tests of this folder use no network."""

import twincell
from twincell import _twincell

from .constructs import CONSTRUCTS
from .layers import over, sample
from .snippets import FEW, PRESERVING, expect
from .test_determinism import reports
from .test_techniques import OPERATORS


def test_the_network_is_the_default():
    report = _twincell.compare("def f(x):\n    return x\n", "def f(x):\n    return -x\n").to_dict()
    assert report["predictor"].startswith("neural (")


@sample(CONSTRUCTS, list(CONSTRUCTS)[::16])
def test_a_refactoring_is_no_change_and_a_change_is(name):
    old, same, changed = CONSTRUCTS[name]
    options = {"context": "function", "predictor": "neural"}
    refactored = twincell.compare(old, same, **options, budget=FEW)
    assert refactored.verdict in ("likely_preserving", "identical"), refactored.to_dict()["pairs"][0]["reason"]
    differs = twincell.compare(old, changed, **options)
    assert differs.verdict == "changing", differs.to_dict()["pairs"][0]["reason"]


@sample(OPERATORS[::5], OPERATORS[::30])
def test_an_expression_over_injected_objects_is_consistent(name):
    old = f"def f(x, y):\n    return [{name}]\n"
    new = f"def f(x, y):\n    found = {name}\n    return [found]\n"
    expect(PRESERVING, old, new, context="function", predictor="neural", budget=30)


@over(["match", "generator_with_send"], context=["function", "module"])
def test_the_same_seed_gives_the_same_report(name, runs):
    for run in runs:
        options = {"names": [name], "seed": 7, "predictor": "neural", "budget": FEW} | run
        assert reports(**options, jobs=1) == reports(**options, jobs=2)
