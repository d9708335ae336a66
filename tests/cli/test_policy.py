"""The policy that a project writes down: what it sets, what beats it, what it may not do, what reports say of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..command import run_here

LOGGING = """
import logging


def save(item):
    logging.info({text})
    return item
"""
OLD, NEW = LOGGING.format(text="'saved'"), LOGGING.format(text="'stored'")


def twincell(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twincell", *map(str, arguments)]
    return run_here(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def compared(folder: Path, old: str, new: str, *options: str) -> dict:
    """The report of two texts, compared in a folder."""
    (folder / "old.py").write_text(old)
    (folder / "new.py").write_text(new)
    done = twincell(
        "compare", "old.py", "new.py", "--json", "--predictor", "frequency", "--budget", "40", *options, cwd=folder
    )
    assert done.returncode in (0, 1, 2), done.stderr
    return json.loads(done.stdout)


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


CASES = {
    "a channel that does not count": (
        'ignore = ["log"]',
        OLD,
        NEW,
        {"kind": "ignore", "what": "log"},
    ),
    "messages of exceptions": (
        'ignore = ["exception-message"]',
        "def f(x):\n    if not x:\n        raise ValueError('no x')\n    return x\n",
        "def f(x):\n    if not x:\n        raise ValueError('x is missing')\n    return x\n",
        {"kind": "ignore", "what": "exception-message"},
    ),
    "a function without an effect": (
        '[tool.twincell.effects]\n"metrics.*" = "none"',
        "def f(x, metrics):\n    metrics.send('f')\n    return x\n",
        "def f(x, metrics):\n    return x\n",
        {"kind": "effect", "declared": {"functions": "metrics.*", "effect": "none"}},
    ),
    "items in any order": (
        'unordered = ["items"]',
        "def f(a: int):\n    return [a, a + 1]\n",
        "def f(a: int):\n    return [a + 1, a]\n",
        {"kind": "unordered", "what": "items"},
    ),
    "floats within a tolerance": (
        "float-tolerance = 1e-6",
        "def f(a: float):\n    return a * 0.1 * 3\n",
        "def f(a: float):\n    return a * (0.1 * 3)\n",
        {"kind": "float_tolerance"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_sets_a_difference_aside_and_the_report_names_it(name: str, tmp_path: Path):
    policy, old, new, rule = CASES[name]
    (tmp_path / "pyproject.toml").write_text(f"[tool.twincell]\n{policy}\n")
    report = compared(tmp_path, old, new)
    assert report["verdict"] == "likely_preserving"
    (pair,) = report["pairs"]
    (aside,) = pair["set_aside"]
    assert (aside["rule"], aside["changed_verdict"]) == (rule, True)
    assert aside["evidence"] and not pair["evidence"]
    assert any(note.startswith("suppressed by ") for note in pair["notes"])
    assert "suppressed by" in report["sentence"]

    without = compared(tmp_path, old, new, "--policy", "none")
    assert without["verdict"] == "changing" and not without["pairs"][0]["set_aside"]


def test_a_declared_effect_makes_a_call_count(tmp_path: Path):
    old = "def f(x, store):\n    y = store.lookup(x)\n    return x\n"
    new = "def f(x, store):\n    return x\n"
    assert compared(tmp_path, old, new)["verdict"] == "likely_preserving"
    (tmp_path / "twincell.toml").write_text('[effects]\n"store.lookup" = "acts"\n')
    assert compared(tmp_path, old, new)["verdict"] == "changing"


def test_the_command_line_beats_the_policy_and_the_policy_the_defaults(tmp_path: Path):
    (tmp_path / "twincell.toml").write_text('ignore = ["log"]\nseed = 7\n')
    assert compared(tmp_path, OLD, NEW)["seed"] == 7
    report = compared(tmp_path, OLD, NEW, "--ignore", "output", "--seed", "8")
    assert (report["verdict"], report["seed"]) == ("changing", 8)


def test_doctor_says_what_is_in_force_and_where_it_comes_from(tmp_path: Path):
    (tmp_path / "twincell.toml").write_text(
        '# ours\nbudget = 77\n\n[effects]\n"metrics.*" = "none"\n\n[values]\n"shop.Money" = ["Money(0)"]\n'
    )
    done = twincell("doctor", "--json", "--timeout", "3", cwd=tmp_path)
    policy = json.loads(done.stdout)["policy"]
    assert policy["file"] == "twincell.toml"
    found = {setting["name"]: (setting["value"], setting["from"]) for setting in policy["settings"]}
    assert found["budget"] == ("77", "twincell.toml:2")
    assert found["effects"] == ("metrics.* = none", "twincell.toml:4")
    assert found["values"] == ("shop.Money = [Money(0)]", "twincell.toml:7")
    assert found["timeout"] == ("3", "command line")
    assert found["seed"] == ("0", "default")
    text = twincell("doctor", cwd=tmp_path).stdout
    assert "in force     budget = 77 (twincell.toml:2)" in text


def test_a_policy_may_have_an_old_spelling_and_is_told_the_new_one(tmp_path: Path):
    (tmp_path / "twincell.toml").write_text('\nwithout = ["calls", "trial"]\n')
    done = twincell("doctor", "--json", cwd=tmp_path)
    old, new = "without", 'disable = ["calls", "trial"]'
    line = f"{old} is the old spelling of {new}: write that, since the next version drops {old}\n"
    assert done.stderr == f"twincell: twincell.toml:2: {line}"
    found = {
        setting["name"]: (setting["value"], setting["from"])
        for setting in json.loads(done.stdout)["policy"]["settings"]
    }
    assert found["disable"] == ("calls,trial", "twincell.toml:2")
    assert found["disable of prefix"] == (None, "default")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("bugdet = 3", "twincell.toml:1: there is no setting bugdet: did you mean budget?"),
        ("\npython = '/tmp/python'", "twincell.toml:2: python is not for a policy"),
        ("model = '/tmp'", "twincell.toml:1: model is not for a policy"),
        ("timeout = 100", "twincell.toml:1: timeout cannot be above 5 in a policy"),
        ("memory = 100000", "twincell.toml:1: memory cannot be above 1024 in a policy"),
        ("budget = 0", "twincell.toml:1: budget cannot be 0: give a whole number from 1 to 1000000"),
        ("disable = ['luck']", "twincell.toml:1: disable cannot be 'luck': give some of learning, observation"),
        ("disable = 'calls'\nwithout = 'trial'", "twincell.toml:2: disable is there twice"),
        ("exclude = ['[']", "twincell.toml:1: exclude: '[' is no pattern"),
        ("x = = 1", "twincell.toml:1: this is not TOML"),
    ],
)
def test_a_wrong_policy_is_one_line_with_its_place(policy: str, expected: str, tmp_path: Path):
    (tmp_path / "twincell.toml").write_text(policy)
    done = twincell("compare", "a.py", "b.py", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith(f"twincell: {expected}") and done.stderr.count("\n") == 1


def test_a_policy_of_another_kind_of_file_is_refused(tmp_path: Path):
    (tmp_path / "twincell.toml").symlink_to("/dev/zero")
    done = twincell("doctor", cwd=tmp_path)
    assert (done.returncode, "no regular file" in done.stderr) == (3, True)


def test_revisions_leave_out_what_the_policy_of_the_old_one_names(tmp_path: Path):
    git(tmp_path, "init", "-q")
    files = {"src/a.py": "def f(x):\n    return x\n", "docs/conf.py": "def g(x):\n    return x\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "twincell.toml").write_text('exclude = ["docs"]\n[budgets]\n"src" = 9\n')
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("return x", "return [x]"))
    git(tmp_path, "commit", "-qam", "two")
    # What is written there now is of no commit that is compared.
    (tmp_path / "twincell.toml").write_text('exclude = ["src"]\n')
    command = ["compare", "--git", "HEAD~1..HEAD", "--json", "--predictor", "frequency"]
    done = twincell(*command, cwd=tmp_path / "src")
    report = json.loads(done.stdout)
    assert [file["path"] for file in report["files"]] == ["src/a.py"]
    assert report["files"][0]["comparison"]["budget"] == 9
    assert report["notes"] == ["docs/conf.py: left out by the policy (exclude: docs)"]
    assert report["notices"] == [
        {"kind": "excluded", "file": "docs/conf.py", "pattern": "docs", "sentence": report["notes"][0]}
    ]
    named = json.loads(twincell(*command, "--policy", "twincell.toml", cwd=tmp_path).stdout)
    assert [file["path"] for file in named["files"]] == ["docs/conf.py"]

    (tmp_path / "twincell.toml").write_text('exclude = ["docs"]\n')
    mined = twincell("mine", ".", cwd=tmp_path)
    assert [json.loads(line)["file"] for line in mined.stdout.splitlines()] == ["src/a.py"]
    mined = twincell("mine", ".", "--policy", "none", cwd=tmp_path)
    assert len(mined.stdout.splitlines()) == 2


def test_a_policy_of_the_old_version_that_is_wrong_names_its_revision(tmp_path: Path):
    git(tmp_path, "init", "-q")
    (tmp_path / "twincell.toml").write_text("bugdet = 3\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    done = twincell("compare", "--git", "HEAD", cwd=tmp_path)
    expected = "twincell: HEAD:twincell.toml:1: there is no setting bugdet: did you mean budget?\n"
    assert (done.returncode, done.stderr) == (3, expected)


def test_a_study_asks_again_where_the_policy_changes_a_result(tmp_path: Path):
    rows = [{"id": name, "old": OLD, "new": NEW, "file": f"{name}/m.py"} for name in ("src", "docs")]
    (tmp_path / "changes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def study() -> tuple[list[dict], str]:
        done = twincell(
            "study", "changes.jsonl", "--out", "out.jsonl", "--predictor", "frequency", "--budget", "30", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()], done.stdout

    found, _ = study()
    assert [row["verdict"] for row in found] == ["changing", "changing"]
    (tmp_path / "twincell.toml").write_text('ignore = ["log"]\nexclude = ["docs"]\n')
    found, said = study()
    assert [(row["id"], row["verdict"]) for row in found] == [("src", "likely_preserving")]
    assert "suppressed by" in found[0]["reason"]
    assert "1 change is in a file that the policy leaves out" in said
    (tmp_path / "twincell.toml").write_text('# moved down\nignore = ["log"]\nexclude = ["docs"]\n')
    assert "have results from an earlier run" in study()[1]
