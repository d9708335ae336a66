"""Reproducers: pytest files that show a change where twincell cannot be imported: they pass on old and fail on new."""

import functools
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import twincell

from .layers import sample

# Name -> old, new, options. One for each way in which behavior shows, and for each kind of value that is missing.
PAIRS = {
    "method_that_calls_others_of_its_class": (
        "SIZE = 3\nclass Shelf:\n    def __init__(self, items):\n        self.items = items\n"
        "    def _is_full(self):\n        return len(self.items) >= SIZE\n"
        "    def add(self, item):\n        if self._is_full():\n            return False\n"
        "        self.items.append(item)\n        return True\n",
        "SIZE = 3\nclass Shelf:\n    def __init__(self, items):\n        self.items = items\n"
        "    def _is_full(self):\n        return len(self.items) >= SIZE\n"
        "    def add(self, item):\n        if self._is_full():\n            return None\n"
        "        self.items.append(item)\n        return True\n",
        {"function": "Shelf.add", "context": "module"},
    ),
    "return_value": ("def f(x):\n    return x or 3\n", "def f(x):\n    return x\n", {}),
    "arguments_by_keyword": (
        "def f(items, *, limit=3):\n    return items[:limit] if isinstance(items, list) else limit\n",
        "def f(items, *, limit=3):\n    return items[limit:] if isinstance(items, list) else limit\n",
        {},
    ),
    "object_named_as_a_parameter": (
        "class Item:\n    def __init__(self):\n        self.parts = []\n    def _allows(self, item):\n"
        "        return item not in self.parts\n    def add(self, item):\n        if self._allows(item):\n"
        "            self.parts.append(item)\n        return len(self.parts)\n",
        "class Item:\n    def __init__(self):\n        self.parts = []\n    def _allows(self, item):\n"
        "        return item not in self.parts\n    def add(self, item):\n        if self._allows(item):\n"
        "            self.parts.append(item)\n        return len(self.parts) + 1\n",
        {"function": "Item.add", "context": "module"},
    ),
    "assertion_in_a_method": (
        "class Shelf:\n    def _ok(self):\n        return self.size > 0\n"
        "    def take(self):\n        assert self._ok()\n        return 1\n",
        "class Shelf:\n    def _ok(self):\n        return self.size > 0\n"
        "    def take(self):\n        assert self._ok(), 'empty'\n        return 1\n",
        {"function": "Shelf.take", "context": "module"},
    ),
    "items_unpacked_and_joined": (
        "def f(rows):\n    out = [list(row) for row in rows]\n"
        "    for name, value in rows:\n        out.append(name)\n    return out\n",
        "def f(rows):\n    out = [list(row) for row in rows]\n"
        "    for name, value in rows:\n        out.append(value)\n    return out\n",
        {},
    ),
    "updated_from_an_object": (
        "def f(extra):\n    known = {'a': 1}\n    known.update(extra)\n    return known, 1\n",
        "def f(extra):\n    known = {'a': 1}\n    known.update(extra)\n    return known, 2\n",
        {},
    ),
    "long_arguments_of_an_object": (
        "def f(client):\n    found = client.search('%s', client.words)\n"
        "    return found.first.name if found.count else 0\n" % ("long " * 30),
        "def f(client):\n    found = client.search('%s', client.words)\n"
        "    return found.first.name if found.count else 1\n" % ("long " * 30),
        {},
    ),
    "long_arguments_of_a_method_that_cannot_go_on": (
        "import argparse\nclass Parser(argparse.ArgumentParser):\n    def check(self):\n        if self.given.both:\n"
        "            self.error('%s')\n        self.given.checked = True\n" % ("long " * 18),
        "import argparse\nclass Parser(argparse.ArgumentParser):\n    def check(self):\n        if self.given.both:\n"
        "            self.error('%s.')\n        self.given.checked = True\n" % ("long " * 18),
        {"function": "Parser.check", "seed": 1},
    ),
    "not_found_in_a_list": (
        "def f(words):\n    return words.find('a') < 0 if isinstance(words, list) else None\n",
        "def f(words):\n    return words.find('a') >= 0 if isinstance(words, list) else None\n",
        {},
    ),
    "key_of_a_table": (
        "def f(self):\n    return {1: 'one', 2: 'two'}[self.version]\n",
        "def f(self):\n    return {1: 'one', 2: 'TWO'}[self.version]\n",
        {},
    ),
    "part_that_a_module_lacks": (
        "import os\ndef f(place):\n    return os.pathsep + str(place)\n",
        "import os\ndef f(place):\n    try:\n        separator = os.pathsep\n"
        "    except AttributeError:\n        separator = ':'\n    return separator + str(place)\n",
        {},
    ),
    "time_of_day_beside_a_change": (
        "import time\nclass C:\n    def m(self):\n        self.at = time.time()\n        self.count = 1\n",
        "import time\nclass C:\n    def m(self):\n        self.at = time.time()\n        self.count = 2\n",
        {"function": "C.m"},
    ),
    "class_used_step_by_step": (
        "class Stack:\n    def __init__(self, limit=3):\n        self.items = []\n        self.limit = limit\n"
        "    def push(self, item):\n        self.items.append(item)\n        return len(self.items)\n"
        "    @property\n    def size(self):\n        return len(self.items)\n",
        "class Stack:\n    def __init__(self, limit=3):\n        self.items = []\n        self.limit = limit\n"
        "        self._count = 0\n"
        "    def push(self, item):\n        self.items.append(item)\n        return len(self.items)\n"
        "    @property\n    def size(self):\n        return self._count\n",
        {"pair": "Stack"},
    ),
    "attribute_of_a_class": ("class C:\n    limit = 3\n", "class C:\n    limit = 4\n", {}),
    "fields_of_a_dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\n"
        "    def sum(self):\n        return self.x + self.y\n",
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\n"
        "    def __post_init__(self):\n        self.total = self.x - self.y\n"
        "    def sum(self):\n        return self.total\n",
        {"pair": "Point"},
    ),
    "snippet": (
        "total = 0\nfor row in rows:\n    total += row['price']\n",
        "total = 0\nfor row in rows:\n    total += row['price'] * row['count']\n",
        {},
    ),
    "snippet_that_prints": ("print(len(rows))\n", "print(len(rows) + 1)\n", {}),
    "two_signatures": ("def f(a, b):\n    return a\n", "def f(a):\n    return [a]\n", {}),
    "float_and_int": ("def f(x):\n    return 1\n", "def f(x):\n    return 1.0\n", {}),
    "not_a_number": ("def f(x):\n    return float('nan')\n", "def f(x):\n    return 0.0\n", {}),
    "quotes_and_lines": (
        "def f(x):\n    return 'it\\'s \"\"\"\\n\\\\' + str(1)\n",
        "def f(x):\n    return 'it\\'s \\'\\'\\'\\n\\\\' + str(2)\n",
        {},
    ),
    "exception": (
        "def f(x):\n    if not isinstance(x, int):\n        raise TypeError('a number')\n    return x\n",
        "def f(x):\n    if not isinstance(x, int):\n        raise ValueError('a number')\n    return x\n",
        {},
    ),
    "message_of_an_exception": ("def f(x):\n    raise KeyError('a')\n", "def f(x):\n    raise KeyError('b')\n", {}),
    "missing_exception_class": (
        "def f(x):\n    if x:\n        raise errors.Refused('no')\n",
        "def f(x):\n    if x:\n        raise errors.Denied('no')\n",
        {},
    ),
    "exit": ("import sys\ndef f(x):\n    sys.exit(1)\n", "import sys\ndef f(x):\n    sys.exit(2)\n", {}),
    "assertion": ("def f(x):\n    assert x is None, 'a'\n", "def f(x):\n    assert x is None, 'b'\n", {}),
    "changed_argument": (
        "def f(items):\n    items.append(1)\n    items.sort()\n",
        "def f(items):\n    items.append(2)\n    items.sort()\n",
        {},
    ),
    "changed_object": (
        "def f(request):\n    request.meta = {'retries': 1}\n",
        "def f(request):\n    request.meta = {'retries': 2}\n",
        {},
    ),
    "changed_self": (
        "class C:\n    def m(self, x):\n        self.count = 1\n",
        "class C:\n    def m(self, x):\n        self.count = 2\n",
        {},
    ),
    "output": ("def f(x):\n    print('a')\n", "def f(x):\n    print('b')\n", {}),
    "error_output": (
        "import sys\ndef f(x):\n    print('a', file=sys.stderr)\n",
        "import sys\ndef f(x):\n    print('b', file=sys.stderr)\n",
        {},
    ),
    "log": (
        "import logging\nlogger = logging.getLogger('a')\ndef f(x):\n    logger.warning('old %d', 1)\n",
        "import logging\nlogger = logging.getLogger('a')\ndef f(x):\n    logger.warning('new %d', 1)\n",
        {},
    ),
    "warning": (
        "import warnings\ndef f(x):\n    warnings.warn('old', DeprecationWarning)\n",
        "import warnings\ndef f(x):\n    warnings.warn('new', DeprecationWarning)\n",
        {},
    ),
    "generator_without_end": (
        "def f(n):\n    yield n\n",
        "def f(n):\n    while True:\n        yield n\n",
        {},
    ),
    "generator_that_raised": (
        "def f(n):\n    yield 1\n    raise ValueError('a')\n",
        "def f(n):\n    while True:\n        yield 1\n",
        {},
    ),
    "asynchronous_generator_without_end": (
        "async def f(n):\n    yield 1\n",
        "async def f(n):\n    while True:\n        yield 1\n",
        {},
    ),
    "method_without_end": (
        "class C:\n    def __init__(self, n=2):\n        self.n = n\n    def items(self):\n        yield self.n\n",
        "class C:\n    def __init__(self, n=2):\n        self.n = n\n    def items(self):\n        while True:\n"
        "            yield self.n\n",
        {},
    ),
    "path": (
        "import pathlib\ndef f(name: str):\n    return [pathlib.Path('a') / 'b']\n",
        "import pathlib\ndef f(name: str):\n    return [pathlib.Path('a') / 'c']\n",
        {},
    ),
    "calls": ("def f(store):\n    store.save(1)\n", "def f(store):\n    store.save(2)\n", {}),
    "order_of_calls": (
        "def f(store):\n    store.open()\n    store.write('a')\n",
        "def f(store):\n    store.write('a')\n    store.open()\n",
        {},
    ),
    "calls_of_what_calls_give": (
        "def f(db):\n    db.session('a').query(db.User).delete(1)\n",
        "def f(db):\n    db.session('a').query(db.User).delete(2)\n",
        {},
    ),
    "generator": (
        "def f(n):\n    for i in range(3):\n        yield i\n",
        "def f(n):\n    for i in range(4):\n        yield i\n",
        {},
    ),
    "endless_generator": (
        "def f(n):\n    i = 0\n    while True:\n        yield i\n        i += 1\n",
        "def f(n):\n    i = 0\n    while True:\n        yield i\n        i += 2\n",
        {},
    ),
    "async": (
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(30)\n    return 1\n",
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(30)\n    return 2\n",
        {},
    ),
    "no_longer_async": ("async def f(x):\n    return 1\n", "def f(x):\n    return 1\n", {}),
    "async_generator": ("async def f(x):\n    yield 1\n", "async def f(x):\n    yield 2\n", {}),
    "awaited_client": (
        "async def f(client):\n    async with client.lock:\n        return (await client.get('a')).status\n",
        "async def f(client):\n    async with client.lock:\n        return (await client.get('b')).status\n",
        {},
    ),
    "class_method": (
        "class C:\n    limit = 3\n    @classmethod\n    def m(cls):\n        return cls.limit\n",
        "class C:\n    limit = 3\n    @classmethod\n    def m(cls):\n        return cls.limit + 1\n",
        {},
    ),
    "method_that_calls_methods": (
        "class C:\n    def _twice(self, x):\n        return [x, x]\n"
        "    def m(self, x):\n        return self._twice(1)\n",
        "class C:\n    def _twice(self, x):\n        return [x, x]\n"
        "    def m(self, x):\n        return self._twice(2)\n",
        {"function": "C.m"},
    ),
    "private_names": (
        "class C:\n    def m(self):\n        self.__x = 1\n        return self.__x\n",
        "class C:\n    def m(self):\n        self.__x = 2\n        return self.__x\n",
        {},
    ),
    "a_private_method": (
        "class C:\n    def __m(self):\n        return self.x\n",
        "class C:\n    def __m(self):\n        return [self.x]\n",
        {"function": "C.__m"},
    ),
    "closure": (
        "def f(n):\n    def inner():\n        return [1]\n    return inner\n",
        "def f(n):\n    def inner():\n        return [2]\n    return inner\n",
        {},
    ),
    "changed_default": ("def f(x, y=1):\n    return y\n", "def f(x, y=2):\n    return y\n", {}),
    "injected_exception": (
        "def f(client):\n    try:\n        return client.get('a').text\n"
        "    except ConnectionError:\n        return 1\n",
        "def f(client):\n    try:\n        return client.get('a').text\n"
        "    except ConnectionError:\n        return 2\n",
        {},
    ),
    "module_constant": (
        "LIMITS = {'a': 3}\ndef f(x):\n    return LIMITS['a']\n",
        "LIMITS = {'a': 4}\ndef f(x):\n    return LIMITS['a']\n",
        {},
    ),
    "module_helper": (
        "import re\nWORD = re.compile('[a-z]+')\n\ndef clean(text):\n    return WORD.sub('', text)\n\n"
        "def f(x):\n    return clean('a1')\n",
        "import re\nWORD = re.compile('[a-z]+')\n\ndef clean(text):\n    return WORD.sub('', text)\n\n"
        "def f(x):\n    return clean('a2')\n",
        {},
    ),
    "changed_global": (
        "STATE = {}\ndef f(x):\n    STATE['a'] = 1\n",
        "STATE = {}\ndef f(x):\n    STATE['a'] = 2\n",
        {},
    ),
    "missing_import": (
        "import no_such_package\nfrom no_such_package.web import client\n\n"
        "def f(x):\n    client.send(1)\n    return no_such_package.VERSION\n",
        "import no_such_package\nfrom no_such_package.web import client\n\n"
        "def f(x):\n    client.send(2)\n    return no_such_package.VERSION\n",
        {},
    ),
    "missing_global": ("def f(x):\n    SINK.put([x, 1])\n", "def f(x):\n    SINK.put([x, 2])\n", {}),
    "renamed_parameter": (
        "def f(value, count):\n    return [value, 1]\n",
        "def f(item, count):\n    return [item, 2]\n",
        {},
    ),
    "order_of_a_dictionary": (
        "def f(x):\n    return list({'a': 1, 'b': 2})\n",
        "def f(x):\n    return list({'b': 2, 'a': 1})\n",
        {},
    ),
    "objects_of_own_classes": (
        "class Point:\n    def __init__(self, x):\n        self.x = x\n\ndef f(n):\n    return Point(1)\n",
        "class Point:\n    def __init__(self, x):\n        self.x = x\n\ndef f(n):\n    return Point(2)\n",
        {"function": "f"},
    ),
    "arithmetic_on_objects": (
        "def f(a, b):\n    return a.x + b.y.z * 2\n",
        "def f(a, b):\n    return a.x + b.y.z * 3\n",
        {},
    ),
    "without_module": (
        "def f(request):\n    return json.dumps([1, len(request.GET)])\n",
        "def f(request):\n    return json.dumps([2, len(request.GET)])\n",
        {"context": "function"},
    ),
    "message_of_a_function_that_missing_code_is_given": (
        "import logging\nlogger = logging.getLogger(__name__)\ndef f(deferred):\n"
        "    deferred.addErrback(lambda failure: logger.error('Failed to load'))\n    return deferred\n",
        "import logging\nlogger = logging.getLogger(__name__)\ndef f(deferred):\n"
        "    deferred.addErrback(lambda failure: logger.error('Failed to load', exc_info=True))\n    return deferred\n",
        {},
    ),
    "value_of_a_function_that_missing_code_is_given": (
        "def f(deferred):\n    deferred.addCallback(lambda page: [page, 1])\n    return deferred\n",
        "def f(deferred):\n    deferred.addCallback(lambda page: [page, 2])\n    return deferred\n",
        {},
    ),
    "function_that_missing_code_is_given_before_a_failure": (
        "def f(deferred):\n    deferred.addCallback(lambda page: print('page'))\n    raise ValueError('late')\n",
        "def f(deferred):\n    deferred.addCallback(lambda page: print('Page'))\n    raise ValueError('late')\n",
        {},
    ),
    "missing_conversions": (
        "def f(request):\n    return to_bytes(request.method) + b': ' + to_bytes(3)\n",
        "def f(request):\n    return to_bytes(request.method) + b'; ' + to_bytes(3)\n",
        {"context": "function"},
    ),
    "missing_conversions_that_may_fail": (
        "def f(name):\n    try:\n        return to_bytes(name)\n    except UnicodeError:\n        return b'?'\n",
        "def f(name):\n    try:\n        return to_bytes(name)\n    except UnicodeError:\n        return b'!'\n",
        {"context": "function"},
    ),
    "variable_that_the_environment_lacks": (
        "import os\ndef f():\n    return os.environ['SHOP_ALIASES'] + 'a'\n",
        "import os\ndef f():\n    return os.environ['SHOP_ALIASES'] + 'b'\n",
        {},
    ),
    "view_of_a_mapping": (
        "def f(x):\n    return {1: x}.values()\n",
        "def f(x):\n    return {1: x, 2: x}.values()\n",
        {},
    ),
    "constructor_of_a_missing_base": (
        "from shop import Page\nclass Cart(Page):\n    def __init__(self, text):\n"
        "        super(Cart, self).__init__(text=text)\n        self.ready = 1\n",
        "from shop import Page\nclass Cart(Page):\n    def __init__(self, text):\n"
        "        super(Cart, self).__init__(text=text)\n        self.ready = 2\n",
        {"function": "Cart.__init__"},
    ),
    "metaclass_of_a_missing_base": (
        "from shop import Meta\nclass Item(Meta):\n    def __new__(mcs, name, bases, attrs):\n"
        "        return [super(Item, mcs).__new__(mcs, name, bases, attrs), 1]\n",
        "from shop import Meta\nclass Item(Meta):\n    def __new__(mcs, name, bases, attrs):\n"
        "        return [super(Item, mcs).__new__(mcs, name, bases, attrs), 2]\n",
        {"function": "Item.__new__"},
    ),
    "function_that_is_stored_in_an_object": (
        "def f(request):\n    def done(page):\n        return [page, 1]\n    request.callback = done\n",
        "def f(request):\n    def done(page):\n        return [page, 2]\n    request.callback = done\n",
        {},
    ),
    "call_of_a_function_that_is_stored_in_an_object": (
        "def f(request, log):\n    def done(page):\n        log.add(page, 1)\n    request.callback = done\n",
        "def f(request, log):\n    def done(page):\n        log.add(page, 2)\n    request.callback = done\n",
        {},
    ),
    "assignment_beside_the_time": (
        "import time\nclass Job:\n    def __init__(self, active=None):\n        self.active = active\n"
        "        self.started = time.time()\n",
        "import time\nclass Job:\n    def __init__(self, active=None):\n        self.active = active or time.time()\n"
        "        self.started = time.time()\n",
        {"function": "Job.__init__"},
    ),
    "word_of_a_text": (
        "def f(command):\n    return command.script.split()[1] == 'stash' and 'usage:' in command.stderr\n",
        "def f(command):\n    return 'usage:' in command.stderr and command.script.split()[1] == 'stash ' \n",
        {},
    ),
}

BLOCK = "import sys\nsys.modules['twincell'] = None\n"


def outcomes(folder: Path, subject: str) -> dict[str, str]:
    """Runs the files of a folder with pytest, where twincell cannot be imported: `passed` or what went wrong."""
    report = folder / f"{subject}.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(folder)],
        cwd=folder,
        env={**os.environ, "TWINCELL_SUBJECT": subject},
        capture_output=True,
    )
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        failure = next((child for child in case if child.tag in ("failure", "error")), None)
        name = (case.get("classname") or case.get("name", "")).removeprefix("test_")
        found[name] = "passed" if failure is None else (failure.get("message") or "failed")
    return found


# One for each channel, each kind of subject, and each way in which code is missing.
QUICK = (
    "method_that_calls_others_of_its_class",
    "return_value",
    "arguments_by_keyword",
    "items_unpacked_and_joined",
    "long_arguments_of_an_object",
    "class_used_step_by_step",
    "fields_of_a_dataclass",
    "snippet",
    "float_and_int",
    "not_a_number",
    "quotes_and_lines",
    "exception",
    "missing_exception_class",
    "exit",
    "changed_argument",
    "changed_object",
    "output",
    "log",
    "warning",
    "generator",
    "async",
    "calls",
    "calls_of_what_calls_give",
    "private_names",
    "injected_exception",
    "changed_global",
    "missing_import",
    "renamed_parameter",
    "without_module",
    "value_of_a_function_that_missing_code_is_given",
    "constructor_of_a_missing_base",
    "variable_that_the_environment_lacks",
)
OTHERS = tuple(name for name in PAIRS if name not in QUICK)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Writes the reproducers of some pairs and runs them, all at once."""

    @functools.cache
    def ran(names):
        folder = tmp_path_factory.mktemp("reproducers")
        (folder / "conftest.py").write_text(BLOCK)
        reproducers = {}
        for name in names:
            old, new, options = PAIRS[name]
            wanted = options.get("pair")
            comparison = twincell.compare(old, new, **{key: value for key, value in options.items() if key != "pair"})
            pairs = [pair for pair in comparison.pairs if wanted in (None, pair["new"]["qualname"])]
            whole = [pair["reproducer"] for pair in pairs if pair["reproducer"]]
            reproducers[name] = whole[0] if whole else {"source": None, "why_not": comparison.sentence}
            source = reproducers[name]["source"] if wanted else comparison.reproducer
            if reproducers[name].get("holds") and source is not None:
                (folder / f"test_{name}.py").write_text(source)
        return reproducers, outcomes(folder, "old"), outcomes(folder, "new")

    return ran


@sample(PAIRS, QUICK)
def test_a_reproducer_passes_on_old_and_fails_on_new(ran, name):
    reproducers, old, new = ran(QUICK if name in QUICK else OTHERS)
    assert reproducers[name]["source"] is not None, reproducers[name]["why_not"]
    assert reproducers[name]["holds"] is True, reproducers[name]["why_not"]
    assert old[name] == "passed", (old[name], reproducers[name]["source"])
    assert new[name] != "passed", reproducers[name]["source"]


def test_plain_values_give_what_a_person_would_write():
    text = twincell.compare("def f(x):\n    return x or 3\n", "def f(x):\n    return x\n").reproducer
    assert "Standin" not in text and len(text.splitlines()) < 50
    assert "def f(x):\n    return x or 3\n\n\nold = f\n" in text
    assert ") == 3, '3 before the change, " in text.partition("def test_f():")[2]


def test_several_witnesses_are_rows_of_one_test(tmp_path):
    old = "def f(code):\n    if code < 0:\n        return 'none'\n    return 'info' if code < 400 else 'error'\n"
    new = "def f(code):\n    if code < 1:\n        return 'odd'\n    return 'fine' if code < 500 else 'error'\n"
    text = twincell.compare(old, new).reproducer
    assert "@pytest.mark.parametrize(\n    ('code', 'expected'),\n" in text
    rows = [line for line in text.splitlines() if line.strip().startswith("pytest.param(")]
    assert len(rows) > 1 and all("before the change" in row for row in rows), text
    (tmp_path / "test_f.py").write_text(text)
    assert_passes_on_old_and_fails_on_new(tmp_path, old, new)
    failed = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_f.py"], cwd=tmp_path, capture_output=True)
    assert f"{len(rows)} failed" in failed.stdout.decode()
    # pytest refuses parameters with this name.
    text = twincell.compare(old.replace("code", "request"), new.replace("code", "request")).reproducer
    assert "parametrize" not in text and "assert f(" in text


def test_the_module_is_as_it_was_written():
    module = "class Cart:\n    def total(self):\n        while self.items:\n            self.items.pop()\n\n\n"
    versions = [f"{module}def f(cart):\n    return Cart.total(cart) + cart.more + {number}\n" for number in (1, 2)]
    source = twincell.compare(*versions).reproducer
    assert "class Cart" in source and "_tc_" not in source


def test_the_reproducer_of_a_snippet_says_first_what_changed():
    old, new, _ = PAIRS["snippet_that_prints"]
    text = twincell.compare(old, new).reproducer
    assert text.startswith('"""The snippet changed: '), text


def test_objects_are_mocks_where_these_say_it():
    old, new = PAIRS["calls"][:2]
    text = twincell.compare(old, new).reproducer
    assert "Standin" not in text and "store.save.assert_called_once_with(1)" in text


def test_a_method_that_calls_others_of_its_class_has_a_real_object():
    old, new, options = PAIRS["method_that_calls_others_of_its_class"]
    text = twincell.compare(old, new, **options).reproducer
    lines = [line.strip() for line in text.split("def test_add():")[1].splitlines()]
    assert lines[1:3] == ["Shelf = subject()", "shelf = object.__new__(Shelf)"], text
    assert "Mock" not in text and "shelf.items = " in text and "assert shelf.add(" in text


def test_the_object_of_a_method_has_a_name_of_its_own():
    old, new, options = PAIRS["object_named_as_a_parameter"]
    text = twincell.compare(old, new, **options).reproducer
    assert "instance = object.__new__(Item)" in text, text


def test_a_method_of_another_object_is_none_of_the_class():
    old = "class Cache:\n    def get(self, key):\n        return self.data.get(key, 0)\n"
    text = twincell.compare(old, old.replace("0)", "1)"), function="Cache.get", context="module").reproducer
    assert "object.__new__" not in text and "Standin" not in text, text


def test_a_test_does_not_fail_since_it_lacks_a_name():
    old = """USUAL = 30


def minutes(text: str):
    text = text.strip()
    if not text:
        return USUAL
    if int(text) <= 0:
        raise ValueError(text)
    return int(text)
"""
    new = old[: old.index("    text =")] + "    return int(text.strip() or 0) or USUAL\n"
    source = twincell.compare(old, new, function="minutes").reproducer
    assert "USUAL = 30" in source, source


def assert_passes_on_old_and_fails_on_new(folder, old, new, subject="subject.py"):
    """Runs `test_f.py` with each version in a file of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_f.py"]
    environment = {**os.environ, "TWINCELL_SUBJECT": subject}
    for text, status in ((old, 0), (new, 1)):
        (folder / subject).write_text(text)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
        assert done.returncode == status, done.stdout.decode()


def test_a_class_of_the_module_that_only_a_value_names_is_in_the_test():
    old = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Trip:\n    car: str\n    miles: float\n\n\n"
        "def label(trip, default=None):\n    name = default if default is not None else trip.car\n"
        "    return f'{name} {trip.miles}'\n"
    )
    new = old.replace("default if default is not None else", "default or")
    reproducer = twincell.compare(old, new, function="label").reproducer
    assert "class Trip:" in reproducer and "class Standin" not in reproducer


def test_a_file_can_be_the_subject(tmp_path):
    old, new = "def f(x):\n    return x or 3\n", "def f(x):\n    return x\n"
    (tmp_path / "test_f.py").write_text(twincell.compare(old, new).reproducer)
    assert_passes_on_old_and_fails_on_new(tmp_path, old, new)


OF_PACKAGE = "from ..rates import RATE\nfrom .tax import TAX\n"
CART = f"""{OF_PACKAGE}class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        """
IN_PACKAGE = {
    "module_constant": PAIRS["module_constant"],
    "not_found_in_a_list": PAIRS["not_found_in_a_list"],
    "log": PAIRS["log"],
    "function": (f"{OF_PACKAGE}def f(x):\n    return x or 3\n", f"{OF_PACKAGE}def f(x):\n    return x\n", {}),
    "class": (f"{CART}return 1\n", f"{CART}return 2\n", {"function": "Cart"}),
}


@sample(IN_PACKAGE, ["class"])
def test_a_file_of_a_package_can_be_the_subject(tmp_path, name):
    old, new, options = IN_PACKAGE[name]
    reproducer = twincell.compare(old, new, **options).reproducer
    assert ("def load()" in reproducer) == (name in PAIRS), reproducer
    (tmp_path / "test_f.py").write_text(reproducer)
    package = tmp_path / "shop" / "inner"
    package.mkdir(parents=True)
    for path, text in {
        "__init__.py": "",
        "rates.py": "RATE = 3\n",
        "inner/__init__.py": "",
        "inner/tax.py": "TAX = 2\n",
    }.items():
        (tmp_path / "shop" / path).write_text(text)
    versions = [text if OF_PACKAGE in text else OF_PACKAGE + text for text in (old, new)]
    assert_passes_on_old_and_fails_on_new(tmp_path, *versions, "shop/inner/subject.py")


def test_a_file_is_run_whatever_its_name(tmp_path):
    start = "try:\n    import not_there\nexcept ImportError:\n    pass\n\n\ndef f(x):\n    return "
    reproducer = twincell.compare(f"{start}x or 3\n", f"{start}x\n").reproducer
    assert "def names_of(path)" in reproducer, reproducer
    (tmp_path / "odd").mkdir()
    (tmp_path / "test_f.py").write_text(reproducer)
    assert_passes_on_old_and_fails_on_new(tmp_path, f"{start}x or 3\n", f"{start}x\n", "odd/random.py")


def test_the_values_of_a_test_hold_in_a_whole_file_too(tmp_path):
    old = "LIMIT = 100\n\ndef helper(x):\n    return 0\n\n"
    old += "def f(x):\n    return helper(x) + 1 if LIMIT > 3 else helper(x)\n"
    new = old.replace("+ 1", "+ 2")
    (tmp_path / "test_f.py").write_text(twincell.compare(old, new, function="f", context="function").reproducer)
    assert_passes_on_old_and_fails_on_new(tmp_path, old, new)


def test_what_reaches_outside_the_process_is_no_reproducer(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("here")
    old = f"import os\ndef helper():\n    os.remove({str(victim)!r})\ndef f(x):\n    helper()\n    return 1\n"
    comparison = twincell.compare(old, old.replace("return 1", "return 2"), function="f")
    assert victim.exists()
    if comparison.reproducer is not None:
        # Then the call stands in for what it would do.
        (tmp_path / "test_f.py").write_text(comparison.reproducer)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_f.py"]
        subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert victim.exists()


AGE = (
    "from datetime import date\ndef f(born: date) -> int:\n    today = date.today()\n    return today.year - born.year"
)
EXPIRED = "import time\ndef f(stamp: float, ttl: float = 3600.0) -> bool:\n    return time.time() - stamp > "
#: Versions whose difference shows in the sandbox alone, and why there is no reproducer.
ONLY_HERE = {
    "year": (f"{AGE} - ((today.month, today.day) < (born.month, born.day))\n", f"{AGE}\n", "at another time"),
    "moment": (f"{EXPIRED}ttl\n", f"{EXPIRED}ttl / 2\n", "at another time"),
    "wait": (
        "import time\ndef f(n):\n    time.sleep(1000)\n    return 1\n",
        "import time\ndef f(n):\n    time.sleep(1000)\n    return 2\n",
        "it waits for 1000 s",
    ),
    "order_of_a_set": (
        "def f(items: list[str]):\n    return list(dict.fromkeys(items))\n",
        "def f(items: list[str]):\n    return list(set(items))\n",
        "the order of a set is compared",
    ),
    "order_of_a_set_of_objects": (
        "def f(items):\n    return list(dict.fromkeys(items))\n",
        "def f(items):\n    return list(set(items))\n",
        "the order of a set is compared",
    ),
}


@sample(ONLY_HERE, ["moment", "wait", "order_of_a_set"])
def test_what_shows_in_the_sandbox_alone_is_no_reproducer(name):
    old, new, why = ONLY_HERE[name]
    comparison = twincell.compare(old, new)
    assert comparison.verdict == "changing"
    assert comparison.reproducer is None, comparison.reproducer
    # The one place where each of these reasons is told apart from the others.
    assert why in comparison.pairs[0]["reproducer"]["why_not"]


def test_the_number_of_a_process_is_no_part_of_a_reproducer():
    old = "import os\ndef f(limit: int) -> bool:\n    return limit > os.getpid()\n"
    comparison = twincell.compare(old, old.replace("limit >", "limit >="))
    assert comparison.verdict == "changing"
    assert comparison.reproducer is None, comparison.reproducer


@pytest.mark.long
@pytest.mark.parametrize("change", [("'a'", "'b'"), ("'no'", "'none'")], ids=["read", "refused"])
def test_a_file_that_the_sandbox_refuses_is_no_part_of_a_reproducer(change, tmp_path):
    file = tmp_path / "settings"
    file.write_text("here")
    read = f"        return open({str(file)!r}).read() + 'a'\n"
    old = f"def f(x):\n    try:\n{read}    except OSError:\n        return 'no'\n"
    new = old.replace(*change)
    made = twincell.compare(old, new).pairs[0]["reproducer"]
    if made and made["holds"]:
        # Then a stand-in gives what the file would.
        (tmp_path / "test_f.py").write_text(made["source"])
        assert_passes_on_old_and_fails_on_new(tmp_path, old, new)


def test_the_same_comparison_gives_the_same_reproducer():
    old, new, options = PAIRS["calls_of_what_calls_give"]
    assert twincell.compare(old, new, **options).reproducer == twincell.compare(old, new, **options).reproducer


def test_a_comparison_without_a_change_has_no_reproducer():
    assert twincell.compare("def f(x):\n    return x\n", "def f(y):\n    return y\n").reproducer is None


def run_cli(*arguments, cwd):
    command = [sys.executable, "-m", "twincell", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_the_command_line_writes_reproducers(tmp_path):
    old, new, _ = PAIRS["return_value"]
    (tmp_path / "old.py").write_text(old)
    (tmp_path / "new.py").write_text(new)
    options = ["--predictor", "frequency", "--reproducer"]
    done = run_cli("compare", "old.py", "new.py", *options, "test_it.py", cwd=tmp_path)
    assert done.returncode == 1 and "reproducer of f: test_it.py" in done.stderr
    assert "def test_f():" in (tmp_path / "test_it.py").read_text()
    (tmp_path / "there").mkdir()
    done = run_cli("compare", "old.py", "new.py", *options, "there", cwd=tmp_path)
    assert done.returncode == 1 and [path.name for path in (tmp_path / "there").iterdir()] == ["test_f.py"]

    more = "\ndef g(x):\n    return {}\n"
    (tmp_path / "old.py").write_text(old + more.format(1))
    (tmp_path / "new.py").write_text(new + more.format(2))
    run_cli("compare", "old.py", "new.py", *options, "many", cwd=tmp_path)
    assert sorted(path.name for path in (tmp_path / "many").iterdir()) == ["test_f.py", "test_g.py"]


def test_a_study_writes_a_reproducer_for_each_change(tmp_path):
    rows = [
        {"id": "a/1", "old": PAIRS["return_value"][0], "new": PAIRS["return_value"][1]},
        {"id": "same", "old": PAIRS["output"][0], "new": PAIRS["output"][0]},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--predictor", "frequency", "--reproducers", "tests"]
    done = run_cli("study", "in.jsonl", "--out", "out.jsonl", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "tests").iterdir()] == ["test_a_1.py"]
    findings = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [finding["reproducer"] for finding in findings] == ["holds", None]
