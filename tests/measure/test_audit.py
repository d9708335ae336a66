"""The audit finds the reproducers that a study writes, runs them and counts what they do."""

import json
import subprocess
import sys
from pathlib import Path

AUDIT = Path(__file__).parent / "audit.py"


def test_reproducers_are_found_run_and_counted(tmp_path):
    changes = [
        {
            "id": "a/b",
            "label": "changing",
            "old": "def f(x):\n    return x + 1\n",
            "new": "def f(x):\n    return x + 2\n",
        },
        {"id": "same", "old": "def f(x):\n    return x\n", "new": "def f(y):\n    return y\n"},
        {"id": "constant", "old": "def f():\n    return 1\n", "new": "def f():\n    return 2\n"},
    ]
    file = tmp_path / "changes.jsonl"
    file.write_text("".join(json.dumps(change) + "\n" for change in changes))
    command = [sys.executable, str(AUDIT), str(file), "--context", "module", "--same-packages", "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert "module: {'holds': 2}, 100.0% of 2 changing verdicts hold" in ran.stdout
    assert [line.split()[1:4] for line in ran.stdout.splitlines()[:2]] == [
        ["a/b", "changing", "holds"],
        ["constant", "no", "label"],
    ]
