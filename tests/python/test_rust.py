"""`%%rust` with stand-ins for the program that runs Rust: what it shows, and that nothing it sends does harm."""

import sys

import pytest
from IPython.core.completer import provisionalcompleter
from twincell import _rust

#: Answers a request as its first line says, which a cell gives: Python that sees `send`, `request` and `id`.
STAND_IN = """
import json, sys, time
def send(**event):
    sys.stdout.write(json.dumps(event) + "\\n")
    sys.stdout.flush()
send(event="ready")
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "interrupt":
        continue
    exec(request["code"])
    send(event="end", id=request["id"])
"""


@pytest.fixture
def rust(shell, monkeypatch):
    """Runs the stand-in with `%%rust`, and gives what it printed and how the cell ended."""
    monkeypatch.setattr(_rust, "find_program", lambda: [sys.executable, "-c", STAND_IN])

    def run(code, line=""):
        return shell.run_cell(f"%%rust {line}\n{code}", store_history=True)

    yield run
    shell.run_cell("%rust --restart")


def test_what_a_cell_prints_and_shows_is_shown(rust, capsys):
    code = "send(event='stdout', text='a\\n'); send(event='stderr', text='b\\n')"
    assert rust(code + "; send(event='display', data={'text/plain': '42'})").success
    shown = capsys.readouterr()
    assert shown.out.startswith("a\n") and "42" in shown.out
    assert shown.err == "b\n"


def test_an_error_of_the_compiler_is_shown_with_its_place(rust, capsys):
    span = {"start_line": 2, "start_column": 5, "end_line": 2, "end_column": 6, "label": "here", "primary": True}
    error = {"code": "E0308", "message": "mismatched types", "spans": [span], "help": ["try y"]}
    result = rust(f"pass\nx = 3\nsend(event='compiler', errors=[{error!r}])")
    assert str(result.error_in_exec) == "error[E0308]: mismatched types"
    shown = result.error_in_exec._render_traceback_()
    # The magic is the first line that people see.
    assert shown == [
        "error[E0308]: mismatched types",
        " --> line 3, column 5",
        "  |",
        "3 | x = 3",
        "  |     ^ here",
        "  = help: try y",
    ] or pytest.fail("\n".join(shown))


def test_a_panic_of_the_cell_fails_it_and_one_of_a_thread_does_not(rust, capsys):
    panic = {"message": "no", "file": None, "line": 1, "column": 1, "text": None}
    assert rust(f"send(event='panic', thread='t', **{panic!r})").success
    assert "the thread t panicked: no" in capsys.readouterr().err
    result = rust(f"send(event='panic', thread='main', **{panic!r})")
    assert str(result.error_in_exec) == "the cell panicked: no"


def test_a_program_that_ends_itself_is_started_anew(rust, capsys):
    assert not rust("sys.exit(1)").success
    assert capsys.readouterr().err.count("\n") == 1
    assert rust("send(event='stdout', text='again')").success


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('hello', flush=True)", "it did not send JSON"),
        ("print('[' * 100000, flush=True)", "it did not send JSON"),
        ("print('{}', flush=True)", "it sent no event"),
        ("send(event='launch')", "it sent no event"),
        ("send(event='end', id=77)", "it ended another request"),
        ("send(event='stdout', text=3)", "its text is no text"),
        ("send(event='display', data={'<b>': 'x'})", "its display has no mime types"),
        ("send(event='display', data=[])", "its display has no mime types"),
        ("send(event='compiler', errors=[1])", "its errors are no objects"),
        ("send(event='panic', thread='main', message='m', line=-1, column=1)", "its line is no number"),
        ("send(event='ready')", "it answered something else"),
    ],
)
def test_a_program_that_breaks_the_rules_is_ended(rust, capsys, code, said):
    assert not rust(code).success
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1 and "Traceback" not in shown
    assert rust("pass").success


def test_a_program_that_sends_without_end_is_ended(rust, capsys, monkeypatch):
    monkeypatch.setattr(_rust, "LONGEST_EVENT", 1000)
    assert not rust("sys.stdout.write('x' * 5000); sys.stdout.flush(); time.sleep(60)").success
    assert "it sent too much at once" in capsys.readouterr().err


def test_tables_go_to_the_cell_and_come_back(rust, shell):
    pl = pytest.importorskip("polars")
    shell.user_ns.update(pl=pl, frame=pl.DataFrame({"n": [1, 2, None], "t": ["a", "b", "c"]}))
    copy = "import shutil; shutil.copy(request['inputs'][0]['path'], request['outputs'][0]['path'])"
    assert rust(copy, "-i frame -o back").success
    assert shell.user_ns["back"].equals(shell.user_ns["frame"])


def test_a_table_comes_back_as_a_frame_of_pandas_where_only_that_is_there(rust, shell):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    shell.user_ns.update(pd=pd, frame=pl.DataFrame({"n": [1, 2], "t": ["a", "b"], "x": [0.5, 1.5]}))
    shell.user_ns.pop("pl", None)
    copy = "import shutil; shutil.copy(request['inputs'][0]['path'], request['outputs'][0]['path'])"
    assert rust(copy, "-i frame -o back").success
    back = shell.user_ns["back"]
    assert isinstance(back, pd.DataFrame) and back["n"].tolist() == [1, 2] and back["t"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-i missing", "the notebook has no missing"),
        ("-i number", "number is no table"),
        ("-o for", "for cannot be the name"),
        ("-o a.b", "a.b cannot be the name"),
        ("-o match", "match cannot be the name"),
        ("--nope", "unrecognized arguments: --nope"),
    ],
)
def test_a_mistake_in_the_line_is_one_line(rust, shell, capsys, line, said):
    shell.user_ns["number"] = 3
    assert not rust("pass", line).success
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1


def test_a_table_that_the_cell_did_not_write_right_is_one_line(rust, capsys):
    assert not rust("open(request['outputs'][0]['path'], 'w').write('no table')", "-o back").success
    assert "the table cannot be read" in capsys.readouterr().err


def test_without_the_program_the_cell_says_how_to_get_it(shell, capsys, monkeypatch):
    monkeypatch.setattr(_rust.shutil, "which", lambda *_, **_options: None)
    assert not shell.run_cell("%%rust\n1").success
    shown = capsys.readouterr().err
    assert 'pip install "twincell[rust]"' in shown and shown.count("\n") == 1


def test_a_frame_that_needs_another_package_is_one_line(rust, shell, capsys):
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("pyarrow is missing")

    shell.user_ns["frame"] = Frame()
    assert not rust("pass", "-i frame").success
    shown = capsys.readouterr().err
    assert "frame cannot be handed over: pyarrow is missing" in shown and shown.count("\n") == 1


def test_a_cell_that_goes_on_after_it_was_stopped_is_ended(rust, shell, monkeypatch):
    monkeypatch.setattr(_rust, "PATIENCE", 0.1)
    stop = "send(event='stderr', text='x')\nimport os, signal\nos.kill(os.getppid(), signal.SIGINT)"
    result = rust(f"{stop}\nwhile True:\n    send(event='stderr', text='x'); time.sleep(0.01)")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert result.error_in_exec._render_traceback_() == ["Stopped. The variables of Rust are lost."]
    assert rust("pass").success


def test_help_is_printed(rust, capsys):
    assert rust("pass", "--help").success
    assert "-i NAME" in capsys.readouterr().out


def test_a_completion_that_comes_late_harms_no_cell(rust, shell, monkeypatch, capsys, tmp_path):
    rust("kept = 1")
    monkeypatch.setattr(_rust, "COMPLETION_PATIENCE", 0.1)
    mark = tmp_path / "mark"
    wait = f"import os\nwhile not os.path.exists({str(mark)!r}): time.sleep(0.01)"
    late = f"%%rust\nle = 0\n{wait}\nsend(event='completions', start=9)"
    with provisionalcompleter():
        list(shell.Completer.completions(late, len("%%rust\nle")))
    mark.touch()
    assert rust("send(event='stdout', text=f'{kept}\\n')").success
    assert capsys.readouterr().out == "1\n"


def test_completions_are_those_of_the_program_that_fit(rust, shell):
    rust("pass")
    matches = [{"text": "len", "kind": "function"}, {"text": "push", "kind": "function"}]
    text = f"%%rust\nle = 'é'\nsend(event='completions', start=0, end=2, matches={matches!r})"
    with provisionalcompleter():
        found = list(shell.Completer.completions(text, len("%%rust\nle")))
        assert [one.text for one in found] == ["len"]
        list(shell.Completer.completions("%%rust\nsys.exit(1)", 18))
    assert rust("pass").success
