"""Views, messages, pickles and the pager, as strangers would use them."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest
import twincell
from twincell import _given, _widget

from .stranger import SECRET


def few(*attacks: object, quick: int = 2) -> list:
    """Attacks of one kind, of which the first run in the gate and the others at night."""
    return [*attacks[:quick], *(pytest.param(attack, marks=pytest.mark.long) for attack in attacks[quick:])]


#: Compares with a value whose class says how it is loaded, and prints what a person sees.
GIVES = """\
import builtins, os, socket, subprocess, sys, twincell

class Value:
    def __reduce__(self):
        return {call}

if __name__ == "__main__":
    old, new = "def f(x):\\n    return str(x)\\n", "def f(x):\\n    return f'{{x}}'\\n"
    found = twincell.compare(old, new, values={{"x": Value()}}, budget=20, predictor="frequency")
    print(found.verdict, found.to_json(), found)
"""


@pytest.mark.parametrize(
    "call",
    few(
        "os.system, ('touch PROOF',)",
        "eval, ('open(\"KEY\").read()',)",
        "open, ('PROOF', 'w')",
        "exec, ('import pathlib; pathlib.Path(\"PROOF\").touch()',)",
        "subprocess.run, (['touch', 'PROOF'],)",
        "os.execv, ('/bin/touch', ['touch', 'PROOF'])",
        "os.symlink, ('KEY', 'PROOF')",
        "os.rename, ('KEY', 'PROOF')",
        "os.chmod, ('KEY', 0o777)",
        "os.unlink, ('KEY',)",
        "os.kill, (os.getpid(), 9)",
        "os.kill, (os.getppid(), 9)",
        "socket.create_connection, (('127.0.0.1', 1),)",
        "os.fork, ()",
        "os._exit, (0,)",
        "builtins.getattr(builtins, 'exec'), ('while True: pass',)",
        "bytearray, (1 << 40,)",
        "(lambda: 0), ()",
        "list, (), None, iter(lambda: Value(), None)",
        "str, ('\\x1b]0;owned\\x07\\u202e',)",
    ),
)
def test_what_a_given_value_runs_when_it_is_loaded_stays_in_the_sandbox(person, call):
    key = person.home / ".ssh/id_rsa"
    mode = key.stat().st_mode
    script = person.home / "gives.py"
    script.write_text(GIVES.format(call=call.replace("PROOF", str(person.proof)).replace("KEY", str(key))))
    done = person.run(str(script), program=(sys.executable,))
    assert done.returncode == 0 and done.stdout, done.stderr
    assert not person.proof.is_symlink() and not person.proof.exists() and not person.is_out(done.stdout, done.stderr)
    assert key.read_text() == SECRET and key.stat().st_mode == mode
    assert not [it for it in done.stdout + done.stderr if it in "\x1b\x07\u202e"]


class Endless(Exception):
    """An error that never says what it is."""

    def __str__(self) -> str:
        while True:
            pass


class Long(Exception):
    def __str__(self) -> str:
        return "x" * 100_000_000


class Odd(Exception):
    __qualname__ = "Odd\n\x1b[2J"


@pytest.mark.parametrize("error", [Endless, Long, Odd])
def test_an_error_of_a_value_cannot_hold_up_its_reader(monkeypatch, tmp_path, error):
    class Value:
        def __reduce__(self) -> str:
            raise error

    monkeypatch.setattr(_given, "SECONDS", 0.2)
    why, text = _given.pickled(Value(), tmp_path / "pickle", 1000)
    assert why in ("error", "slow") and len(text) < 1000 and text.isprintable()


@pytest.fixture(scope="module")
def view():
    """A view of a comparison, and what it sends."""
    pytest.importorskip("anywidget")
    old, new = "def f(x):\n    return x + 1\n", "def f(x):\n    return x + 2\n"
    made = _widget.view_class()(twincell.compare(old, new, budget=20, predictor="frequency"))
    made.sent = []
    made.send = lambda content, buffers=None: made.sent.append(content)
    return made


EVIL = "globalThis.owned = 1"


@pytest.mark.parametrize(
    "state",
    [
        {"module": EVIL},
        {"_esm": EVIL},
        {"_css": EVIL},
        {"kind": "study"},
        {"state": {"rows": []}},
        {"state": None},
        {"progress": {"owned": 1}},
        {"debugs": True},
        {"comparison": None},
        {"_model_module": "evil"},
        {"_view_name": "Evil"},
        {"_replayed": {}},
        {"__class__": "x"},
        {"pinned": {}},
        {"pinned": None},
        {"pinned": "x"},
        {"pinned": [], "module": EVIL, "kind": "study", "state": {}},
        [],
        "x",
        None,
    ],
    ids=lambda state: json.dumps(state)[:50],
)
def test_a_forged_message_changes_nothing_of_a_view(view, state):
    kept = {
        name: getattr(view, name) for name in ("_esm", "module", "kind", "state", "progress", "debugs", "comparison")
    }
    for data in (
        {"method": "update", "state": state},
        {"method": "update", "state": state, "buffer_paths": [["module"]]},
    ):
        view._handle_msg({"content": {"data": data}, "buffers": [EVIL.encode()]})
    assert {name: getattr(view, name) for name in kept} == kept and view.pinned == []


ODD = [True, -1, 1.5, 10**30, "0", "x" * 1000, "\x1b[2J", [], [0], {}, {"a": 1}, float("nan"), "\ud800"]


@pytest.mark.parametrize(
    "do", ["replay", "shrink", "reproducer", "headline", "open", "kept", "run_test", "write_test", "no"]
)
def test_an_odd_question_gets_an_answer_in_one_line(view, do):
    for part in ("execution", "pair", "changes", "handle", "row", "test", "form", "do"):
        for value in ODD:
            view.sent.clear()
            request = {"id": 1, "do": do, "execution": 0, part: value}
            view._handle_msg({"content": {"data": {"method": "custom", "content": request}}, "buffers": []})
            replies = [reply for reply in view.sent if "id" in reply]
            assert len(replies) == 1 and isinstance(replies[0]["ok"], bool), (part, value)
            assert "\n" not in replies[0].get("error", "") and "\x1b" not in replies[0].get("error", "")


@pytest.mark.parametrize("content", [None, [], "x", 1, {"id": None}, {"id": "1"}, {"id": []}, {"id": 1.5}, {"do": []}])
def test_what_is_no_question_gets_no_answer(view, content):
    view.sent.clear()
    view._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    assert view.sent == []


def test_values_that_a_message_changes_run_in_the_sandbox(view, tmp_path):
    proof = tmp_path / "proof"
    for text in (f"__import__('os').system('touch {proof}')", f"open('{proof}', 'w')", "1; import os", "(" * 10_000):
        request = {"id": 1, "do": "replay", "execution": 0, "changes": {"x": text, "y.z": text, text: "1"}}
        view._handle_msg({"content": {"data": {"method": "custom", "content": request}}, "buffers": []})
    assert not proof.exists()


def on_terminal(person, *arguments: str, keys: bytes = b"q") -> tuple[int, str]:
    """twincell on a terminal of the person's: its status, and what the terminal got."""
    ours, theirs = pty.openpty()
    environment = person.environ() | {"TERM": "xterm", "LINES": "24", "COLUMNS": "80"} | person.environment
    command = [sys.executable, "-m", "twincell", *arguments]
    with subprocess.Popen(
        command,
        cwd=person.repository,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0),
    ) as running:
        os.close(theirs)
        got = b""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    piece = os.read(ours, 1 << 16)
                except OSError:
                    piece = b""
                if not piece:
                    break
                got += piece
            elif got and running.poll() is None:
                # The pager waits for a key.
                os.write(ours, keys)
        running.kill()
    os.close(ours)
    return running.returncode, got.decode(errors="replace")


NAMES = [
    "-o{proof}.py",
    "+!touch {mark}.py",
    "--log-file={mark}.py",
    "$(touch {mark}).py",
    "`touch {mark}`.py",
    "; touch {mark}; #.py",
    "|touch {mark}.py",
    "\x1b]0;owned\x07.py",
    "a\nb.py",
    "\u202egnp.py",
]


@pytest.mark.parametrize("pager", few("less", "less -R +G", "less -S -N", quick=1))
@pytest.mark.parametrize("name", few(*NAMES))
def test_names_and_code_do_nothing_to_a_live_pager(person, name, pager):
    mark = "owned-by-a-name"
    name = name.format(proof="owned-by-an-option", mark=mark)
    body = "".join(f"\n\ndef f{n}(x):\n    return x + {n}  # !touch {mark} \x1b[2J\n" for n in range(12))
    person.commit({name: body.replace("\x1b", "")})
    person.commit({name: body.replace("x +", "x -")})
    # The person's own filter for files: text that comes through a pipe is no file.
    person.environment |= {"PAGER": pager, "LESSOPEN": f"|touch {person.proof} %s", "LESS": "-R"}
    status, got = on_terminal(person, "compare", "--git", "HEAD~1..HEAD", "--budget", "10", "--predictor", "frequency")
    assert status in (0, 1, 2), got
    assert not person.proof.exists() and not list(person.home.rglob("owned-*"))
    assert "\x1b]0;" not in got and "\u202e" not in got and "\x1b[2J" not in got.replace("\x1b[H\x1b[2J", "")
