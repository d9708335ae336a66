"""Progress in the output of a cell, and that of studies and searches: a bar with a button to stop, or a line."""

from __future__ import annotations

import html
import json
import sys
import time
from typing import Any

#: Seconds that a study or a search runs before progress is shown.
PATIENCE = 0.5


class Shown:
    """One place in the output of a cell, whose content can be changed."""

    def __init__(self) -> None:
        self._handle: Any = None

    def display(self, what: Any, **how: Any) -> None:
        from IPython.display import DisplayHandle

        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(what, **how)
        else:
            self._handle.update(what, **how)

    def show(self, html: str, text: str) -> None:
        self.display({"text/html": html, "text/plain": text}, raw=True)

    @property
    def is_used(self) -> bool:
        return self._handle is not None

    def hide(self) -> None:
        if self.is_used:
            self.show("", "")


class LiveBar:
    """The bar of the interactive view, with its button to stop."""

    def __init__(self, place: Shown) -> None:
        self._place = place
        self._view: Any = None
        #: Whether somebody pressed the button.
        self.stops = False

    def show(self, progress: dict[str, Any]) -> None:
        from ._widget import view_class

        if self._view is not None:
            self._view.progress = progress
            return
        self._view = view_class()(progress=progress)
        self._view.on_stop = self._stop
        self._place.display(self._view)

    def _stop(self) -> None:
        self.stops = True

    def close(self) -> None:
        if self._view is not None:
            self._view.close()


class StudyBar:
    """Called with the number of things done, their total, and a line for people. Returns whether to stop.

    The interactive view shows `state` instead, where there is one.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = Shown()
        self._live = LiveBar(self._shown)
        self._width = 0

    def __call__(self, done: int, total: int | None, text: str, state: str | None = None) -> bool:
        if time.monotonic() - self._started < PATIENCE:
            return False
        if in_notebook():
            from ._widget import is_live

            if is_live():
                self._live.show(json.loads(state) if state else {"done": done, "total": total, "text": text})
            else:
                share = "" if not total else f' value="{done / total:.4f}"'
                self._shown.show(f'<progress max="1"{share}></progress> {html.escape(text)}', text)
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)
        return self._live.stops

    def end(self) -> None:
        """Removes the bar or the line, so that no time is stored with the notebook."""
        self._shown.hide()
        self._live.close()
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def in_notebook() -> bool:
    """Whether there is a front end that can update its output."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
