"""Collecting traces: what is recorded of a package that the tests write themselves, in the sandbox, without network."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import textwrap
import venv

import pytest

from models.train import functions as files
from models.train.collect import __main__ as collecting
from models.train.collect import fetch, listing, sandboxed, traces
from models.train.collect.inside import limiting
from models.train.collect.manifest import Manifest

NONE, BOOL, INT, FLOAT, STR, LIST, TUPLE, DICT, SET, CALLABLE, RESOURCE, OBJECT = map(str, range(12))

PACKAGE = '''
    import collections, contextlib, enum, threading

    Point = collections.namedtuple("Point", "x y")

    class Once(type):
        def __call__(cls):
            return super().__call__()

    class Single(metaclass=Once):
        def __call__(self):
            return self

    class Settings(dict):
        pass

    class Sneaky:
        """Says that it is something else, and fails when it is looked at."""
        @property
        def __class__(self):
            raise RuntimeError("looked at")
        def __len__(self):
            raise RuntimeError("measured")

    class Box:
        def __init__(self):
            self.items, self.size = [], 0
        def put(self, item):
            self.items.append(item)
            return self
        def resize(self, size):
            self.size = size
        def peek(self):
            return self.items[-1]

    def given(value):
        return value

    def use(box):
        box.put("a")
        box.resize(3)
        return box.peek(), box.size

    def fill(target, more):
        extend(target, more)
        return len(target)

    def extend(target, more):
        target.update(more)

    def risky(text):
        try:
            return int(text)
        except ValueError:
            return None

    def shown(name, options):
        return f"{name!r:>{options['width']}} {options['fill']}"

    @contextlib.contextmanager
    def opened(name):
        yield name

    def nested(values):
        def é(value):
            return [part.upper() for part in value]
        return {key: é("ä" + value) for key, value in values.items()}

    class Private:
        __secret = 5
        def told(self):
            return self.__secret
'''

TESTS = """
    import functools, os, threading, unittest.mock
    from collections import OrderedDict
    import pytest
    from sample import *
    from sample import Private, Sneaky

    VALUES = [None, True, 1, 1.5, "text", [1, 2], (1,), {"one": 1, 2: 3}, {1, 2}, frozenset(), print,
              opened("x"), Box(), Settings(a=1), OrderedDict(), Point(1, 2), b"x", threading.Lock(), Box,
              Single, Single(), functools.partial(print), [].append]

    @pytest.mark.parametrize("value", VALUES, ids=str)
    def test_given(value):
        assert given(value) is value

    def test_nothing_of_a_value_runs():
        sneaky = Sneaky()
        assert given(sneaky) is sneaky

    def test_stand_ins_say_nothing():
        assert given(unittest.mock.MagicMock()) and given(unittest.mock.sentinel.it)

    def test_use():
        assert use(Box()) == ("a", 3)
        assert use(unittest.mock.Mock()) is not None

    def test_fill():
        assert fill({}, {"k": 1}) == 1 and fill({"k": 1}, {"l": 2}) == 2 and fill({"k": 1}, {}) == 1

    def test_risky():
        assert (risky("5"), risky("x")) == (5, None)

    def test_shown():
        assert shown("a", {"width": 5, "fill": 0}) == "  'a' 0"

    def test_nested():
        assert nested({"k": "b"}) == {"k": ["Ä", "B"]}

    def test_private():
        assert Private().told() == 5

    @pytest.mark.parametrize("number", range(100))
    def test_many(number):
        assert 0 <= risky(str(number)) < 100

    def test_what_a_child_process_saw_counts_too():
        child = os.fork()
        if child == 0:
            risky("6")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An environment that has the pytest of this one and nothing else: no network is needed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"):
        spec = importlib.util.find_spec(name)
        if spec is not None:
            shutil.copytree(pathlib.Path(spec.origin).parent, site / name)
    for name in ("py", "typing_extensions"):
        spec = importlib.util.find_spec(name)
        if spec is not None:
            shutil.copy(spec.origin, site)
    return folder / "bin" / "python"


def write(folder, package, tests, **more):
    source = folder / "source"
    (source / "tests").mkdir(parents=True)
    (source / "sample.py").write_text(textwrap.dedent(package), encoding="utf-8")
    (source / "tests" / "test_sample.py").write_text(textwrap.dedent(tests), encoding="utf-8")
    for name, text in more.items():
        (source / "tests" / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return source


def run(folder, python, limits=None, names=("sample",)):
    """Runs tests that lie below a folder; what was seen by function, and how it ended."""
    ready = fetch.Ready("1.0", python, folder / "source", tuple(names), ("tests",))
    limits = limits or sandboxed.Limits(must_hold=False)
    outcome = sandboxed.run("sample", ready, folder, limits)
    functions = traces.joined((folder / "seen").glob("*.jsonl"))
    return {function["qualname"]: function for function in functions}, outcome


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, python):
    folder = tmp_path_factory.mktemp("recorded")
    write(folder, PACKAGE, TESTS)
    functions, outcome = run(folder, python)
    log = (folder / "log.txt").read_text()
    assert outcome.report.get("passed"), log
    assert "failed" not in outcome.report, log
    assert outcome.ended is None, log
    return functions, outcome.report


def site(functions, qualname, text, kind=None):
    """The site of a function whose text is this."""
    function = functions[qualname]
    found = [
        site
        for site in function["sites"]
        if function["text"][site["start"] : site["end"]] == text and kind in (None, site["kind"])
    ]
    assert found, f"{text} is not a site that was seen in {qualname}"
    return found[0]


def test_every_value_counts_by_its_exact_type(recorded):
    functions, _ = recorded
    counts = site(functions, "given", "value")["counts"]
    assert counts == {
        NONE: 1,
        BOOL: 1,
        INT: 1,
        FLOAT: 1,
        STR: 1,
        LIST: 1,
        TUPLE: 1,
        DICT: 1,
        SET: 2,
        CALLABLE: 5,
        RESOURCE: 2,
        # Box(), subclasses of dict and tuple, bytes, a `__call__` in Python, what lies about its class. No stand-ins.
        OBJECT: 7,
    }


def test_lengths_and_keys_are_those_of_builtin_values(recorded):
    functions, _ = recorded
    given = site(functions, "given", "value")
    assert given["lengths"] == {
        STR: {"4": 1},
        LIST: {"2": 1},
        TUPLE: {"1": 1},
        DICT: {"2": 1},
        SET: {"0": 1, "2": 1},
    }
    assert given["keys"] == {"one": 1}


def test_attributes_are_told_of_the_object_that_they_were_found_on(recorded):
    functions, _ = recorded
    assert site(functions, "Box.put", "self.items")["counts"] == {LIST: 1}
    uses = [use for use in functions["use"]["sites"] if use["kind"] == "name"]
    told = {name: count for use in uses for name, count in use.get("attributes", {}).items()}
    assert told == {"put": 1, "resize": 1, "peek": 1, "size": 1}
    assert "attributes" not in site(functions, "Box.peek", "self.items")


def test_calls_tell_what_they_changed_and_what_they_raised(recorded):
    functions, _ = recorded
    put, resize = site(functions, "use", 'box.put("a")'), site(functions, "use", "box.resize(3)")
    peek, fill = site(functions, "use", "box.peek()"), site(functions, "fill", "extend(target, more)")
    assert put["effects"] == {"calls": 2, "watched": 2, "receiver": 1, "arguments": 0}
    assert resize["effects"]["receiver"] == 1
    assert peek["effects"]["receiver"] == 0
    assert fill["effects"] == {"calls": 3, "watched": 3, "receiver": 0, "arguments": 2}
    assert site(functions, "risky", "int(text)")["raised"] == {"ValueError": 1}


def test_at_most_forty_cases_of_a_test_run_and_children_count(recorded):
    functions, report = recorded
    assert report["left_out"] == 60
    # Forty cases, two of the test itself, one in the child.
    assert site(functions, "risky", "text")["counts"] == {STR: 43}


def test_sites_in_strings_and_nested_functions_are_there_in_characters(recorded):
    functions, _ = recorded
    assert site(functions, "shown", "options['width']")["counts"] == {INT: 1}
    assert site(functions, "nested", 'é("ä" + value)', "call")["counts"] == {LIST: 1}
    assert site(functions, "nested", "part.upper()")["counts"] == {STR: 2}
    assert site(functions, "Private.told", "self.__secret")["counts"] == {INT: 1}
    assert not any("<locals>" in name for name in functions)


def test_the_texts_are_those_that_the_engine_has(recorded):
    functions, _ = recorded
    assert functions["Box.put"]["text"] == "def put(self, item):\n    self.items.append(item)\n    return self\n"


def test_the_sandbox_keeps_tests_in_and_lets_them_start_programs(tmp_path, python):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    write(
        tmp_path / "work",
        "def made(*parts): return open(*parts)",
        f"""
        import os, pathlib, shutil, socket, subprocess, sys
        import pytest
        from sample import made

        def test_its_own_folder_is_free(tmp_path):
            with made(tmp_path / "a", "w") as file:
                file.write("a")
            assert shutil.copy(tmp_path / "a", tmp_path / "b")

        def test_programs_run():
            assert subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True).stdout == b"5\\n"
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            child.kill()
            assert child.wait() == -9

        @pytest.mark.parametrize("program", [False, True])
        @pytest.mark.parametrize("attempt", [
            "open({str(outside / "new")!r}, 'w')",
            "open({str(outside / "secret")!r})",
            "__import__('socket').socket()",
            "__import__('os').kill(__import__('os').getppid(), 9) if not {{program}} else 1 / 0",
            "__import__('os').setsid()",
        ])
        def test_the_rest_is_closed(program, attempt):
            attempt = attempt.format(program=program)
            if program:
                assert subprocess.run([sys.executable, "-c", attempt], stderr=subprocess.DEVNULL).returncode == 1
            else:
                with pytest.raises(OSError):
                    eval(attempt)
        """,
    )
    functions, outcome = run(tmp_path / "work", python, sandboxed.Limits())
    if "the sandbox does not hold here" in outcome.said:
        pytest.skip(outcome.said)
    assert outcome.report["passed"] == 12, (tmp_path / "work" / "log.txt").read_text()
    assert "failed" not in outcome.report
    assert site(functions, "made", "open(*parts)")["counts"] == {RESOURCE: 1}


def test_a_package_that_hangs_is_ended_and_what_it_had_shown_is_kept(tmp_path, python):
    write(
        tmp_path,
        "def twice(x): return x + x",
        """
        import os, time
        from sample import twice
        def test_first():
            assert twice(1) == 2
        def test_slow():
            while True:
                time.sleep(60)
        def test_later():
            assert twice("a") == "aa"
        """,
        test_zz_killed="""
        import os, signal
        from sample import twice
        def test_killed():
            os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    conftest = "import sys\n"
    (tmp_path / "source" / "tests" / "conftest.py").write_text(conftest)
    limits = sandboxed.Limits(must_hold=False, test_seconds=1, write_each=0)
    functions, outcome = run(tmp_path, python, limits)
    assert outcome.ended == "ended by signal 9"
    assert site(functions, "twice", "x")["counts"] == {INT: 1, STR: 1}
    assert outcome.report == {"failed": 1, "left_out": 0, "passed": 2}


def test_a_package_behaves_as_it_does_without_records(tmp_path, python):
    """CPython's own tests of two of its modules, among them recursion, introspection and errors."""
    import argparse
    import json as plain

    for module in ("test.support", "test.test_json", "test.test_argparse"):
        if importlib.util.find_spec(module) is None:
            pytest.skip("this Python comes without its own tests")
    source = write(tmp_path, "", "")
    shutil.copy(argparse.__file__, source / "argparse.py")
    shutil.copytree(plain.__path__[0], source / "json", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "tests" / "test_sample.py").write_text(
        textwrap.dedent("""
        import sys
        for name in [name for name in sys.modules if name.partition(".")[0] in ("json", "argparse")]:
            del sys.modules[name]
        import json, argparse
        assert "_tc_v" in vars(json.decoder) and "_tc_v" in vars(argparse)
        from test.test_argparse import *
        from test.test_json.test_decode import TestPyDecode
        from test.test_json.test_dump import TestPyDump
        from test.test_json.test_fail import TestPyFail
        from test.test_json.test_unicode import TestPyUnicode
        """)
    )
    functions, outcome = run(tmp_path, python, names=("json", "argparse"))
    log = (tmp_path / "log.txt").read_text()
    assert outcome.report.get("passed", 0) > 1000, log
    assert outcome.report.get("failed", 0) == 0, log
    assert len(functions) > 100


def test_what_was_seen_becomes_one_file_of_the_package_and_nothing_is_a_reason(tmp_path, python):
    entries, out = {}, tmp_path / "out"
    out.mkdir()
    for name, test in (("Some.Thing", "assert len(made()) == 1"), ("none", "raise SystemExit('no \\x1b[31m values')")):
        tests = f"from sample import made\n{test}\ndef test_it(): made()"
        write(tmp_path / name, "def made(): return dict(key=1)", tests)
        ready = fetch.Ready("1.0", python, tmp_path / name / "source", ("sample",), ("tests",))
        limits = sandboxed.Limits(must_hold=False)
        entries[name] = collecting.gather(name, ready, tmp_path / name, out, limits)
    assert entries["Some.Thing"] == {"functions": 1, "sites": 2, "tests": {"left_out": 0, "passed": 1}}
    assert [function["file"] for function in files.read(out)] == ["sample.py"]
    assert entries["none"]["error"].startswith("nothing was seen: ")
    assert entries["none"]["error"].isprintable()


def test_what_is_in_the_manifest_is_not_done_again(tmp_path, monkeypatch, capsys):
    packages = tmp_path / "packages.txt"
    packages.write_text("one==1 | pytest-mock | tests -k fast\n# two==1\nthree\n")
    done = []

    def collect(package, out, limits, keep):
        done.append(package)
        if package.name == "three" and done.count(package) == 1:
            return {"version": "", "functions": 0, "sites": 0, "seconds": 0.1, "error": "download failed"}
        return {"version": "1", "functions": 1, "sites": 2, "seconds": 0.1}

    monkeypatch.setattr(collecting, "collect", collect)
    command = ["collect", str(tmp_path / "out"), "--packages", str(packages)]
    for more in ([], [], ["--retry"], ["--retry"]):
        monkeypatch.setattr(sys, "argv", command + more)
        assert collecting.main() == 0
    assert sorted(package.name for package in done) == ["one", "three", "three"]
    assert done[-1].name == "three"
    assert done[1] == listing.Package("one", "1", ("pytest-mock",), ("tests", "-k", "fast"))
    assert "error" not in Manifest(tmp_path / "out").entries["three"]
    packages.write_text(packages.read_text() + "four | three # and three\n")
    monkeypatch.setattr(sys, "argv", [*command, "--pin"])
    assert collecting.main() == 0
    assert packages.read_text().splitlines()[2:] == ["three==1", "four | three # and three"]
    assert "three : download failed (0.1 s)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("flask==3.0", "one of the projects that predictions are judged on"),
        ("scikit_learn", "one of the projects that predictions are judged on"),
        ("one\nOne==2", "there twice"),
        ("a b c", "write NAME==VERSION"),
    ],
)
def test_a_wrong_list_is_said_in_one_line(tmp_path, line, reason):
    packages = tmp_path / "packages.txt"
    packages.write_text(line + "\n")
    command = [sys.executable, "-m", "models.train.collect", str(tmp_path / "out"), "--packages", str(packages)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2
    assert reason in ended.stderr and ended.stderr.count("\n") == 1


def test_the_list_of_packages_is_long_and_free_of_what_is_judged():
    packages = listing.read(collecting.parser().parse_args(["out"]).packages)
    assert len(packages) >= 130


def test_records_of_several_processes_are_added_up(tmp_path):
    def part(name, *sites):
        function = {"package": "p", "file": "p.py", "qualname": "f", "text": "def f(): ...", "sites": list(sites)}
        (tmp_path / name).write_text(json.dumps(function) + "\n")

    part("1.jsonl", {"start": 0, "end": 3, "kind": "name", "counts": {"1": 2, "4": 1}, "keys": {"a": 1}})
    part(
        "2.jsonl",
        {"start": 0, "end": 3, "kind": "name", "counts": {"1": 3}},
        {"start": 4, "end": 5, "kind": "call", "counts": {"0": 1}},
    )
    (function,) = traces.joined(tmp_path.glob("*.jsonl"))
    assert function["sites"] == [
        {"start": 0, "end": 3, "kind": "name", "counts": {"1": 5, "4": 1}, "keys": {"a": 1}},
        {"start": 4, "end": 5, "kind": "call", "counts": {"0": 1}},
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"a": 1}', "[" * 9000, '{"start": 0, "end": 9, "kind": "name", "counts": {}}']
)
def test_what_is_no_record_is_refused(tmp_path, line):
    if line.startswith('{"start"'):
        line = '{"package": "p", "file": "f", "qualname": "q", "text": "short", "sites": [' + line + "]}"
    (tmp_path / "1.jsonl").write_text(line + "\n")
    with pytest.raises(traces.NoRecord):
        traces.joined(tmp_path.glob("*.jsonl"))


def test_the_cases_that_are_kept_are_spread_evenly():
    kept = limiting.chosen(["a"] * 100 + ["b"], 4)
    assert [place for place, keep in enumerate(kept) if keep] == [0, 25, 50, 75, 100]
