"""Modules that are loaded when they are first used."""

import sys

import pytest
from twincell._later import later


@pytest.fixture
def unloaded(monkeypatch):
    """The name of a module that is not loaded."""
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    return "colorsys"


def test_a_module_is_loaded_when_something_of_it_is_used(unloaded):
    with later(unloaded):
        import colorsys
    assert unloaded not in sys.modules
    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert sys.modules[unloaded].rgb_to_hsv is colorsys.rgb_to_hsv
    assert "rgb_to_hsv" in dir(colorsys)


def test_a_name_that_is_imported_from_it_is_there_at_once(unloaded):
    with later(unloaded):
        from colorsys import rgb_to_hsv

        assert sys.modules[unloaded].rgb_to_hsv is rgb_to_hsv


def test_what_is_loaded_already_stays():
    with later("sys"):
        import sys as found
    assert found is sys


def test_a_submodule_is_an_attribute_of_its_package(monkeypatch):
    import xml.dom

    monkeypatch.delitem(sys.modules, "xml.dom.minicompat", raising=False)
    monkeypatch.delattr(xml.dom, "minicompat", raising=False)
    with later("xml.dom.minicompat"):
        from xml.dom import minicompat
    assert xml.dom.minicompat is minicompat
    assert minicompat.NodeList is sys.modules["xml.dom.minicompat"].NodeList
