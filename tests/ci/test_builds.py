"""The extension and the tests share one build of everything that both need."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def features(*options: str) -> dict[str, set[str]]:
    """Crate and version -> the features that a build asks of it."""
    command = ["cargo", "tree", "--offline", "--prefix", "none", "--format", "{p}|{f}", *options]
    found: dict[str, set[str]] = {}
    for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        crate, _, asked = line.removesuffix(" (*)").partition("|")
        found.setdefault(crate, set()).update(filter(None, asked.split(",")))
    return found


def test_tests_ask_for_no_feature_that_the_extension_does_not_ask_for():
    extension = features("--package", "twincell", "--edges", "normal,build")
    tests = features("--workspace", "--edges", "normal,build,dev")
    more = {crate: tests[crate] - asked for crate, asked in extension.items() if tests.get(crate, set()) - asked}
    assert not more, f"these crates would be compiled twice; ask for the features in Cargo.toml: {more}"
