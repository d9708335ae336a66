"""`twincell predict`, `twincell.predict` and the magics: what is expected where, without running anything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import twincell as library
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from .test_compare import twincell

CODE = """\
\"\"\"Größe.\"\"\"
import os

raise SystemExit("this must not run")


class Session:
    def auth(self, request, limit=None):
        if limit is not None and request.retries >= limit:
            raise RetryLimit(request.url)
        return request.meta['delay'] * 2
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    return tmp_path / "a.py"


def test_the_json_has_every_site_with_offsets_in_characters(file):
    done = twincell("predict", file, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert all(row.keys() == {"function", "start", "end", "kind", "probabilities"} for row in rows)
    sites = {(CODE[row["start"] : row["end"]], row["kind"]) for row in rows}
    assert {("request.retries", "attribute"), ("request.meta['delay']", "subscript"), ("RetryLimit", "name")} <= sites
    assert {row["function"] for row in rows} == {"Session.auth"}
    assert all(len(row["probabilities"]) == 12 and abs(sum(row["probabilities"]) - 1) < 1e-4 for row in rows)
    assert twincell("predict", file, "--json").stdout == done.stdout


def test_the_table_names_line_kind_and_likeliest_classes(file):
    lines = twincell("predict", file).stdout.splitlines()
    [line] = [line for line in lines if " request.meta['delay'] " in line]
    assert line.split()[:3] == ["11", "request.meta['delay']", "subscript"]
    assert "int" in line and "%" in line


def test_what_cannot_be_read_is_said_in_one_line(tmp_path):
    (tmp_path / "bad.py").write_text("def f(:\n")
    (tmp_path / "half.py").write_text("def f(x):\n    return x.y\n\ndef g(:\n")
    for name, status in (("bad.py", 3), ("no.py", 3), ("half.py", 0)):
        done = twincell("predict", name, cwd=tmp_path)
        assert done.returncode == status, name
        assert (status == 3) == (done.stderr.count("\n") == 1), done.stderr
    assert "line 4" in done.stdout and "x.y" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_text_that_is_not_python_is_said_once(tmp_path, options):
    (tmp_path / "a.py").write_text("def f(:\n")
    done = twincell("predict", tmp_path / "a.py", *options)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1 and "a.py is not valid Python: line 1: " in done.stderr


def test_the_library_takes_text_paths_and_functions(file):
    def local(x):
        return x.y

    assert [len(row["probabilities"]) for row in library.predict("def f(x):\n    return x.y\n")] == [12, 12]
    assert len(library.predict(file)) == len(library.predict(CODE)) > 8
    rows = library.predict(CODE)
    assert (rows[0], rows[-1], rows[1:3]) == (rows.rows[0], rows.rows[-1], rows.rows[1:3])
    [error, *_] = library.predict("def f(x):\n    return x.y\n\ndef g(:\n").errors
    assert error["line"] == 4 and error["message"]
    assert any(row["kind"] == "attribute" for row in library.predict(local))
    for code, options, told in [
        ("def f(:", {}, "not valid Python, line 1"),
        (CODE, {"budget": 3}, "predict has no option budget: it has predictor, model, device"),
        (3, {}, "give source text, a path or a function"),
    ]:
        with pytest.raises(library.TwincellError, match=told):
            library.predict(code, **options)


def test_what_a_notebook_shows_is_code_with_predictions_and_no_markup_of_its_own():
    html = library.predict("def f(x):\n    return x['<script>alert(1)</script>']\n")._repr_mimebundle_()["text/html"]
    assert "<script" not in html and "&lt;script&gt;" in html and "2 value sites" in html


def test_the_magics_predict_names_files_and_cells(file):
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "twincell")
    shell.run_cell("def local(x):\n    return x.y\n")
    assert len(shell.run_line_magic("predict", f'"{file}"')) > 8
    cell = shell.run_cell_magic("predict", "--predictor frequency", "def f(x):\n    return x.y\n")
    assert "     3  x.y" in repr(cell), "the magic is line 1"
    for line in ("local --budget 3", ""):
        with pytest.raises(UsageError):
            shell.run_line_magic("predict", line)
    for line in ("nowhere.py", "nothing", "local.nothing"):
        with pytest.raises(UsageError, match=f"no function, class, version or file {line} here"):
            shell.run_line_magic("predict", line)


def test_the_magics_predict_classes_methods_and_versions(tmp_path, monkeypatch):
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "twincell")
    shell.run_cell("class A:\n    def m(self):\n        return self.b\n")
    shell.run_cell_magic("version", "old", "def f(x):\n    return x.y\n")
    assert {row["function"] for row in shell.run_line_magic("predict", "A")} == {"A.m"}
    assert {row["function"] for row in shell.run_line_magic("predict", "A.m")} == {"m"}
    assert {row["function"] for row in shell.run_line_magic("predict", "old")} == {"f"}
    # A folder of the same name hides nothing, and attributes of objects are not asked for.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A").mkdir()
    assert {row["function"] for row in shell.run_line_magic("predict", "A")} == {"A.m"}
    shell.run_cell("a = A()\n")
    with pytest.raises(UsageError, match=r"no function, class, version or file a\.m here"):
        shell.run_line_magic("predict", "a.m")


def test_a_class_of_a_notebook_is_found_by_any_of_its_members():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "twincell")
    for number, member in enumerate(("@property", "@staticmethod", "@classmethod", "@functools.cached_property")):
        name = f"K{number}"
        code = (
            f"class {name}:\n    proxy = xmlrpc.client.ServerProxy('http://localhost')\n    {member}\n    def m(a):\n"
        )
        shell.run_cell(f"import functools, xmlrpc.client\n{code}        return a.b\n")
        assert any(row["kind"] == "attribute" for row in shell.run_line_magic("predict", name)), member


def test_a_cell_with_magics_has_its_places():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "twincell")
    cell = "%matplotlib inline\nfiles = !ls 'größe'\ndef f(x):\n    return x.y\n"
    predictions = shell.run_cell_magic("predict", "", cell)
    assert predictions.errors == []
    whole = f"\n{cell}"
    assert {whole[row["start"] : row["end"]] for row in predictions} == {"x", "x.y"}


@pytest.mark.skipif(sys.platform != "linux", reason="threads are looked up in /proc")
def test_an_interrupt_ends_a_long_prediction_at_once(tmp_path):
    lines = "".join(f"    x.a{number} = x.b{number}(x.c{number})\n" for number in range(5000))
    (tmp_path / "long.py").write_text(f"def f(x):\n{lines}")
    command = [sys.executable, "-m", "twincell", "predict", "--cache", "memory", "long.py"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # The thread that predicts is named so; before it there is nothing to interrupt.
    threads = Path(f"/proc/{running.pid}/task")
    until = time.monotonic() + 60
    while not any((thread / "comm").read_text() == "twincell-work\n" for thread in threads.iterdir()):
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "twincell: stopped\n")


def kept(folder):
    """The file of remembered predictions, if there is one."""
    return next(folder.rglob("predictions-*.sqlite"), None)


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is Linux's")
def test_predictions_are_kept_and_found_again_and_damage_does_no_harm(file, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    fresh = twincell("predict", file, "--json", "--cache", "memory").stdout
    assert json.loads(fresh) and kept(cache) is None
    assert twincell("predict", file, "--json").stdout == fresh
    assert json.loads(twincell("doctor", "--json").stdout)["predictor"]["cache"]["answers"] == 1
    assert twincell("predict", file, "--json").stdout == fresh
    whole = kept(cache).read_bytes()
    for damaged in (b"no database", b"", whole[: len(whole) // 2], whole[:200] + bytes(len(whole) - 200)):
        kept(cache).write_bytes(damaged)
        assert twincell("predict", file, "--json").stdout == fresh
    # A folder that nobody can make.
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert twincell("predict", file, "--json").stdout == fresh
    assert "cannot be used" in twincell("doctor").stdout
