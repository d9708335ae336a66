"""Prefixes for code whose uses of values say what they are: moments, texts of a form, arrays, trees, members."""

from __future__ import annotations

import sys

import pytest

from ..command import run_here
from .test_compare import twincell
from .test_prefix import found

#: Code of which all lines run, and what the best prefix has for it.
WHOLE = {
    "a moment that is compared with now": (
        "from datetime import datetime\nif coupon.until < datetime.now():\n    print('old')\nelse:\n    print('ok')\n",
        "until=datetime.datetime(2000, 1, 1)",
    ),
    "a span of time": (
        "import datetime\nif datetime.datetime.now() - delta > start:\n    print('later')\n",
        "delta = datetime.timedelta(days=1)\nstart = datetime.datetime(2000, 1, 1)",
    ),
    "what a moment can do": ("print(order.day.strftime('%Y'), order.day.year)\n", "day=datetime.datetime(2000, 1, 1)"),
    "a date in JSON": (
        "for rec in json.loads(raw)['events']:\n    print(datetime.strptime(rec['start'], '%Y-%m-%d'))\n",
        'raw = \'{"events": [{"start": "2024-02-29"}]}\'',
    ),
    "a date in its usual form": ("print(datetime.fromisoformat(rec['start']))\n", "rec = {'start': '2024-02-29'}"),
    "numbers for a library": ("print(np.zeros((rows, cols)), np.linspace(0, T, 5))\n", "T = 1"),
    "an array": (
        "X = X - X.mean(axis=0)\nvalues, vectors = np.linalg.eigh(np.cov(X.T))\n",
        "X = np.array([[1.0, 2.0], [3.0, 4.0]])",
    ),
    "a column of dates": (
        "df = pd.read_csv('sales.csv', parse_dates=['day'])\nprint(df['day'].dt.year.max())\n",
        "day\\n2000-01-01\\n2100-01-01\\n",
    ),
    "a tree": (
        "def walk(node):\n    yield node.value\n    for child in node.children:\n        yield from walk(child)\n"
        "print(list(walk(root)))\n",
        "children=[SimpleNamespace(value='value', children=[])]",
    ),
    "what a set holds": ("if user in seen:\n    print('again')\nseen.add(user)\n", "seen = {'user'}"),
    "two members": ("if 'x' in names and 'y' in names:\n    print('both')\n", "names = ['x', 'y']"),
    "code that holds a name": ("if name in source:\n    exec(source)\n", "source = 'name'"),
    "an error in an answer": (
        "data = json.loads(text)\nif 'error' in data:\n    print(data['error'], data['name'])\n",
        '{"error": "failure", "name": "name"}',
    ),
    "a module with another name": ("print(_json.loads(s))\n", "import json as _json"),
    "what has attributes": ("print(vars(your_object))\n", "your_object = SimpleNamespace()"),
    "a key that is None": ("spec[None][code][cls] = f\n", "spec = {None: {'code': {}}}"),
    "parts with names": (
        "for number, (loader, source) in enumerate(attempts):\n    print(loader, source.name)\n",
        "attempts = [('loader', SimpleNamespace(name='name'))]",
    ),
    "two texts": (
        "out, err = run(cmd)\nif err:\n    print(err.strip())\nprint(out.split())\n",
        "return ('out', 'err')",
    ),
    "a number of arguments": (
        "import sys\nif len(sys.argv) != 2:\n    sys.exit(1)\nprint(sys.argv[1].upper())\n",
        "sys.argv = ['program', '1']",
    ),
    "a file that is handled, by its path": (
        "from pathlib import Path\ntry:\n    text = Path('a.txt').read_text()\n    print(text)\nexcept OSError:\n"
        "    print('none')\n",
        "Path('a.txt').write_text(",
    ),
    "cells between other separators": (
        "print('a', 'b', sep='|')\nwith open('x.csv') as f:\n    for row in csv.DictReader(f):\n"
        "        print(row['name'], row['price'])\n",
        "'name,price\\n",
    ),
    "what is bound again where something fails": (
        "client = None\ntry:\n    check()\nexcept Exception:\n    client = make()\nclient.name.upper()\n",
        "return SimpleNamespace(name='name')",
    ),
}


@pytest.mark.parametrize("code, expected", WHOLE.values(), ids=WHOLE)
def test_uses_say_what_a_value_is(code, expected):
    prefixes = found(code)
    tree = prefixes.to_dict()
    texts = [tree["nodes"][number]["text"] for number in tree["chosen"]]
    assert prefixes.coverage == 1.0, prefixes
    assert any(expected in text for text in texts), prefixes
    assert not any("MagicMock" in text for text in texts), prefixes


def test_a_container_says_of_each_member_whether_it_holds_it():
    code = (
        "print(request.path)\nif a in request:\n    print(1)\nelif b in request:\n    print(2)\nelse:\n    print(3)\n"
    )
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    assert "return item in ['b']" in str(prefixes)


def test_what_stands_on_one_line_runs_only_if_its_body_does():
    prefixes = found("if size > LIMIT: raise TooBig(size)\nprint(size)\n")
    tree = prefixes.to_dict()
    assert prefixes.coverage == 1.0 and len(tree["chosen"]) == 2, prefixes
    uncalled = found("def f(x): return x + y\n").to_dict()
    assert (uncalled["covered"], uncalled["uncalled"]) == ([], ["f"])


def test_a_function_that_fails_was_called():
    prefixes = found("def f(x):\n    return 1 / 0\nprint(f(1))\n").to_dict()
    stubs = found("def f(x):\n    ...\ndef g(x):\n    raise NotImplementedError\n").to_dict()
    assert prefixes["uncalled"] == [] and stubs["uncalled"] == []


def test_a_coroutine_brings_the_import_that_it_lacks(tmp_path):
    file = tmp_path / "pause.py"
    file.write_text("async def pause(n):\n    await asyncio.sleep(n)\n    return n\n")
    done = twincell("prefix", file, "--function", "pause", "--predictor", "frequency")
    assert done.returncode == 0 and "import asyncio" in done.stdout, done


def test_what_waits_for_ever_has_no_test(tmp_path):
    file = tmp_path / "wait.py"
    file.write_text(
        "import asyncio\n\n\nasync def wait():\n    await asyncio.Event().wait()\n\n\nasyncio.run(wait())\n"
    )
    done = twincell("prefix", file, "--predictor", "frequency", "--pytest", tmp_path / "test_wait.py")
    assert done.returncode == 3 or "waits for ever" in done.stdout, done
    assert not (tmp_path / "test_wait.py").exists()


def test_standard_input_is_named_in_words(tmp_path):
    command = [sys.executable, "-m", "twincell", "prefix", "-", "--predictor", "frequency"]
    broken = run_here(command, input="x = = 1\n", capture_output=True, text=True)
    assert broken.returncode == 3 and "standard input: line 1" in broken.stderr, broken
    absent = run_here([*command, "--function", "g"], input="x = 1\n", capture_output=True, text=True)
    assert absent.returncode == 3 and "standard input has no function g" in absent.stderr, absent
    study = run_here([*command, "--study", tmp_path / "rows.jsonl"], input="", capture_output=True, text=True)
    assert study.returncode == 3 and "not standard input" in study.stderr, study
