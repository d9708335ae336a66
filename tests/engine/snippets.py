"""Small helpers for tables of snippets."""

import textwrap

import twincell

#: Executions of two versions that behave alike, where a few decisions show all that they do.
FEW = 100

CHANGING, PRESERVING, INCONCLUSIVE, IDENTICAL = "changing", "likely_preserving", "inconclusive", "identical"


def text(*lines):
    return "\n".join(lines) + "\n"


def code(text):
    return textwrap.dedent(text).strip() + "\n"


def compare(old, new, **options):
    return twincell.compare(code(old), code(new), **options)


def expect(verdict, old, new, **options):
    """The comparison, which has this verdict."""
    if verdict == PRESERVING:
        options = {"budget": FEW} | options
    comparison = compare(old, new, **options)
    assert comparison.verdict == verdict, (reason(comparison), comparison.sentence)
    return comparison


def channels(comparison):
    return {evidence["channel"] for evidence in comparison.evidence}


def reason(comparison):
    return comparison.to_dict()["pairs"][0]["reason"]
