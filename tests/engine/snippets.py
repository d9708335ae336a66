"""Small helpers for tables of snippets."""

import textwrap

import twincell


def code(text):
    return textwrap.dedent(text).strip() + "\n"


def compare(old, new, **options):
    return twincell.compare(code(old), code(new), **options)


def channels(comparison):
    return {evidence["channel"] for evidence in comparison.evidence}


def reason(comparison):
    return comparison.to_dict()["pairs"][0]["reason"]
