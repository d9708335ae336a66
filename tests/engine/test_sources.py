"""Values of clocks, random generators, processes and temporary files are values, although no program can foresee them:
a version that gives one differs from a version that gives none, and from one that takes it from elsewhere."""

from .layers import expect_in, over, sample
from .snippets import CHANGING, PRESERVING, compare, expect

CONTEXTS = ["function", "module"]

#: Enough executions for code that does the same in each.
BUDGET = 60

SOURCES = {
    "the time": ("import time", "time.time()"),
    "the time in nanoseconds": ("import time", "time.time_ns()"),
    "a date": ("import datetime", "datetime.datetime.now()"),
    "a timer": ("import time", "time.monotonic()"),
    "a clock by its number": ("import time", "time.clock_gettime(time.CLOCK_MONOTONIC)"),
    "a random number": ("import random", "random.random()"),
    "a random choice": ("import random", "random.choice(['a', 'b'])"),
    "a token": ("import secrets", "secrets.token_hex(4)"),
    "a UUID": ("import uuid", "uuid.uuid4()"),
    "a UUID of the time": ("import uuid", "str(uuid.uuid1())"),
    "a process": ("import os", "os.getpid()"),
    "its parent": ("import os", "os.getppid()"),
    "a temporary name": ("import tempfile", "tempfile.mktemp()"),
}


# A clock, a random generator, an identity, a process, a file.
QUICK = ["the time", "a date", "a timer", "a random choice", "a UUID", "a process", "a temporary name"]


def function(name: str, *body: str) -> str:
    before, expression = SOURCES[name]
    lines = [line.replace("VALUE", expression) for line in body]
    return "\n".join([before, "def f(x):", *[f"    {line}" for line in lines], ""])


@over(SOURCES, QUICK, context=CONTEXTS, back=[False, True])
def test_a_version_that_returns_none_differs(name, runs):
    texts = function(name, "return None"), function(name, "return VALUE")
    for run in runs:
        options = {"context": run["context"], "budget": BUDGET} | (
            {"function": "f"} if run["context"] == "module" else {}
        )
        expect(CHANGING, *(reversed(texts) if run["back"] else texts), **options)


@over(SOURCES, QUICK, context=CONTEXTS)
def test_versions_that_take_the_same_value_are_the_same(name, runs):
    old = function(name, "return [VALUE, x.name]")
    new = function(name, "value = VALUE", "found = [value]", "found.append(x.name)", "return found")
    expect_in(runs, PRESERVING, old, new, budget=BUDGET)


TEXTS = {
    "a timer for the time": ("import time", "time.time()", "time.monotonic()"),
    "a constant for a process": ("import os", "'worker-1'", "f'worker-{os.getpid()}'"),
    "another text around the time": ("import time", "f'at {time.time()}'", "f'on {time.time()}'"),
}


@sample(TEXTS, TEXTS)
def test_a_line_with_such_a_value_differs_by_its_source_and_by_its_other_words(name):
    before, old, new = TEXTS[name]
    versions = [f"{before}\ndef f(x):\n    print('now', {value})\n" for value in (old, new)]
    expect(CHANGING, *versions, context="module", budget=BUDGET)


OTHER = {
    "a timer for the time": ("import time", "time.time()", "time.monotonic()"),
    "an integer for a number": ("import random", "random.random()", "random.randint(0, 5)"),
    "a constant for the time": ("import time", "1700000000.0", "time.time()"),
    "a constant for a random number": ("import random", "0.5", "random.random()"),
    "a constant for a process": ("import os", "'worker-1'", "f'worker-{os.getpid()}'"),
    "the time for a random number": ("import random, time", "random.random()", "time.time()"),
    "a name of random letters for a temporary one": (
        "import random, tempfile",
        "str(random.random())",
        "tempfile.mktemp()",
    ),
    "another text around the time": ("import time", "f'at {time.time()}'", "f'on {time.time()}'"),
    "the parent for the process": ("import os", "[os.getpid()]", "[str(os.getppid())]"),
}


@over(OTHER, use=["return {}", "x.save({})", "x.value = {}"])
def test_a_value_from_elsewhere_differs(name, runs):
    before, old, new = OTHER[name]
    for use in (run["use"] for run in runs):
        versions = [f"{before}\ndef f(x):\n    {use.format(value)}\n" for value in (old, new)]
        expect(CHANGING, *versions, context="module", budget=BUDGET)


SAME = {
    "elapsed time": (
        "import time\ndef f(job):\n    start = time.time()\n    job.run()\n    return time.time() - start\n",
        "import time\ndef f(job):\n    a = time.time()\n    job.run()\n    b = time.time()\n    return b - a\n",
    ),
    "an extra reading": (
        "import time\ndef f(log):\n    log.info('took %s', time.monotonic())\n",
        "import time\ndef f(log):\n    time.monotonic()\n    log.info('took %s', time.monotonic())\n",
    ),
    "two UUIDs": (
        "import uuid\ndef f(x):\n    return {'id': str(uuid.uuid4()), 'name': x.name}\n",
        "import uuid\ndef f(x):\n    uuid.uuid4()\n    n = x.name\n    return {'id': str(uuid.uuid4()), 'name': n}\n",
    ),
    "a choice among few": (
        "import random\ndef f(x):\n    return random.choice([1, 2])\n",
        "import random\ndef f(x):\n    random.random()\n    return random.choice((1, 2))\n",
    ),
    "a part of the time": (
        "import time\ndef f(x):\n    return int(time.time()) % 3\n",
        "import time\ndef f(x):\n    time.time()\n    return int(time.time()) % 3\n",
    ),
    "a shuffled list": (
        "import random\ndef f(x):\n    rows = [1, 2, 3]\n    random.shuffle(rows)\n    return rows\n",
        "import random\ndef f(x):\n    random.random()\n    return random.sample([1, 2, 3], 3)\n",
    ),
    "a date formatted otherwise": (
        "import datetime\ndef f(x):\n    return datetime.datetime.now().strftime('%Y-%m-%d')\n",
        "import datetime\ndef f(x):\n    return datetime.date.today().isoformat()\n",
    ),
    "a file in the temporary folder": (
        "import os, tempfile\ndef f(x):\n    return os.path.join(tempfile.gettempdir(), 'a')\n",
        "import os, tempfile\ndef f(x):\n    return tempfile.gettempdir() + os.sep + 'a'\n",
    ),
}


@over(SAME, seed=range(3))
def test_a_refactoring_beside_such_values_is_preserving(name, runs):
    expect_in(runs, PRESERVING, *SAME[name], context="module", budget=BUDGET)


FIXED = {
    "the folder": ("import os", "os.getcwd()"),
    "the folder, resolved": ("import os", "os.path.realpath('.')"),
    "the home folder": ("import pathlib", "str(pathlib.Path.home().resolve())"),
    "a thread's name": ("import threading", "threading.Thread(target=print).name"),
    "a thread's number": ("import threading", "threading.get_native_id()"),
    "a task's name": ("import asyncio", "asyncio.run(asyncio.sleep(0, 1))"),
    "classes in a set": ("class A: pass\nclass B: pass\nclass C: pass", "[c.__name__ for c in {A, B, C, int}]"),
    "functions in a set": ("def g(): pass\ndef h(): pass", "[c.__name__ for c in {g, h, f}]"),
    "the text of an object": ("class A: pass", "repr(A())"),
}


@sample(FIXED, ["a task's name"])
def test_what_tells_one_worker_from_another_is_the_same_in_all(name):
    before, expression = FIXED[name]
    old = f"{before}\ndef f(x):\n    return [{expression}, x]\n"
    new = f"{before}\ndef f(x):\n    return [{expression}, [x]]\n"
    options = {"context": "module", "jobs": 1, "budget": 5}
    shown = [compare(old, new, **options, isolation=one).evidence for one in ("auto", "process", "auto")]
    assert shown[0] == shown[1] == shown[2], shown


ENDLESS = {
    "a loop": "def helper(x):\n    while True:\n        x = x\n",
    "calls without number": "def helper(x, n=60):\n    return n and (helper(x, n - 1), helper(x, n - 1))\n",
}


@sample(ENDLESS, ["a loop"])
def test_a_helper_that_does_not_end_is_stopped_by_its_steps(name):
    old = f"{ENDLESS[name]}\ndef f(x):\n    if x == 7:\n        helper(x)\n    return 1\n"
    new = old.replace("return 1", "return 2")
    comparison = expect(CHANGING, old, new, context="module", function="f", timeout=60)
    assert comparison.pairs[0]["lost"] == 0


DEEP = {
    "a recursion without end": "def f(x):\n    return f([x])\n",
    "a recursion without limit": "import sys\ndef f(x):\n    sys.setrecursionlimit(10 ** 9)\n    return f([x])\n",
    "a deep list": "def f(x):\n    for n in range(5000):\n        x = [x]\n    return x\n",
    "a deep text": "import json\ndef f(x):\n    return json.loads('[' * 100_000)\n",
    "a deep expression": "def f(x):\n    return eval('-' * 50_000 + '1')\n",
    "a deep chain of objects": "class A: pass\ndef f(x):\n    for n in range(5000):\n"
    "        a = A()\n        a.next = x\n        x = a\n    return x\n",
    "a deep copy": "import copy\ndef f(x):\n    x = []\n    for n in range(5000):\n"
    "        x = [x]\n    return copy.deepcopy(x)\n",
    "a text of what is deep": "def f(x):\n    x = []\n    for n in range(5000):\n        x = [x]\n    return repr(x)\n",
    "an attribute that asks for itself": "class A:\n    def __getattr__(self, name):\n"
    "        return getattr(self, name + 'a')\ndef f(x):\n    return A().b\n",
}


@sample(
    DEEP, ["a recursion without end", "a deep list", "a deep text", "a deep copy", "an attribute that asks for itself"]
)
def test_what_is_deep_ends_in_an_error_and_kills_no_worker(name):
    old = DEEP[name]
    new = old.replace("def f(x):\n", "def f(x):\n    x.note(1)\n")
    comparison = compare(old, new, context="module", function="f", budget=20)
    assert comparison.pairs[0]["lost"] == 0, comparison.sentence
