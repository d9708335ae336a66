"""What `reach.py` and `runner.py` note of tests: lines of JSON in a file.

A note says that a test began; or that it ended, with the seconds that it took and whether it failed; or which switches
it met. A test that hangs has begun and not ended.
"""

from __future__ import annotations

import json
import os


class Notes:
    """A file to which several processes add."""

    def __init__(self, file: str) -> None:
        self._file = file

    def write(self, what: str, test: str, **more: object) -> None:
        line = json.dumps({"what": what, "test": test, **more}) + "\n"
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


def take(marks: str) -> list[int]:
    """The switches that were met since the last time. Processes have the file mapped, so it is never shortened."""
    with open(marks, "r+b") as file:
        found = file.read()
        file.seek(0)
        file.write(bytes(len(found)))
    return [number for number, mark in enumerate(found) if mark]
