"""Refactorings that change nothing are not called changing, and small real changes are, whatever the seed."""

import pytest

from .layers import expect_in, over, repeated, sample
from .snippets import CHANGING, FEW, PRESERVING, compare, expect, reason, text

SEEDS = range(3)


REFACTORINGS = {
    "a number is added on one side or taken on the other": (
        text("def f(start, end):", "    return start <= end + 1"),
        text("def f(start, end):", "    return not start - 1 > end"),
    ),
    "nothing is added": (
        text("def f(row):", "    return row.count > 0 and row.count < 9"),
        text("def f(row):", "    return 0 + row.count > 0 and 1 * row.count - 0 < 9"),
    ),
    "a side-effect-free call is moved": (
        text(
            "def f(self, error):",
            "    handler = self._find_handler(error)",
            "    if self.closed:",
            "        return None",
            "    self.report(error)",
            "    return handler",
        ),
        text(
            "def f(self, error):",
            "    if self.closed:",
            "        return None",
            "    self.report(error)",
            "    handler = self._find_handler(error)",
            "    return handler",
        ),
    ),
    "a side-effect-free call that nobody used is gone": (
        text("def f(request):", "    length = request.get_length()", "    return request.url"),
        text("def f(request):", "    return request.url"),
    ),
    "a side-effect-free call is made once and kept": (
        text("def f(config):", "    return [config.lookup('a'), config.lookup('a')]"),
        text("def f(config):", "    found = config.lookup('a')", "    return [found, found]"),
    ),
    "a list is built by a comprehension": (
        text(
            "def f(rows):",
            "    out = []",
            "    for row in rows:",
            "        out.append(row.name)",
            "    return out",
        ),
        text("def f(rows):", "    return [row.name for row in rows]"),
    ),
    "a positional argument is named": (
        text("def f(store, key):", "    store.save(key, 3)"),
        text("def f(store, key):", "    store.save(key, timeout=3)"),
    ),
    "named arguments in another order": (
        text("def f(client):", "    return client.fetch(url='a', retries=3)"),
        text("def f(client):", "    return client.fetch(retries=3, url='a')"),
    ),
    "an equal standard function": (
        text("def f(text):", "    return str(text).split(',', 1)[0]"),
        text("def f(text):", "    return str(text).partition(',')[0]"),
    ),
    "a formatted text is an f-string": (
        text("def f(name, count):", "    return '%s: %s' % (name, count)"),
        text("def f(name, count):", "    return f'{name}: {count}'"),
    ),
    "a log message is formatted by hand": (
        text("import logging", "logger = logging.getLogger(__name__)", "def f(x):", "    logger.info('got %s', x)"),
        text("import logging", "logger = logging.getLogger(__name__)", "def f(x):", "    logger.info(f'got {x}')"),
    ),
    "a logger's method by its newer name": (
        text("def f(log, x):", "    log.warn('bad %r', x)"),
        text("def f(log, x):", "    log.warning('bad %r', x)"),
    ),
    "membership instead of two comparisons": (
        text("def f(mode):", "    return mode == 'a' or mode == 'b'"),
        text("def f(mode):", "    return mode in ('a', 'b')"),
    ),
    "an early return instead of else": (
        text("def f(x):", "    if x:", "        r = 1", "    else:", "        r = 2", "    return r"),
        text("def f(x):", "    if x:", "        return 1", "    return 2"),
    ),
    "nested excepts become one": (
        text(
            "def f(text):",
            "    try:",
            "        try:",
            "            return int(text)",
            "        except TypeError:",
            "            return None",
            "    except ValueError:",
            "        return None",
        ),
        text(
            "def f(text):",
            "    try:",
            "        return int(text)",
            "    except (TypeError, ValueError):",
            "        return None",
        ),
    ),
    "suppress instead of except and pass": (
        text("def f(store, key):", "    try:", "        store.delete(key)", "    except KeyError:", "        pass"),
        text(
            "import contextlib",
            "def f(store, key):",
            "    with contextlib.suppress(KeyError):",
            "        store.delete(key)",
        ),
    ),
    "comparing members of an enum by identity": (
        text(
            "import enum",
            "class Color(enum.Enum):",
            "    RED = 1",
            "    BLUE = 2",
            "def f(flag):",
            "    color = Color.RED if flag else Color.BLUE",
            "    return color == Color.RED",
        ),
        text(
            "import enum",
            "class Color(enum.Enum):",
            "    RED = 1",
            "    BLUE = 2",
            "def f(flag):",
            "    color = Color.RED if flag else Color.BLUE",
            "    return color is Color.RED",
        ),
    ),
    "a value is written twice": (
        text("def f(self):", "    self.count = 0", "    self.count = 0"),
        text("def f(self):", "    self.count = 0"),
    ),
    "a constant of the module instead of a literal": (
        text("LIMIT = 5", "def f(x):", "    return x[:5]"),
        text("LIMIT = 5", "def f(x):", "    return x[:LIMIT]"),
    ),
    "actions on different objects in another order": (
        text("def f(cache, queue):", "    cache.clear()", "    queue.flush()"),
        text("def f(cache, queue):", "    queue.flush()", "    cache.clear()"),
    ),
    "text is converted before and not after": (
        text("def f(host):", "    return to_bytes('at %s' % host)"),
        text("def f(host):", "    return b'at ' + to_bytes(host)"),
    ),
    "a text that the named encoding has no place for": (
        text("def f(a):", "    return to_bytes('é%s' % a, encoding='ascii')"),
        text("def f(a):", "    return b'\\xc3\\xa9' + to_bytes(str(a))"),
    ),
    "a traceback from another line": (
        text(
            "import traceback",
            "def f(x):",
            "    try:",
            "        raise ValueError(3)",
            "    except ValueError:",
            "        return traceback.format_exc()",
        ),
        text(
            "import traceback",
            "def f(x):",
            "    try:",
            "        error = ValueError(3)",
            "        raise error",
            "    except ValueError:",
            "        return traceback.format_exc()",
        ),
    ),
    "addresses in output and in a message": (
        text("class A: pass", "def f(x):", "    print(A())", "    raise ValueError(str(A()))"),
        text(
            "class A: pass",
            "def f(x):",
            "    one, two = A(), A()",
            "    print(one)",
            "    raise ValueError(str(two))",
        ),
    ),
    "random numbers that the module drew": (
        text(
            "import os, random, secrets, time, uuid",
            "RANDOM = [os.urandom(8), uuid.uuid4().hex, secrets.token_hex(4), random.random(), time.time()]",
            "RANDOM += [uuid.uuid1(), random.Random().random(), random.SystemRandom().random()]",
            "def f(x):",
            "    return [x, RANDOM]",
        ),
        text(
            "import os, random, secrets, time, uuid",
            "RANDOM = [os.urandom(8), uuid.uuid4().hex, secrets.token_hex(4), random.random(), time.time()]",
            "RANDOM += [uuid.uuid1(), random.Random().random(), random.SystemRandom().random()]",
            "def f(x):",
            "    found = [x]",
            "    found.append(RANDOM)",
            "    return found",
        ),
    ),
    "leaving the program by its exception": (
        text("import sys", "def f(x):", "    sys.exit(1 if x else None)"),
        text("import sys", "def f(x):", "    raise SystemExit(1 if x else 0)"),
    ),
    "an argument of a function of the module is named": (
        text("def join(parts, sep):", "    return sep.join(parts)", "def f(x):", "    return join(x, ',')"),
        text("def join(parts, sep):", "    return sep.join(parts)", "def f(x):", "    return join(parts=x, sep=',')"),
    ),
    "a local that no version binds in one case": (
        text("def f(x):", "    if x.a:", "        y = 1", "    return y"),
        text("def f(x):", "    if x.a:", "        y = 3 - 2", "    return y"),
    ),
    "a dictionary in another order": (
        text("def f(a, b):", "    return {'a': a, 'b': b}"),
        text("def f(a, b):", "    return {'b': b, 'a': a}"),
    ),
}


CHANGES = {
    "negative numbers are left out of a sum": (
        text(
            "def f(rows):",
            "    totals = {}",
            "    for row in rows:",
            "        name = row['name']",
            "        if name not in totals:",
            "            totals[name] = 0",
            "        totals[name] += row['count']",
            "    return {name: total for name, total in totals.items() if total > 0}",
        ),
        text(
            "def f(rows):",
            "    totals = {}",
            "    for row in rows:",
            "        count = row['count']",
            "        if count > 0:",
            "            totals[row['name']] = totals.get(row['name'], 0) + count",
            "    return totals",
        ),
    ),
    "an action is gone": (
        text("def f(store, x):", "    store.save(x)", "    return x"),
        text("def f(store, x):", "    return x"),
    ),
    "actions on one object in another order": (
        text("def f(out):", "    out.write('a')", "    out.write('b')"),
        text("def f(out):", "    out.write('b')", "    out.write('a')"),
    ),
    "a level of a message": (
        text("import logging", "def f(x):", "    logging.info('got %s', x)"),
        text("import logging", "def f(x):", "    logging.error('got %s', x)"),
    ),
    "the text of a message": (
        text("def f(self, x):", "    self.logger.debug('got %s', x)"),
        text("def f(self, x):", "    self.logger.debug('have %s', x)"),
    ),
    "a warning is gone": (
        text("import warnings", "def f():", "    warnings.warn('old', DeprecationWarning)", "    return 1"),
        text("def f():", "    return 1"),
    ),
    "the category of a warning": (
        text("import warnings", "def f():", "    warnings.warn('old', DeprecationWarning)"),
        text("import warnings", "def f():", "    warnings.warn('old', UserWarning)"),
    ),
    "a guard against zero is gone": (
        text("def f(total, n):", "    if n == 0:", "        return 0", "    return 100 // n"),
        text("def f(total, n):", "    return 100 // n"),
    ),
    "a local may not be bound": (
        text(
            "def f(x):",
            "    if isinstance(x, str):",
            "        found = 1",
            "    elif isinstance(x, int):",
            "        found = 2",
            "    else:",
            "        raise TypeError('bad')",
            "    return found",
        ),
        text(
            "def f(x):",
            "    if isinstance(x, str):",
            "        found = 1",
            "    elif isinstance(x, int):",
            "        found = 2",
            "    return found",
        ),
    ),
    "a generator that ends its iteration by an exception": (
        text(
            "def f(values):",
            "    rest = iter(values)",
            "    try:",
            "        first = next(rest)",
            "    except StopIteration:",
            "        return",
            "    yield first",
        ),
        text("def f(values):", "    rest = iter(values)", "    first = next(rest)", "    yield first"),
    ),
    "an iteration that the code ends itself": (
        text("def f(token):", "    if token.type == 'end':", "        raise StopIteration", "    return token"),
        text("def f(token):", "    return token"),
    ),
    "an attribute of what a call gave": (
        text("def f(a):", "    made = a.make()", "    made.flag = 1", "    return 2"),
        text("def f(a):", "    made = a.make()", "    return 2"),
    ),
    "an item of what an iteration gave": (
        text("def f(a):", "    for row in a.rows():", "        row['seen'] = True"),
        text("def f(a):", "    for row in a.rows():", "        pass"),
    ),
    "an attribute of a missing global": (
        text("def f(a):", "    CONFIG.level = a"),
        text("def f(a):", "    pass"),
    ),
    "an attribute beside one that is another one each time": (
        text("import time", "def f(self):", "    self.begun = time.time()", "    self.name = 'a'"),
        text("import time", "def f(self):", "    self.begun = time.time()", "    self.name = 'b'"),
    ),
    "a line beside one that is another one each time": (
        text("import random", "def f(x):", "    print(random.random())", "    print('a')"),
        text("import random", "def f(x):", "    print(random.random())", "    print('b')"),
    ),
    "the status of leaving the program": (
        text("import sys", "def f(x):", "    sys.exit(1)"),
        text("import sys", "def f(x):", "    sys.exit(2)"),
    ),
    "what finally did is gone": (
        text("def f(lock, x):", "    try:", "        return x.value", "    finally:", "        lock.release()"),
        text("def f(lock, x):", "    return x.value"),
    ),
    "a narrower except": (
        text(
            "def f(store):",
            "    try:",
            "        return store.load()",
            "    except Exception:",
            "        return None",
        ),
        text("def f(store):", "    try:", "        return store.load()", "    except KeyError:", "        return None"),
    ),
    "a lock is not held": (
        text("def f(lock, items):", "    with lock:", "        items.append(1)"),
        text("def f(lock, items):", "    items.append(1)"),
    ),
    "an await is missing": (
        text("async def load():", "    return 3", "async def f():", "    return await load()"),
        text("async def load():", "    return 3", "async def f():", "    return load()"),
    ),
    "the last character of a long text": (
        text("def f():", "    return 'x' * 3000 + 'a'"),
        text("def f():", "    return 'x' * 3000 + 'b'"),
    ),
    "an item far down": (
        text("def f():", "    return {'k': list(range(300)) + [1]}"),
        text("def f():", "    return {'k': list(range(300)) + [2]}"),
    ),
    "the value that a generator returns": (
        text("def f():", "    yield 1", "    return 2"),
        text("def f():", "    yield 1", "    return 3"),
    ),
    "the class of an exception in a hierarchy": (
        text("def f(x):", "    raise LookupError('no')"),
        text("def f(x):", "    raise KeyError('no')"),
    ),
    "a class of its own that is called deque": (
        text(
            "class deque:",
            "    def __init__(self, x):",
            "        self.x = x",
            "    def __iter__(self):",
            "        return iter(())",
            "def f():",
            "    return deque(1)",
        ),
        text(
            "class deque:",
            "    def __init__(self, x):",
            "        self.x = x",
            "    def __iter__(self):",
            "        return iter(())",
            "def f():",
            "    return deque(2)",
        ),
    ),
    "a float beyond the tolerance": (
        text("def f():", "    return 0.1 + 0.2"),
        text("def f():", "    return 0.3"),
    ),
    "what a returned function does": (
        text("def f(n):", "    return lambda x: (x, n, 1)"),
        text("def f(n):", "    return lambda x: (x, n, 2)"),
    ),
}


@over(REFACTORINGS, seed=SEEDS)
def test_a_refactoring_is_not_called_changing(name, runs):
    for run in runs:
        comparison = compare(*REFACTORINGS[name], **run, function="f", budget=FEW)
        assert comparison.verdict in ("likely_preserving", "identical"), (reason(comparison), comparison.sentence)


@over(CHANGES, seed=SEEDS)
def test_a_change_is_called_changing(name, runs):
    for comparison in expect_in(runs, CHANGING, *CHANGES[name], function="f"):
        for evidence in comparison.evidence:
            assert evidence["old"] != evidence["new"]


def test_evidence_says_how_strong_and_how_likely_it_is():
    returned = compare(text("def f(x):", "    return 1"), text("def f(x):", "    return 2")).evidence[0]
    assert (returned["strength"], returned["probability"], returned["edge_case"]) == ("observable", 1.0, False)
    given = compare(text("def f(x):", "    x.save(1)"), text("def f(x):", "    x.save(2)")).evidence[0]
    assert given["strength"] == "observable"
    called = compare(text("def f(x):", "    x.a = 1"), text("def f(x):", "    x.a = 1", "    x.save(2)")).evidence[0]
    assert called["strength"] == "call_pattern"
    assert called["score"] < returned["score"]


def set_aside(comparison):
    """The rules by which differences do not count."""
    return [one["rule"]["kind"] for one in comparison.to_dict()["pairs"][0]["set_aside"]]


EDGE = (
    text("def f(name: str):", "    return name.strip()[:1] if name.strip() != '$' else 'dollar'"),
    text("def f(name: str):", "    return name.strip()[:1]"),
)


def test_a_difference_that_needs_an_unlikely_value_is_an_edge_case_and_can_be_ignored():
    comparison = compare(*EDGE)
    assert comparison.verdict == "changing"
    assert all(evidence["edge_case"] for evidence in comparison.evidence), comparison.evidence
    assert comparison.to_dict()["pairs"][0]["headline"]["unlikely"]
    ignoring = compare(*EDGE, ignore_edge_cases=True)
    assert ignoring.verdict == "likely_preserving"
    assert set_aside(ignoring) == ["edge_cases"]


def test_floats_within_the_tolerance_are_the_same():
    assert compare(*CHANGES["a float beyond the tolerance"], float_tolerance=1e-9).verdict == "likely_preserving"


def test_the_order_of_keys_is_noted_and_counts_on_request():
    old = text("def f(a: int, b: int):", "    return {'a': a, 'b': b}")
    new = text("def f(a: int, b: int):", "    return {'b': b, 'a': a}")
    noted = compare(old, new)
    assert noted.verdict == "likely_preserving"
    assert set_aside(noted) == ["key_order"]
    assert compare(old, new, ordered_keys=True).verdict == "changing"


def test_the_order_of_the_keys_of_an_argument_is_noted_and_counts_on_request():
    old = text("def f(data: dict, key: str):", "    if key in data:", "        data[key] = data.pop(key)")
    new = text("def f(data: dict, key: str):", "    if key in data:", "        data[key] = data[key]")
    assert compare(old, new).verdict == "likely_preserving"
    ordered = compare(old, new, ordered_keys=True)
    assert ordered.verdict == "changing" and ordered.evidence[0]["place"] == "argument data", ordered.evidence


def test_a_likely_and_strong_difference_is_preferred_to_the_first_one():
    old = text("def f(x, log):", "    x.note(1)", "    return len(str(x)) >= 0 and 1")
    new = text("def f(x, log):", "    x.note(2)", "    return len(str(x)) >= 0 and 2")
    strengths = {evidence["strength"] for evidence in compare(old, new).evidence}
    assert "observable" in strengths


CALCULATED = {
    "double": ("def f(x):\n    return x * 2\n", "def f(x):\n    return x + x\n"),
    "negated": ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return -(b - a)\n"),
    "square": ("def f(x):\n    return x ** 2\n", "def f(x):\n    return x * x\n"),
}


@over(CALCULATED, seed=range(12))
def test_what_is_only_calculated_otherwise_is_no_change(name, runs):
    expect_in(runs, PRESERVING, *CALCULATED[name])


@over(["x * 3", "x + 1", "2 - x", "x / 2"], seed=SEEDS)
def test_another_calculation_is_a_change(name, runs):
    old = "def f(x):\n    return x * 2\n"
    expect_in(runs, CHANGING, old, old.replace("x * 2", name))


INHERITED = text(
    "from missing_lib import Directive",
    "class Image(Directive):",
    "    def run(self):",
    "        node = make(self.block)",
    "        self.add_name(node)",
    "        return [node]",
)


@pytest.mark.parametrize("context", ["module", "function"])
def test_a_call_of_an_inherited_method_that_is_not_there_is_recorded(context):
    without = INHERITED.replace("        self.add_name(node)\n", "")
    expect(CHANGING, INHERITED, without, function="Image.run", context=context)


# Values of classes in C, whose attributes cannot be read one by one.
WRITTEN = {
    "a number": ("decimal.Decimal('1.1')", "decimal.Decimal('1.' + '1')", "decimal.Decimal('1.2')"),
    "a date": ("datetime.date(2020, 1, 1)", "datetime.date(2020, 1, 2 - 1)", "datetime.date(2020, 1, 2)"),
    "a length of time": ("datetime.timedelta(60)", "datetime.timedelta(30 * 2)", "datetime.timedelta(seconds=60)"),
    "a pattern": ("re.compile('a')", "re.compile('' + 'a')", "re.compile('b')"),
    "a match": ("re.match('a+', 'aa')", "re.compile('a+').match('aa')", "re.match('a', 'aa')"),
    "an array": ("array.array('i', [1])", "array.array('i', (1,))", "array.array('i', [2])"),
    "a getter": ("operator.itemgetter(0)", "operator.itemgetter(1 - 1)", "operator.itemgetter(1)"),
    "a bound function": ("functools.partial(max, 2)", "functools.partial(max, 1 + 1)", "functools.partial(max, 3)"),
}


# Each is read in a way of its own; others are read as one of these.
@sample(WRITTEN, ["a number", "a length of time", "a match", "an array", "a bound function"])
def test_values_of_classes_in_c_are_compared(name):
    old, same, changed = WRITTEN[name]

    def version(found):
        return text("import array, datetime, decimal, functools, operator, re", "def f(x: int):", f"    return {found}")

    comparison = expect(CHANGING, version(old), version(changed), function="f")
    assert comparison.to_dict()["pairs"][0]["reproducer"]["holds"]
    expect(PRESERVING, version(old), version(same), function="f")


@pytest.mark.parametrize("use", ["P.match(s)", "bool(P.match(s))", "P.sub('', s)"])
def test_a_constant_of_which_an_attribute_is_used_is_a_part_of_the_function(use):
    def version(pattern):
        return text("import re", f"P = re.compile({pattern!r})", "def f(s: str):", f"    return {use}")

    expect(CHANGING, version("a+"), version("b+"), function="f")


@repeated(seed=range(5))
def test_an_execution_that_shows_other_results_is_never_listed_as_the_same(runs):
    old = "def f(x, y):\n    if x:\n        return 1\n    if y:\n        return 2\n    return x.a.b\n"
    for run in runs:
        pair = compare(old, old.replace("1", "3").replace("x.a.b", "None.b"), **run).to_dict()["pairs"][0]
        plain = [one for one in pair["executions"] if {one["old"], one["new"]} == {"returned 1", "returned 3"}]
        assert plain and all(one["differs"] or not one["examined"] for one in plain)
        for path in pair["paths"]:
            assert all(value["differing"] + value["invalid"] <= value["count"] for value in path["injected"])
