"""How far a comparison is, shown where its result will stand. Only where there is a front end to show it."""

from __future__ import annotations

import time
from typing import Any

from IPython.display import DisplayHandle, clear_output

#: Seconds that a comparison runs before a bar appears; most end sooner.
PATIENCE = 0.4


class Progress:
    """Called with the state of a comparison; shows a bar that is updated in place, and takes it away at the end."""

    def __init__(self, shell: Any, *, alone: bool) -> None:
        """`alone`: nothing else is shown by the cell, so that all of its output may be cleared."""
        # In a terminal every update would be one more line.
        self._can_update = hasattr(shell, "kernel")
        self._alone = alone
        self._started = time.monotonic()
        self._handle: DisplayHandle | None = None

    def __call__(self, pair: int, pairs: int, executions: int, budget: int, coverage: float) -> None:
        if not self._can_update or time.monotonic() - self._started < PATIENCE:
            return
        text = f"{executions} of up to {budget} executions, {coverage:.0%} of the lines"
        if pairs > 1:
            text = f"function {pair + 1} of {pairs}: {text}"
        done = (pair + executions / budget) / max(pairs, 1)
        self._show(f'<progress max="1" value="{done:.3f}"></progress> {text}', f"comparing: {text}")

    def _show(self, html: str, text: str) -> None:
        data = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)

    def end(self) -> None:
        """Takes the bar away."""
        if self._handle is None:
            return
        if self._alone:
            # The result takes its place without a jump.
            clear_output(wait=True)
        else:
            self._show("", "")
