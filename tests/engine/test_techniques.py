"""What makes two incomplete versions run side by side: values, consistency, channels, exceptions, module context."""

import pytest

from .layers import expect_in, over, sample
from .snippets import CHANGING, INCONCLUSIVE, PRESERVING, channels, compare, expect

CONTEXTS = ["function", "module"]
PREDICTORS = ["frequency", "uniform"]

CHANNELS = {
    "return": (
        "def f(x):\n    return [x, 1]\n",
        "def f(x):\n    return [x, 2]\n",
    ),
    "arguments": (
        "def f(request):\n    request.meta = {'retries': 1}\n",
        "def f(request):\n    request.meta = {'retries': 2}\n",
    ),
    "output": (
        "def f(x):\n    print('a')\n",
        "def f(x):\n    print('b')\n",
    ),
    "calls": (
        "def f(store):\n    store.save(1)\n",
        "def f(store):\n    store.save(2)\n",
    ),
    "exception": (
        "def f(x):\n    raise ValueError('a')\n",
        "def f(x):\n    raise ValueError('b')\n",
    ),
}


@over(CHANNELS, context=CONTEXTS)
def test_each_channel_is_seen_alone(name, runs):
    for comparison in expect_in(runs, CHANGING, *CHANNELS[name]):
        assert channels(comparison) == {name}


def pair(old, new, verdict, **options):
    return pytest.param(old, new, verdict, options)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        pair("def f(x):\n    print('a', end='')\n    print('b')\n", "def f(x):\n    print('ab')\n", PRESERVING),
        pair(
            "import sys\ndef f(x):\n    print('a', file=sys.stderr)\n",
            "import sys\ndef f(x):\n    sys.stderr.write('a\\n')\n",
            PRESERVING,
        ),
        pair(
            "import sys\ndef f(x):\n    print('a', file=sys.stderr)\n",
            "import sys\ndef f(x):\n    print('a', file=sys.stdout)\n",
            CHANGING,
        ),
        pair("def f(x):\n    print('a')\n    print('b')\n", "def f(x):\n    print('b')\n    print('a')\n", CHANGING),
    ],
)
def test_output(old, new, verdict, options):
    expect(verdict, old, new, **options)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        pair(
            "def f(name):\n    return name == 'needle'\n",
            "def f(name):\n    return name == 'needles'\n",
            CHANGING,
        ),
        pair(
            "def f(n):\n    return 'a' if n > 4711 else 'b'\n",
            "def f(n):\n    return 'a' if n >= 4711 else 'b'\n",
            CHANGING,
        ),
        pair(
            "def f(n):\n    if n == 0.25:\n        return 1\n    return 2\n",
            "def f(n):\n    if n == 0.25:\n        return 3\n    return 2\n",
            CHANGING,
        ),
        pair(
            "def f(kind):\n    return kind in ('red', 'green')\n",
            "def f(kind):\n    return kind in ('red', 'blue')\n",
            CHANGING,
        ),
        pair(
            "def f(data):\n    return data == b'\\x00z'\n",
            "def f(data):\n    return data == b'\\x01z'\n",
            CHANGING,
        ),
        pair(
            "def f(meta):\n    retries = meta.get('retries') or 3\n    return retries\n",
            "def f(meta):\n    retries = meta.get('retries')\n    return 3 if retries is None else retries\n",
            CHANGING,
        ),
        pair(
            "def f(rows):\n    return rows[0] if rows else None\n",
            "def f(rows):\n    return rows[-1] if rows else None\n",
            CHANGING,
        ),
    ],
)
def test_literals_of_both_versions_are_tried(old, new, verdict, options):
    expect(verdict, old, new, **options)


OPERATORS = [
    "x + 1", "1 + x", "x - y", "x * 2", "2 * x", "x / y", "x // 2", "x % y", "x ** 2", "x @ y", "x & 1", "x | y",
    "x ^ y", "x << 1", "x >> 1", "-x", "+x", "~x", "abs(x)", "x < y", "x <= 1", "x == y", "x != y", "x > y", "x >= 1",
    "not x", "x and y", "x or y", "x in y", "x not in [y]", "x is y", "x is not None", "bool(x)", "len(x)", "int(x)",
    "float(x)", "str(x)", "repr(x)", "hash(x)", "iter(x)", "list(x)", "tuple(x)", "set(x)", "sorted(x)", "dict(x)",
    "reversed(x)", "x.name", "x.name.other", "x['key']", "x[0]", "x[1:2]", "x[y]", "x()", "x(y, a=1)", "x.run(y)",
    "x[y].run()[0].name", "f'{x}'", "f'{x:>10}'", "'%s' % x", "'{}'.format(x)", "', '.join(x)", "x.items()",
    "max(x)", "min(x, key=y)", "sum(x)", "any(x)", "all(x)", "zip(x, y)", "map(x, y)", "enumerate(x)",
    "isinstance(x, y)",
    "isinstance(x, (y, int))", "issubclass(x, y)", "callable(x)", "getattr(x, 'a', 1)", "hasattr(x, 'a')", "type(x)",
    "id(x) and 1", "round(x)", "divmod(x, y)", "pow(x, 2)", "range(x)", "bytes(x)", "open(x).read()", "vars(x)",
    "dir(x)",
    "x if y else 1", "[*x]", "{**x}", "(*x, *y)", "lambda: x", "x.a.b(y.c)[y.d]", "next(x)", "next(x, 1)", "slice(x)",
    "memoryview(x)", "frozenset(x)", "complex(x)", "chr(x)", "ord(x)", "hex(x)", "print(x)", "super().a", "x @ y @ x",
    "format(x, '')", "filter(x, y)", "__import__(x)", "globals()", "exec('')", "eval('x')", "compile('1', '', 'eval')",
    "__name__", "__file__", "__doc__", "NotImplemented", "...", "x.__class__", "x.__dict__", "x.__doc__", "x.__name__",
]  # fmt: skip


@pytest.mark.parametrize(
    ("expressions", "predictor", "budget"),
    [
        *((OPERATORS[number::12], PREDICTORS[number % 2], 60) for number in range(12)),
        *(
            pytest.param(OPERATORS[number::12], predictor, 100, marks=pytest.mark.long)
            for number in range(12)
            for predictor in PREDICTORS
        ),
    ],
)
def test_an_expression_over_injected_objects_is_consistent(expressions, predictor, budget):
    """Ten functions in one comparison, each with an expression."""
    old = "".join(f"def f{n}(x, y):\n    return [{one}]\n" for n, one in enumerate(expressions))
    new = "".join(f"def f{n}(x, y):\n    found = {one}\n    return [found]\n" for n, one in enumerate(expressions))
    report = compare(old, new, context="function", predictor=predictor, budget=budget).to_dict()
    found = {
        expressions[int(pair["new"]["qualname"][1:])]: (pair["verdict"], pair["reason"]) for pair in report["pairs"]
    }
    assert len(found) == len(expressions)
    assert {one: said for one, said in found.items() if said[0] != PRESERVING} == {}


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        # What old does to an injected value, new does not see.
        pair(
            "def f(rows):\n    rows.append(1)\n    return len(rows)\n",
            "def f(rows):\n    rows.append(1)\n    count = len(rows)\n    return count\n",
            PRESERVING,
        ),
        pair(
            "def f():\n    config.rows.append(1)\n    return config.rows\n",
            "def f():\n    rows = config.rows\n    rows.append(1)\n    return config.rows\n",
            PRESERVING,
        ),
        pair(
            "def f(table):\n    table['a']['b'] = 1\n    return table\n",
            "def f(table):\n    inner = table['a']\n    inner['b'] = 1\n    return table\n",
            PRESERVING,
        ),
        pair(
            "def f(a):\n    a.x = 1\n    a.y = 2\n    del a.z\n    a['k'] = 3\n",
            "def f(a):\n    a['k'] = 3\n    del a.z\n    a.y = 2\n    a.x = 1\n",
            PRESERVING,
        ),
        pair("def f(a):\n    a.x = 1\n", "def f(a):\n    a.x = 1\n    a.x = 2\n", CHANGING),
        pair("def f(rows):\n    rows.sort()\n", "def f(rows):\n    rows.reverse()\n", CHANGING),
        pair("def f(rows):\n    rows.clear()\n", "def f(rows):\n    rows = []\n", CHANGING),
        pair("def f(a):\n    a['k'] = 1\n", "def f(a):\n    a['k'] = 2\n", CHANGING),
        # Renamed parameters stay the same value; arguments by keyword are the same arguments.
        pair(
            "def f(req):\n    return [req.a, req.b]\n",
            "def f(request):\n    found = [request.a]\n    return found + [request.b]\n",
            PRESERVING,
        ),
        pair(
            "def f(x):\n    send(x, 1)\n    return 0\n",
            "def f(x):\n    send(x, flag=1)\n    return 1 - 1\n",
            PRESERVING,
        ),
    ],
)
@pytest.mark.parametrize("predictor", ["frequency", pytest.param("uniform", marks=pytest.mark.long)])
def test_both_versions_see_the_same_values_and_not_each_other(old, new, verdict, options, predictor):
    expect(verdict, old, new, **options, context="function", predictor=predictor)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        # An external call may raise what the code catches.
        pair(
            "def f(client):\n    return client.fetch()\n",
            "def f(client):\n    try:\n        return client.fetch()\n    except TimeoutError:\n"
            "        return 'late'\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    try:\n        return load(x)\n    except api.Gone:\n        return None\n",
            "def f(x):\n    try:\n        return load(x)\n    except api.Gone:\n        return 0\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    try:\n        return load(x)\n    except (OSError, ValueError):\n        return None\n",
            "def f(x):\n    try:\n        return load(x)\n    except OSError:\n        return None\n"
            "    except ValueError:\n        return None\n",
            PRESERVING,
        ),
        # Look-ups fail where the code is ready for it.
        pair(
            "def f(table):\n    try:\n        return table['a']\n    except KeyError:\n        return 1\n",
            "def f(table):\n    try:\n        return table['a']\n    except KeyError:\n        return 2\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    try:\n        return x.name\n    except AttributeError:\n        return 1\n",
            "def f(x):\n    try:\n        return x.name\n    except AttributeError:\n        return 2\n",
            CHANGING,
        ),
        # Subscripts that would fail are predicted.
        pair("def f(x):\n    return [{}[x], 1]\n", "def f(x):\n    return [{}[x], 2]\n", CHANGING),
        pair("def f(x):\n    return [[][7], 1]\n", "def f(x):\n    found = [][7]\n    return [found, 1]\n", PRESERVING),
        # isinstance of a class that is not there goes both ways.
        pair(
            "def f(x):\n    return 1 if isinstance(x, Foo) else 2\n",
            "def f(x):\n    return 3 if isinstance(x, Foo) else 2\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    return 1 if isinstance(x, Foo) else 2\n",
            "def f(x):\n    return 1 if isinstance(x, Foo) else 3\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    return isinstance(x, (Foo, Bar))\n",
            "def f(x):\n    return isinstance(x, Foo) or isinstance(x, Bar)\n",
            PRESERVING,
        ),
        pair("def f(x):\n    return isinstance(x, Foo)\n", "def f(x):\n    return isinstance(x, Bar)\n", CHANGING),
        # Only exceptions that the code itself raises say something.
        pair("def f(x):\n    return 1 + 'a'\n", "def f(x):\n    return [] + 'b'\n", INCONCLUSIVE),
        pair("def f(x):\n    return 1 / 0\n", "def f(x):\n    raise ValueError\n", INCONCLUSIVE),
        pair("def f(x):\n    raise Missing\n", "def f(x):\n    raise Missing()\n", PRESERVING),
        pair("def f(x):\n    raise ValueError\n", "def f(x):\n    raise TypeError\n", CHANGING),
        pair("def f(x):\n    raise ValueError('a')\n", "def f(x):\n    return 1\n", CHANGING),
        pair("def f(x):\n    raise SystemExit(1)\n", "def f(x):\n    import sys\n    sys.exit(1)\n", PRESERVING),
        pair("def f(x):\n    import sys\n    sys.exit(2)\n", "def f(x):\n    import sys\n    sys.exit(1)\n", CHANGING),
        pair("def f(x):\n    assert x\n    return 1\n", "def f(x):\n    return 1\n", CHANGING),
    ],
)
def test_exceptions_and_look_ups(old, new, verdict, options):
    expect(verdict, old, new, **options)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        pair("def f(x):\n    return iter([1, 2])\n", "def f(x):\n    return iter((1, 2))\n", PRESERVING),
        pair("def f(x):\n    return (a for a in [1])\n", "def f(x):\n    yield 1\n", PRESERVING),
        pair("def f(x):\n    return map(str, [1])\n", "def f(x):\n    return map(str, [2])\n", CHANGING),
        pair(
            "def f(x):\n    while True:\n        yield x\n",
            "def f(x):\n    yield x\n    while True:\n        yield x\n",
            PRESERVING,
        ),
        pair(
            "def f(x):\n    yield 1\n    raise ValueError('a')\n",
            "def f(x):\n    yield 1\n    raise ValueError('b')\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    yield 1\n    raise ValueError('a')\n",
            "def f(x):\n    yield 2\n    raise ValueError('a')\n",
            CHANGING,
        ),
        pair("async def f(x):\n    return [1]\n", "async def f(x):\n    return [2]\n", CHANGING),
        pair("async def f(x):\n    return [1]\n", "async def f(x):\n    await x.a()\n    return [1]\n", CHANGING),
        pair(
            "def f(x):\n    async def inner():\n        return [1]\n    return inner()\n",
            "def f(x):\n    async def inner():\n        return [2]\n    return inner()\n",
            CHANGING,
        ),
        pair("def f(x):\n    return lambda y: [y, 1]\n", "def f(x):\n    return lambda y: [y, 2]\n", CHANGING),
        pair(
            "import functools\ndef f(g):\n    @functools.wraps(g)\n    def inner(*args, **kwargs):\n"
            "        return g(*args, **kwargs)\n    return inner\n",
            "import functools\ndef f(g):\n    @functools.wraps(g)\n    def inner(*args, **kwargs):\n"
            "        g(*args, **kwargs)\n    return inner\n",
            CHANGING,
        ),
        pair(
            "def f(x):\n    on('a', lambda: [1])\n",
            "def f(x):\n    on('a', lambda: [2])\n",
            CHANGING,
        ),
    ],
)
@pytest.mark.parametrize("context", ["module", pytest.param("function", marks=pytest.mark.long)])
def test_what_is_returned_is_unwrapped(old, new, verdict, options, context):
    expect(verdict, old, new, **options | {"context": context})


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        # Real imports, constants, helpers and classes of the module.
        pair(
            "import re\ndef f(x):\n    return re.sub('a+', 'b', 'caat')\n",
            "import re\ndef f(x):\n    return 'cbt'\n",
            PRESERVING,
        ),
        pair(
            "LIMIT = 3\ndef f(x):\n    return [LIMIT]\n",
            "LIMIT = 3\ndef f(x):\n    return [3]\n",
            PRESERVING,
        ),
        pair(
            "def helper(a):\n    return a * 2\ndef f(x):\n    return helper(4)\n",
            "def helper(a):\n    return a * 2\ndef f(x):\n    return 8\n",
            PRESERVING,
        ),
        pair(
            "class Box:\n    def __init__(self, a):\n        self.a = a\n    def get(self):\n        return self.a\n"
            "def f(x):\n    return Box([1]).get()\n",
            "class Box:\n    def __init__(self, a):\n        self.a = a\n    def get(self):\n        return self.a\n"
            "def f(x):\n    return [1]\n",
            PRESERVING,
        ),
        pair(
            "class A:\n    size = 3\n    def half(self):\n        return [self.size]\n    def f(self):\n"
            "        return self.half()\n",
            "class A:\n    size = 3\n    def half(self):\n        return [self.size]\n    def f(self):\n"
            "        return [3]\n",
            PRESERVING,
            function="A.f",
        ),
        # A slot, an attribute of a class in C and a cached property of an injected `self`.
        pair(
            "class A:\n    __slots__ = ('x',)\n    def f(self):\n        return [self.x, 1]\n",
            "class A:\n    __slots__ = ('x',)\n    def f(self):\n        return [self.x] + [1]\n",
            PRESERVING,
            function="A.f",
        ),
        pair(
            "import io\nclass A(io.StringIO):\n    def f(self):\n        return [self.getvalue(), 1]\n",
            "import io\nclass A(io.StringIO):\n    def f(self):\n        return [self.getvalue()] + [1]\n",
            PRESERVING,
            function="A.f",
        ),
        pair(
            "from functools import cached_property\nclass A:\n    @cached_property\n    def y(self):\n"
            "        return self.z\n    def f(self):\n        return [self.y, 1]\n",
            "from functools import cached_property\nclass A:\n    @cached_property\n    def y(self):\n"
            "        return self.z\n    def f(self):\n        return [self.z, 1]\n",
            PRESERVING,
            function="A.f",
        ),
        # What is not installed is injected; a module that fails half way is used as far as it goes.
        pair(
            "import no_such_package\ndef f(x):\n    return no_such_package.run(x)\n",
            "import no_such_package as other\ndef f(x):\n    result = other.run(x)\n    return result\n",
            PRESERVING,
        ),
        pair(
            "from no_such_package import run\ndef f(x):\n    return run(x)\n",
            "from no_such_package import run\ndef f(x):\n    result = run(x)\n    return result\n",
            PRESERVING,
        ),
        pair(
            "A = 1\nB = 1 / 0\nC = [A, 2]\ndef f(x):\n    return [C, B]\n",
            "A = 1\nB = 1 / 0\nC = [A, 2]\ndef f(x):\n    return [[1, 2], B]\n",
            CHANGING,
        ),
        pair(
            "A = 1\nB = 1 / 0\nC = [A, 2]\ndef f(x):\n    return [C[0], B]\n",
            "A = 1\nB = 1 / 0\nC = [A, 2]\ndef f(x):\n    return [1, B]\n",
            PRESERVING,
        ),
        pair(
            "A = 1\nraise SystemExit\ndef f(x):\n    return A\n",
            "A = 1\nraise SystemExit\ndef f(x):\n    return 1\n",
            PRESERVING,
        ),
        pair(
            "if __name__ == '__main__':\n    f(1)\ndef f(x):\n    return [x]\n",
            "if __name__ == '__main__':\n    f(2)\ndef f(x):\n    return list((x,))\n",
            PRESERVING,
        ),
        # State of the module does not go from one execution to the next.
        pair(
            "count = 0\ndef f(x):\n    global count\n    count += 1\n    return count\n",
            "count = 0\ndef f(x):\n    global count\n    count = count + 1\n    return 1\n",
            PRESERVING,
        ),
        pair(
            "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n",
            "seen = []\ndef f(x):\n    seen.append(x)\n    return 1\n",
            PRESERVING,
            disable="replacement",
        ),
        pair(
            "cache = {'a': {'b': []}}\ndef f(x):\n    cache['a']['b'].append(1)\n    return cache\n",
            "cache = {'a': {'b': []}}\ndef f(x):\n    cache['a']['b'].append(1)\n    return {'a': {'b': [1]}}\n",
            CHANGING,
        ),
        pair(
            "cache = {'a': {'b': []}}\ndef f(x):\n    cache['a']['b'].append(1)\n    return repr(cache)\n",
            "cache = {'a': {'b': []}}\ndef f(x):\n    cache['a']['b'].append(1)\n    return repr({'a': {'b': [1]}})\n",
            PRESERVING,
        ),
        pair(
            "class A:\n    made = 0\ndef f(x):\n    A.made += 1\n    return A.made\n",
            "class A:\n    made = 0\ndef f(x):\n    A.made += 1\n    return 1\n",
            PRESERVING,
        ),
        pair(
            "class A:\n    pass\na = A()\na.rows = []\ndef f(x):\n    a.rows.append(1)\n    a.n = 1\n"
            "    return len(a.rows)\n",
            "class A:\n    pass\na = A()\na.rows = []\ndef f(x):\n    a.rows.append(1)\n    a.n = 1\n    return 1\n",
            PRESERVING,
        ),
        pair(
            "def g(rows=[]):\n    rows.append(1)\n    return len(rows)\ndef f(x):\n    return g()\n",
            "def g(rows=[]):\n    rows.append(1)\n    return len(rows)\ndef f(x):\n    g()\n    return 1\n",
            PRESERVING,
            disable="replacement",
        ),
        pair(
            "import functools\n@functools.lru_cache\ndef g():\n    print('a')\n    return 1\ndef f(x):\n"
            "    return g()\n",
            "import functools\n@functools.lru_cache\ndef g():\n    print('a')\n    return 1\ndef f(x):\n"
            "    g()\n    return 1\n",
            PRESERVING,
        ),
        pair(
            "import itertools\nids = itertools.count()\ndef f(x):\n    return next(ids)\n",
            "import itertools\nids = itertools.count()\ndef f(x):\n    found = next(ids)\n    return found\n",
            PRESERVING,
        ),
        pair(
            "import os\ndef f(x):\n    os.environ['TWINCELL_A'] = dict(os.environ).get('TWINCELL_A', '') + 'a'\n"
            "    return dict(os.environ)['TWINCELL_A']\n",
            "import os\ndef f(x):\n    os.environ['TWINCELL_A'] = 'a'\n    return 'a'\n",
            PRESERVING,
        ),
        pair(
            "import json\ndef f(x):\n    n = getattr(json, 'calls', 0) + 1\n    json.calls = n\n    return n\n",
            "import json\ndef f(x):\n    n = getattr(json, 'calls', 0) + 1\n    json.calls = n\n    result = n\n"
            "    return result\n",
            PRESERVING,
        ),
        pair(
            "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n",
            "seen = []\ndef f(x):\n    seen.append(x)\n    return 1\n",
            CHANGING,
        ),
        # A change of the module's state is a change.
        pair(
            "seen = []\ndef f(x):\n    seen.append(1)\n",
            "seen = []\ndef f(x):\n    seen.append(2)\n",
            CHANGING,
        ),
    ],
)
def test_the_module_around_a_function(old, new, verdict, options):
    expect(verdict, old, new, **{"function": "f"} | options | {"context": "module"})


NONDETERMINISTIC = {
    "random": ("import random", "random.random()"),
    "random_choice": ("import random", "random.choice([1, 2])"),
    "random_shuffle": ("import random", "random.sample([1, 2, 3], 3)"),
    "own_generator": ("import random\nsource = random.Random()", "source.choice([1, 2])"),
    "system_random": ("import random", "random.SystemRandom().choice([1, 2])"),
    "secrets": ("import secrets", "secrets.token_hex(4)"),
    "urandom": ("import os", "os.urandom(1)[0] % 2"),
    "time": ("import time", "time.time()"),
    "time_ns": ("import time", "time.time_ns() % 2"),
    "perf_counter": ("import time", "time.perf_counter_ns() // 100 % 2"),
    "datetime": ("import datetime", "datetime.datetime.now().microsecond % 2"),
    "uuid": ("import uuid", "str(uuid.uuid4())"),
    "uuid_bit": ("import uuid", "uuid.uuid4().int % 2"),
    "id": ("", "id(object()) // 16 % 2"),
    "id_of_the_argument": ("", "id(x)"),
    "default_repr": ("class A: pass", "repr(A())"),
    "default_repr_of_a_function": ("", "repr(lambda: 1)"),
    "hash_of_an_object": ("", "hash(object()) % 3"),
    "set_order": ("", "list({'a', 'b', 'c', 'd'})"),
    "set_order_of_objects": ("class A: pass", "[type(a).__name__ for a in {A(), A()}]"),
    "object_in_a_message": ("class A: pass", "f'{A()}'"),
    "process_id": ("import os", "os.getpid()"),
    "thread_id": ("import threading", "threading.get_ident()"),
    "temporary_name": ("import tempfile", "tempfile.mktemp()"),
    "garbage": ("import gc", "gc.get_count()[0]"),
    "address_order": ("class A: pass", "id(A()) < id([])"),
}


# A generator, a clock, an identity, the order of a set, a text with an address, a process and a temporary name.
QUICK = [
    "random_choice",
    "own_generator",
    "system_random",
    "urandom",
    "time_ns",
    "uuid_bit",
    "id",
    "default_repr",
    "set_order_of_objects",
    "thread_id",
    "temporary_name",
    "address_order",
]


@sample(NONDETERMINISTIC, QUICK)
def test_what_differs_from_run_to_run_is_no_evidence(name):
    before, expression = NONDETERMINISTIC[name]
    old = f"{before}\ndef f(x):\n    return [{expression}]\n"
    new = f"{before}\ndef f(x):\n    value = {expression}\n    found = [value]\n    return found\n"
    comparison = compare(old, new, context="module", budget=60)
    assert comparison.verdict != "changing", comparison.sentence


@pytest.mark.parametrize("name", ["random_choice", "time_ns", "uuid_bit", "id", "urandom"])
def test_a_change_beside_nondeterminism_is_still_seen(name):
    before, expression = NONDETERMINISTIC[name]
    old = f"{before}\ndef f(x):\n    print('old')\n    return [{expression}]\n"
    new = f"{before}\ndef f(x):\n    print('new')\n    return [{expression}]\n"
    comparison = compare(old, new, context="module")
    assert (comparison.verdict, channels(comparison)) == ("changing", {"output"}), comparison.sentence


@pytest.mark.parametrize(
    ("old", "new", "verdict", "options"),
    [
        pair("def f(x):\n    return bytes(5000) + b'a'\n", "def f(x):\n    return bytes(5000) + b'b'\n", CHANGING),
        pair(
            "def f(x):\n    return {n: n for n in range(900)}\n",
            "def f(x):\n    return {n: n for n in reversed(range(900))}\n",
            PRESERVING,
        ),
        pair(
            "def f(x):\n    return {n: n for n in range(900)}\n",
            "def f(x):\n    return {n: n + 1 for n in range(900)}\n",
            CHANGING,
        ),
    ],
)
def test_values_too_large_to_be_kept_whole(old, new, verdict, options):
    expect(verdict, old, new, **options)
