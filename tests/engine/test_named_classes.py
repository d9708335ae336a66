"""Parameters annotated with a class of the project that nobody can make: the stand-in has the real methods."""

import pytest
import twincell

from .layers import over

CLASS = """
import abc, typing, weakref
from typing import Optional

class Base:
    def helper(self, number):
        return number + 1

class Session(Base):
    def __init__(self, *parts, **options):
        self.owner = weakref.ref(parts[0])
        self.state = options["state"]

    def other(self):
        return self.helper(3)

    @property
    def kind(self):
        return "kind"

class Open(typing.Protocol):
    def kind(self): ...

class Abstract(abc.ABC):
    @abc.abstractmethod
    def kind(self): ...
"""


def compare(annotation, old, new):
    versions = (f"{CLASS}\ndef f(session: {annotation}):\n    return {body}\n" for body in (old, new))
    comparison = twincell.compare(*versions, predictor="frequency")
    return next(pair for pair in comparison.to_dict()["pairs"] if pair["executions"])


@over(["Session", "'Session'", "Session | None", "Optional[Session]"], more=["", " + len(session.kind)"])
def test_methods_of_the_class_are_real(name, runs):
    for run in runs:
        pair = compare(name, f"session.other(){run['more']}", f"session.helper(3){run['more']}")
        assert pair["verdict"] == "likely_preserving", pair["reason"]


@pytest.mark.parametrize("annotation", ["Session", "Session | None"])
def test_a_difference_rests_on_the_real_method(annotation):
    pair = compare(annotation, "session.other()", "session.helper(4)")
    assert pair["verdict"] == "changing"
    assert [(one["old"], one["new"]) for one in pair["evidence"]][0] == ("4", "5")


@pytest.mark.parametrize("annotation", ["Open", "Abstract", "Unknown"])
def test_what_others_define_is_injected(annotation):
    pair = compare(annotation, "session.kind()", "session.kind() or 1")
    assert pair["verdict"] == "changing"
    assert "session.kind()" in {path["path"] for path in pair["paths"]}


@pytest.mark.parametrize("annotation", ["int | None", "Session | None", "Optional[list]"])
def test_none_that_an_annotation_allows_has_nothing(annotation):
    """The versions differ only if None has an attribute or an item."""
    old, new = (f"1 if session is not None else session{rest}" for rest in (".kind", "[0]"))
    pair = compare(annotation, old, new)
    assert {one["old"].split(":")[0] for one in pair["executions"]} == {"returned 1", "raised AttributeError"}
    assert [path["path"] for path in pair["paths"]] == ["session"]
