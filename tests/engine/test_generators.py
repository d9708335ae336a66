"""What consumers do to a generator, besides asking for the next item, is compared too."""

import pytest

from .layers import sample
from .snippets import CHANGING, PRESERVING, expect, text

CHANGES = {
    "a handler around a yield does more": (
        text(
            "def rollback(connection):",
            "    try:",
            "        yield",
            "    except Exception:",
            "        connection.needs_rollback = True",
            "        raise",
        ),
        text(
            "def rollback(connection):",
            "    try:",
            "        yield",
            "    except Exception as error:",
            "        connection.needs_rollback = True",
            "        connection.error = error",
            "        raise",
        ),
    ),
    "cleaning up no longer happens after an exception": (
        text("def opened(pool):", "    try:", "        yield pool", "    finally:", "        pool.release(1)"),
        text("def opened(pool):", "    yield pool", "    pool.release(1)"),
    ),
    "cleaning up no longer happens after an exception in an asynchronous generator": (
        text(
            "async def lease(pool):",
            "    connection = await pool.acquire()",
            "    try:",
            "        yield connection",
            "    finally:",
            "        await pool.release(connection)",
        ),
        text(
            "async def lease(pool):",
            "    connection = await pool.acquire()",
            "    yield connection",
            "    await pool.release(connection)",
        ),
    ),
    "an asynchronous context manager no longer cleans up": (
        text(
            "from contextlib import asynccontextmanager",
            "@asynccontextmanager",
            "async def lease(pool):",
            "    try:",
            "        yield pool",
            "    finally:",
            "        await pool.release(1)",
        ),
        text(
            "from contextlib import asynccontextmanager",
            "@asynccontextmanager",
            "async def lease(pool):",
            "    yield pool",
            "    await pool.release(1)",
        ),
    ),
    "what is sent into an asynchronous generator is used otherwise": (
        text("async def total(start):", "    while True:", "        start += (yield start) or 1"),
        text("async def total(start):", "    while True:", "        start += (yield start) or 0"),
    ),
    "an exception is no longer held back": (
        text("def quiet(names):", "    for name in names:", "        with suppress(KeyError):", "            yield 1"),
        text("def quiet(names):", "    for name in names:", "        yield 1"),
    ),
    "what is sent in is used otherwise": (
        text("def total(start):", "    while True:", "        start += (yield start) or 1"),
        text("def total(start):", "    while True:", "        start += (yield start) or 0"),
    ),
    "what was given is emptied afterwards": (
        text(
            "def chunks(items, size):",
            "    batch = []",
            "    for item in items:",
            "        batch.append(item)",
            "        if len(batch) == size:",
            "            yield batch",
            "            batch = []",
            "    if batch:",
            "        yield batch",
        ),
        text(
            "def chunks(items, size):",
            "    batch = []",
            "    for item in items:",
            "        batch.append(item)",
            "        if len(batch) == size:",
            "            yield batch",
            "            batch.clear()",
            "    if batch:",
            "        yield batch",
        ),
    ),
}

REFACTORINGS = {
    "finally for except and raise": (
        text(
            "def opened(pool):",
            "    try:",
            "        yield pool",
            "    except BaseException:",
            "        pool.release(1)",
            "        raise",
            "    else:",
            "        pool.release(1)",
        ),
        text("def opened(pool):", "    try:", "        yield pool", "    finally:", "        pool.release(1)"),
    ),
    "finally for except and raise in an asynchronous generator": (
        text(
            "async def opened(pool):",
            "    try:",
            "        yield pool",
            "    except BaseException:",
            "        await pool.release(1)",
            "        raise",
            "    else:",
            "        await pool.release(1)",
        ),
        text(
            "async def opened(pool):", "    try:", "        yield pool", "    finally:", "        await pool.release(1)"
        ),
    ),
    "the value sent in gets a name": (
        text("def echo(item):", "    while item:", "        item = yield item"),
        text("def echo(item):", "    while item:", "        received = yield item", "        item = received"),
    ),
}


# What consumers do: they throw, close, await, send, and keep what they were given.
QUICK = [
    "cleaning up no longer happens after an exception",
    "an asynchronous context manager no longer cleans up",
    "an exception is no longer held back",
    "what is sent in is used otherwise",
    "what was given is emptied afterwards",
]


@sample(CHANGES, QUICK)
def test_a_change_that_only_some_consumers_notice_is_found(name):
    expect(CHANGING, *CHANGES[name])


@pytest.mark.parametrize("old, new", REFACTORINGS.values(), ids=REFACTORINGS)
def test_a_refactoring_of_a_generator_is_no_change(old, new):
    expect(PRESERVING, old, new)
