"""`twincell prefix` and `twincell.prefix`: what makes incomplete code run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import twincell as library

from .test_compare import twincell

SNIPPET = """\
if user.is_admin:
    page = render(user.name)
    for item in page.items():
        total += item.price
else:
    raise Forbidden(user)
"""


def found(code, **options):
    return library.prefix(code, predictor="frequency", **options)


def completed_alone(program):
    """The lines of a program that ran in a plain Python, without twincell."""
    tracer = (
        "import sys\nlines = set()\n"
        "def trace(frame, event, _):\n"
        "    if frame.f_code.co_filename == 'program': lines.add(frame.f_lineno)\n"
        "    return trace\n"
        "code = compile(sys.stdin.read(), 'program', 'exec')\n"
        "sys.settrace(trace)\n"
        "try: exec(code, {'__name__': '__main__'})\n"
        "except BaseException: pass\n"
        "sys.settrace(None)\nprint(sorted(lines))\n"
    )
    done = subprocess.run([sys.executable, "-c", tracer], input=program, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_every_line_of_a_snippet_runs_behind_some_prefix():
    prefixes = found(SNIPPET)
    assert prefixes.coverage == 1.0, prefixes
    assert len(prefixes.chosen) == 2
    assert prefixes.to_dict()["undefined"] == ["Forbidden", "render", "total", "user"]


def test_the_same_runs_in_a_python_without_twincell():
    prefixes = found(SNIPPET)
    tree = prefixes.to_dict()
    for number in tree["chosen"]:
        program = prefixes.program(number)
        before = len(program.splitlines()) - len(SNIPPET.splitlines())
        ran = {line - before for line in completed_alone(program)}
        assert set(tree["nodes"][number]["completed"]) <= ran, program


@pytest.mark.parametrize(
    "code",
    [
        SNIPPET,
        "from __future__ import annotations\nprint(x.name)\n",
        "x = await fetch(url)\nprint(x.name)\n",
        "    total = 1\n    print(total + more)\n",
        "while True:\n    pass\n",
    ],
)
def test_the_view_copies_the_same_programs_and_tests(code):
    prefixes = found(code, deadline=60.0)
    state = json.loads(prefixes._state())
    before, after = state["around"]
    for node in state["nodes"]:
        text = node["text"]
        assert prefixes.program(node["number"]) == (f"{before}{text}\n{after}" if text else before + after)
    tests = [node["test"] or "" for number in state["kept"] for node in state["nodes"] if node["number"] == number]
    if any(tests):
        assert prefixes.pytest() == state["test_beginning"] + "".join(tests)


def test_the_same_seed_gives_the_same_tree():
    assert found(SNIPPET, seed=3).to_json() == found(SNIPPET, seed=3).to_json()


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("print('nothing is missing')\n", ""),
        ("print(np.zeros(3).sum())\n", "import numpy as np\n"),
        ("print(json.dumps({}))\n", "import json\n"),
        ("start = datetime.now()\n", "from datetime import datetime\n"),
        ("n = raw_input()\n", None),
        ("import surely_not_installed.inner as s\ns.go(1)\n", None),
        ("with open('notes.txt') as file:\n    lines = file.readlines()\n", None),
        ("from .models import Item\nitem = Item(1)\n", None),
        ("x = await fetch(url)\nprint(x.name)\n", None),
        ("super().__init__(name=name)\n", None),
        ("for n in xrange(3):\n    n += 1\n", None),
    ],
)
def test_what_everybody_knows_is_imported_and_the_rest_is_made(code, wanted):
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    if wanted is not None:
        assert prefixes.best == wanted


def test_a_line_counts_when_its_statement_completes():
    code = "x = 1\ny = (\n    x\n    .missing\n)\nz = 3\n"
    tree = found(code).to_dict()
    assert (tree["lines"], tree["covered"]) == ([1, 2, 6], [1])


def test_code_that_never_ends_and_code_that_exits_and_deletes_leave_a_result():
    endless = found("while flag:\n    n = 1\nafter = 2\n").to_dict()
    assert set(endless["covered"]) == {1, 2, 3}
    deleting = found("import os, shutil\nshutil.rmtree('/')\nos.remove(__file__)\nraise SystemExit\nx = 1\n").to_dict()
    assert 1 in deleting["covered"] and 5 not in deleting["covered"]
    assert found("").coverage == 1.0


def test_a_file_that_is_no_python_is_refused_in_one_line(tmp_path):
    (tmp_path / "a.py").write_text("x = = 1\n")
    done = twincell("prefix", tmp_path / "a.py")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1 and "line 1" in done.stderr


def test_the_programs_of_a_function_run(tmp_path):
    code = (
        "import surely_not_installed\n"
        "FREE = 0\n"
        "surely_not_installed.start()\n"
        "class Shop:\n"
        "    def price(self, item):\n"
        "        if not item:\n"
        "            return FREE\n"
        "        return item.net * self.rate\n"
    )
    (tmp_path / "shop.py").write_text(code)
    done = twincell("prefix", tmp_path / "shop.py", "--function", "Shop.price", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    tree = json.loads(done.stdout)
    programs = sorted((tmp_path / "out").glob("*.py"))
    assert len(programs) == len(tree["chosen"]) == 2
    for program in programs:
        text = program.read_text()
        assert "FREE = 0" in text and "surely_not_installed" not in text
        subprocess.run([sys.executable, program], check=True, timeout=60)
    # The lines are those of the file.
    assert tree["lines"] == tree["covered"] == [6, 7, 8]
    done = twincell("prefix", tmp_path / "shop.py", "--function", "Shop.cost")
    assert done.returncode == 3 and "has no function Shop.cost" in done.stderr


def test_nothing_is_left_in_a_prefix_that_its_snippet_does_not_need():
    prefixes = found("if a.b:\n    c = d(a.e)\n    print(c.f)\n")
    tree = prefixes.to_dict()
    for number in tree["chosen"]:
        node = tree["nodes"][number]
        lines = node["text"].splitlines()
        for left_out in [line for line in lines if line.startswith(("import ", "from "))]:
            name = left_out.split()[-1]
            assert sum(name in line for line in lines) > 1, node["text"]


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_an_interrupt_prints_what_was_found(tmp_path):
    lines = "".join(f"x.a{number} = x.b{number}(x.c{number})\n" for number in range(1000))
    (tmp_path / "long.py").write_text(f"{lines}never(y.z) + 1 / 0\n")
    command = [sys.executable, "-m", "twincell", "prefix", "--deadline", "600", "long.py"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # Before it has a worker there is nothing to interrupt.
    threads = Path(f"/proc/{running.pid}/task")
    until = time.monotonic() + 60
    while not any((thread / "children").read_text() for thread in threads.iterdir()):
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert out.startswith("# ") and "the search was stopped before it was done" in out


def test_the_page_says_which_prefix_runs_which_line_and_runs_only_our_script(tmp_path):
    (tmp_path / "hostile.py").write_text("x = '<script>alert(1)</script>'\nif y.z:\n    w(x)\n")
    done = twincell("prefix", "--html", "page.html", "hostile.py", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert done.returncode == 0, done.stderr
    assert "<script>alert" not in page and "&lt;script&gt;" in page and "script-src 'sha256-" in page
    assert page.count("<script ") == 2
    assert "★" in page and "Tree" in page


def test_the_body_of_a_function_is_what_runs():
    source = "def f(a):\n    b = a.c\n    return b + d\n"
    by_name = library.prefix(source, function="f", predictor="frequency")
    assert (by_name.coverage, by_name.to_dict()["undefined"]) == (1.0, ["a", "d"])
    by_object = found(completed_alone)
    assert "program" in by_object.to_dict()["undefined"]
    with pytest.raises(library.TwincellError, match="the code has no function g"):
        library.prefix(source, function="g")


def test_names_of_functions_and_comprehensions_are_not_undefined():
    code = "def load(url):\n    r = s.get(url)\n    return r.json()\nt = sum(e.p for e in load(b))\n"
    assert found(code).to_dict()["undefined"] == ["b", "s"]


def test_the_values_of_a_prefix_are_counted_by_type():
    tree = found("a.b.c\nd = len(e) + 1\n").to_dict()
    makes = tree["nodes"][tree["best"]]["makes"]
    assert makes and all(count > 0 for count in makes.values())


class Shop:
    def price(self, cart):
        return sum(item.price for item in cart) * self.rate


def test_the_body_of_a_method_is_what_runs():
    for method in (Shop.price, Shop().price):
        prefixes = found(method)
        assert (prefixes.coverage, prefixes.to_dict()["undefined"]) == (1.0, ["cart", "self"])


def test_a_file_that_somebody_has_is_not_overwritten(tmp_path):
    prefixes = found("text = open('notes.txt').read()\nprint(text.upper())\n")
    assert prefixes.coverage == 1.0 and "notes.txt" in prefixes.best
    (tmp_path / "notes.txt").write_text("mine")
    subprocess.run([sys.executable, "-c", prefixes.program()], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    above = found("text = open('../notes.txt').read()\n")
    assert "write_text" not in (above.best or "")


def test_two_objects_of_one_class_are_two():
    code = "first, second = orders\nif isinstance(first, Order) and isinstance(second, Order):\n    first.a, second.a\n"
    prefixes = found(code)
    space: dict[str, object] = {}
    exec(prefixes.program(), space)
    assert prefixes.coverage == 1.0 and space["first"] is not space["second"], prefixes


def test_classes_of_modules_that_are_not_there_have_instances():
    code = "from nowhere.models import Page\nif isinstance(thing, Page):\n    print(thing.title)\nelse:\n    print(0)\n"
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes


def test_a_class_with_a_name_beyond_ascii_is_no_trouble():
    assert found("if isinstance(x, lib.Éclair):\n    y = 1\nelse:\n    y = 2\n").coverage > 0.5


def test_values_are_those_that_a_person_would_have_written():
    best = found("def call(*args):\n    return f(*args, **kwargs)\nprint(call(*args), encoding.upper())\n").best
    assert "args = ()" in best and "kwargs = {}" in best and "encoding = 'utf-8'" in best, best


def test_functions_have_the_parameters_that_the_code_gives_them():
    best = found("self.log(message)\nfor page in self.pages(1, size=20):\n    print(page, make(page)(), done())\n").best
    assert "log=lambda message: None" in best and "pages=lambda number, size:" in best, best
    assert "def done():" in best and "args" not in best, best


def test_a_function_that_others_call_too_takes_what_they_give_it():
    best = found("print(sorted([2, 1], key=rank), rank(1, 2))\n").best
    assert "def rank(*args, **kwargs):" in best, best


def test_what_the_code_makes_objects_of_is_a_class():
    best = found("job = Job(name, retries=3)\njob.start()\nprint(job)\n").best
    assert "class Job:\n    def __init__(self, name, retries):\n        self.name = name\n" in best, best
    assert "    def start(self):\n        pass\n" in best, best


def test_the_category_of_a_warning_is_one():
    best = found("import warnings\nwarnings.warn('old', category=OldWarning)\nprint(1)\n").best
    assert "class OldWarning(Warning):\n    pass\n" in best and "MagicMock" not in best, best


def test_what_is_only_tested_is_a_truth_value():
    best = found("if overwrite and not shop.closed:\n    print(shop.name)\n").best
    assert "overwrite = True" in best and "closed=False" in best, best


def test_bytes_are_given_to_what_takes_bytes():
    prefixes = found("print(b64encode(value).decode('ascii'))\n")
    assert prefixes.coverage == 1.0 and "value = b'value'" in prefixes.best, prefixes


def test_an_object_to_which_the_code_assigns_is_one_and_has_what_was_assigned():
    best = found("self.shop = shop\nself.debug = debug\nprint(self.shop.city)\n").best
    assert "self = SimpleNamespace()" in best and "shop = SimpleNamespace(city='city')" in best, best
    assert "debug = True" in best and "Mock" not in best, best


def test_what_is_looked_up_by_a_name_is_a_dictionary_with_this_key():
    best = found("page = self.pages[title]\nprint(page.size + 1)\n").best
    assert "'title': SimpleNamespace(size=1)" in best and "title = 'title'" in best, best


def test_what_is_looked_up_by_a_key_that_the_code_makes_has_a_default():
    best = found("for key, rows in tables.items():\n    by_name[f'{prefix}.{key}'].extend(rows)\n").best
    assert "by_name = defaultdict(list)" in best, best


def test_names_of_annotations_are_types():
    best = found("def first(rows: T_rows, page: Page) -> T_rows:\n    return rows\nprint(first(1, 2))\n").best
    assert "T_rows = TypeVar('T_rows')" in best and "class Page:\n    pass\n" in best, best


def test_functions_stand_as_definitions_and_give_nothing_that_nobody_looks_at():
    best = found("register(callback)\nself.log(text)\nprint(get_text(1).upper())\n").best
    assert "def callback(*args, **kwargs):\n    pass\n" in best and "def register(callback):\n    pass\n" in best, best
    assert "log=lambda text: None" in best and "    return 'text'\n" in best, best


def test_a_module_that_is_not_there_has_what_the_code_takes_from_it():
    best = found("from nowhere import lines, Page\nfor line in lines():\n    print(line.strip(), Page)\n").best
    assert "sys.modules['nowhere'] = SimpleNamespace(" in best and "Mock" not in best, best


def test_instances_are_asked_for_by_their_class():
    code = "if isinstance(item, shop.Book):\n    print(item.title)\nelse:\n    print(0)\n"
    prefixes = found(code)
    assert prefixes.coverage == 1.0 and "item = Book()" in str(prefixes) and "Mock" not in str(prefixes), prefixes


def test_a_snippet_may_ask_for_its_own_path():
    prefixes = found("import os\nprint(os.path.dirname(os.path.abspath(__file__)))\n")
    assert prefixes.best == "__file__ = 'snippet.py'\n", prefixes


def test_a_prefix_that_changes_little_is_shown_as_what_it_changes():
    code = "self.a = a.b.c\nself.b = b.upper()\nif self.strict:\n    print(self.c)\nelse:\n    print(self.d.e)\n"
    prefixes = found(code)
    text = str(prefixes)
    assert "with these lines changed:" in text and text.count("b = 'b'") == 1, text
    assert all("b = 'b'" in prefixes.program(number) for number in prefixes.to_dict()["chosen"])


def test_a_list_of_which_items_are_known_is_a_list():
    code = "rules = list(shop.rules())\nfor rule in rules:\n    print(rule.name.upper(), shop.rules()[0].size)\n"
    best = found(code).best
    assert "rules=lambda: [" in best and "MagicMock" not in best, best


def test_items_that_no_line_comes_to_are_left_out():
    code = (
        "for row in rows:\n    if row[0].kind:\n        print(row.name.upper())\n"
        "    else:\n        print(row.sizes[0] + 1)\n"
    )
    best = found(code).best
    assert "kind=False" in best and "kind=True" not in best, best


def test_a_module_without_what_the_code_takes_from_it_is_not_imported():
    best = found("print(json.wonder(1).upper())\n").best
    assert "json = " in best and "import json" not in best, best


def test_arguments_variables_and_packages_are_there():
    for code in (
        "import sys\npath = sys.argv[1]\nprint(path.upper())\n",
        "import os\nkey = os.environ['API_KEY']\nprint(key.upper())\n",
        "from ..db import session\nfrom .models import User\nprint(session.query(User))\n",
    ):
        prefixes = found(code)
        assert prefixes.coverage == 1.0, prefixes
        assert completed_alone(prefixes.program()), prefixes


def test_a_loop_that_asks_again_and_again_has_a_short_prefix():
    code = "while True:\n    command = ask()\n    if command == 'quit':\n        break\n    handle(command)\n"
    prefixes = found(code)
    assert all(len(text.splitlines()) < 60 for text in prefixes.chosen), prefixes


def test_a_program_of_no_node_is_told_in_one_line():
    prefixes = found("a\n")
    for number in (-1, 99):
        with pytest.raises(library.TwincellError, match=f"there is no node {number}"):
            prefixes.program(number)


FETCH = """\
import {module}

def fetch(city):
    response = {call}("https://example.com/" + city)
    if response.status_code == 200:
        data = response.json()
        for item in data["items"]:
            print(item["name"].upper(), data["main"]["temperature"] - 273)
        return data
    print("failed", response.text)

try:
    fetch("Berlin")
except {error} as error:
    print("no network", error)
"""


@pytest.mark.parametrize(
    ("module", "call", "error"),
    [
        ("requests", "requests.get", "requests.exceptions.ConnectionError"),
        ("httpx", "httpx.get", "httpx.ConnectError"),
        ("surely_not_installed as requests", "requests.get", "requests.Failure"),
    ],
)
def test_answers_of_a_network_are_small_classes_and_fail_as_the_code_expects(module, call, error):
    code = FETCH.format(module=module, call=call, error=error)
    prefixes = found(code)
    if "not_installed" in module:
        assert prefixes.coverage > 0.5, prefixes
        return
    assert prefixes.coverage == 1.0, prefixes
    assert "status_code = 200" in prefixes.best and "def json(self" in prefixes.best, prefixes
    assert "MagicMock" not in prefixes.best
    assert any(f"raise {error}" in text for text in prefixes.chosen), prefixes


def test_asynchronous_sessions_answer():
    code = (
        "import asyncio, aiohttp\n"
        "async def fetch(url):\n"
        "    async with aiohttp.ClientSession() as session:\n"
        "        async with session.get(url) as response:\n"
        "            if response.status != 200:\n"
        "                raise ValueError(response.status)\n"
        "            data = await response.json()\n"
        "            return data['results'][0]['id']\n"
        "print(asyncio.run(fetch('http://localhost')))\n"
    )
    assert found(code).coverage == 1.0


def test_conditions_on_results_of_calls_are_turned():
    code = (
        "if norm(p) > LIMIT:\n    print('far')\nelse:\n    print('near')\n"
        "if user.age() >= MIN:\n    print('adult')\nelse:\n    print('child')\n"
        "if kind(p) == 'round':\n    print('round')\nelif kind(p) in ('flat', 'wide'):\n    print('flat')\n"
    )
    assert found(code).coverage == 1.0


@pytest.mark.parametrize("import_", ["", "from absent.core import Base\n"])
def test_a_missing_base_is_a_class_with_what_is_used_of_it(import_):
    code = import_ + (
        "class Handler(Base):\n"
        "    def __init__(self, name):\n"
        "        super().__init__(name)\n"
        "        self.label = name.upper()\n"
        "    def run(self):\n"
        "        self.log('start')\n"
        "        return self.label\n"
        "print(Handler('x').run())\n"
    )
    prefixes = found(code)
    assert prefixes.coverage == 1.0, prefixes
    assert "class Base:" in prefixes.best and "def log(self" in prefixes.best, prefixes


@pytest.mark.parametrize(
    "code",
    [
        "async def f(items):\n    total = 0\n    for item in items:\n        total += item\n    return total\n",
        "def f(count):\n    for number in range(count):\n        yield number * 2\n",
        "async def f(count):\n    for number in range(count):\n        yield number\n",
    ],
)
def test_coroutines_and_generators_are_run(code):
    prefixes = library.prefix(code, function="f", predictor="frequency")
    assert prefixes.coverage == 1.0, prefixes
    compile(prefixes.program(), "program", "exec")


def test_a_snippet_that_awaits_is_a_program():
    prefixes = found("data = await load(url)\nprint(data['name'])\n")
    assert prefixes.coverage == 1.0, prefixes
    subprocess.run([sys.executable, "-c", prefixes.program()], check=True, capture_output=True, timeout=60)


PARSER = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("input")
parser.add_argument("--count", type=int, required=True)
parser.add_argument("--mode", choices=["fast", "slow"])
parser.add_argument("-v", "--verbose", action="store_true")
args = parser.parse_args()
if args.verbose:
    print(args.input.upper())
if args.count > 5:
    print("many")
"""


def test_programs_get_the_arguments_that_they_require():
    prefixes = found(PARSER)
    assert prefixes.coverage == 1.0, prefixes
    assert prefixes.best == "import sys\n\nsys.argv = ['program', 'input', '--count', '6', '--verbose']\n"


def test_a_program_that_ends_with_an_error_says_so():
    tree = found("import sys\nprint(1)\nsys.exit(2)\n").to_dict()
    end = tree["nodes"][tree["best"]]["end"]["raised"]
    assert (end["class"], end["message"], end["line"]) == ("SystemExit", "2", 3)
    tree = found("import sys\nprint(1)\nsys.exit(0)\n").to_dict()
    assert tree["nodes"][tree["best"]]["end"] == "whole"


def test_files_have_the_columns_and_keys_that_the_code_asks_for():
    code = (
        "import csv, json\n"
        "with open('sales.csv') as file:\n"
        "    for row in csv.DictReader(file):\n"
        "        if float(row['price']) > 10:\n"
        "            print(row['name'])\n"
        "        else:\n"
        "            print('cheap')\n"
        "with open('settings.json') as file:\n"
        "    settings = json.load(file)\n"
        "print(settings['host']['name'], settings['port'] + 1)\n"
    )
    prefixes = found(code)
    assert (prefixes.coverage, len(prefixes.chosen)) == (1.0, 1), prefixes
    assert "price,name" in prefixes.best and '"port": 8080' in prefixes.best


def test_what_is_used_as_a_frame_is_one():
    pytest.importorskip("pandas")
    code = "mean = df.groupby('city')['price'].mean()\ndf = df[df['price'] > 10]\nprint(df.dropna().head(), mean)\n"
    prefixes = found(code)
    assert prefixes.coverage == 1.0 and "df = pd.DataFrame(" in prefixes.best, prefixes
    assert "Mock" not in prefixes.best


def test_one_list_shows_both_sides_of_a_condition():
    code = (
        "for order in orders:\n"
        "    if order['amount'] > 100:\n"
        "        print('big')\n"
        "    elif order['state'] == 'open':\n"
        "        print('open')\n"
        "    else:\n"
        "        print('done')\n"
    )
    prefixes = found(code)
    assert (prefixes.coverage, len(prefixes.chosen)) == (1.0, 1), prefixes


@pytest.mark.parametrize(("code", "said"), [(">>> f(1)\n2\n", "doctest"), ("x = 1\nprint x\n", "Python 2")])
def test_what_is_nearly_python_is_refused_with_a_hint(code, said):
    with pytest.raises(library.TwincellError, match=said):
        found(code)


def test_indentation_that_all_lines_share_means_nothing():
    prefixes = found("    x = 1\n    if y:\n        x = 2\n")
    assert prefixes.coverage == 1.0
    compile(prefixes.program(), "program", "exec")
    assert found("%matplotlib inline\nx = y + 1\n").coverage == 1.0
