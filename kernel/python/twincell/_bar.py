"""Progress of a study: a bar in a notebook, a line in a terminal, nothing elsewhere."""

from __future__ import annotations

import html
import sys
import time
from typing import Any

#: Seconds that a study runs before progress is shown.
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


class StudyBar:
    """Called with the number of changes done, their total, and a line for people."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = Shown()
        self._width = 0
        self._text = ""

    def __call__(self, done: int, total: int | None, text: str) -> None:
        if time.monotonic() - self._started < PATIENCE:
            return
        if in_notebook():
            self._text = text
            self._show_bar(done, total)
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def _show_bar(self, done: int, total: int | None) -> None:
        share = "" if not total else f' value="{done / total:.4f}"'
        self._shown.show(f'<progress max="1"{share}></progress> {html.escape(self._text)}', self._text)

    def end(self) -> None:
        """Removes the bar or the line. In a notebook, whose output cannot be removed, the last text stays."""
        if self._shown.is_used:
            self._shown.show(html.escape(self._text), self._text)
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def in_notebook() -> bool:
    """Whether there is a front end that can update its output."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
