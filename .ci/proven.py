"""Says whether a part of the tests must run: whether what it rests on changed since somebody last ran it whole.

    python .ci/proven.py PART            ends with status 0 if nothing changed, and 1 otherwise
    python .ci/proven.py PART --write    notes that the part passed, in .ci/proven.json, which is committed

The parts and what they rest on stand in PARTS. Their content counts, not their time or commit, so a fresh clone gives
the same answer. At night everything runs whatever this says.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / ".ci" / "proven.json"

#: The files that a part rests on, as git names them.
PARTS = {
    "sandbox": [
        *["Cargo.lock", "core/sandbox", "core/engine/src", "runtime/src", "kernel/src/worker.rs"],
        # What the worker may read is decided in Python.
        *["kernel/python/twincell/_importable.py", "kernel/python/twincell/worker.py"],
        # The files of the proof itself, which a test compares with the marks and with what the files import.
        *["tests/engine/attacks.py", "tests/engine/conftest.py", "tests/engine/layers.py", "tests/engine/snippets.py"],
        "tests/processes.py",
        "tests/engine/test_bounds.py",
        "tests/engine/test_escape.py",
        "tests/engine/test_faults.py",
        "tests/engine/test_forging.py",
        "tests/engine/test_hostile.py",
        "tests/engine/test_leftovers.py",
        "tests/engine/test_neighbours.py",
        "tests/engine/test_readable.py",
        "tests/engine/test_system_calls.py",
        "tests/engine/test_without_sandbox.py",
    ],
}


def state(part: str) -> str:
    """A digest of the names and the content of a part's files, those not yet committed among them."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PARTS[part]]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
    digest = hashlib.sha256()
    for name in sorted(set(names) - {b""}):
        file = ROOT / name.decode()
        if file.is_file():
            digest.update(name + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS or sys.argv[2:] not in ([], ["--write"]):
        print(f"usage: proven.py {'|'.join(PARTS)} [--write]", file=sys.stderr)
        return 2
    part = sys.argv[1]
    notes = json.loads(NOTES.read_text()) if NOTES.exists() else {}
    if sys.argv[2:]:
        NOTES.write_text(json.dumps(notes | {part: state(part)}, indent=2, sort_keys=True) + "\n")
        return 0
    return 0 if notes.get(part) == state(part) else 1


if __name__ == "__main__":
    raise SystemExit(main())
