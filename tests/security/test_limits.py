"""Time, memory, disk space and budgets that a stranger's code, tests or endpoints would use up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ..cli.chat import answer, chat
from .stranger import SECRET

#: No answer makes both lines run, so that a model is asked as long as it may be.
SNIPPET = "if a.b and not a.b:\n    found = 1\n"
#: What a request may cost in all, for these attacks.
BUDGET = 3000


def completion(*answers: str | None, usage: object = ...) -> tuple[int, bytes]:
    """A reply of an endpoint with answers, or choices without one, and with what it says of its own use."""
    choices = [{"index": at, "message": {"role": "assistant", "content": it}} for at, it in enumerate(answers)]
    return 200, json.dumps({"choices": choices} | ({} if usage is ... else {"usage": usage})).encode()


def tokens(*texts: str | None) -> int:
    return sum(len(text.encode()) for text in texts if text) // 4


def asked(request: dict) -> int:
    return tokens(*(message["content"] for message in request["messages"]))


def ask(person, *arguments: str, file: str = "snippet.py"):
    """`twincell prefix`, with the endpoint that the person's environment names."""
    (person.repository / file).write_text(SNIPPET)
    return person.run("prefix", file, "--generator", "llm", "--predictor", "frequency", *arguments)


def few(*attacks: object, quick: int = 2) -> list:
    """Attacks of one kind, of which the first run in the gate and the others at night."""
    return [*attacks[:quick], *(pytest.param(attack, marks=pytest.mark.long) for attack in attacks[quick:])]


WRONG = answer("a = None")
LONG = answer("a = None", "x = '" + "y" * 40_000 + "'")


@pytest.mark.parametrize(
    "reply",
    few(
        completion(WRONG, usage={"total_tokens": 0}),
        completion(WRONG, usage={"total_tokens": 1, "prompt_tokens": 0, "completion_tokens": 0}),
        completion(WRONG, usage={"total_tokens": -100_000}),
        completion(WRONG, usage={"total_tokens": "0"}),
        completion(WRONG, usage={"total_tokens": 0.5}),
        completion(WRONG, usage={"total_tokens": None}),
        completion(WRONG, usage={}),
        completion(WRONG, usage=[]),
        completion(WRONG, usage=None),
        completion(WRONG),
        completion(LONG, usage={"total_tokens": 0}),
        completion(*[WRONG] * 50, usage={"total_tokens": 0}),
        completion(usage={"total_tokens": 0}),
        completion(None, None, usage={"total_tokens": 0}),
        completion("", usage={"total_tokens": 0}),
        (429, b"slow down"),
        (503, b"overloaded"),
        (200, b"{"),
    ),
    ids=lambda reply: f"{reply[0]} {reply[1][-60:].decode()}",
)
def test_an_endpoint_cannot_make_its_user_pay_more_than_the_budget(person, reply):
    with chat(lambda *_: reply) as served:
        person.environment |= served.environment
        done = ask(person, "--budget-tokens", str(BUDGET), "--budget", "50", "--json")
    tree = json.loads(done.stdout)
    heard = [tokens(*(choice["message"]["content"] for choice in body["choices"])) for body in bodies(served, reply)]
    sent = [asked(request) for request in served.requests]
    assert sent and tree["tokens"] >= sum(sent) + sum(heard), (tree["tokens"], sent, heard)
    # What an endpoint answers is its own affair. Nothing is asked behind the budget.
    assert sum(sent) + sum(heard[:-1]) <= BUDGET, (sent, heard)


def bodies(served, reply):
    """What an endpoint that always says the same has answered, as far as it is a reply."""
    try:
        return [json.loads(reply[1])] * len(served.requests) if reply[0] == 200 else []
    except ValueError:
        return []


@pytest.mark.parametrize("most", few(2**63, 2**64 - 1, 10**30, quick=1))
def test_an_endpoint_that_reports_too_much_ends_the_questions_and_nothing_else(person, most):
    with chat(lambda *_: completion(WRONG, usage={"total_tokens": most, "prompt_tokens": most})) as served:
        person.environment |= served.environment
        done = ask(person, "--budget-tokens", str(BUDGET), "--budget", "50", "--width", "1")
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "--budget-tokens" in done.stderr, done.stderr
    assert 1 <= len(served.requests) <= BUDGET // 64


def host(served) -> str:
    return served.environment["TWINCELL_LLM_URL"].split("//")[1].removesuffix("/v1")


#: What a server may repeat of a request that it refuses.
ECHO = 401, b"no such user: ann:%s at /v1/chat/completions?key=%s" % (SECRET.encode(), SECRET.encode())
QUOTED = "".join(f"%{byte:02x}" for byte in SECRET.encode())


@pytest.mark.parametrize(
    "url",
    few(
        f"http://ann:{SECRET}@HOST/v1",
        f"http://{SECRET}@HOST/v1",
        f"http://{SECRET}:@HOST/v1",
        f"HTTP://ann:{SECRET}@HOST/v1/",
        f"http://HOST/v1?key={SECRET}",
        f"http://HOST/v1?{SECRET}",
        f"http://HOST/v1?version=1&api-key={SECRET}#part",
        f"http://HOST/v1#{SECRET}",
        f"https://ann:{SECRET}@HOST/v1",
        f"ftp://ann:{SECRET}@HOST/v1",
        f"ann:{SECRET}@HOST/v1",
        f"HOST/v1?key={SECRET}",
        f"http://ann:a/{SECRET}@HOST/v1",
        f"http://ann:1?{SECRET}@HOST/v1",
        f"http://ann:1#{SECRET}@HOST/v1",
        f"http://ann:{SECRET} @HOST/v1",
        f"http://ann:@{SECRET}@HOST/v1",
        f"http://ann:{QUOTED}@HOST/v1",
        f"http://HOST/v1?key={QUOTED}",
        f"http:/ann:{SECRET}@HOST/v1",
        f"http:ann:{SECRET}@HOST/v1",
        quick=3,
    ),
)
def test_credentials_in_an_address_are_never_printed(person, url):
    with chat(lambda *_: ECHO) as served:
        person.environment |= served.environment | {"TWINCELL_LLM_URL": url.replace("HOST", host(served))}
        done = ask(person, "--width", "1", "--json")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert not person.is_out(done.stdout, done.stderr) and QUOTED not in done.stdout + done.stderr


@pytest.mark.parametrize("url", few(f"http://ann:{SECRET}@HOST/v1", f"http://HOST/v1?key={SECRET}", quick=1))
def test_credentials_in_an_address_are_in_no_row_and_in_no_page(person, url):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = url.replace("HOST", f"127.0.0.1:{port}")
    person.environment |= {"TWINCELL_LLM_URL": url, "TWINCELL_LLM_MODEL": "tiny"}
    done = ask(person, "--study", "rows.jsonl", "--html", "page.html")
    assert (person.repository / "rows.jsonl").read_text() and (person.repository / "page.html").is_file(), done.stderr
    assert not person.is_out(done.stdout, done.stderr)


def test_a_query_goes_where_the_address_has_it_and_to_the_endpoint_alone(person):
    with chat(lambda *_: completion(WRONG)) as served:
        person.environment |= served.environment | {"TWINCELL_LLM_URL": f"http://{host(served)}/v1?key={SECRET}"}
        done = ask(person, "--width", "1", "--budget", "1", "--json")
    assert served.paths and set(served.paths) == {f"/v1/chat/completions?key={SECRET}"}, done.stderr
    assert not person.is_out(done.stdout, done.stderr)


#: A change that tests could show.
SHOP = "def price(n):\n    return n * 2\n"
TEST = "from shop import price\n\n\ndef test_price():\n    assert price(1) == 2\n"
#: Code of the project that says that it is reached, and then does not come back.
HANGS = "import pathlib, time\n\npathlib.Path(__file__).with_name('reached').touch()\ntime.sleep(600)\n"
#: The same, deaf to signals.
DEAF = "import signal\n\nfor number in (2, 15):\n    signal.signal(number, signal.SIG_IGN)\n" + HANGS
#: The same where it starts others, which hold its output open.
SPAWNS = "import subprocess, sys\n\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n" + HANGS
LOOPS = HANGS.replace("time.sleep(600)", "while True: pass")
FLOODS = HANGS.replace("time.sleep(600)", "while True: print('x' * 1000)")


def reached(person) -> list:
    return list((person.home / ".cache").rglob("reached"))


def start(person, *arguments: str) -> subprocess.Popen[str]:
    """twincell in the repository, which goes on."""
    return subprocess.Popen(
        [sys.executable, "-m", "twincell", *arguments],
        cwd=person.repository,
        env=person.environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(person, *arguments: str):
    """A command that gets Ctrl-C when code of the project is reached."""
    with start(person, *arguments) as running:
        while not reached(person) and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        try:
            # The attack is that it does not end.
            out, err = running.communicate(timeout=50)
        finally:
            running.kill()
    return running.returncode, out, err


HANGING = few(
    {"conftest.py": HANGS},
    {"test_more.py": HANGS},
    {"conftest.py": DEAF},
    {"conftest.py": SPAWNS},
    {"conftest.py": LOOPS},
    {"conftest.py": FLOODS},
    {"shop.py": SHOP + HANGS},
    {"conftest.py": "def pytest_collection_modifyitems():\n    " + HANGS.replace("\n", "\n    ").rstrip() + "\n"},
    {"conftest.py": "def pytest_sessionstart():\n    " + HANGS.replace("\n", "\n    ").rstrip() + "\n"},
    quick=1,
)


@pytest.mark.parametrize("files", HANGING, ids=lambda files: " ".join(files))
def test_ctrl_c_ends_a_collection_that_does_not_come_back(person, files):
    person.commit({"shop.py": SHOP, "test_shop.py": TEST})
    person.commit({"shop.py": SHOP.replace("2", "3")} | files)
    status, out, err = interrupted(person, "amplify", "HEAD")
    assert (status, out, err) == (130, "", "twincell: stopped\n")
    assert not left_running(person)


@pytest.mark.parametrize("files", HANGING, ids=lambda files: " ".join(files))
def test_the_deadline_ends_a_collection_that_does_not_come_back(person, files):
    person.commit({"shop.py": SHOP, "test_shop.py": TEST})
    person.commit({"shop.py": SHOP.replace("2", "3")} | files)
    done = person.run("amplify", "HEAD", "--deadline", "2", timeout=50)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
    assert "2 s to collect" in done.stderr and not left_running(person)


#: A test that leaves many processes behind that no signal but one ends, in sessions of their own.
LEAVES = (
    "import os, signal, time\n\n"
    + TEST
    + """    for _ in range(40):
        if os.fork() == 0:
            os.setsid()
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            while True:
                time.sleep(600)
    while True:
        time.sleep(600)
"""
)


@pytest.mark.long
def test_the_deadline_holds_where_tests_leave_many_processes_deaf_to_signals(person):
    person.commit({"shop.py": SHOP, "test_shop.py": LEAVES})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    done = person.run("amplify", "HEAD", "--deadline", "20", timeout=300)
    assert done.returncode in (0, 1, 2), done.stderr
    assert not left_running(person)


#: What a stranger adds to the table of a store.
SCHEMAS = few(
    "CREATE INDEX costly ON findings (hex(zeroblob(100000000)) || id)",
    "ALTER TABLE findings ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))",
    "CREATE TRIGGER more AFTER INSERT ON findings BEGIN DELETE FROM findings; END",
    "CREATE VIEW more AS SELECT * FROM findings",
    "CREATE TABLE more (id CHECK (hex(zeroblob(100000000)) > id))",
    quick=1,
)


@pytest.mark.parametrize("statement", SCHEMAS, ids=lambda statement: statement.split(" ON ")[0])
def test_a_store_with_tables_of_a_stranger_is_refused(person, statement):
    changes = person.repository / "changes.jsonl"
    changes.write_text(json.dumps({"id": 1, "old": SHOP, "new": SHOP.replace("2", "3")}) + "\n")
    run = ("study", str(changes), "--out", "rows.sqlite", "--predictor", "frequency", "--budget", "5")
    assert person.run(*run).returncode in (0, 1, 2)
    with contextlib.closing(sqlite3.connect(person.repository / "rows.sqlite")) as store:
        store.execute(statement)
        store.commit()
    done = person.run(*run)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert "other tables than those of a study" in done.stderr and "--fresh" in done.stderr
    assert person.run(*run, "--fresh").returncode in (0, 1, 2)


@pytest.mark.parametrize(
    "test",
    few(
        TEST + "    " + HANGS.replace("\n", "\n    ").rstrip() + "\n",
        TEST + "    " + DEAF.replace("\n", "\n    ").rstrip() + "\n",
        TEST + "    " + SPAWNS.replace("\n", "\n    ").rstrip() + "\n",
        quick=1,
    ),
)
def test_ctrl_c_ends_tests_that_do_not_come_back(person, test):
    person.commit({"shop.py": SHOP, "test_shop.py": test})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    status, out, err = interrupted(person, "amplify", "HEAD")
    assert status == 130 and err == "twincell: stopped\n", err
    assert "the search ended before it was done" in out and not left_running(person)


def left_running(person) -> list[str]:
    """Processes that work in the person's home, and are not ours."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            folder = os.readlink(entry / "cwd") if entry.name.isdigit() else ""
        except OSError:
            continue
        if folder.startswith(str(person.home)):
            found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
    return found


MEBIBYTE = 1 << 20
#: What a test leaves behind, in 8 MiB.
LARGE = "open({where}, 'wb').write(bytes(8 << 20))"
BIG = few(
    LARGE.format(where="'left'"),
    LARGE.format(where="'shop.py'"),
    LARGE.format(where="'.left'"),
    LARGE.format(where="'test_more.py'"),
    LARGE.format(where="os.path.expanduser('~/left')"),
    LARGE.format(where="tempfile.mkstemp()[1]"),
    LARGE.format(where="'line\\nend'"),
    LARGE.format(where="b'\\xff\\xfe'"),
    "os.makedirs('deep/' * 50); " + LARGE.format(where="'deep/' * 50 + 'left'"),
    "os.mkdir('shut'); " + LARGE.format(where="'shut/left'") + "; os.chmod('shut', 0)",
    "os.chmod('.', 0o500)"
    if os.geteuid()
    else "os.mkdir('.pytest_cache', 0o700); " + LARGE.format(where="'.pytest_cache/left'"),
    LARGE.format(where="'left'") + "; [os.link('left', f'left{n}') for n in range(20)]",
    "os.unlink('shop.py'); os.mkdir('shop.py'); " + LARGE.format(where="'shop.py/left'"),
    "os.rename('inner', 'away'); os.symlink('away', 'inner'); " + LARGE.format(where="'inner/left'"),
    quick=2,
)


def kept(person) -> int:
    """The disk space of what twincell keeps for this person, in bytes."""
    files = (person.home / ".cache").rglob("*")
    return sum(file.lstat().st_blocks * 512 for file in files if "predictions" not in file.name)


def leaving(what: str) -> str:
    return f"import os, tempfile\n{TEST}    {what}\n"


@pytest.mark.parametrize("what", BIG)
def test_what_tests_leave_on_the_disk_goes_with_them(person, what):
    person.commit({"shop.py": SHOP, "inner/a.py": "", "test_shop.py": leaving(what)})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    done = person.run("amplify", "HEAD", "--budget-rounds", "0")
    assert done.returncode in (0, 1, 2), done.stderr
    assert kept(person) < MEBIBYTE, sorted((person.home / ".cache").rglob("*"))
    cleaned = json.loads(person.run("doctor", "--clean", "--json").stdout)["removed"]
    assert cleaned["failed"] == [] and not list((person.home / ".cache").rglob("worktrees/*/*"))


@pytest.mark.parametrize("what", few(LARGE.format(where="'left'"), LARGE.format(where="'shop.py'"), quick=1))
def test_what_tests_left_when_twincell_was_killed_goes_with_the_next_one(person, what):
    person.commit({"shop.py": SHOP, "test_shop.py": leaving(what) + "    " + HANGS.replace("\n", "\n    ").rstrip()})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    killed(person)
    assert kept(person) > 8 * MEBIBYTE
    person.commit({"shop.py": SHOP, "test_shop.py": TEST})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    assert person.run("amplify", "HEAD").returncode == 1
    assert kept(person) < MEBIBYTE


def killed(person) -> None:
    """An amplification that is killed while a test of the project runs."""
    with start(person, "amplify", "HEAD") as running:
        while not reached(person) and running.poll() is None:
            time.sleep(0.02)
        running.kill()
        running.communicate()
    while left_running(person):
        time.sleep(0.02)


def test_the_doctor_says_what_it_removes_and_what_stays(person):
    person.commit({"shop.py": SHOP, "conftest.py": LARGE.format(where="'left'") + "\n" + HANGS})
    person.commit({"shop.py": SHOP.replace("2", "3")})

    def clean() -> dict:
        return json.loads(person.run("doctor", "--clean", "--json").stdout)["removed"]

    with start(person, "amplify", "HEAD") as running:
        while len(reached(person)) < 2 and running.poll() is None:
            time.sleep(0.02)
        in_use = clean()
        assert reached(person), "it removed what somebody uses"
        running.kill()
        running.communicate()
    while left_running(person):
        time.sleep(0.02)
    there = kept(person)
    removed, again = clean(), clean()
    assert (in_use["bytes"], in_use["in_use"]) == (0, 2) and (removed["in_use"], removed["failed"]) == (0, [])
    # Both versions have their files, and what the test left.
    assert there >= removed["bytes"] >= there - kept(person) >= 16 * MEBIBYTE
    assert again["bytes"] == 0 and not list((person.home / ".cache").rglob("tests-*"))


FORGED = [
    "\x1b]0;owned\x07",
    "\x9b2J",
    "a\nsandbox        complete",
    "\r\x1b[1A",
    "\u202egnihton",
    "\u2066",
    "\U000e0041",
]


@pytest.mark.parametrize("text", few(*FORGED), ids=ascii)
@pytest.mark.parametrize("place", ["policy", "folder", "python", "cache", "model"])
def test_what_the_doctor_prints_cannot_change_the_screen_or_add_a_line(person, text, place):
    arguments = []
    if place == "policy":
        quoted = json.dumps(f"total_{text}")
        (person.repository / "twincell.toml").write_text(f"ignore = {quoted}\nwithout = {quoted}\n")
        (person.repository / "pyproject.toml").write_text(f"[tool.twincell]\nignore = {quoted}\n")
    elif place == "folder":
        folder = person.repository / f"a{text}b"
        folder.mkdir()
        (folder / "twincell.toml").write_text("budget = 3\n")
        arguments = ["--policy", str(folder / "twincell.toml")]
    elif place == "cache":
        person.environment["XDG_CACHE_HOME"] = str(person.home / f"cache{text}")
    else:
        arguments = [f"--{place}", str(person.home / f"none{text}")]
    for command in (["doctor", *arguments], ["doctor", "--clean", "--json", *arguments]):
        done = person.run(*command)
        said = done.stdout + done.stderr
        assert said and not [it for it in said if it != "\n" and not it.isprintable()], ascii(said)
        assert "\nsandbox        complete\nproblem" not in said and said.count("\nsandbox ") <= 1
        if "--json" in command and done.stdout:
            json.loads(done.stdout)


# The bound of the store has a test in `core/project/src/testing/store.rs`.
@pytest.mark.long
@pytest.mark.parametrize("kind", ["ids", "many", "messages"])
def test_what_tests_say_of_themselves_is_bounded(person, kind):
    tests = {
        "ids": "@pytest.mark.parametrize('n', [1], ids=['x' * 40_000_000])\ndef test_a(n):\n    assert price(1) == 2\n",
        "many": "@pytest.mark.parametrize('n', range(100), ids=lambda n: f'{n}' * 1_000_000)\ndef test_a(n):\n"
        "    assert price(1) == 2\n",
        "messages": "def test_a():\n    assert price(1) == 2, 'x' * 100_000_000\n",
    }
    person.commit({"shop.py": SHOP, "test_shop.py": f"import pytest\n{TEST}\n\n{tests[kind]}"})
    person.commit({"shop.py": SHOP.replace("2", "3")})
    limited = ("prlimit", f"--as={3 << 30}", sys.executable, "-m", "twincell")
    done = person.run("amplify", "HEAD", "--budget-rounds", "0", program=limited)
    assert done.returncode in (1, 3) and done.stderr.count("\n") <= 1 and "bug" not in done.stderr, done.stderr
    assert kept(person) < 8 * MEBIBYTE and len(done.stdout) < MEBIBYTE
