"""Commits of strangers, at which `twincell blame` runs a call."""

from __future__ import annotations

import json

from .stranger import SECRET

SPY = """
import os, pathlib
def take(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        return type(error).__name__
FOUND = [take(path) for path in {paths!r}]
for path in {proofs!r}:
    try:
        pathlib.Path(path).write_text('x')
    except OSError:
        pass
os.system('touch {proof}')
def total():
    return FOUND + {value!r}
"""


def test_a_commit_reads_nothing_of_the_person_and_writes_nothing(person):
    secrets = [str(person.home / name) for name in (".netrc", ".ssh/id_rsa")]
    here = [str(person.repository / name) for name in ("shop.py", "new.py", ".git/config")]
    before = [(person.repository / ".git" / "config").read_bytes()]
    for value in ([1], [2], [2]):
        code = SPY.format(
            paths=[*secrets, "linked.py"], proofs=[*here, str(person.proof)], proof=person.proof, value=value
        )
        person.commit({"shop.py": code + f"# {len(value)}\n"})
    (person.repository / "linked.py").symlink_to(person.home / ".netrc")
    last = person.commit({})
    done = person.run("blame", "shop.py:total", "--returns", "total()", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"]["kind"] == "returned"
    assert SECRET not in done.stdout + done.stderr
    assert not person.proof.exists() and not (person.repository / "new.py").exists()
    assert person.git("status", "--porcelain") == "" and person.git("rev-parse", "HEAD").strip() == last
    assert [(person.repository / ".git" / "config").read_bytes()] == before


def test_nothing_of_a_commit_changes_a_terminal(person):
    evil = "\x1b[2J\u202e"
    person.commit({f"{evil}.py": f"def total():\n    return {evil!r} + '1'\n"})
    person.commit({f"{evil}.py": f"def total():\n    return '{evil}' + '2'  # {evil}\n"}, subject=f"Fix {evil}")
    done = person.run("blame", f"{evil}.py:total", "--returns", "total()")
    assert done.returncode == 0, done.stderr
    wrong = person.run("blame", f"{evil}.py:{evil}", "--returns", "total()")
    assert wrong.returncode == 3
    assert not any(mark in text for text in (done.stdout, wrong.stderr) for mark in evil if mark in "\x1b\u202e")
