"""The same seed gives the same report, whatever the process around it is like."""

import json
import os
import subprocess
import sys

import pytest
import twincell

from .constructs import CONSTRUCTS
from .layers import over
from .snippets import FEW

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


def reports(names=NAMES, **options):
    pairs = [(CONSTRUCTS[name][0], CONSTRUCTS[name][version]) for name in names for version in (1, 2)] + [SETS]
    return [timeless(twincell.compare(old, new, **options).to_dict()) for old, new in pairs]


@over(NAMES, context=["function", "module"], predictor=["frequency", "uniform"])
def test_the_same_seed_gives_the_same_report(name, runs):
    for run in runs:
        options = {"names": [name], "seed": 7, "budget": FEW} | run
        first = reports(**options, jobs=1)
        assert first == reports(**options, jobs=1)
        assert first == reports(**options, jobs=2)


def test_another_seed_gives_other_executions():
    assert reports(["match"], seed=1, budget=FEW) != reports(["match"], seed=2, budget=FEW)


SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.engine.test_determinism import reports
print(json.dumps(reports(json.loads(sys.argv[2]), seed=3, predictor="frequency")))
"""


@pytest.mark.parametrize(
    ("names", "seeds"), [(["match"], ["1"]), pytest.param(NAMES, ["0", "1", "random"], marks=pytest.mark.long)]
)
def test_the_hash_seed_of_the_parent_does_not_matter(names, seeds, pytestconfig):
    found = []
    for seed in seeds:
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(pytestconfig.rootpath), json.dumps(names)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(run.stdout))
    here = json.loads(json.dumps(reports(names, seed=3)))
    assert found == [here] * len(seeds)
