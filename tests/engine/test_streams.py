"""What gives its items once is a real iterator, generator or context manager, new for each version."""

import pytest

from .snippets import CHANGING, PRESERVING, expect

HEAD = (
    "import asyncio\n"
    "from collections.abc import AsyncIterator, Generator, Iterable, Iterator\n"
    "from contextlib import AbstractContextManager\nfrom typing import ContextManager\n\n"
)

# name: (the head of the function, old's body, new's, and one that differs).
PAIRS = {
    "an iterator": (
        "def f(items: Iterator[int]):",
        "total = 0\n    for item in items:\n        total += item\n    return total",
        "return sum(items)",
        "return sum(items) + len(list(items))  # nothing is left",
    ),
    "what is left": (
        "def f(items: Iterator[int]):",
        "return next(items, None)",
        "for item in items:\n        return item\n    return None",
        "return next(iter(list(items)), None)",
    ),
    "an iterator that is read twice": (
        "def f(items: Iterator[int]):",
        "first = list(items)\n    return len(first) + len(list(items))",
        "return len(list(items))",
        "first = list(items)\n    return len(first) + len(first)",
    ),
    "a generator": (
        "def f(items: Generator[int, None, None]):",
        "kept = [item for item in items if item > 2]\n    items.close()\n    return kept",
        "kept = list(filter(lambda item: item > 2, items))\n    items.close()\n    return kept",
        "kept = [item for item in items if item >= 2]\n    items.close()\n    return kept",
    ),
    "an asynchronous iterator": (
        "async def f(items: AsyncIterator[str]):",
        "found = []\n    async for item in items:\n        found.append(item.upper())\n    return found",
        "return [item.upper() async for item in items]",
        "return [item async for item in items]",
    ),
    "an iterable": (
        "def f(items: Iterable[int]):",
        "return max(items, default=0)",
        "best = sorted(items)\n    return best[-1] if best else 0",
        "return max(items, default=1)",
    ),
    "a queue of tasks": (
        "async def f(queue: asyncio.Queue[int], limit: int | None = None):",
        "found = []\n    while not queue.empty() and (limit is None or len(found) < limit):\n"
        "        found.append(queue.get_nowait())\n    return found",
        "found = []\n    while limit is None or len(found) < limit:\n        try:\n"
        "            found.append(queue.get_nowait())\n        except asyncio.QueueEmpty:\n            break\n"
        "    return found",
        "found = []\n    while not queue.empty() and (limit is None or len(found) <= limit):\n"
        "        found.append(queue.get_nowait())\n    return found",
    ),
    "a context manager": (
        "def f(context: AbstractContextManager[int]):",
        "with context as value:\n        return value + 1",
        "with context as value:\n        found = value + 1\n    return found",
        "with context as value:\n        return value - 1",
    ),
    "a context manager of typing": (
        "def f(context: ContextManager[str]):",
        "with context as value:\n        return value.strip()",
        "with context as value:\n        found = value.strip()\n    return found",
        "with context as value:\n        return value",
    ),
}


@pytest.mark.parametrize("head, old, new, other", PAIRS.values(), ids=PAIRS)
def test_what_gives_its_items_once_tells_refactorings_from_changes(head, old, new, other):
    def text(body):
        return f"{HEAD}{head}\n    {body}\n"

    if not other.endswith("# nothing is left"):
        expect(CHANGING, text(old), text(other), context="module", function="f")
    else:
        expect(PRESERVING, text(old), text(other), context="module", function="f")
    expect(PRESERVING, text(old), text(new), context="module", function="f")


def test_how_much_is_consumed_is_behavior():
    old = HEAD + "def f(items: Iterator[int]):\n    return next(items, 0) > 2\n"
    new = HEAD + "def f(items: Iterator[int]):\n    return (list(items) or [0])[0] > 2\n"
    [pair] = expect(CHANGING, old, new, context="module", function="f").to_dict()["pairs"]
    assert pair["evidence"][0]["channel"] == "arguments"


def test_a_generator_is_written_as_python():
    old = HEAD + "def f(items: Generator[int, None, None]):\n    return sum(items) > 4\n"
    found = expect(CHANGING, old, old.replace("> 4", ">= 4"), context="module", function="f")
    reproducer = found.to_dict()["pairs"][0]["reproducer"]
    assert reproducer["holds"], reproducer
    assert "(item for item in [" in reproducer["source"], reproducer["source"]


def test_names_of_time_zones_are_real():
    old = (
        "from datetime import datetime\nfrom zoneinfo import ZoneInfo\n\n"
        "def f(moment: datetime, name: str):\n    return moment.astimezone(ZoneInfo(name)).isoformat()\n"
    )
    body = "zone = ZoneInfo(name)\n    return moment.astimezone(zone)"
    new = old.replace("return moment.astimezone(ZoneInfo(name))", body)
    expect(PRESERVING, old, new, context="module", function="f")
    expect(CHANGING, old, old.replace("isoformat()", "tzname()"), context="module", function="f")


def test_an_item_is_the_same_however_it_is_reached():
    head = "def f(rows: 'list[tuple[str, int | None]]'):\n"
    old = f"{head}    return [rows[at][1].total for at in range(len(rows))]\n"
    new = f"{head}    found = []\n    for _, each in rows:\n        found.append(each.total)\n    return found\n"
    expect(PRESERVING, old, new)
    expect(CHANGING, old, new.replace("each.total", "each.count"))
    old = "def f(rows):\n    return rows[4][1].total\n"
    new = "def f(rows):\n    _, each = rows[4]\n    return each.total\n"
    expect(CHANGING, old, new.replace("rows[4]", "rows[3]"))
