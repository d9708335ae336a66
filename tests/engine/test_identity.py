"""Who holds an object counts: the same one or a copy, changed in place or anew, shared between calls or fresh.

A few executions tell that, without a search. Whole comparisons of all tables, with their tests, are `long`.
"""

import pytest

from .identity.calls import CALLBACKS, THE_SAME_CALLBACKS, THE_SECOND_CALL, THE_SECOND_CALL_TELLS_NOTHING
from .identity.copies import NO_ONE_CAN_TELL, THE_SAME_OR_A_COPY
from .identity.in_place import IN_PLACE_OR_ANEW, IN_PLACE_OR_ANEW_UNSEEN
from .identity.members import BOX, MEMBERS, MEMBERS_THAT_DO_NO_HARM, with_method
from .identity.values import EQUAL_KEYS, EXCEPTIONS, GLOBALS, THE_SAME_EXCEPTIONS
from .single import differing, executions, is_usable
from .snippets import CHANGING, code, compare, expect, reason

CHANGES = {
    **{f"in place, {name}": pair for name, pair in IN_PLACE_OR_ANEW.items()},
    **{f"the same, {name}": pair for name, pair in THE_SAME_OR_A_COPY.items()},
    **{f"again, {name}": pair for name, pair in THE_SECOND_CALL.items()},
    **{f"callback, {name}": pair for name, pair in CALLBACKS.items()},
    **{f"exception, {name}": pair for name, pair in EXCEPTIONS.items()},
    **{f"equal, {name}": pair for name, pair in EQUAL_KEYS.items()},
    **{f"global, {name}": pair for name, pair in GLOBALS.items()},
    **{f"member, {name}": (BOX, with_method(BOX, *lines)) for name, lines in MEMBERS.items()},
}
REFACTORINGS = {
    **{f"in place, {name}": pair for name, pair in IN_PLACE_OR_ANEW_UNSEEN.items()},
    **{f"the same, {name}": pair for name, pair in NO_ONE_CAN_TELL.items()},
    **{f"again, {name}": pair for name, pair in THE_SECOND_CALL_TELLS_NOTHING.items()},
    **{f"callback, {name}": pair for name, pair in THE_SAME_CALLBACKS.items()},
    **{f"exception, {name}": pair for name, pair in THE_SAME_EXCEPTIONS.items()},
    **{f"member, {name}": (BOX, with_method(BOX, *lines)) for name, lines in MEMBERS_THAT_DO_NO_HARM.items()},
}


# No test is written yet for what a stored function does, for some operations, and for a decorated property.
WITHOUT_TEST = {
    *(f"callback, {name}" for name in CALLBACKS),
    *(
        f"member, {name}"
        for name in ("a context manager", "pickling", "the state of a copy", "an order", "a text", "a sum")
    ),
    "the same, a property that is cached",
}


# One of each kind, for which a whole comparison is made in any case.
OF_EACH_KIND = {name.split(",")[0]: name for name in reversed(CHANGES)}.values()


# Values that a search finds and few executions draw.
GIVEN = {
    "callback, a list that is passed": [{"limit": "3", "callback0(count)": "3"}],
    "callback, a partial": [{"limit": "3", "callback0(count)": "3"}],
    "equal, two mappings that are merged": [{"one": "{'a': 1}", "two": "{'a': 2}"}],
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_execution_shows_it(name):
    old, new = map(code, CHANGES[name])
    assert differing(executions(old, new, *GIVEN.get(name, [])))


@pytest.mark.parametrize("name", REFACTORINGS)
def test_no_execution_shows_a_difference(name):
    old, new = map(code, REFACTORINGS[name])
    found = executions(old, new)
    assert any(map(is_usable, found))
    assert not differing(found)


def check_that_a_caller_notices(name):
    comparison = expect(CHANGING, *CHANGES[name])
    if name not in WITHOUT_TEST:
        tests = [pair["reproducer"] for pair in comparison.to_dict()["pairs"] if pair["reproducer"]]
        assert any(test["holds"] for test in tests), tests


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_caller_notices(name):
    check_that_a_caller_notices(name)


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_a_caller_notices_each(name):
    check_that_a_caller_notices(name)


@pytest.mark.long
@pytest.mark.parametrize("name", REFACTORINGS)
def test_no_caller_can_notice(name):
    comparison = compare(*REFACTORINGS[name])
    assert comparison.verdict in ("likely_preserving", "identical"), (reason(comparison), comparison.sentence)
