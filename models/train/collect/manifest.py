"""The finished packages: one entry for each, in `manifest.json` beside the traces."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path


class Manifest:
    """The entries by name. A package has an entry once it is finished, with or without an `error`."""

    def __init__(self, folder: Path):
        self.path = folder / "manifest.json"
        self.lock = threading.Lock()
        self.entries: dict[str, dict] = {}
        if self.path.exists():
            try:
                self.entries = json.loads(self.path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{self.path} is not a manifest ({error}): move it away to begin anew") from None

    def add(self, name: str, entry: dict) -> None:
        with self.lock:
            self.entries[name] = entry
            beside = self.path.with_name(self.path.name + ".part")
            text = json.dumps(dict(sorted(self.entries.items())), indent=1, ensure_ascii=False)
            beside.write_text(text + "\n", encoding="utf-8")
            os.replace(beside, self.path)
