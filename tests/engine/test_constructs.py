"""Every construct of the language is instrumented and run on injected values: a refactoring is not called a change."""

import sys

import pytest
import twincell

from .constructs import CONSTRUCTS, NEWER_CONSTRUCTS

ALL = CONSTRUCTS | {name: code for name, (python, code) in NEWER_CONSTRUCTS.items() if sys.version_info >= python}


@pytest.mark.parametrize("predictor", ["frequency", "uniform"])
@pytest.mark.parametrize("context", ["function", "module"])
@pytest.mark.parametrize("name", ALL)
def test_a_refactoring_is_no_change_and_a_change_is(name, context, predictor):
    old, same, changed = ALL[name]
    options = {"context": context, "predictor": predictor}
    refactored = twincell.compare(old, same, **options)
    assert refactored.verdict in ("likely_preserving", "identical"), refactored.to_dict()["pairs"][0]["reason"]
    differs = twincell.compare(old, changed, **options)
    assert differs.verdict == "changing", differs.to_dict()["pairs"][0]["reason"]


@pytest.mark.parametrize("name", ALL)
def test_a_function_compared_with_itself_is_identical(name):
    old = ALL[name][0]
    assert twincell.compare(old, old).verdict == "identical"
