"""A stranger's texts reach what twincell prints, where the runner of a workflow reads commands."""

from __future__ import annotations

import html
import json
import re
import sys

import pytest

from .test_paths import AMPLIFY, CHANGED, SHOP, TESTS, amplified
from .test_trust import QUICK

#: What a runner takes for a command: GitHub in either form, Azure's and TeamCity's.
COMMAND = re.compile(r"##\w*\[|(?:^|[\r\n])[\s\x00-\x1f\x7f]*::")
TEXT = "##[add-path]/tmp/evil ##vso[task.setvariable variable=a]b ##teamcity[x]"
OLD = f'''def greet(name: str):
    """
    ::set-output name=a::b
\x0b::add-mask::x
    """
    # {TEXT}
    return name + "{TEXT}"
'''
NAME = "##[group]a.py"


@pytest.mark.parametrize(
    "format",
    ["--json", "--github"] + [pytest.param(one, marks=pytest.mark.long) for one in ("-v", "--color", "--markdown")],
)
def test_nothing_that_is_printed_is_a_command_to_a_workflow(person, format):
    base = person.commit({NAME: OLD})
    new = person.commit({NAME: OLD.replace("return name +", "return name + 'x' +")})
    options = {"--color": [], "--markdown": ["--markdown", "/dev/stdout"]}.get(format, [format])
    done = person.run("compare", "--git", f"{base}..{new}", *QUICK, *options)
    assert done.returncode == 1, done.stderr
    printed = done.stdout + done.stderr
    if format == "--github":
        # Its own commands begin their lines.
        printed = re.sub(r"(?m)^::(error|warning|notice) ", "", printed)
    assert "greet" in printed and not COMMAND.search(printed), printed
    if format == "--json":
        assert TEXT in json.dumps(json.loads(done.stdout))


@pytest.mark.parametrize("format", ["--html", pytest.param("--junit", marks=pytest.mark.long)])
def test_markup_that_is_printed_holds_no_command_and_says_the_same(person, format):
    base = person.commit({NAME: OLD})
    new = person.commit({NAME: OLD.replace("return name +", "return name + 'x' +")})
    done = person.run("compare", "--git", f"{base}..{new}", *QUICK, format, "/dev/stdout")
    assert done.returncode == 1 and "cannot write" not in done.stderr, done.stderr
    assert not COMMAND.search(done.stdout + done.stderr)
    # No character of the name is replaced by another one.
    assert NAME not in done.stdout and NAME in html.unescape(done.stdout)


#: The lines before the end of a file, where a new test goes, are lines of its patch.
DOCUMENTED = TESTS.replace("    assert", '    """\n    ::set-output name=a::b\n    """\n    assert')


@pytest.mark.long
def test_a_patch_is_printed_as_it_is_or_not_at_all(person):
    old = {"shop.py": SHOP, "test_shop.py": DOCUMENTED}
    done = amplified(person, old, {"shop.py": CHANGED}, "--patch", "../new.patch")
    patch = person.repository.parent / "new.patch"
    if not patch.exists() or not patch.read_text():
        pytest.skip(done.stderr or "no test was found")
    assert COMMAND.search(patch.read_text())
    person.git("apply", "--check", str(patch))
    done = person.run(*AMPLIFY, "--python", sys.executable, "--json", "--patch", "/dev/stdout")
    assert done.returncode == 3 and "write it to a file" in done.stderr, done.stderr
    assert not COMMAND.search(done.stdout + done.stderr)


@pytest.mark.long
@pytest.mark.parametrize("command", ["compare", "predict", "prefix", "mine", "study"])
def test_no_error_holds_a_command_to_a_workflow(person, command):
    done = person.run(command, "##[error]no such file", "##[error]none")
    assert done.returncode == 3 and not COMMAND.search(done.stdout + done.stderr), done.stderr
