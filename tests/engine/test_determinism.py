"""The same seed gives the same report, whatever the process around it is like."""

import json
import os
import subprocess
import sys

import pytest
import twincell

from .constructs import CONSTRUCTS

TIMES = {"milliseconds", "microseconds"}
NAMES = ["f_string", "match", "try_except_else_finally", "dict_and_set_comprehension", "generator_with_send"]
SETS = "def f(x):\n    return [a for a in {'a', 'b', x}]\n", "def f(x):\n    return [a for a in {x, 'b', 'a'}] * 2\n"


def timeless(value):
    """A report without its times."""
    if isinstance(value, dict):
        return {
            key: timeless(item.split(" (")[0] if key == "sentence" else item)
            for key, item in value.items()
            if key not in TIMES
        }
    return [timeless(item) for item in value] if isinstance(value, list) else value


def reports(**options):
    pairs = [(CONSTRUCTS[name][0], CONSTRUCTS[name][version]) for name in NAMES for version in (1, 2)] + [SETS]
    return [timeless(twincell.compare(old, new, **options).to_dict()) for old, new in pairs]


@pytest.mark.parametrize("predictor", ["frequency", "uniform"])
@pytest.mark.parametrize("context", ["function", "module"])
def test_the_same_seed_gives_the_same_report(context, predictor):
    options = {"seed": 7, "context": context, "predictor": predictor}
    first = reports(**options)
    assert first == reports(**options)
    assert first == reports(**options, jobs=1)
    assert first == reports(**options, jobs=2)


def test_another_seed_gives_other_executions():
    assert reports(seed=1) != reports(seed=2)


SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.engine.test_determinism import reports
print(json.dumps(reports(seed=3, predictor="frequency")))
"""


def test_the_hash_seed_of_the_parent_does_not_matter(pytestconfig):
    found = []
    for seed in ("0", "1", "random"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(pytestconfig.rootpath)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.append(json.loads(run.stdout))
    assert found[0] == found[1] == found[2]
    assert found[0] == json.loads(json.dumps(reports(seed=3)))
