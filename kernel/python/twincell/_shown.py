"""How IPython shows an exception whose traceback would have the frames of twincell only."""

from __future__ import annotations


def show_as(error: BaseException, line: str) -> None:
    """Makes IPython show one line in place of the traceback."""
    error.__dict__["_render_traceback_"] = lambda: [line]
