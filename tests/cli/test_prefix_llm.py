"""`twincell prefix --generator llm`: prefixes from a language model, by answers that a test has written."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
import twincell as library

from ..command import run_here
from .chat import answer, chat

CODE = """\
if user.is_admin:
    page = render(user.name)
    print(page.title)
else:
    raise Forbidden(user)
"""
USER = "from types import SimpleNamespace as N"
ADMIN = answer("user = N(is_admin=True, name='ann')", "render = lambda name: N(title=name)", imports=(USER,))
OTHER = answer("user = N(is_admin=False)", "class Forbidden(Exception): pass", imports=(USER,))


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Runs the command line against an endpoint."""
    (tmp_path / "snippet.py").write_text(CODE)
    for name in ("TWINCELL_LLM_URL", "TWINCELL_LLM_MODEL", "TWINCELL_LLM_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def ask(served, *arguments, generator="llm"):
        command = [sys.executable, "-m", "twincell", "prefix", "snippet.py", "--generator", generator, *arguments]
        command += ["--predictor", "frequency"]
        environment = {**os.environ, **(served.environment if served else {})}
        return run_here(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return ask


def test_a_model_is_asked_with_the_three_kinds_of_guidance(ask):
    # First a prefix with an error, then one that mends it, and then one for the lines that are left.
    broken = answer("user = N(is_admin=True, name='ann')", imports=(USER,))
    script = [[broken], [ADMIN], [OTHER]]
    with chat(lambda _, number: script[number]) as served:
        done = ask(served, "--json", "--width", "1")
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    assert tree["covered"] == tree["lines"] == [1, 2, 3, 5]
    asked = [(node["guidance"], node["origin"]) for node in tree["nodes"]]
    assert asked == [("undefinedness", "local"), ("undefinedness", "llm"), ("error", "llm"), ("coverage", "llm")]
    assert (tree["tokens"], tree["problem"], tree["nodes"][2]["parent"]) == (3000, None, 1)
    first, second, third = (
        [(one["role"], one["content"]) for one in request["messages"]] for request in served.requests
    )
    assert "user.is_admin" in first[0][1] and "Forbidden" in first[0][1]
    assert [role for role, _ in second] == ["user", "assistant", "user"] and second[1][1] == broken
    assert "NameError" in second[2][1] and "'render'" in second[2][1]
    assert "raise Forbidden(user)  # not run yet" in third[-1][1] and "print(page.title)\n" in third[-1][1]
    assert {request["model"] for request in served.requests} == {"tiny"}
    assert set(served.keys) == {"Bearer secret-key-of-the-user"}


def test_only_the_code_leaves_the_machine(ask, tmp_path):
    (tmp_path / "other.py").write_text("SECRET = 'of another file'\n")
    with chat(lambda *_: [ADMIN, OTHER]) as served:
        ask(served, "--width", "2")
    sent = json.dumps(served.requests)
    assert "another file" not in sent and str(tmp_path) not in sent and "snippet.py" not in sent
    assert "secret-key" not in sent and os.environ["HOME"] not in sent


def test_executions_go_first_and_the_model_gets_what_they_leave(ask, tmp_path):
    with chat(lambda *_: [ADMIN]) as served:
        done = ask(served, generator="both")
    assert done.returncode == 0 and served.requests == []
    (tmp_path / "snippet.py").write_text("if hash(key) % 1000003 == 77 and len(set(key)) > 5:\n    found = 1\n")
    key = answer("class K(str):", "    def __hash__(self): return 77", "key = K('abcdef')")
    with chat(lambda *_: [key]) as served:
        done = ask(served, "--budget", "1", "--json", generator="both")
    tree = json.loads(done.stdout)
    assert tree["covered"] == [1, 2] and tree["nodes"][tree["best"]]["origin"] == "llm", done.stderr
    assert "found = 1  # not run yet" in served.requests[0]["messages"][0]["content"]


def test_of_a_function_the_model_gets_what_it_needs_of_its_file(ask, tmp_path):
    code = "TOKEN = 'other'\nRATE = 2\n\n\ndef other():\n    pass\n\n\ndef f(item):\n    return item.net * RATE\n"
    (tmp_path / "snippet.py").write_text(code)
    with chat(lambda *_: [answer("item = N(net=2)", imports=(USER,))]) as served:
        done = ask(served, "--function", "f", "--width", "1", "--json")
    tree = json.loads(done.stdout)
    assert tree["covered"] == tree["lines"] == [10] and tree["nodes"][tree["best"]]["origin"] == "llm", done.stderr
    sent = json.dumps(served.requests)
    assert "RATE = 2" in sent and "f(item)" in sent and "TOKEN" not in sent and "def other" not in sent


def test_a_model_helps_code_that_awaits(ask, tmp_path):
    (tmp_path / "snippet.py").write_text("data = await load(url)\nprint(data)\n")
    given = answer("async def load(url): return 1", "url = 'a'")
    with chat(lambda *_: [given]) as served:
        done = ask(served, "--width", "1", "--out", "out", "--pytest", "test_it.py")
    assert done.returncode == 0, done.stderr
    (program,) = (tmp_path / "out").glob("*.py")
    for command in ([str(program)], ["-m", "pytest", "-q", "test_it.py"]):
        subprocess.run([sys.executable, *command], cwd=tmp_path, check=True, capture_output=True, timeout=60)


def test_a_server_that_gives_one_answer_at_a_time_is_asked_again(ask):
    with chat(lambda _, number: [[ADMIN, OTHER][number % 2]]) as served:
        done = ask(served, "--width", "2")
    assert done.returncode == 0, done.stdout
    assert [request["n"] for request in served.requests] == [2, 1]
    assert served.requests[0]["seed"] != served.requests[1]["seed"]


def test_parts_of_an_answer_that_fail_are_left_out(ask):
    both = answer(
        "import nowhere_at_all",
        "x = 1 / 0",
        "user = N(is_admin=False)",
        "class Forbidden(Exception): pass",
        imports=(USER,),
    )
    with chat(lambda *_: [both]) as served:
        done = ask(served, "--width", "1", "--budget", "0", "--json")
    tree = json.loads(done.stdout)
    best = tree["nodes"][tree["best"]]["text"]
    assert tree["covered"] == [1, 5] and "nowhere" not in best and "/ 0" not in best


def test_what_a_model_writes_runs_only_in_the_sandbox(ask, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    touch = ["touch", str(tmp_path / "made")]
    acts = [f"os.remove({str(victim)!r})", f"shutil.rmtree({str(tmp_path)!r})", f"subprocess.run({touch!r})"]
    tried = [f"try: {act}\nexcept BaseException: pass" for act in acts]
    hostile = answer("import os, shutil, subprocess", *tried, "os._exit(0)")
    endless = answer("while True: pass")
    with chat(lambda *_: [hostile, endless, ADMIN, OTHER]) as served:
        done = ask(served, "--width", "4")
    assert "4 of 4 lines run" in done.stdout, done.stdout + done.stderr
    assert victim.read_text() == "mine" and not (tmp_path / "made").exists()


def test_control_characters_of_an_endpoint_never_reach_the_terminal(ask):
    for reply in (
        [answer("x = '\x1b]0;owned\x07'", "user = '\u202e'")],
        (400, b"\x1b[2J\xe2\x80\xaeno"),
        (200, b"\x1b[31m"),
    ):
        with chat(lambda *_, reply=reply: reply) as served:
            done = ask(served, "--width", "1", "--budget", "1")
        for text in (done.stdout, done.stderr):
            assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((500, b"overloaded"), "status 500"),
        ((401, b"Incorrect key: secret-key-of-the-user"), "status 401"),
        ((302, b""), "status 302"),
        ((200, b"<html>hello</html>"), "no chat completion"),
        ((200, b'{"choices": 5}'), "no chat completion"),
        ((200, b"\xff\xfe" * 10), ""),
    ],
)
def test_an_endpoint_that_fails_is_told_in_one_line_and_what_was_found_is_kept(ask, reply, said):
    with chat(lambda _, number: [OTHER] if number == 0 else reply) as served:
        done = ask(served, "--width", "1")
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and said in done.stderr, done.stderr
    assert served.environment["TWINCELL_LLM_URL"] in done.stderr and "secret-key" not in done.stderr
    assert "2 of 4 lines run" in done.stdout and "by the language model" in done.stdout


def test_an_endpoint_that_is_not_there_is_told_in_one_line(ask, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("TWINCELL_LLM_MODEL", "tiny")
    monkeypatch.setenv("TWINCELL_LLM_URL", f"http://127.0.0.1:{port}/v1")
    done = ask(None)
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "cannot be reached" in done.stderr
    assert done.stdout.startswith("# 0 of 4 lines run")
    for variable, value in (("TWINCELL_LLM_URL", "localhost:80"), ("TWINCELL_LLM_URL", ""), ("TWINCELL_LLM_MODEL", "")):
        monkeypatch.setenv("TWINCELL_LLM_URL", "http://127.0.0.1:1")
        monkeypatch.setenv("TWINCELL_LLM_MODEL", "tiny")
        monkeypatch.setenv(variable, value)
        done = ask(None)
        assert (done.returncode, done.stdout) == (3, "") and done.stderr.count("\n") == 1 and variable in done.stderr


def test_a_busy_endpoint_is_asked_again(ask):
    with chat(lambda _, number: (429, b"slow down") if number == 0 else [ADMIN, OTHER]) as served:
        done = ask(served, "--width", "2")
    assert done.returncode == 0 and len(served.requests) == 2


def test_answers_that_nobody_can_read_are_dropped(ask):
    odd = ["", "I am sorry.", "{", json.dumps({"initialization": [5]}), "```python\n" + "(" * 100_000]
    with chat(lambda *_: [*odd, ADMIN, OTHER]) as served:
        done = ask(served, "--width", "8")
    assert done.returncode == 0, done.stderr


def test_the_budget_of_tokens_ends_the_questions(ask):
    with chat(lambda *_: [OTHER]) as served:
        done = ask(served, "--width", "1", "--budget-tokens", "700")
    assert done.returncode == 3 and "--budget-tokens" in done.stderr and done.stderr.count("\n") == 1
    assert 1 <= len(served.requests) <= 7
    assert all(request["max_tokens"] < 700 for request in served.requests)
    assert "the language model used" in done.stdout


def test_a_single_answer_may_take_most_of_the_budget(ask):
    with chat(lambda *_: [OTHER]) as served:
        ask(served, "--width", "1", "--budget-tokens", "3000")
    assert served.requests[0]["max_tokens"] > 1500


def test_an_interrupt_does_not_wait_for_a_slow_endpoint(ask, tmp_path):
    reached = []

    def reply(*_):
        reached.append(True)
        time.sleep(30)
        return [ADMIN]

    with chat(reply) as served:
        running = subprocess.Popen(
            [sys.executable, "-m", "twincell", "prefix", "snippet.py", "--generator", "llm"],
            cwd=tmp_path,
            env={**os.environ, **served.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 60
        while not reached:
            assert running.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    assert running.returncode == 130 and out.startswith("# 0 of 4"), err


def test_a_project_cannot_send_code_away(ask, tmp_path):
    (tmp_path / "twincell.toml").write_text('generator = "llm"\n')
    done = ask(None, generator="local")
    assert done.returncode == 3 and "generator" in done.stderr and done.stderr.count("\n") == 1


def test_python_has_the_same(monkeypatch):
    with chat(lambda _, number: [OTHER] if number == 0 else (500, b"")) as served:
        for name, value in served.environment.items():
            monkeypatch.setenv(name, value)
        prefixes = library.prefix(CODE, generator="llm", width=1, predictor="frequency")
    assert prefixes.problem is not None and "status 500" in prefixes.problem
    assert prefixes.coverage == 0.5 and "class Forbidden" in prefixes.best and "status 500" in repr(prefixes)
