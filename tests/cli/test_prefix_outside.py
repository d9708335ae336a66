"""Prefixes for code that leans on what is outside of it: programs, files, answers, libraries that call back."""

from __future__ import annotations

import pytest

from .test_prefix import completed_alone, found

#: Code of which all lines run, and what the best prefix has for it.
WHOLE = {
    "a name of Python 2": ("print(raw_input('?'))\nfor i in xrange(3):\n    print(unichr(i))\n", "xrange = range"),
    "a module of Python 2": (
        "from StringIO import StringIO\nprint(StringIO('a').read())\n",
        "sys.modules['StringIO'] = io",
    ),
    "a class that moved": (
        "from collections import Mapping\nclass Own(Mapping):\n    pass\nprint(isinstance({}, Mapping))\n",
        "collections.Mapping = collections.abc.Mapping",
    ),
    "a function that moved": ("import time\nstart = time.clock()\nprint(start)\n", "time.clock = time.perf_counter"),
    "a program": (
        "import subprocess\nout = subprocess.check_output(['ls']).decode().split()\nprint(out[0])\n",
        "subprocess.check_output = lambda *args, **kwargs: b'name 1 2 3\\n'",
    ),
    "a program that is waited for": (
        "from subprocess import PIPE, Popen\np = Popen(['ls'], stdout=PIPE)\nout, err = p.communicate()\n"
        "print(out, p.returncode)\n",
        "class Popen:",
    ),
    "processes": (
        "from concurrent.futures import ProcessPoolExecutor\ndef double(n):\n    return 2 * n\n"
        "with ProcessPoolExecutor() as pool:\n    for n in pool.map(double, [1, 2]):\n        print(n)\n",
        "ThreadPoolExecutor",
    ),
    "a file in a folder": ("with open('data/names.txt') as file:\n    print(file.read())\n", "mkdir(parents=True"),
    "a folder": ("import os\nfor name in os.listdir('data'):\n    print(name)\n", "Path('data/first.txt')"),
    "files that match": ("import glob\nfor name in glob.glob('data/*.csv'):\n    print(name)\n", "data/first.csv"),
    "an archive": (
        "from zipfile import ZipFile\nwith ZipFile('all/a.zip') as archive:\n    archive.extractall('all')\n",
        "archive.writestr('first.txt', ",
    ),
    "answers": (
        "while True:\n    try:\n        age = int(input('age'))\n    except ValueError:\n        print('a number')\n"
        "        continue\n    if age < 18:\n        print('too young')\n        continue\n    break\n"
        "while input('stop?') != 'stop':\n    print('on')\nprint(age)\n",
        "answers = cycle([",
    ),
    "answers that only a text in capitals ends": (
        "while True:\n    age = input('age')\n    if age not in ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'):\n"
        "        print('no')\n    else:\n        break\nwhile not input('shout').isupper():\n    print('louder')\n"
        "print('end')\n",
        "'TEXT'",
    ),
    "a program that still runs when it is first asked": (
        "from subprocess import PIPE, Popen\np = Popen(['ls'], stdout=PIPE)\nwhile p.poll() is None:\n"
        "    print('runs')\nprint(p.stdout.read())\n",
        "self.polls = [None, 0]",
    ),
    "a program whose output is read from its descriptor": (
        "import io\nfrom subprocess import PIPE, Popen\np = Popen(['ls'], stdout=PIPE)\n"
        "with io.open(p.stdout.fileno(), 'rb', closefd=False) as out:\n    print(out.readline())\n",
        "self.stdout = tempfile.TemporaryFile()",
    ),
    "a function that schedules itself": (
        "import sched, time\nplan = sched.scheduler(time.time, time.sleep)\ndef again():\n"
        "    plan.enter(60, 1, again)\n    print('now')\nplan.enter(60, 1, again)\nplan.run()\nprint('end')\n",
        "sched.scheduler.run = lambda self",
    ),
    "a loop that takes too long": (
        "total = 0\nfor i in range(10_000_000):\n    for j in range(10_000_000):\n        total += i * j\n"
        "print(total)\n",
        "return builtins.range(*bounds)[:10]",
    ),
    "a file whose absence is handled": (
        "try:\n    with open(name) as file:\n        print(file.read())\nexcept OSError:\n    print('none')\n",
        ".write_text(",
    ),
    "a module that the code can do without": (
        "try:\n    from fast_parts.inner import parse\nexcept ImportError:\n    parse = None\n"
        "else:\n    print(parse(1))\n",
        "sys.modules['fast_parts.inner'] = SimpleNamespace(parse=",
    ),
    "a module that the code can do without, and that is here": (
        "try:\n    import json\nexcept ImportError:\n    json = None\n    print('none')\nprint(json)\n",
        "sys.modules['json'] = None  # as if it were not installed",
    ),
    "a container": (
        "if name not in self:\n    self.set(name)\n    print('new')\nprint(self.all[name].text)\n",
        "def __contains__(self, item):",
    ),
    "what a list holds": (
        "if answer.status in self.codes:\n    print('good')\nelse:\n    print('bad')\n",
        "codes=[200]",
    ),
    "what is added to a moment": ("print(datetime.now(timezone.utc) + app.lifetime)\n", "lifetime=timedelta(days=1)"),
    "code in a file": ("exec(compile(open('own.cfg').read(), 'own.cfg', 'exec'))\n", ".write_text('1 + 2"),
    "a variable that has the name of a module": (
        "for item in queue.get_all(timeout=3):\n    print(item.kind)\n",
        "queue = SimpleNamespace(",
    ),
    "a class": ("app.start(self.request_class)\n", "request_class=object"),
    "a guard of two parts": (
        "if len(pages) == 1:\n    exit(pages[0])\nif len(pages) > 1 and strict:\n    print('many')\nprint(pages)\n",
        "strict = True",
    ),
    "a folder in a folder": (
        "import os\nfor name in os.listdir('data'):\n    for inner in os.listdir('data/' + name):\n"
        "        print(inner)\n",
        "Path('data/first/first.txt')",
    ),
    "a file in the folder that becomes the working one": (
        "import os\nos.chdir('data')\nfor line in open('names.txt'):\n    print(line)\n",
        "Path('data/names.txt')",
    ),
    "a version of Python": (
        "import sys\nif sys.version_info[0] < 3:\n    from StringIO import StringIO\n"
        "else:\n    from io import StringIO\n"
        "print(StringIO('a'))\n",
        "sys.version_info = (2,",
    ),
    "a version of Python by its parts": (
        "import sys\nneeded = (3, 9)\nif (sys.version_info.major, sys.version_info.minor) >= needed:\n"
        "    print('new')\nelse:\n    print('old')\n",
        "sys.version_info = SimpleNamespace(major=2",
    ),
    "another system": (
        "import platform\nif platform.system() == 'Windows':\n    print('a')\nelse:\n    print('b')\n",
        "platform.system = lambda *args, **kwargs: 'Windows'",
    ),
    "a call that fails": (
        "import json\ntry:\n    found = json.dumps([])\nexcept ValueError:\n    found = None\nprint(found)\n",
        "raise ValueError('failure')",
    ),
    "a call that fails once": (
        "import json\ntry:\n    found = json.dumps([])\nexcept ValueError:\n    found = json.dumps([])\n",
        "raise failures.pop()",
    ),
    "bytes of Python 2": ("print(bytes('a'))\nprint(bytes('a', 'utf-8'))\n", "return text.encode(encoding)"),
    "lists of Python 2": ("print(map(str, [1, 2])[0])\n", "return list(builtins.map(*args))"),
    "an import that comes too late": (
        "print(OrderedDict(a=1))\nfrom collections import OrderedDict\nprint(OrderedDict)\n",
        "from collections import OrderedDict",
    ),
    "a program that is left in its middle": (
        "import sys\nprint('a')\nsys.exit()\ntry:\n    sys.exit(1)\nexcept SystemExit as error:\n    print(error)\n",
        "sys.exit = exit",
    ),
    "a debugger": ("import pdb\npdb.set_trace()\nx = 1\n", "pdb.set_trace = lambda: None"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_outside_of_the_code_is_made(name):
    code, wanted = WHOLE[name]
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    assert any(wanted in prefix for prefix in prefixes.chosen), prefixes.best
    assert "MagicMock" not in prefixes.best


#: Code that gives its functions to what is missing, and how this calls them.
CALLING = {
    "a decorator": (
        "from flask import Flask, request\napp = Flask(__name__)\n@app.route('/<name>')\ndef page(name):\n"
        "    text = request.form.get('text')\n    return name + text\napp.run()\n",
        "    function('name')\n    return function",
    ),
    "a decorator of nowhere": ("@registered\ndef task():\n    print('now')\n", "    function()\n    return function"),
    "a keyword": (
        "def greet():\n    print('hello')\nbutton = Button(root, text='hi', command=greet)\nbutton.pack()\n",
        "kwargs['command']()",
    ),
    "a position": (
        "def flat(table):\n    return table.columns\nresult = table.pipe(flat).sort_values('a')\n",
        "args[0](",
    ),
    "a list": (
        "import bench\ndef one(data):\n    return [n for n in data]\ndef two(data):\n    return list(data)\n"
        "bench.compare(kernels=[one, two]).show()\n",
        "for function in kwargs['kernels']:",
    ),
    "itself, again and again": (
        "def tick():\n    print('tick')\n    root.after(1000, tick)\nroot.after(1000, tick)\nroot.mainloop()\n",
        "if args[1] not in called:",
    ),
    "a coroutine": (
        "@client.event\nasync def on_message(message):\n    print(message.content)\n",
        "asyncio.run(function(",
    ),
}


@pytest.mark.parametrize("name", CALLING)
def test_stand_ins_call_the_functions_that_they_are_given(name):
    code, wanted = CALLING[name]
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    assert wanted in prefixes.best


def test_what_is_given_to_a_library_that_is_here_has_the_columns_that_are_aggregated():
    code = (
        "def flat(table):\n    table.columns = ['_'.join(name) for name in table.columns.values]\n    return table\n"
        "print(frame.groupby('city').agg({'price': ['count']}).pipe(flat).sort_values('price_count'))\n"
    )
    prefixes = found(code)
    assert prefixes.coverage == 1.0 and "'price': [" in prefixes.best, prefixes.best


def test_real_functions_do_with_what_stand_ins_give():
    code = "import io\nimport reader\nfor line in io.StringIO(reader.open('a.pdf').page(1).text()):\n    print(line)\n"
    prefixes = found(code)
    assert prefixes.coverage == 1.0 and "io.StringIO = " not in prefixes.best, prefixes.best


def test_a_stand_in_calls_in_a_python_without_twincell_too():
    code, _ = CALLING["a decorator"]
    prefixes = found(code)
    program = prefixes.program()
    before = len(program.splitlines()) - len(code.splitlines())
    assert {5, 6} <= {line - before for line in completed_alone(program)}, program


def test_nothing_of_a_snippet_that_is_lost_at_once_counts_as_run():
    assert found("import os\nos.abort()\n").coverage == 0.0


def test_what_is_measured_runs_once_where_it_takes_too_long():
    code = "import timeit\nprint(timeit.repeat('a = 1', number=10_000_000, repeat=1000))\n"
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    assert "timeit.Timer.timeit = " in prefixes.best
