"""A stranger's texts reach what twincell prints, where the runner of a workflow reads commands."""

from __future__ import annotations

import json
import re

import pytest

from .test_trust import QUICK

#: What a runner takes for a command: GitHub in either form, Azure's and TeamCity's.
COMMAND = re.compile(r"##\w*\[|(?:^|[\r\n])\s*::")
TEXT = "##[add-path]/tmp/evil ##vso[task.setvariable variable=a]b ##teamcity[x]"
OLD = f'''def greet(name: str):
    """
    ::set-output name=a::b
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


@pytest.mark.long
@pytest.mark.parametrize("command", ["compare", "predict", "prefix", "mine", "study"])
def test_no_error_holds_a_command_to_a_workflow(person, command):
    done = person.run(command, "##[error]no such file", "##[error]none")
    assert done.returncode == 3 and not COMMAND.search(done.stdout + done.stderr), done.stderr
