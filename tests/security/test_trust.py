"""A stranger's change brings a policy, a list of accepted differences, or both along, so that nobody looks at it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from .stranger import AUTHOR, Machine

ROOT = Path(__file__).resolve().parents[2]
BASELINE = "twincell-accepted.json"
#: What makes a comparison quick, given by the person.
QUICK = ("--predictor", "frequency", "--jobs", "1")

OLD = """import logging
from hashlib import sha256 as digest

RATE = 2


def helper(amount):
    return amount


class Till:
    step = 1

    def total(self, amount: int):
        return amount + self.step


def price(amount: int):
    return helper(amount) * RATE


def key(text: str):
    return digest(text.encode()).hexdigest()
"""
#: The same function gives something else.
NEW = OLD.replace("helper(amount) * RATE", "helper(amount) * RATE + 1")
#: It takes luck to see it.
RARE_OLD = """def price(amount: int, days: int, name: str):
    total = amount * 2
    for day in range(min(abs(days), 3)):
        total += day
    return total
"""
RARE = RARE_OLD.replace("    return total", "    if days == 2 and name == 'x' * 3:\n        return 0\n    return total")

EVERYTHING = '["return", "arguments", "output", "log", "calls", "exception"]'
TECHNIQUES = "learning,observation,directed,mutation,hints,replacement,calls,trial,environments"

#: (policy, old, new): each hides the change where it is in force.
SILENCING = {
    "ignore": (f"ignore = {EVERYTHING}", OLD, NEW),
    "exclude": ('exclude = ["**"]', OLD, NEW),
    "exclude one": ('exclude = ["shop.py"]', OLD, NEW),
    "budget": ("budget = 1", RARE_OLD, RARE),
    "budgets": ('[budgets]\n"**" = 1', RARE_OLD, RARE),
    "deadline": ("deadline = 0.01", OLD, NEW),
    "max-function": ("max-function = 1", OLD, NEW),
    "timeout": ("timeout = 0.01", OLD, NEW),
    "memory": ("memory = 16", OLD, NEW),
    "disable": (f'disable = "{TECHNIQUES}"', RARE_OLD, RARE),
    "float-tolerance": ("float-tolerance = 1.0", *(f"def f(a: float):\n    return a * {n}\n" for n in (0.5, 0.7))),
    "unordered": ('unordered = ["items"]', *(f"def f(a: int):\n    return {n}\n" for n in ("[a, 1]", "[1, a]"))),
    "effects": (
        '[effects]\n"*.pay" = "none"',
        "def f(till, x: int):\n    till.pay(x)\n    return x\n",
        "def f(till, x: int):\n    return x\n",
    ),
    "values": (
        '[values]\n"shop.Money" = ["Money(0)"]',
        *(
            "class Money:\n    def __init__(self, cents: int):\n        self.cents = cents\n\n\n"
            f"def f(money: Money):\n    return money.cents * {n}\n"
            for n in (2, 3)
        ),
    ),
    "ignore-edge-cases": ("ignore-edge-cases = true", RARE_OLD, RARE),
    "several": (f"ignore = {EVERYTHING}\nbudget = 1\ndeadline = 0.01\nmax-function = 1", OLD, NEW),
}


def changed(person: Machine, old: str = OLD, new: str = NEW, **files: str | None) -> str:
    """A commit of the person's, and a stranger's on top of it, with further files. Returns the range."""
    base = person.commit({"shop.py": old})
    return f"{base}..{person.commit({'shop.py': new} | files)}"


def report(person: Machine, *arguments: str, cwd: Path | None = None) -> tuple[int, dict]:
    done = person.run("compare", "--json", *QUICK, *arguments, cwd=cwd)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.returncode, json.loads(done.stdout)


def kinds(found: dict) -> set[str]:
    return {notice["kind"] for notice in found["notices"]}


def assert_held(person: Machine, *arguments: str, row: str = "policy_changed", cwd: Path | None = None) -> dict:
    """The change counts, and the attack on what is trusted is a row of its own."""
    status, found = report(person, *arguments, cwd=cwd)
    assert (status, found["verdict"]) == (1, "changing"), found["notes"]
    assert row in kinds(found), found["notes"]
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ("ignore", "exclude") else pytest.mark.long) for name in SILENCING]
)
def test_a_policy_of_the_change_silences_nothing(person, name):
    policy, old, new = SILENCING[name]
    without, _ = report(person, "--git", changed(person, old, new))
    status, found = report(person, "--git", changed(person, old, new, **{"twincell.toml": policy}))
    assert (status, found["notices"][0]["kind"]) == (1, "policy_changed"), found["notes"]
    # Whoever finds the change without the policy finds it with the policy.
    assert without == 0 or found["verdict"] in ("changing", "inconclusive"), found["notes"]


@pytest.mark.long
@pytest.mark.parametrize("name", SILENCING)
def test_a_policy_in_pyproject_silences_nothing(person, name):
    policy, old, new = SILENCING[name]
    header = "[project]\nname = 'shop'\n"
    tables = policy.replace("[budgets]", "[tool.twincell.budgets]").replace("[effects]", "[tool.twincell.effects]")
    tables = tables.replace("[values]", "[tool.twincell.values]")
    table = tables if tables.startswith("[") else f"[tool.twincell]\n{tables}"
    base = person.commit({"shop.py": old, "pyproject.toml": header})
    new_commit = person.commit({"shop.py": new, "pyproject.toml": f"{header}{table}\n"})
    status, found = report(person, "--git", f"{base}..{new_commit}")
    assert (status, found["notices"][0]["kind"]) == (1, "policy_changed"), found["notes"]
    assert found["notices"][0]["file"] == "pyproject.toml"
    assert [file["path"] for file in found["files"]] == ["shop.py"]


SILENT = f"ignore = {EVERYTHING}\n"


def in_working_tree(person: Machine) -> list[str]:
    person.commit({"shop.py": OLD})
    (person.repository / "shop.py").write_text(NEW)
    (person.repository / "twincell.toml").write_text(SILENT)
    return ["--git", "HEAD"]


def staged(person: Machine) -> list[str]:
    in_working_tree(person)
    person.git("add", "--all")
    return ["--git", "HEAD", "--staged"]


def since_the_base(person: Machine) -> list[str]:
    """The stranger's branch is checked out, and the person compares its files with the main branch."""
    person.commit({"shop.py": OLD})
    person.git("checkout", "--quiet", "-b", "stranger")
    person.commit({"shop.py": NEW, "twincell.toml": SILENT})
    return ["--git", "main"]


def of_a_branch(person: Machine) -> list[str]:
    since_the_base(person)
    person.git("checkout", "--quiet", "main")
    person.commit({"other.txt": "x"})
    person.git("checkout", "--quiet", "stranger")
    return ["--git", "main...stranger"]


def in_two_commits(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD})
    person.commit({"twincell.toml": SILENT})
    return ["--git", f"{base}..{person.commit({'shop.py': NEW})}"]


def renamed(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD, "docs/example.toml": SILENT})
    new = person.commit({"shop.py": NEW, "docs/example.toml": None, "twincell.toml": SILENT})
    return ["--git", f"{base}..{new}"]


def linked(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD, "docs/example.toml": SILENT})
    (person.repository / "twincell.toml").symlink_to("docs/example.toml")
    return ["--git", f"{base}..{person.commit({'shop.py': NEW})}"]


def linked_pyproject(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD, "docs/example.toml": f"[tool.twincell]\n{SILENT}"})
    (person.repository / "pyproject.toml").symlink_to("docs/example.toml")
    return ["--git", f"{base}..{person.commit({'shop.py': NEW})}"]


def linked_away(person: Machine) -> list[str]:
    """The link leads to a file of the person's."""
    base = person.commit({"shop.py": OLD})
    (person.repository / "twincell.toml").symlink_to(person.home / ".netrc")
    return ["--git", f"{base}..{person.commit({'shop.py': NEW})}"]


def a_folder(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD, "twincell.toml": "seed = 1\n"})
    person.commit({"twincell.toml": None})
    return ["--git", f"{base}..{person.commit({'shop.py': NEW, 'twincell.toml/x': 'x'})}"]


def removed(person: Machine) -> list[str]:
    """The base has rules that make more count."""
    base = person.commit({"shop.py": OLD, "twincell.toml": '[effects]\n"*.get" = "acts"\n'})
    return ["--git", f"{base}..{person.commit({'shop.py': NEW, 'twincell.toml': None})}"]


def before_the_base_s(person: Machine) -> list[str]:
    """An empty policy takes the place of one that stands behind it."""
    base = person.commit({"shop.py": OLD, "pyproject.toml": "[tool.twincell]\nbudget = 200\n"})
    return ["--git", f"{base}..{person.commit({'shop.py': NEW, 'twincell.toml': '# nothing'})}"]


def broken(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": "ignore = ["})]


def without_a_line(person: Machine) -> list[str]:
    base = person.commit({"shop.py": OLD, "twincell.toml": "budget = 250\nseed = 3\n"})
    return ["--git", f"{base}..{person.commit({'shop.py': NEW, 'twincell.toml': 'seed = 3'})}"]


def with_attributes(person: Machine) -> list[str]:
    hidden = "twincell.toml binary -diff -text linguist-generated export-ignore\n*.py -diff\n"
    return ["--git", changed(person, **{"twincell.toml": SILENT, ".gitattributes": hidden})]


def in_dotted_keys(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"pyproject.toml": f'tool."twincell".ignore = {EVERYTHING}\n'})]


def in_an_inline_table(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"pyproject.toml": f"tool = {{ twincell = {{ ignore = {EVERYTHING} }} }}\n"})]


def too_large(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": SILENT + "#" * (2 << 20)})]


def only_paths(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": SILENT}), "shop.py"]


def one_function(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": SILENT}), "--function", "price"]


def never_to_fail(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": SILENT}), "--fail-on", "never"]


def with_the_option_in_the_policy(person: Machine) -> list[str]:
    return ["--git", changed(person, **{"twincell.toml": f"{SILENT}allow-policy-change = true\n"})]


WAYS = [
    in_working_tree,
    staged,
    since_the_base,
    of_a_branch,
    in_two_commits,
    renamed,
    linked,
    linked_pyproject,
    linked_away,
    a_folder,
    removed,
    before_the_base_s,
    broken,
    without_a_line,
    with_attributes,
    in_dotted_keys,
    in_an_inline_table,
    too_large,
    only_paths,
    one_function,
    never_to_fail,
    with_the_option_in_the_policy,
]
SHORT = {in_working_tree, staged, linked}


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=[] if way in SHORT else pytest.mark.long, id=way.__name__) for way in WAYS]
)
def test_a_policy_comes_in_by_no_way(person, way: Callable[[Machine], list[str]]):
    found = assert_held(person, *way(person))
    assert not person.is_out(json.dumps(found))


@pytest.mark.long
def test_a_policy_that_git_ignores_is_not_in_force(person):
    changed(person, **{".gitignore": "twincell.toml\n"})
    (person.repository / "shop.py").write_text(OLD)
    (person.repository / "twincell.toml").write_text(SILENT)
    assert_held(person, "--git", "HEAD")


@pytest.mark.long
def test_a_policy_in_the_folder_of_the_person_is_not_in_force(person):
    base = person.commit({"src/shop.py": OLD, "src/deep/x.txt": "x"})
    new = person.commit({"src/shop.py": NEW, "src/deep/twincell.toml": SILENT, "src/deep/x.txt": "y"})
    assert_held(person, "--git", f"{base}..{new}", cwd=person.repository / "src" / "deep")


@pytest.mark.long
def test_a_pipe_in_place_of_a_policy_stops_nothing(person):
    person.commit({"shop.py": OLD})
    (person.repository / "shop.py").write_text(NEW)
    os.mkfifo(person.repository / "twincell.toml")
    assert_held(person, "--git", "HEAD")


@pytest.mark.long
def test_a_notebook_is_silenced_as_little(person):
    def notebook(text: str) -> str:
        cell = {
            "cell_type": "code",
            "id": "a",
            "metadata": {},
            "source": [text],
            "outputs": [],
            "execution_count": None,
        }
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    base = person.commit({"shop.ipynb": notebook("def f(a: int):\n    return a\n")})
    new = person.commit({"shop.ipynb": notebook("def f(a: int):\n    return a + 1\n"), "twincell.toml": SILENT})
    assert_held(person, "--git", f"{base}..{new}")


def test_the_policy_of_the_base_holds_and_what_it_leaves_out_is_named(person):
    base = person.commit({"shop.py": OLD, "docs/conf.py": OLD, "twincell.toml": 'exclude = ["docs"]\n'})
    new = person.commit({"shop.py": OLD.replace("RATE = 2", "RATE = 2  # two"), "docs/conf.py": NEW})
    status, found = report(person, "--git", f"{base}..{new}")
    assert (status, kinds(found)) == (0, {"excluded"})
    assert found["notes"] == ["docs/conf.py: left out by the policy (exclude: docs)"]


def test_a_layout_is_no_change_of_a_policy(person):
    base = person.commit({"shop.py": OLD, "pyproject.toml": "[tool.twincell]\nseed = 1\nbudget = 20\n"})
    text = "[project]\nname = 'x'\n[tool.twincell] # ours\nbudget = 0x14\nseed = 1\n"
    new = person.commit({"pyproject.toml": text})
    assert report(person, "--git", f"{base}..{new}") == (
        0,
        {
            "range": f"{base}..{new}",
            "verdict": "identical",
            "files": [],
            "notes": ["changed, and no Python: pyproject.toml"],
        }
        | {
            "notices": [
                {
                    "kind": "not_python",
                    "files": ["pyproject.toml"],
                    "sentence": "changed, and no Python: pyproject.toml",
                }
            ]
        },
    )


def test_an_allowed_change_passes_and_the_rules_of_the_base_hold(person):
    both = changed(person, new=OLD + "\n", **{"twincell.toml": SILENT})
    status, found = report(person, "--git", both)
    assert (status, kinds(found)) == (1, {"policy_changed"})
    status, found = report(person, "--git", both, "--allow-policy-change")
    assert (status, kinds(found)) == (0, {"policy_changed"})
    both = changed(person, **{"twincell.toml": f"{SILENT}seed = 3\n"})
    status, found = report(person, "--git", both, "--allow-policy-change", "--policy", "none")
    assert (status, found["verdict"], kinds(found)) == (1, "changing", {"policy_changed"})


def test_a_named_policy_is_the_person_s(person):
    (person.home / "own.toml").write_text(SILENT)
    both = changed(person)
    status, found = report(person, "--git", both, "--policy", str(person.home / "own.toml"))
    assert (status, kinds(found)) == (0, {"set_aside"})
    assert report(person, "--git", both, "--policy", "none")[0] == 1


def accept(person: Machine, both: str, reason: str = "fine") -> str:
    """What `--accept` writes of a range, without a trace of it in the repository."""
    done = person.run("compare", "--git", both, "--accept", reason, "--allow-policy-change", *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (person.repository / BASELINE).read_text()
    (person.repository / BASELINE).unlink()
    return text


def test_a_change_does_not_accept_itself(person):
    both = changed(person)
    new = person.commit({BASELINE: accept(person, both)})
    assert_held(person, "--git", f"{both.split('..')[0]}..{new}", row="baseline_changed")


@pytest.mark.long
@pytest.mark.parametrize("where", ["working tree", "staged", "untracked", "broken", "link", "old format"])
def test_an_acceptance_comes_in_by_no_way(person, where):
    both = changed(person)
    text = accept(person, both)
    person.git("reset", "--quiet", "--hard", "HEAD~1")
    (person.repository / "shop.py").write_text(NEW)
    baseline = person.repository / BASELINE
    match where:
        case "broken":
            baseline.write_text("{")
        case "link":
            (person.repository / "own.json").write_text(text)
            baseline.symlink_to("own.json")
        case "old format":
            baseline.write_text(text.replace('"format": 2', '"format": 1'))
        case _:
            baseline.write_text(text)
    if where != "untracked":
        person.git("add", "--all")
    found = assert_held(person, "--git", "HEAD", *(["--staged"] if where == "staged" else []), row="baseline_changed")
    assert "accepted" not in kinds(found)


def accepted_before(person: Machine, old: str, new: str, path: str = "shop.py") -> str:
    """The base, where somebody accepted that one text becomes the other."""
    base = person.commit({path: old})
    text = accept(person, f"{base}..{person.commit({path: new})}")
    return person.commit({path: old, BASELINE: text})


def test_an_acceptance_of_the_base_holds_and_is_named(person):
    base = accepted_before(person, OLD, NEW)
    status, found = report(person, "--git", f"{base}..{person.commit({'shop.py': NEW})}")
    assert (status, kinds(found)) == (0, {"accepted"})
    assert found["notices"][0]["reason"] == "fine"


MD5 = OLD.replace("sha256 as digest", "md5 as digest")
SHA512 = OLD.replace("sha256 as digest", "sha512 as digest")
#: (old, accepted, what comes): the same function, and something that it uses.
OTHERS = {
    "an import": (OLD, SHA512, MD5),
    "an import beside": (
        OLD,
        NEW,
        NEW.replace("def helper(amount):", "from operator import neg as helper\ndef _(amount):"),
    ),
    "a constant": (OLD, NEW, NEW.replace("RATE = 2", "RATE = 0")),
    "a helper": (OLD, NEW, NEW.replace("    return amount\n", "    return -amount\n")),
    "a constant twice": (OLD, NEW, NEW.replace("RATE = 2", "RATE = 2\nRATE = 0")),
    "a statement of the module": (OLD, NEW, NEW + "\n\nglobals()['RATE'] = 0\n"),
    "a default": (
        OLD.replace("price(amount: int)", "price(amount: int, more=0)"),
        NEW.replace("price(amount: int)", "price(amount: int, more=0)"),
        NEW.replace("price(amount: int)", "price(amount: int, more=0)") + "\n\nprice.__defaults__ = (1,)\n",
    ),
    "an import of everything": (OLD, NEW, NEW.replace("RATE = 2\n", "RATE = 2\nfrom math import *\n")),
    "a condition": (OLD, NEW, NEW + "\n\nif True:\n    RATE = 0\n"),
    "another library": (OLD, SHA512, SHA512 + "\n\nimport hashlib\nhashlib.sha512 = hashlib.md5\n"),
    "an attribute of a class": (
        OLD,
        OLD.replace("amount + self.step", "amount - self.step"),
        OLD.replace("amount + self.step", "amount - self.step").replace("step = 1", "step = 100"),
    ),
    "a special method": (
        OLD,
        OLD.replace("amount + self.step", "amount - self.step"),
        OLD.replace("amount + self.step", "amount - self.step").replace(
            "    step = 1\n", "    step = 1\n\n    def __init__(self):\n        self.step = 100\n"
        ),
    ),
    "a decorator of a class": (
        OLD,
        OLD.replace("amount + self.step", "amount - self.step"),
        OLD.replace("amount + self.step", "amount - self.step")
        .replace("class Till:", "@odd\nclass Till:")
        .replace("class Till", "class Till", 1)
        .replace("RATE = 2\n", "RATE = 2\n\n\ndef odd(c):\n    c.step = 100\n    return c\n"),
    ),
    "a base class": (
        OLD,
        OLD.replace("amount + self.step", "amount - self.step"),
        OLD.replace("amount + self.step", "amount - self.step").replace("class Till:", "class Till(int):"),
    ),
    "its own text": (OLD, NEW, NEW.replace("RATE + 1", "RATE + 2")),
}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[] if what in ("an import", "a helper") else pytest.mark.long) for what in OTHERS]
)
def test_an_acceptance_covers_no_other_change(person, what):
    old, accepted, comes = OTHERS[what]
    base = accepted_before(person, old, accepted)
    status, found = report(person, "--git", f"{base}..{person.commit({'shop.py': comes})}")
    assert (status, found["verdict"]) == (1, "changing"), found["notes"]
    names = {notice["place"]["function"] for notice in found["notices"] if notice["kind"] == "accepted"}
    assert not names & {"price", "key", "Till.total"}, found["notes"]


@pytest.mark.long
def test_an_acceptance_covers_no_change_of_another_module(person):
    old, new = (
        f"from tax import rate\n\n\ndef price(amount: int):\n    return rate(amount) {sign} 1\n" for sign in "+-"
    )
    tax = "def rate(amount):\n    return amount * 2\n"
    base = person.commit({"shop.py": old, "tax.py": tax})
    text = accept(person, f"{base}..{person.commit({'shop.py': new})}")
    base = person.commit({"shop.py": old, BASELINE: text})
    status, found = report(person, "--git", f"{base}..{person.commit({'shop.py': new})}")
    assert (status, kinds(found)) == (0, {"accepted"}), found["notes"]
    new_commit = person.commit({"shop.py": new, "tax.py": tax.replace("* 2", "* 0")})
    status, found = report(person, "--git", f"{base}..{new_commit}")
    assert (status, "accepted" in kinds(found)) == (1, False), found["notes"]


@pytest.mark.long
def test_an_entry_whose_versions_are_equal_covers_nothing(person):
    base = accepted_before(person, OLD, NEW)
    stored = json.loads((person.repository / BASELINE).read_text())
    for entry in stored["accepted"]:
        entry["old"] = entry["new"]
    base = person.commit({BASELINE: json.dumps(stored)})
    status, found = report(person, "--git", f"{base}..{person.commit({'shop.py': NEW})}")
    assert (status, kinds(found)) == (1, {"baseline_outdated"})


@pytest.mark.long
def test_an_entry_of_the_first_format_covers_nothing_and_says_so(person):
    person.commit({"shop.py": OLD})
    entry = {
        "file": "shop.py",
        "function": "price",
        "headline": "h",
        "reason": "r",
        "old": "0",
        "new": "1",
        "places": [],
    }
    base = person.commit({BASELINE: json.dumps({"format": 1, "accepted": [entry]})})
    status, found = report(person, "--git", f"{base}..{person.commit({'shop.py': NEW})}")
    assert (status, kinds(found)) == (1, {"baseline_outdated"})
    assert "accept again with --accept" in found["notices"][0]["sentence"]


#: How each kind of notice comes about, as (files of the base, files of the change, words that every format has).
BASE_POLICY = 'exclude = ["docs"]\nignore = ["log"]\nmax-function = 20\nbudget = 5\ndisable = "mutation"\n'
LOGGING = "import logging\n\n\ndef note(x: int):\n    logging.info({!r})\n    return x\n"
LARGE = "def large(x: int):\n" + "".join(f"    x = x + {number}\n" for number in range(30)) + "    return x{}\n"


def every_notice(person: Machine) -> tuple[str, list[str]]:
    old = {"docs/conf.py": OLD, "shop.py": OLD, "log.py": LOGGING.format("a"), "large.py": LARGE.format("")}
    old |= {"even.py": "def even(x: int):\n    return x + 1\n", "twincell.toml": BASE_POLICY}
    new = {"docs/conf.py": NEW, "shop.py": NEW, "log.py": LOGGING.format("b"), "large.py": LARGE.format(" + 1")}
    new |= {"even.py": "def even(x: int):\n    return 1 + x\n", "new.py": OLD}
    base = person.commit(old)
    text = accept(person, f"{base}..{person.commit({'shop.py': NEW})}")
    base = person.commit({"shop.py": OLD, BASELINE: text})
    new |= {"twincell.toml": SILENT, BASELINE: text.replace("fine", "very fine")}
    words = ["docs/conf.py", "log.py", "large.py", "even.py", "new.py", "twincell.toml", BASELINE]
    words += ["price", "max-function", "mutation", "the policy of the old version", "what the old version accepts"]
    return f"{base}..{person.commit(new)}", words


@pytest.mark.parametrize("format", ["text", "summary", "json", "html", "markdown", "sarif", "junit", "github"])
@pytest.mark.long
def test_every_format_names_what_is_left_out_and_what_changed_of_what_is_trusted(person, format):
    both, words = every_notice(person)
    options = {"text": ["-v"], "summary": [], "json": ["--json"], "github": ["--github"]}.get(format)
    file = person.home / "result"
    options = [f"--{format}", str(file)] if options is None else options
    done = person.run("compare", "--git", both, *QUICK, *options)
    assert done.returncode == 1, done.stderr
    text = file.read_text() if file.exists() else done.stdout
    plain = text.replace("\\", "").replace("%2F", "/")
    assert [word for word in words if word not in plain] == []


@pytest.mark.long
def test_a_change_of_a_policy_is_a_row_of_its_own(person):
    files = {name: person.home / name for name in ("x.sarif", "x.xml", "x.md", "x.html")}
    options = [f"--sarif={files['x.sarif']}", f"--junit={files['x.xml']}", f"--markdown={files['x.md']}"]
    both = changed(person, new=OLD, **{"twincell.toml": SILENT})
    done = person.run("compare", "--git", both, *options, f"--html={files['x.html']}", "--github")
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=twincell.toml,title=Policy changed::twincell.toml: the policy is new")
    [result] = json.loads(files["x.sarif"].read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("policy-changed", "error")
    failure = ElementTree.parse(files["x.xml"]).getroot().find("testsuite/testcase/failure")
    assert failure is not None and "twincell.toml" in failure.get("message", "")
    markdown = files["x.md"].read_text()
    assert (
        markdown.startswith("### twincell: policy changed\n") and "| ⚠ Policy changed | `twincell.toml` |" in markdown
    )
    assert "twincell.toml: the policy is new" in files["x.html"].read_text()


def of_action(name: str) -> str:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    return next(step["run"] for step in steps if step["name"] == name)


def run_step(person: Machine, name: str, both: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step of the Action, in the checkout of a pull request."""
    runner = person.home / "runner"
    runner.mkdir(exist_ok=True)
    command = runner / "twincell"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m twincell "$@"\n')
    command.chmod(0o755)
    environment = {
        **person.environ(),
        **{"PATH": f"{runner}:{os.environ['PATH']}", "RUNNER_TEMP": str(runner), "OLD": both.split("..")[0]},
        **{
            "PATHS": "",
            "FAIL_ON": "never",
            "ALLOW": "false",
            "OPTIONS": "",
            "SARIF": "",
            "JUNIT": "",
            "FILES": "https://x",
        },
        **{"GITHUB_STEP_SUMMARY": str(runner / "summary"), "GITHUB_OUTPUT": str(runner / "output")},
        **environment,
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", of_action(name)]
    return subprocess.run(script, cwd=person.repository, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.long
def test_the_action_fails_on_a_change_of_the_policy(person):
    both = changed(person, new=OLD, **{"twincell.toml": 'exclude = ["**"]\n'})
    done = run_step(person, "Compare", both)
    assert done.returncode == 1 and "::error file=twincell.toml" in done.stdout, done.stderr
    assert "policy changed" in (person.home / "runner" / "summary").read_text()
    assert run_step(person, "Compare", both, ALLOW="true").returncode == 0


def test_names_of_files_are_no_arguments_of_a_hook():
    # A stranger names a file `--python=bin/evil.py` or `--accept=fine.py`.
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["pass_filenames"] for hook in hooks] == [False] * len(hooks)


@pytest.mark.long
def test_the_hook_stops_a_commit_that_changes_nothing_but_the_policy(person):
    [hook] = [
        hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()) if hook["id"] == "twincell"
    ]
    person.commit({"shop.py": OLD})
    entry = hook["entry"].replace("twincell ", f"{shlex.quote(sys.executable)} -m twincell ", 1)
    script = person.repository / ".git" / "hooks" / "pre-commit"
    script.write_text(f"#!/bin/sh\nexec {entry}\n")
    script.chmod(0o755)
    for name in ("twincell.toml", "pyproject.toml", BASELINE):
        text = {BASELINE: '{"format": 2, "accepted": []}', "twincell.toml": SILENT}.get(
            name, "[tool.twincell]\nseed = 1\n"
        )
        (person.repository / name).write_text(text)
        person.git("add", name)
        command = ["git", *AUTHOR, "commit", "-m", "x"]
        done = subprocess.run(command, cwd=person.repository, env=person.environ(), capture_output=True, text=True)
        assert done.returncode == 1 and name in done.stdout + done.stderr, done.stdout + done.stderr
        person.git("rm", "--quiet", "--force", name)


TESTS = "from shop import price\n\n\ndef test_price():\n    assert price(1) == 2\n"


@pytest.mark.long
@pytest.mark.parametrize("policy", ["deadline = 0.01\n", "ignore = ['return']\n", "budget = 1\n"])
def test_amplify_follows_the_base(person, policy):
    base = person.commit({"shop.py": OLD, "test_shop.py": TESTS})
    new = person.commit({"shop.py": NEW, "twincell.toml": policy})
    done = person.run("amplify", f"{base}..{new}", "--json", "--python", sys.executable)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [notice["kind"] for notice in found["notices"]] == ["policy_changed"]
    assert found["detecting"] == ["test_shop.py::test_price"] and not found["cut"]


@pytest.mark.long
def test_amplify_says_of_a_changed_policy_in_every_format(person):
    base = person.commit({"shop.py": OLD, "test_shop.py": TESTS})
    new = person.commit({"twincell.toml": SILENT, "shop.py": OLD + "\n\nX = 1\n"})
    files = [person.home / name for name in ("x.md", "x.html", "x.xml")]
    options = [f"--markdown={files[0]}", f"--html={files[1]}", f"--junit={files[2]}", "--fail-on", "never"]
    done = person.run("amplify", f"{base}..{new}", *options, "--python", sys.executable)
    assert done.returncode == 1, done.stderr
    for text in [done.stdout, *(file.read_text() for file in files)]:
        assert "twincell.toml: the policy is new" in text
    done = person.run("amplify", f"{base}..{new}", *options, "--allow-policy-change", "--python", sys.executable)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_library_amplifies_by_the_policy_of_the_base(person):
    base = person.commit({"shop.py": OLD, "test_shop.py": TESTS})
    new = person.commit({"shop.py": NEW, "twincell.toml": "deadline = 0.01\n"})
    code = (
        "import json, sys, twincell\n"
        f"found = twincell.amplify('.', {f'{base}..{new}'!r}, python={sys.executable!r})\n"
        "print(json.dumps(found.to_dict()))\n"
    )
    done = person.run("-c", code, program=[sys.executable])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [notice["kind"] for notice in found["notices"]] == ["policy_changed"] and not found["cut"]


@pytest.mark.long
def test_a_study_names_what_the_policy_leaves_out_in_every_format(person):
    rows = [{"id": name, "old": OLD, "new": NEW, "file": f"{name}/shop.py"} for name in ("src", "docs")]
    (person.repository / "changes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (person.repository / "twincell.toml").write_text(f'exclude = ["docs"]\ndisable = "mutation"\n{SILENT}')
    files = [person.home / name for name in ("x.sarif", "x.xml", "x.md")]
    options = [
        f"--sarif={files[0]}",
        f"--junit={files[1]}",
        f"--markdown={files[2]}",
        "--out",
        str(person.home / "o.jsonl"),
    ]
    done = person.run("study", "changes.jsonl", *options, "--predictor", "frequency", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    for file in files:
        text = file.read_text().replace("\\", "")
        assert "docs/shop.py" in text and "suppressed by ignore" in text and "disable = mutation" in text, text
