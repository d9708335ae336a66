"""Runs the program of a Rust test, as nextest asks for it, and notes what became of the test.

    python runner.py NOTES MARKS PROGRAM ARGUMENTS ...

MARKS is the file of marks of a switched tree, or `-`. Its marks belong to a test only where tests run one after the
other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from notes import Notes, take


def main() -> int:
    file, marks, *command = sys.argv[1:]
    name = os.environ.get("NEXTEST_TEST_NAME")
    if name is None:
        # It lists the tests.
        os.execv(command[0], command)
    test = f"(binary_id(={os.environ['NEXTEST_BINARY_ID']}) & test(={name}))"
    notes = Notes(file)
    notes.write("begun", test)
    if marks != "-":
        take(marks)
    begun = time.monotonic()
    status = subprocess.call(command)
    if marks != "-":
        notes.write("met", test, switches=take(marks))
    notes.write("ended", test, seconds=time.monotonic() - begun, failed=status != 0, skipped=False)
    # As a shell tells of a signal.
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
