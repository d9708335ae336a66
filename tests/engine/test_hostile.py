"""Code that wants to break the tool: it gets a verdict with a reason, in time, and its neighbours are not harmed.

Each snippet is run on the same warm worker that then has to get the next comparison right. Budget and deadline are
small, so that a hang shows.
"""

import twincell

from .layers import SANDBOX, sample
from .snippets import CHANGING, INCONCLUSIVE, PRESERVING, code, compare, expect, reason

OPTIONS = {"budget": 8, "timeout": 1, "jobs": 1, "predictor": "uniform", "memory": 256}


NEIGHBOURS = [
    (
        "import json, sys\ndef f(x):\n    print(len([1, 2]), file=sys.stderr)\n    return json.dumps({'a': [1, 2]})\n",
        "import json, sys\ndef f(x):\n    sys.stderr.write('2\\n')\n    return '{\"a\": [1, 2]}'\n",
        PRESERVING,
    ),
    ("def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n", CHANGING),
    (
        "def f(rows):\n    return [row for row in rows if isinstance(row, int)]\n",
        "def f(rows):\n    return list(filter(lambda row: isinstance(row, int), rows))\n",
        PRESERVING,
    ),
]


def check_neighbours():
    for old, new, verdict in NEIGHBOURS:
        comparison = expect(verdict, old, new, **OPTIONS | {"budget": 20})
        assert comparison.pairs[0]["lost"] == 0, comparison.pairs[0]["notes"]


def variant(body, last="return 1", before=""):
    """A function with this body, in two versions whose behavior does not differ."""
    body = "".join(f"    {line}\n" for line in code(body).splitlines())
    return tuple(f"{before}def f(x):\n    a = {number}\n{body}    {last}\n" for number in ("1", "2 - 1"))


ENDLESS = {
    "while": "while True:\n    pass",
    "while_one_line": "while 1: pass",
    "count": "import itertools\nfor a in itertools.count():\n    pass",
    "recursion": "def g(n):\n    return g(n + 1)\nreturn g(0)",
    "mutual_recursion": "g = lambda n: h(n)\nh = lambda n: g(n)\nreturn g(0)",
    "list_of_count": "import itertools\nlist(itertools.count())",
    "sum_of_count": "import itertools\nsum(itertools.count())",
    "iter_with_sentinel": "for a in iter(int, 1):\n    pass",
    "comprehension": "import itertools\n[a for a in itertools.count()]",
    "big_list": "return [0] * 10 ** 11",
    "big_string": "return len('a' * 10 ** 10)",
    "big_power": "return 10 ** 10 ** 8",
    "shift": "return 1 << (1 << 40)",
    "pattern": "import re\nre.match('(a+)+b', 'a' * 60)",
    "sleep": "import time\ntime.sleep(1000)",
    "lock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "wait": "import select\nselect.select([], [], [])",
    "read_of_stdin": "import sys\nsys.stdin.read()",
    "await_forever": "import asyncio\nasyncio.run(asyncio.Event().wait())",
    "busy_string": "s = 'a'\nwhile True:\n    s += s",
    "catch_all": "while True:\n    try:\n        a = 1\n    except BaseException:\n        pass",
    "catch_all_and_return": "try:\n    while True:\n        a = 1\nexcept BaseException:\n    return 7",
    "finally_continue": "while True:\n    try:\n        a = 1\n    finally:\n        continue",
    "generator_that_will_not_close": "def g():\n    while True:\n        try:\n            yield 1\n"
    "        except BaseException:\n            pass\ng().close()",
    "eval_loop": "eval('[0 for _ in iter(int, 1)]')",
    "exec_loop": "exec('while True: pass')",
    "sum_of_range": "return sum(range(10 ** 10))",
    "list_of_range": "return len(list(range(10 ** 10)))",
    "product": "import itertools\nreturn len(list(itertools.product(range(100), repeat=6)))",
    "growing_dict": "table = {}\nfor n in range(10 ** 9):\n    table[n] = 'a' * 1000",
    "bytes": "return len(bytearray(10 ** 11))",
    "decompression": "import zlib\nreturn len(zlib.decompress(zlib.compress(bytes(10 ** 8)) * 1, 15, 10 ** 10) * 100)",
    "deep_json": "import json\njson.loads('[' * 10 ** 6)",
    "deep_repr": "a = []\nfor _ in range(10 ** 5):\n    a = [a]\nreturn repr(a)",
    "deep_copy": "import copy\na = []\nfor _ in range(10 ** 5):\n    a = [a]\nreturn copy.deepcopy(a)",
    "deep_equality": "a, b = [], []\nfor _ in range(10 ** 5):\n    a, b = [a], [b]\nreturn a == b",
    "deep_eval": "return eval('(' * 10 ** 5)",
    "wide_format": "return len(format(1, '>' + str(10 ** 10)))",
    "nested_patterns": "import re\nre.compile('(' * 5000 + 'a' + ')*' * 5000).match('a' * 100)",
    "decimal_power": "import decimal\nreturn decimal.Decimal(7) ** decimal.Decimal(10 ** 12) and 1",
    "sorting": "class A:\n    def __lt__(self, other):\n        return self < other\nsorted([A(), A()])",
    "attribute_loop": "class A:\n    def __getattr__(self, name):\n        return getattr(self, name + 'a')\nA().a",
    "mock_in_for": "for a in x:\n    x.append(a)",
    "mock_in_while": "while x.more():\n    x.step()",
    "mock_popped": "while x:\n    x.pop()",
    "mock_iterator": "rows = iter(x)\nwhile True:\n    next(rows, None)",
    "mock_chain": "while x is not None:\n    x = x.next",
    "mock_index": "n = 0\nwhile x[n]:\n    n += 1",
    "del_loop": "class A:\n    def __del__(self):\n        while True:\n            pass\nA()",
}


#: Loops of Python and of C, recursion, memory, waiting, what catches everything, and injected values without end.
QUICK_ENDLESS = [
    "while",
    "recursion",
    "sum_of_count",
    "big_list",
    "sleep",
    "catch_all",
    "deep_repr",
    "mock_chain",
]


@sample(ENDLESS, QUICK_ENDLESS, others=SANDBOX)
def test_what_does_not_end_is_ended(name):
    comparison = compare(*variant(ENDLESS[name]), **OPTIONS | {"timeout": 0.3})
    assert comparison.verdict in (INCONCLUSIVE, PRESERVING), comparison.sentence
    assert reason(comparison)
    check_neighbours()


@SANDBOX
def test_where_the_module_does_not_end_the_function_alone_is_compared():
    old, new = variant("a = 1", before="import itertools\nsum(itertools.count())\n")
    comparison = compare(old, new, **OPTIONS)
    assert comparison.verdict == PRESERVING
    assert comparison.pairs[0]["notes"]
    check_neighbours()


DEADLY = {
    "exit": "import os\nos._exit(0)",
    "sys_exit": "import sys\nsys.exit()",
    "exit_builtin": "exit(3)",
    "abort": "import os\nos.abort()",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "kill_parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "kill_group": "import os, signal\nos.killpg(0, signal.SIGTERM)",
    "raise_signal": "import signal\nsignal.raise_signal(signal.SIGTERM)",
    "interrupt": "import _thread\n_thread.interrupt_main()",
    "alarm": "import signal\nsignal.alarm(1)",
    "timer": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.001)",
    "handler": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 1 / 0)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)",
    "segmentation_fault": "import ctypes\nctypes.string_at(0)",
    "stack": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef g():\n    return g()\ng()",
    "fork": "import os\nos.fork()",
    "subprocess": "import subprocess\nsubprocess.run(['ls'])",
    "system": "import os\nos.system('ls')",
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
    "server": "import socket\nsocket.socket().bind(('127.0.0.1', 0))",
    "close_all": "import os\nos.closerange(0, 4096)",
    "close_some": "import os\nfor n in range(300):\n    try:\n        os.close(n)\n    except OSError:\n        pass",
    "exhaust_files": "import os\nfor n in range(1000):\n    os.open('/dev/null', 0)",
    "write": "with open('/tmp/twincell-was-here', 'w') as file:\n    file.write('a')",
    "write_low": "import os\nos.open('/tmp/twincell-was-here', os.O_CREAT | os.O_WRONLY)",
    "read": "return open('/etc/passwd').read() and 1",
    "remove": "import os, shutil\nshutil.rmtree(os.path.expanduser('~'))",
    "change_folder": "import os\nos.chdir('/')",
    "multiprocessing": "import multiprocessing\np = multiprocessing.Process(target=print)\np.start()\np.join()",
    "atexit": "import atexit, time\natexit.register(time.sleep, 100)",
    "huge_limit": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
    "stop": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "spawn": "import os\nos.posix_spawn('/bin/ls', ['ls'], {})",
    "execute": "import os\nos.execv('/bin/ls', ['ls'])",
    "terminal": "import pty\npty.fork()",
    "process_pool": "from concurrent.futures import ProcessPoolExecutor\n"
    "with ProcessPoolExecutor(1) as pool:\n    pool.submit(len, []).result()",
    "many_threads": "import threading, time\nfor n in range(100000):\n"
    "    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
    "fill_the_disk": "import os\nfor n in range(10 ** 6):\n    file = os.open(f'big{n}', os.O_CREAT | os.O_WRONLY)\n"
    "    for _ in range(32):\n        os.write(file, bytes(1 << 20))\n    os.close(file)",
    "many_files": "import os\nfor n in range(10 ** 9):\n    os.close(os.open(f'f{n}', os.O_CREAT))",
    "deep_folders": "import os\nfor n in range(1000):\n    os.mkdir('d')\n    os.chdir('d')",
    "locked_folder": "import os, ctypes\nos.mkdir('d', 0)\nos.close(os.open('f', os.O_CREAT, 0))",
    "raise_in_c": "import ctypes\nctypes.pythonapi.Py_FatalError(b'a')",
    "exit_in_c": "import ctypes\nctypes.CDLL(None).exit(0)",
    "exit_thread": "import ctypes\nctypes.CDLL(None).pthread_exit(None)",
    "null_object": "import ctypes\nctypes.cast(8, ctypes.py_object).value",
    "code_that_crashes": "(lambda: 0).__code__.replace(co_code=b'\\x01' * 40, co_stacksize=0)\n"
    "f = type(lambda: 0)((lambda: 0).__code__.replace(co_code=bytes([100, 200] * 30)), {})\nf()",
    "release_the_lock": "import ctypes\nctypes.pythonapi.PyEval_SaveThread()",
    "stop_the_interpreter": "import ctypes\nctypes.pythonapi.Py_FinalizeEx()",
    "faulthandler": "import faulthandler\nfaulthandler._sigsegv()",
    "pthread_kill": "import signal, threading\nsignal.pthread_kill(threading.get_ident(), signal.SIGTERM)",
}


#: Ends of the process by itself, by signals and by faults; other processes, sockets, files.
QUICK_DEADLY = [
    "exit",
    "sys_exit",
    "kill_group",
    "handler",
    "segmentation_fault",
    "fork",
    "subprocess",
    "socket",
    "close_all",
    "write",
    "stop",
]


@sample(DEADLY, QUICK_DEADLY, others=SANDBOX)
def test_what_kills_costs_no_neighbour(name, tmp_path):
    comparison = compare(*variant(DEADLY[name]), **OPTIONS)
    assert comparison.verdict in (INCONCLUSIVE, PRESERVING), comparison.sentence
    assert reason(comparison)
    check_neighbours()


TAINTING = {
    "len": "import builtins\nbuiltins.len = lambda value: 5",
    "isinstance": "import builtins\nbuiltins.isinstance = lambda *a: True",
    "print": "import builtins\nbuiltins.print = lambda *a, **k: None",
    "import": "import builtins\nbuiltins.__import__ = None",
    "exec": "import builtins\nbuiltins.exec = None\nbuiltins.compile = None\nbuiltins.open = None",
    "builtins_deleted": "import builtins\nfor name in list(vars(builtins)):\n    if name[0] != '_':\n"
    "        delattr(builtins, name)",
    "own_builtins": "__builtins__.clear()",
    "clear": "globals().clear()",
    "hooks": "for name in [n for n in globals() if n.startswith('_tc')]:\n    del globals()[name]",
    "hooks_replaced": "for name in [n for n in globals() if n.startswith('_tc')]:\n    globals()[name] = None",
    "missing": "type(globals()).__missing__ = lambda self, name: 5",
    "modules": "import sys\nsys.modules.clear()",
    "modules_none": "import sys\nfor name in list(sys.modules):\n    sys.modules[name] = None",
    "stdout": "import sys\nsys.stdout = None\nsys.stderr = None",
    "stdout_closed": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "stdout_object": "import sys\nclass A:\n    def write(self, text):\n        raise ValueError\n"
    "sys.stdout = sys.stderr = A()",
    "settrace": "import sys\nsys.settrace(lambda *a: 1 / 0)",
    "setprofile": "import sys\nsys.setprofile(lambda *a: 1 / 0)",
    "recursion_limit": "import sys\nsys.setrecursionlimit(30)",
    "dumps": "import json\njson.dumps = lambda value: 'broken'",
    "io": "import io\nio.BytesIO = io.TextIOWrapper = None",
    "asyncio": "import asyncio\nasyncio.new_event_loop = None",
    "loop_closed": "import asyncio\nasyncio.get_event_loop_policy().new_event_loop = None",
    "warnings": "import warnings\nwarnings.showwarning = None\nwarnings.simplefilter('error')",
    "setattr_of_object": "import ctypes, gc\ngc.get_referents(object.__dict__)[0]['__setattr__'] = None",
    "type_of_builtin": "import gc\ngc.get_referents(int.__dict__)[0]['__add__'] = lambda a, b: 7",
    "own_extension": "import sys\nfor name in [n for n in sys.modules if 'twincell' in n]:\n"
    "    vars(sys.modules[name]).clear()",
    "own_helpers": "import sys\nfor name in [n for n in sys.modules if 'twincell' in n]:\n"
    "    for key in list(vars(sys.modules[name])):\n        setattr(sys.modules[name], key, None)",
    "own_worker": "import sys\nmain = sys.modules['__main__']\nmain.main = main._fail = None",
    "import_system": "import importlib._bootstrap as b\nb._find_and_load = b._handle_fromlist = None",
    "loader": "import importlib.machinery as m\nm.PathFinder.find_spec = None\nm.SourceFileLoader.get_code = None",
    "codecs": "import codecs, sys\ncodecs.lookup = None\ncodecs.register_error('backslashreplace', lambda e: 1 / 0)",
    "weak_references": "import weakref\nclass A:\n    pass\na = A()\n"
    "weakref.finalize(a, lambda: 1 / 0)\nweakref.ref(a, lambda r: 1 / 0)\ndel a",
    "metaclass": "class M(type):\n    def __instancecheck__(self, other):\n        raise SystemExit\n"
    "    __eq__ = __hash__ = None\nclass A(metaclass=M):\n    pass\nx.kind = A\nx.send(A, A())",
    "type_slots": "class A:\n    __slots__ = ('__dict__',)\n    __class__ = int\nx.send(A())",
    "finalizers": "class A:\n    def __del__(self):\n        raise SystemExit\nfor n in range(100):\n    A()",
    "monitoring": "import sys\nif hasattr(sys, 'monitoring'):\n    m = sys.monitoring\n    m.use_tool_id(3, 'a')\n"
    "    m.register_callback(3, m.events.CALL, lambda *a: 1 / 0)\n    m.set_events(3, m.events.CALL)",
    "threads_hooks": "import threading\nthreading.excepthook = None\nthreading.settrace(lambda *a: 1 / 0)\n"
    "threading.Thread = None",
    "time": "import time, _thread\ntime.sleep = time.monotonic = None\n_thread._count = lambda: 7",
    "thread": "import threading\ndef g():\n    while True:\n        pass\n"
    "threading.Thread(target=g, daemon=True).start()",
    "thread_that_prints": "import threading, sys\ndef g():\n    while True:\n        print('thread')\n"
    "        sys.stderr.write('thread')\n"
    "threading.Thread(target=g).start()",
    "thread_that_sleeps": "import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()",
    "timer": "import threading\nthreading.Timer(0.01, print, ['late']).start()",
    "garbage": "import gc\ngc.disable()\ngc.freeze()\ngc.set_threshold(1)\ngc.callbacks.append(lambda *a: 1 / 0)",
    "tinker_with_objects": "import gc\nfor a in gc.get_objects():\n    if type(a) is dict and '_tc_l' in a:\n"
    "        a['_tc_l'] = None",
    "locals_of_frames": "import sys\nframe = sys._getframe()\nwhile frame:\n    frame.f_globals.clear()\n"
    "    frame = frame.f_back",
    "import_hook": "import sys\nsys.meta_path.clear()\nsys.path.clear()\nsys.path_hooks.clear()",
    "switch_interval": "import sys\nsys.setswitchinterval(100)",
    "audit_hook": "import sys\nsys.addaudithook(lambda *a: 1 / 0)",
    "audit_hook_that_exits": "import sys\ndef g(*a):\n    raise SystemExit\nsys.addaudithook(g)",
    "excepthook": "import sys\nsys.excepthook = sys.unraisablehook = None",
    "locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
    "abstract": "import abc, collections.abc\ncollections.abc.Iterable.register(int)",
    "environment": "import os\nos.environ.clear()",
    "hash_of_the_type": "class M(type):\n    def __hash__(self):\n        raise ValueError\n"
    "class A(metaclass=M):\n    pass\nreturn A",
    "ctypes_write": "import ctypes\nctypes.memset(id(1), 0, 8)",
    "int_max_str_digits": "import sys\nif hasattr(sys, 'set_int_max_str_digits'):\n    sys.set_int_max_str_digits(640)",
    "decimal_context": "import decimal\ndecimal.getcontext().prec = 1",
    "memo": "import re, functools\nre.compile = functools.lru_cache(lambda *a: 5)",
    "signal_ignored": "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "signal.signal(signal.SIGINT, lambda *a: 1)",
}


#: Builtins, names of the module, modules, streams, tracing, the own runtime, types, threads, imports, hooks, signals.
QUICK_TAINTING = [
    "len",
    "hooks_replaced",
    "modules",
    "stdout_closed",
    "settrace",
    "own_helpers",
    "type_of_builtin",
    "thread",
    "import_hook",
    "audit_hook",
    "signal_ignored",
]


@sample(TAINTING, QUICK_TAINTING, others=SANDBOX)
def test_a_tainted_process_is_whole_again_for_the_next(name):
    comparison = compare(*variant(TAINTING[name]), **OPTIONS)
    assert comparison.verdict in (INCONCLUSIVE, PRESERVING), comparison.sentence
    assert reason(comparison)
    check_neighbours()


CLASSES = """
class Repr:
    def __repr__(self):
        raise ValueError
    __str__ = __repr__
class Equal:
    def __eq__(self, other):
        raise ValueError
    def __hash__(self):
        raise ValueError
class Own:
    __class__ = property(lambda self: 1 / 0)
class Get:
    def __getattribute__(self, name):
        raise RuntimeError(name)
class Space:
    __dict__ = property(lambda self: 5)
class Meta(type):
    __name__ = property(lambda self: 1 / 0)
    def __instancecheck__(self, value):
        raise ValueError
    def __getattribute__(self, name):
        raise RuntimeError(name)
class Named(metaclass=Meta):
    pass
class Bool:
    def __bool__(self):
        raise ValueError
    def __len__(self):
        return -1
    def __iter__(self):
        return self
    def __next__(self):
        return self
class Failing(Exception):
    def __str__(self):
        raise ValueError
    __repr__ = __str__
    args = property(lambda self: 1 / 0)
class Items(list):
    def __iter__(self):
        raise ValueError
    def __len__(self):
        return 10 ** 9
    def __getitem__(self, key):
        raise ValueError
class Table(dict):
    def items(self):
        raise ValueError
    __iter__ = keys = values = items
class Text(str):
    def __str__(self):
        return 5
class Number(int):
    def __index__(self):
        return 5
    __int__ = __index__
class End:
    def __del__(self):
        print("deleted")
        self.again = Keep.append(self)
Keep = []
class Slots:
    __slots__ = ("a", "b")
"""

RESULTS = {
    "broken_repr": "Repr()",
    "broken_equality": "Equal()",
    "broken_class": "Own()",
    "broken_attributes": "Get()",
    "broken_namespace": "Space()",
    "broken_metaclass": "Named()",
    "class_of_a_broken_metaclass": "Named",
    "broken_truth": "Bool()",
    "broken_exception": "Failing()",
    "list_subclass": "Items([1])",
    "dict_subclass": "Table(a=1)",
    "text_subclass": "Text('a')",
    "int_subclass": "Number(3)",
    "finalizer": "[End(), None][1]",
    "slots": "Slots()",
    "deep_list": "eval('[' * 90 + ']' * 90)",
    "deeper_list": "__import__('functools').reduce(lambda a, b: [a], range(20000), [])",
    "deep_dict": "__import__('functools').reduce(lambda a, b: {'a': a}, range(20000), {})",
    "cycle": "(lambda a: (a.append(a), a)[1])([])",
    "wide": "list(range(10 ** 5))",
    "wide_dict": "dict.fromkeys(range(10 ** 5))",
    "long_text": "'a' * 10 ** 7",
    "long_bytes": "bytes(10 ** 7)",
    "nul": "'a\\0b'",
    "surrogates": "'\\ud800a\\udfff'",
    "surrogate_key": "{'\\udc80': '\\udc80'}",
    "huge_int": "10 ** 10000",
    "huge_negative_int": "-(10 ** 10000)",
    "not_a_number": "float('nan')",
    "infinity": "-float('inf')",
    "complex": "complex('nan')",
    "keys_that_cannot_be_sorted": "{1: 1, 'a': 2, None: 3}",
    "frozen_sets": "{frozenset({frozenset()}), frozenset()}",
    "module": "__import__('sys')",
    "frame": "__import__('sys')._getframe()",
    "globals": "globals()",
    "builtins": "__builtins__",
    "all_objects": "__import__('gc').get_objects()",
    "type": "type",
    "lock": "__import__('threading').Lock()",
    "memory": "memoryview(b'abc')",
    "released_memory": "(lambda m: (m.release(), m)[1])(memoryview(b'abc'))",
    "weak_reference": "__import__('weakref').ref(Slots)",
    "bound_method": "[].append",
    "code": "(lambda: 1).__code__",
    "closed_file": "(lambda f: (f.close(), f)[1])(__import__('io').StringIO())",
    "partial": "__import__('functools').partial(print, 1)",
    "ellipsis": "...",
    "not_implemented": "NotImplemented",
    "generator": "(a for a in range(10 ** 9))",
    "endless_map": "map(int, iter(int, 1))",
    "coroutine_function": "__import__('asyncio').sleep",
    "future": "__import__('asyncio').sleep(0)",
    "own_iterator": "Bool()",
    "exception_with_a_traceback": "(lambda e: e.with_traceback(None))(ValueError([1]))",
    "exception_group_like": "ValueError(ValueError(ValueError(1)))",
}


#: What fails when it is looked at, subclasses, what is deep, long or no text, and parts of the interpreter.
QUICK_RESULTS = [
    "broken_repr",
    "broken_attributes",
    "broken_metaclass",
    "list_subclass",
    "finalizer",
    "deeper_list",
    "cycle",
    "long_text",
    "surrogates",
    "huge_int",
    "module",
    "endless_map",
]


@sample(RESULTS, QUICK_RESULTS, others=SANDBOX)
def test_any_value_can_be_observed(name):
    for last in (f"return {RESULTS[name]}", f"x.seen = {RESULTS[name]}", f"x.send([{RESULTS[name]}])"):
        comparison = expect(PRESERVING, *variant("b = a", last, before=CLASSES), **OPTIONS, function="f")
        comparison.to_json()
        comparison._repr_mimebundle_()


RAISED = {
    "broken_exception": "Failing()",
    "surrogates": "ValueError('\\ud800')",
    "huge": "ValueError(10 ** 10000)",
    "long": "ValueError('a' * 10 ** 7)",
    "cyclic": "(lambda a: (a.append(a), ValueError(a))[1])([])",
    "base": "BaseException('a')",
    "interrupt": "KeyboardInterrupt",
    "exit": "SystemExit('a')",
    "generator_exit": "GeneratorExit",
    "stop_iteration": "StopIteration(1)",
    "memory": "MemoryError()",
    "recursion": "RecursionError()",
}


@sample(RAISED, ["broken_exception", "base", "exit"], others=SANDBOX)
def test_any_exception_can_be_observed(name):
    comparison = compare(*variant("b = a", f"raise {RAISED[name]}", before=CLASSES), **OPTIONS, function="f")
    assert comparison.verdict in (PRESERVING, INCONCLUSIVE), comparison.sentence
    comparison.to_json()
    check_neighbours()


OUTPUT = {
    "much": "print('a' * 10 ** 7)",
    "many": "for n in range(10 ** 4):\n    print(n)",
    "bytes": "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 1000)",
    "surrogates": "print('\\ud800')",
    "escape": "print('\\x1b[2J\\0</script>')",
    "descriptor": "import os\nos.write(1, b'a')\nos.write(2, b'a')",
    "original": "import sys\nprint('a', file=sys.__stdout__)\nprint('a', file=sys.__stderr__)",
}


@sample(OUTPUT, ["much", "bytes", "descriptor", "original"], others=SANDBOX)
def test_any_output_can_be_observed(name, capfd):
    comparison = compare(*variant(OUTPUT[name]), **OPTIONS)
    assert comparison.verdict in (PRESERVING, INCONCLUSIVE), comparison.sentence
    comparison._repr_mimebundle_()
    check_neighbours()
    assert capfd.readouterr() == ("", "")


def test_a_difference_after_much_output_is_seen():
    old = "def f(x):\n    print('a' * 100000)\n    print('b')\n"
    assert compare(old, old.replace("'b'", "'c'"), **OPTIONS).verdict == CHANGING


def test_surrogates_differ():
    comparison = compare("def f(x):\n    return '\\ud800'\n", "def f(x):\n    return '\\ud801'\n", **OPTIONS)
    assert comparison.verdict == CHANGING


DEEP = {
    "brackets": "(" * 5000 + "x" + ")" * 5000,
    "signs": "-" * 5000 + "x",
    "attributes": "x" + ".a" * 5000,
    "calls": "x" + "()" * 3000,
    "sums": "x" + "+x" * 5000,
}


@sample(DEEP, ["brackets", "attributes"], others=SANDBOX)
def test_deep_code_is_no_crash(name):
    text = DEEP[name]
    old, new = f"def f(x):\n    return {text}\n", f"def f(x):\n    y = {text}\n    return y\n"
    try:
        assert twincell.compare(old, new, **OPTIONS).verdict in (PRESERVING, INCONCLUSIVE, "identical")
    except twincell.TwincellError as error:
        assert "\n" not in str(error)
    check_neighbours()


def test_a_change_in_hostile_code_is_still_seen():
    old = "import builtins\ndef f(x):\n    builtins.len = lambda value: 5\n    return [len('abc'), 1]\n"
    assert compare(old, old.replace(", 1]", ", 2]"), **OPTIONS).verdict == CHANGING
    check_neighbours()


def huge(branches):
    lines = ["def f(x, y):", "    n = 0"]
    for number in range(branches):
        lines += [f"    if x.value == {number} and y[{number}]:", f"        n += x.field{number}(y) or {number}"]
    return "\n".join([*lines, "    return n"]) + "\n"


@SANDBOX
def test_a_huge_function_loses_no_execution():
    old = huge(2000)
    comparison = compare(old, old.replace("return n", "m = n\n    return m"), **OPTIONS)
    assert comparison.verdict in (PRESERVING, INCONCLUSIVE), reason(comparison)
    assert comparison.pairs[0]["lost"] == 0
    expect(CHANGING, old, old.replace("return n", "return n + 1"), **OPTIONS)
    check_neighbours()


MUCH = "def f(x):\n    for n in range(20000):\n        x.send('a' * 9000, n)\n    return {}\n"


@SANDBOX
def test_much_that_is_observed_takes_bounded_memory():
    before = peak()
    comparison = compare(MUCH.format("1"), MUCH.format("2 - 1"), **OPTIONS | {"budget": 300, "timeout": 5})
    assert comparison.verdict in (PRESERVING, INCONCLUSIVE), reason(comparison)
    assert peak() - before < 1 << 20
    check_neighbours()


def peak():
    """The most memory that this process ever had, in KiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
