"""What `twincell prefix` writes: programs in a folder, a pytest file, the rows of a study."""

from __future__ import annotations

import json
import sys

import pytest
import twincell as library

from ..command import run_here
from .test_compare import twincell

BRANCHES = "if user.is_admin:\n    page = render(user.name)\nelse:\n    raise Forbidden(user)\n"
FUNCTION = """\
class Shop:
    def price(self, item, *args, tax=1, **kwargs):
        if not item:
            return 0
        if item.net == 'sold':
            raise Sold(item)
        return item.net * self.rate
"""


def search(*arguments, folder):
    done = twincell("prefix", "--predictor", "frequency", *arguments, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return done


def passes(file):
    """Runs tests in a Python that cannot import twincell."""
    hide = "import sys; sys.modules['twincell'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", hide, "-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", file]
    done = run_here(command, cwd=file.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + file.read_text()
    return int(done.stdout.split(" passed")[0].split()[-1])


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_programs_are_named_as_in_the_report_and_those_of_an_earlier_run_go(tmp_path):
    (tmp_path / "snippet.py").write_text(BRANCHES)
    (tmp_path / "out").mkdir()
    mine = ["prefix_999.py", "best.py", "notes.txt"]
    for name in mine:
        (tmp_path / "out" / name).write_text("mine")
    for seed in ("0", "5", "5"):
        report = search("snippet.py", "--out", "out", "--seed", seed, folder=tmp_path).stdout
        heads = [line.split(":")[0] for line in report.splitlines() if line.startswith(("# best prefix", "# prefix"))]
        programs = {head.removeprefix("# ").replace(" ", "_") + ".py" for head in heads}
        assert len(programs) == 2
        assert set(names(tmp_path / "out")) == programs | set(mine)
    for program in programs:
        assert (tmp_path / "out" / program).read_text().endswith(BRANCHES)


def test_a_program_that_somebody_has_changed_stays(tmp_path):
    (tmp_path / "snippet.py").write_text("print(a.b)\n")
    search("snippet.py", "--out", "out", folder=tmp_path)
    (program,) = (tmp_path / "out").glob("*.py")
    program.write_text("mine")
    done = twincell("prefix", "--predictor", "frequency", "snippet.py", "--out", "out", cwd=tmp_path)
    assert done.returncode == 3 and done.stdout.startswith("# 1 of 1") and done.stderr.count("\n") == 1
    assert program.name in done.stderr and program.read_text() == "mine"
    (tmp_path / "snippet.py").write_text(BRANCHES)
    (tmp_path / "out" / ".twincell-prefixes.json").write_text("[]")
    done = twincell("prefix", "--predictor", "frequency", "snippet.py", "--out", "out", cwd=tmp_path)
    assert done.returncode == 3 and ".twincell-prefixes.json" in done.stderr


def test_a_manifest_of_somebody_else_removes_no_other_file(tmp_path):
    (tmp_path / "snippet.py").write_text("print(a.b)\n")
    search("snippet.py", "--out", "out", folder=tmp_path)
    manifest = tmp_path / "out" / ".twincell-prefixes.json"
    listed = json.loads(manifest.read_text())
    (program,) = (tmp_path / "out").glob("*.py")
    (tmp_path / "victim.py").write_bytes(program.read_bytes())
    listed["files"]["../victim.py"] = listed["files"][program.name]
    manifest.write_text(json.dumps(listed))
    search("snippet.py", "--out", "out", folder=tmp_path)
    assert (tmp_path / "victim.py").exists()


def test_the_tests_of_a_snippet_pass_without_twincell(tmp_path):
    (tmp_path / "snippet.py").write_text(BRANCHES)
    search("snippet.py", "--pytest", "test_code.py", folder=tmp_path)
    file = tmp_path / "test_code.py"
    assert "pytest.raises(" in file.read_text() and "['Forbidden']" in file.read_text()
    assert passes(file) == 2


def test_the_tests_of_a_function_call_it(tmp_path):
    (tmp_path / "shop.py").write_text(FUNCTION)
    search("shop.py", "--function", "Shop.price", "--pytest", "test_shop.py", folder=tmp_path)
    text = (tmp_path / "test_shop.py").read_text()
    assert "def price(self, item" in text and "Shop.price(self, item, *args, tax=tax, **kwargs)" in text
    assert passes(tmp_path / "test_shop.py") == 3


@pytest.mark.parametrize(
    "code",
    [
        "total += price\nprint(f'{total:>3}\\n')\n",
        "text = '''a\n  b'''\nprint(text, missing)\n",
        "from ..db import session\nprint(session.query(User))\n",
        "import surely_not_installed.inner as s\ns.go(1)\n",
        "from __future__ import annotations\nx: Missing = y\n",
        "import sys\npath = sys.argv[1]\nname = input()\nprint(path, name)\n",
        "import os\nkey = os.environ['API_KEY']\nexit(key)\n",
        "with open('notes.txt') as file:\n    lines = file.readlines()\n",
        'try:\n    go()\nexcept socket.timeout:\n    x = 1\nelse:\n    raise ValueError(\'a"""b\\\\\')\n',
    ],
)
def test_tests_pass_for_code_of_many_kinds(tmp_path, code):
    prefixes = library.prefix(code, predictor="frequency")
    (tmp_path / "test_it.py").write_text(prefixes.pytest())
    assert passes(tmp_path / "test_it.py") == len({*prefixes.chosen, prefixes.best}), prefixes


@pytest.mark.parametrize(
    "code",
    [
        "LIMIT = 3\n\n\ndef helper(x):\n    return x + LIMIT\n\n\ndef f(a):\n    return helper(a.b)\n",
        "async def f(items):\n    for item in items:\n        await item.load()\n    return items\n",
        "def f(count):\n    for number in range(count):\n        yield number * 2\n",
        "async def f(count):\n    for number in range(count):\n        yield number\n",
        "def f(rows):\n    for row in rows:\n        total += row.price\n    return total\n",
    ],
)
def test_tests_pass_for_functions_of_many_kinds(tmp_path, code):
    prefixes = library.prefix(code, function="f", predictor="frequency")
    (tmp_path / "test_it.py").write_text(prefixes.pytest())
    assert passes(tmp_path / "test_it.py") == len({*prefixes.chosen, prefixes.best}), prefixes


@pytest.mark.parametrize(
    "code",
    ["data = await load(url)\nprint(data['name'])\n", "import sys\nprint(x.y)\nsys.exit(2)\n", "    print(a.b)\n"],
)
def test_tests_pass_for_what_is_no_plain_file(tmp_path, code):
    prefixes = library.prefix(code, predictor="frequency")
    (tmp_path / "test_it.py").write_text(prefixes.pytest())
    assert passes(tmp_path / "test_it.py") == len({*prefixes.chosen, prefixes.best}), prefixes


def test_a_function_far_down_in_a_file_has_a_short_test(tmp_path):
    code = "import os\n\n" * 200 + "def f(a):\n    raise a.error\n"
    text = library.prefix(code, function="f", predictor="frequency").pytest()
    (tmp_path / "test_it.py").write_text(text)
    assert len(text.splitlines()) < 100 and passes(tmp_path / "test_it.py"), text


def test_code_that_never_ends_has_no_test(tmp_path):
    (tmp_path / "snippet.py").write_text("while True:\n    x = 1\n")
    done = twincell("prefix", "--pytest", "test_code.py", "snippet.py", cwd=tmp_path)
    assert done.returncode == 3 and "there is no test to write" in done.stderr
    assert not (tmp_path / "test_code.py").exists()
    with pytest.raises(library.TwincellError, match="there is no test to write"):
        library.prefix("while True:\n    x = 1\n").pytest()


def test_the_page_has_the_tests(tmp_path):
    (tmp_path / "snippet.py").write_text(BRANCHES)
    search("snippet.py", "--html", "page.html", folder=tmp_path)
    assert "def test_prefix_" in (tmp_path / "page.html").read_text()


def rows(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        del row["milliseconds"]
    return found


def snippets(folder):
    for name, code in {"a/x.py": BRANCHES, "a/y.py": "x = = 1\n", "b/z.py": "print(1)\n", "b/w.py": "a.b\n"}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)


def test_a_study_of_snippets_has_a_row_for_each_and_goes_on(tmp_path):
    snippets(tmp_path)
    (tmp_path / "a" / "unreadable.py").write_bytes(b"x = '\xff'\n")
    done = search("--study", "rows.jsonl", "--jobs", "2", "a", folder=tmp_path)
    assert "unreadable.py" in rows(tmp_path / "rows.jsonl")[0]["reason"]
    (tmp_path / "a" / "unreadable.py").unlink()
    done = search("--study", "rows.jsonl", "--html", "page.html", "--jobs", "2", "--fresh", "a", "b", folder=tmp_path)
    found = rows(tmp_path / "rows.jsonl")
    assert [row["id"] for row in found] == ["a/x.py", "a/y.py", "b/w.py", "b/z.py"]
    assert [row["coverage"] for row in found] == [1.0, 0.0, 1.0, 1.0]
    assert found[0]["error_before"] == "NameError" and found[0]["chosen"] == 2
    assert "not valid Python" in found[1]["reason"]
    assert "Table II" in done.stdout and "NameError" in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page and "<script" not in page
    # A kill leaves some rows and a torn one.
    lines = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join(lines[:2]) + lines[2][:30])
    again = search("--study", "rows.jsonl", "--jobs", "1", "a", "b", folder=tmp_path)
    assert rows(tmp_path / "rows.jsonl") == found and "2 of them have rows from an earlier run" in again.stdout
    # Other options, other rows.
    other = search("--study", "rows.jsonl", "--width", "3", "a", folder=tmp_path)
    assert "earlier run" not in other.stdout and len(rows(tmp_path / "rows.jsonl")) == 2
    assert len(rows(tmp_path / "rows.before.jsonl")) == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a", "b"], "--study"),
        (["--study", "rows.csv", "a"], ".jsonl"),
        (["--study", "rows.jsonl", "nothing.py"], "cannot read nothing.py"),
        (["--study", "rows.jsonl", "empty"], "there are no .py files in empty"),
        (["--study", "mine.jsonl", "a"], "mine.jsonl has something other than rows"),
        (["--fresh", "a/x.py"], "--study"),
    ],
)
def test_a_mistake_in_the_order_of_a_study_is_told_in_one_line(tmp_path, arguments, said):
    snippets(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.jsonl").write_text('{"id": 1}\n')
    done = twincell("prefix", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.count("\n") == 1, done.stderr
    assert said in done.stderr
