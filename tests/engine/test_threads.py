"""Threads that the code under comparison starts take part in its execution, and in no other where they outlive it."""

from .layers import sample
from .snippets import CHANGING, PRESERVING, channels, compare, expect

POOL = """
from concurrent.futures import ThreadPoolExecutor
def f(rows):
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda row: row.name, rows))
"""

THREAD = """
import threading
def f(job):
    found = []
    thread = threading.Thread(target=lambda: found.append(job.run(1).value))
    thread.start()
    thread.join()
    return found
"""

SEVERAL = """
import threading
def f(client, names):
    threads = [threading.Thread(target=client.send, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return names.total
"""

TO_THREAD = """
import asyncio
async def f(store):
    return await asyncio.to_thread(lambda: store.load("a").size)
"""

CLASSES = """
import threading
KEY = "a"
def f(x):
    found = []
    def work():
        class Row:
            key = KEY
            size = x.size
        found.append([Row.key, Row.size])
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found
"""


# name: (old, a text in it, what may be there instead, and what may not).
WORK = {
    "of a pool": (POOL, "row.name", "getattr(row, 'name')", "[row.name]"),
    "of a smaller pool": (POOL, "(3)", "(2)", "(0)"),
    "of one thread": (THREAD, "job.run(1).value", "list([job.run(1).value])[0]", "job.run(1).values"),
    "of several": (SEVERAL, "client.send", "lambda n: client.send(n)", "lambda n: client.send(n + 1)"),
    "of several in another order": (SEVERAL, "range(8)", "reversed(range(8))", "range(7)"),
    "of a thread of asyncio": (
        TO_THREAD,
        'store.load("a").size',
        '(lambda key: store.load(key).size)("a")',
        'store.load("b").size',
    ),
    "of a class in a thread": (CLASSES, "Row.key, Row.size", "KEY, Row.size", "Row.size, Row.key"),
}


@sample(WORK, ["of a pool", "of one thread", "of several in another order", "of a class in a thread"])
def test_what_a_thread_does_is_compared(name):
    old, before, same, changed = WORK[name]
    expect(PRESERVING, old, old.replace(before, same), budget=40)
    expect(CHANGING, old, old.replace(before, changed))


def test_calls_of_threads_are_calls():
    comparison = compare(SEVERAL, SEVERAL.replace("client.send", "lambda n: client.send(str(n))"))
    assert channels(comparison) == {"calls"}


LEFT_BEHIND = """
import threading, time
def f(x):
    def work():
        while True:
            x.left.behind
            time.sleep(0.0001)
    threading.Thread(target=work, daemon=True).start()
    return x.size
"""


def test_a_thread_that_is_left_behind_takes_part_in_no_other_execution():
    options = {"jobs": 1, "budget": 10}
    for new in (LEFT_BEHIND.replace("return x.size", "size = x.size\n    return size"), LEFT_BEHIND):
        expect(PRESERVING, LEFT_BEHIND, new.replace("0.0001", "0.0002"), **options)
    expect(CHANGING, LEFT_BEHIND, LEFT_BEHIND.replace("x.size", "[x.size]"), **options)


FIRE_AND_FORGET = """
import threading
def f(job):
    threading.Thread(target=job.run, args=(1,)).start()
"""


def test_a_thread_that_nobody_waits_for_is_seen():
    comparison = expect(CHANGING, FIRE_AND_FORGET, FIRE_AND_FORGET.replace("(1,)", "(2,)"))
    assert channels(comparison) == {"calls"}
    same = FIRE_AND_FORGET.replace("(1,)", "(3 - 2,)")
    assert compare(FIRE_AND_FORGET, same).verdict == PRESERVING


KEPT = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def f(job):
    return pool.submit(lambda: job.run(1).value).result()
"""


def test_a_pool_that_the_module_keeps_serves_every_execution():
    same = KEPT.replace("job.run(1).value", "[job.run(1).value][0]")
    comparison = expect(PRESERVING, KEPT, same, jobs=1)
    assert comparison.pairs[0]["lost"] == 0
    assert compare(KEPT, KEPT.replace("run(1)", "run(2)"), jobs=1).verdict == CHANGING


FAILING = """
import threading
def f(x):
    a = 1
    def work():
        raise ValueError("broken")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_what_ends_a_thread_is_output_without_lines():
    expect(PRESERVING, FAILING, FAILING.replace("a = 1", "a = 2\n\n"))
    expect(CHANGING, FAILING, FAILING.replace("broken", "whole"))
