"""Kernels that serve many tests. Between two tests, everything that the first one left behind is taken back."""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from .client import Client

NOTE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location({name!r}, {path!r})
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.note(get_ipython())
get_ipython().reset(new_session=True)
"""
NAME = "twincell_traces"
RESTORE = f"print(*await __import__('sys').modules[{NAME!r}].start.restore(), sep='\\n', end='')"
#: Not a cell that counts.
ASIDE = {"store_history": False, "stop_on_error": False}


class SharedKernel:
    """A kernel that is started when a test needs it, and again when a test has left something that stays."""

    def __init__(self, start: Callable[[], AbstractContextManager[Client]] = Client.start) -> None:
        self._start = start
        self._running = ExitStack()
        self._client: Client | None = None

    def get(self) -> Client:
        """The kernel, as after its start."""
        if self._client is None:
            self._client = self._running.enter_context(self._start())
            self._client.connect_questions()
            path = str(Path(__file__).with_name("traces.py"))
            outcome = self._client.run(NOTE.format(name=NAME, path=path), **ASIDE)
            assert outcome.reply["status"] == "ok", outcome.reply
        return self._client

    def clean(self, *, has_failed: bool = False) -> None:
        """Takes back what the test left behind. The kernel of a test that failed ends: who knows what it does."""
        if self._client is not None and (has_failed or not self._restore(self._client)):
            self.close()

    def close(self) -> None:
        self._client = None
        self._running.close()

    @staticmethod
    def _restore(client: Client) -> bool:
        if not client.manager.is_alive():
            return False
        try:
            client.end_subshells()
            outcome = client.run(RESTORE, **ASIDE)
        except queue.Empty:
            return False
        client.discard_messages()
        return outcome.reply["status"] == "ok" and not outcome.text()
