"""Instrumented code behaves as it did: CPython's own tests of pure Python modules pass as before when every function of
these modules is instrumented and runs with the runtime's own hooks.

To print the figure of docs/measurements.md module by module:

    python -m tests.engine.transparency.test_transparency
"""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest
import twincell

from .modules import DIFFER, MODULES, SHORT

EXTENSION = str(pathlib.Path(twincell.__file__).parent)
DRIVER = str(pathlib.Path(__file__).with_name("driver.py"))
BAD = {"failed", "running", "unexpected success"}


def has_tests():
    """Distributions may leave CPython's tests out, or all but what supports them."""
    return all(importlib.util.find_spec(f"test.{name}") is not None for name in ("support", "test_argparse"))


def run(mode, row):
    modules, names = MODULES[row]
    # Not the environment's Python: nothing but the standard library is to be there.
    command = [sys._base_executable, "-I", "-S", DRIVER, EXTENSION, mode, ",".join(modules), ",".join(names)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return json.loads(ended.stdout)


def reason(test):
    """Why this test may differ, if it may."""
    name = test.rsplit(" ", 1)[0]
    return next((why for end, why in DIFFER.items() if name.endswith(end)), None)


def differences(plain, instrumented):
    """Tests with other outcomes that have no reason to, with the last lines of what they say."""
    found = []
    for test in sorted(plain["outcomes"].keys() | instrumented["outcomes"].keys()):
        before, _ = plain["outcomes"].get(test, ("absent", ""))
        now, text = instrumented["outcomes"].get(test, ("absent", ""))
        if before != now and not reason(test):
            found.append(f"{test}: {before}, instrumented {now}\n" + "\n".join(text.splitlines()[-5:]))
    return found


@pytest.mark.skipif(not has_tests(), reason="this Python comes without its own tests")
@pytest.mark.parametrize("row", [pytest.param(row, marks=[pytest.mark.long] * (row not in SHORT)) for row in MODULES])
def test_the_standard_library_passes_its_own_tests_when_it_is_instrumented(row):
    plain, instrumented = run("plain", row), run("instrumented", row)
    assert instrumented["instrumented"] == sorted(MODULES[row][0])
    assert plain["instrumented"] == []
    assert len(plain["outcomes"]) > 10
    assert differences(plain, instrumented) == []


def failures(result):
    return sum(outcome in BAD for outcome, _ in result["outcomes"].values())


def main():
    print(f"Python {sys.version.split()[0]}\n")
    print("| module | tests | failures | failures when instrumented | of these explained | time |")
    print("|---|---|---|---|---|---|")
    for row in MODULES:
        plain, instrumented = run("plain", row), run("instrumented", row)
        explained = sum(
            outcome in BAD and reason(test) is not None for test, (outcome, _) in instrumented["outcomes"].items()
        )
        ratio = instrumented["seconds"] / max(plain["seconds"], 0.01)
        counts = f"{len(plain['outcomes'])} | {failures(plain)} | {failures(instrumented)} | {explained}"
        print(f"| {row} | {counts} | {ratio:.1f} x |", flush=True)


if __name__ == "__main__":
    main()
