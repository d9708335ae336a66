"""Progress of a comparison, shown where its result will stand, if there is a front end that can show it."""

from __future__ import annotations

import time
from typing import Any

from IPython.display import clear_output

from ._bar import LiveBar, Shown
from ._widget import is_live

#: Seconds that a comparison runs before a bar appears. Most comparisons end sooner.
PATIENCE = 0.4


class Progress:
    """Called with the state of a comparison. Shows a bar, updates it in place, and removes it at the end.

    Returns whether the comparison shall stop; the interactive bar has a button for that.
    """

    def __init__(self, shell: Any, *, alone: bool) -> None:
        """`alone`: the cell shows nothing else, so that all of its output may be cleared."""
        # In a terminal every update would be another line.
        self._can_update = hasattr(shell, "kernel")
        self._alone = alone
        self._started = time.monotonic()
        self._shown = Shown()
        self._live = LiveBar(self._shown)

    def __call__(self, pair: int, pairs: int, executions: int, budget: int, coverage: float) -> bool:
        if not self._can_update or time.monotonic() - self._started < PATIENCE:
            return False
        if is_live():
            progress = {"pair": pair, "pairs": pairs, "executions": executions, "budget": budget, "coverage": coverage}
            self._live.show(progress)
        else:
            self._show_bar(pair, pairs, executions, budget, coverage)
        return self._live.stops

    def _show_bar(self, pair: int, pairs: int, executions: int, budget: int, coverage: float) -> None:
        text = f"{executions} of up to {budget} executions, {coverage:.0%} of the lines"
        if pairs > 1:
            text = f"function {pair + 1} of {pairs}: {text}"
        done = (pair + executions / budget) / max(pairs, 1)
        self._shown.show(f'<progress max="1" value="{done:.3f}"></progress> {text}', f"comparing: {text}")

    def end(self) -> None:
        """Removes the bar."""
        if not self._shown.is_used:
            return
        if self._alone:
            # The result replaces the bar without a jump.
            clear_output(wait=True)
        else:
            self._shown.hide()
        self._live.close()
