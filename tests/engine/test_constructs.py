"""Every construct of the language is instrumented and run on injected values: a refactoring is not called a change.

A few executions tell that, without a search. Whole comparisons with each predictor and context are `long`.
"""

import sys

import pytest
import twincell

from .constructs import CONSTRUCTS, NEWER_CONSTRUCTS
from .single import differing, executions, is_usable

ALL = CONSTRUCTS | {name: code for name, (python, code) in NEWER_CONSTRUCTS.items() if sys.version_info >= python}

# Values that a search finds and few executions draw.
GIVEN = {"match": [{"command": "1"}]}


@pytest.mark.parametrize("name", ALL)
def test_a_refactoring_behaves_the_same_and_a_change_does_not(name):
    old, same, changed = ALL[name]
    given = GIVEN.get(name, [])
    refactored = executions(old, same, *given, context="function")
    assert any(map(is_usable, refactored))
    assert not differing(refactored)
    assert differing(executions(old, changed, *given, context="function"))


@pytest.mark.long
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
