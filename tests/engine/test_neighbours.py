"""One change never touches the next: whatever a program does to its process, the rows of its neighbours are byte for
byte those that they have alone."""

import functools
import json
import re

import pytest
import twincell

from .layers import SANDBOX, sample

OPTIONS = {"budget": 8, "jobs": 1, "predictor": "uniform", "memory": 512}

#: What a function does to the interpreter that runs it, by name.
SPOILERS = {
    "module attribute": "import math\nmath.pi = 3",
    "text of a module": "import string\nstring.digits = '01'",
    "setter of a module": "import calendar\ncalendar.setfirstweekday(6)",
    "switch of a module": "import logging\nlogging.disable(60)",
    "registry of types": "import mimetypes\nmimetypes.add_type('x/spoiled', '.txt')",
    "attribute of a class": "import json\njson.JSONEncoder.item_separator = ';'",
    "method of a class": "import fractions\nfractions.Fraction.__str__ = lambda self: 'spoiled'",
    "code of a function": "import textwrap\ntextwrap.dedent.__code__ = (lambda text: 'spoiled').__code__",
    "defaults of a function": "import textwrap\ntextwrap.indent.__defaults__ = (lambda line: False,)",
    "function of a module": "import json\njson.dumps = lambda *a, **k: 'spoiled'",
    "builtin": "import builtins\nbuiltins.len = lambda one: 7\nbuiltins.sorted = lambda one, **k: []",
    "imported modules": "import sys\nsys.modules['json'] = None\nsys.modules.pop('textwrap', None)",
    "context variable": "import contextvars, decimal\ncontextvars.ContextVar('x').set(1)\n"
    "decimal.setcontext(decimal.Context(prec=2))",
    "codec": "import codecs\ncodecs.register(lambda name: None)\n"
    "codecs.register_error('replace', lambda e: ('!', e.end))",
    "switch interval": "import sys\nsys.setswitchinterval(1)",
    "filters of warnings": "import warnings\nwarnings.simplefilter('error')",
    "locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')\nlocale.localeconv = dict",
    "context of decimals": "import decimal\ndecimal.getcontext().prec = 2\ndecimal.DefaultContext.prec = 2",
    "random state": "import random\nrandom.seed(1)\nrandom.random = lambda: 0.5\nrandom._inst.spoiled = 1",
    "at exit": "import atexit, os\natexit.register(os._exit, 3)",
    "import hook": "import sys\nclass Finder:\n    def find_spec(self, name, path=None, target=None):\n"
    "        raise ImportError(name)\nsys.meta_path.insert(0, Finder())\nsys.path.insert(0, '/nowhere')",
    "signal handler": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 1 / 0)\nsignal.alarm(1)",
    "callback of a weak reference": "import json, weakref\n"
    "weakref.finalize(json.JSONEncoder, print, 'spoiled')\ndel json.JSONEncoder",
    "thread": "import threading, time\nthreading.Thread(target=lambda: [time.sleep(9) for _ in iter(int, 1)],"
    " daemon=True).start()",
    "callback of the collector": "import gc\ngc.callbacks.append(lambda *a: 1 / 0)\ngc.disable()\ngc.freeze()",
    "abstract class": "import collections.abc\ncollections.abc.Sized.register(int)\n"
    "collections.abc.Mapping.register(str)",
    "pickling": "import copyreg\ncopyreg.pickle(complex, lambda c: (str, ('spoiled',)))",
    "cache of a function": "import fnmatch, functools\nfnmatch._compile_pattern = lambda *a: lambda *b: None",
    "typing": "import typing\ntyping.get_type_hints = lambda *a, **k: {'spoiled': 1}",
    "cache of patterns": "import re\nre.compile('a+')\nre.purge()\nre.I = 0\nre._MAXCACHE = 0",
    "lines of files": "import linecache\nlinecache.cache['x'] = (1, None, ['spoiled'], 'x')\nlinecache.getline = str",
    "environment": "import os\nos.environ['HOME'] = '/spoiled'\nos.environ.pop('PATH', None)\nos.sep = 'x'",
    "clock": "import time\ntime.time = lambda: 0\ntime.sleep = None",
    "streams": "import io, sys\nsys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()",
    "limits": "import sys\nsys.setrecursionlimit(60)\ngetattr(sys, 'set_int_max_str_digits', int)(640)",
    "tracing": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
    "audit hook": "import sys\nsys.addaudithook(lambda *a: None)",
    "descriptors": "import os\nos.closerange(3, 256)",
    "current folder": "import os\nos.mkdir('left')\nos.chdir('left')\nopen('file', 'w').write('left')",
}

#: What a function reads of its interpreter. Each is in the result of the old version, and each pair differs.
READS = [
    ("math", "math.pi"),
    ("string", "string.digits"),
    ("calendar", "calendar.firstweekday(), calendar.monthcalendar(2024, 2)[0]"),
    ("logging", "logging.getLogger('x').isEnabledFor(50)"),
    ("mimetypes", "mimetypes.guess_type('a.txt')[0]"),
    ("json", "json.dumps([1, 2])"),
    ("fractions", "str(fractions.Fraction(1, 3))"),
    ("textwrap", "textwrap.dedent('  a'), textwrap.indent('a', 'b')"),
    ("decimal", "str(decimal.Decimal(1) / 3)"),
    ("warnings", "warnings.warn('x'), len(warnings.filters)"),
    ("random", "random.random(), random.choice([1, 2, 3])"),
    ("sys", "sys.getswitchinterval(), len(sys.meta_path), sys.getrecursionlimit()"),
    ("signal", "signal.getsignal(signal.SIGALRM) is signal.SIG_DFL"),
    ("gc", "len(gc.callbacks), gc.isenabled()"),
    ("collections.abc", "isinstance(1, collections.abc.Sized), isinstance('', collections.abc.Mapping)"),
    ("copy", "copy.copy(1j)"),
    ("fnmatch, re", "fnmatch.fnmatch('a', '?'), re.compile('A', re.I).match('a') is None"),
    ("typing", "typing.get_type_hints(f), len('ab'), sorted([2, 1])"),
    ("os, time", "os.environ.get('HOME'), os.sep, os.getcwd(), os.listdir('.'), time.time()"),
    (
        "linecache, locale, codecs",
        "linecache.getline('x', 1), locale.localeconv()['decimal_point'], b'\\xff'.decode('utf-8', 'replace')",
    ),
]


def neighbour(imports, read):
    text = f"import {imports}\n\ndef f(x):\n    return "
    return text + f"[{read}]\n", text + f"[{read}, x]\n"


def row(old, new):
    report = twincell.compare(old, new, **OPTIONS).to_dict()
    assert report["verdict"] == "changing", report["sentence"]
    return json.dumps(without_times(report), sort_keys=True)


def without_times(report):
    if isinstance(report, str):
        return re.sub(r", \d+(\.\d+)? m?s\)", ")", report)
    if isinstance(report, dict):
        return {
            key: without_times(value) for key, value in report.items() if key not in ("milliseconds", "microseconds")
        }
    return [without_times(one) for one in report] if isinstance(report, list) else report


@functools.cache
def alone(read):
    return row(*neighbour(*read))


#: What spoilers of the gate spoil, by the first of the modules that are read; all are read when the sandbox changed.
QUICK = {
    "attribute of a class": "json",
    "builtin": "typing",
    "code of a function": "textwrap",
    "import hook": "sys",
    "random state": "random",
    "current folder": "os",
}


@sample(SPOILERS, QUICK, others=SANDBOX)
def test_a_program_leaves_nothing_to_its_neighbours(name):
    reads = [read for read in READS if name not in QUICK or read[0].startswith(QUICK[name])]
    assert reads
    before = [alone(read) for read in reads]
    spoil(name)
    assert [row(*neighbour(*read)) for read in reads] == before


@SANDBOX
@pytest.mark.parametrize("name", QUICK)
def test_nor_to_others(name):
    before = [alone(read) for read in READS]
    spoil(name)
    assert [row(*neighbour(*read)) for read in READS] == before


def spoil(name):
    """Runs the spoiler where the function runs, and where its module is evaluated."""
    body = "".join(f"    {line}\n" for line in SPOILERS[name].splitlines())
    module = SPOILERS[name] + "\n"
    for before, inside in (("", body), (module, "")):
        old, new = (f"{before}def f(x):\n{inside}    return {one}\n" for one in ("1", "2 - 1"))
        twincell.compare(old, new, **OPTIONS)
