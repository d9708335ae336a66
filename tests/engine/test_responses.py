"""Responses of requests and httpx are real ones that need no network, with the keys that the code reads."""

import pytest

from .layers import over
from .snippets import CHANGING, PRESERVING, expect

LIBRARIES = ["requests", "httpx"]

# name: (the annotated class, old's body, new's, and one that differs).
PAIRS = {
    "keys of JSON": (
        "return response.json()['items']",
        "data = response.json()\n    return data['items']",
        "return response.json()['item']",
    ),
    "a key that may be missing": (
        "return response.json().get('total', 0)",
        "data = response.json()\n    return data['total'] if 'total' in data else 0",
        "return response.json().get('total', 1)",
    ),
    "the status": (
        "if response.status_code == 404:\n        return None\n    return response.text",
        "return None if response.status_code == 404 else response.text",
        "if response.status_code >= 400:\n        return None\n    return response.text",
    ),
    "a failure": (
        "response.raise_for_status()\n    return len(response.content)",
        "response.raise_for_status()\n    body = response.content\n    return len(body)",
        "return len(response.content)",
    ),
    "headers": (
        "return response.headers['content-type'].split(';')[0]",
        "return response.headers['Content-Type'].partition(';')[0]",
        "return response.headers['content-type']",
    ),
    "a text that is kept": (
        "return response.text.strip()",
        "return response.content.decode().strip()",
        "return response.text",
    ),
}


@over(PAIRS, library=LIBRARIES)
def test_real_responses_tell_refactorings_from_changes(name, runs):
    old, new, other = PAIRS[name]
    for library in (run["library"] for run in runs):
        pytest.importorskip(library)
        texts = [
            f"import {library}\n\ndef f(response: {library}.Response):\n    {body}\n" for body in (old, new, other)
        ]
        expect(PRESERVING, texts[0], texts[1], context="module", function="f", budget=60)
        expect(CHANGING, texts[0], texts[2], context="module", function="f")


@pytest.mark.parametrize("library", ["requests", pytest.param("httpx", marks=pytest.mark.long)])
def test_what_a_request_gives_is_a_real_response(library):
    pytest.importorskip(library)
    old = (
        f"import {library}\n\ndef f(url: str):\n    response = {library}.get(url)\n"
        "    if response.status_code == 404:\n        return []\n    return response.json()['items']\n"
    )
    new = old.replace(f"response = {library}.get(url)", f"response = {library}.get(url=url)")
    expect(PRESERVING, old, new, context="module", function="f")
    found = expect(CHANGING, old, old.replace("== 404", ">= 404"), context="module", function="f")
    [pair] = found.to_dict()["pairs"]
    injections = pair["witness"]["injections"]
    # What requests asks, answers by itself.
    wanted = "http('GET', " if library == "requests" else f"'class': '{library}.Response'"
    assert wanted in str(injections), injections


@pytest.mark.parametrize(
    "library, name",
    [
        ("requests", "encoding"),
        pytest.param("requests", "note", marks=pytest.mark.long),
        pytest.param("httpx", "default_encoding", marks=pytest.mark.long),
        pytest.param("httpx", "note", marks=pytest.mark.long),
    ],
)
def test_what_the_code_sets_is_part_of_a_response(library, name):
    pytest.importorskip(library)
    old = (
        f"import {library}\n\ndef f(response: {library}.Response):\n"
        f"    response.{name} = 'ascii'\n    return response\n"
    )
    expect(CHANGING, old, old.replace("'ascii'", "'latin-1'"), context="module", function="f")


@pytest.mark.parametrize("library", ["httpx", pytest.param("requests", marks=pytest.mark.long)])
def test_what_was_asked_of_a_response_is_no_part_of_it(library):
    pytest.importorskip(library)
    old = f"import {library}\n\ndef f(response: {library}.Response):\n    return response\n"
    new = old.replace("    return", "    text = response.text\n    return")
    expect(PRESERVING, old, new, context="module", function="f", budget=40)


def test_a_response_of_another_library_is_not_one_of_requests():
    pytest.importorskip("requests")
    old = (
        "import requests\nfrom elsewhere import Response\n\n"
        "def f(response: Response):\n    return 1 if isinstance(response, requests.Response) else response.a\n"
    )
    expect(CHANGING, old, old.replace("response.a", "response.b"), context="module", function="f")


def test_a_reproducer_writes_a_response():
    pytest.importorskip("requests")
    old = "import requests\n\ndef f(response: requests.Response):\n    return response.status_code > 404\n"
    found = expect(CHANGING, old, old.replace("> 404", ">= 404"), context="module", function="f")
    reproducer = found.to_dict()["pairs"][0]["reproducer"]
    assert reproducer["holds"], reproducer
    assert "__import__('requests').Response(), status_code=404" in reproducer["source"], reproducer["source"]
