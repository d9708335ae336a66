"""The event loops of GUIs, for `%gui` and `%matplotlib`: windows live while the kernel waits for the next cell.

The kernel's own loop lets a GUI handle what happened, many times a second. No other loop runs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError

from ._serve import Kernel, logger

#: Seconds between two looks at what happened.
INTERVAL = 0.02

#: Handles what happened in the windows, and returns.
Step = Callable[[], object]

#: Names of `%gui` that need no loop of their own.
NONE = (None, "none", "asyncio", "inline", "ipympl", "nbagg", "notebook", "webagg", "widget")


def enable(kernel: Kernel, gui: str | None) -> None:
    """Lets a GUI work from now on. Only one does at a time."""
    step: Step | None = None
    if gui not in NONE:
        if gui not in STARTS:
            known = ", ".join(sorted(STARTS))
            raise UsageError(f"the event loop {gui!r} is not supported; these are: {known}; inline needs none")
        try:
            step = STARTS[gui](gui)
        except Exception as error:
            raise UsageError(f"the event loop {gui!r} cannot be started: {error}") from error
    if kernel.loop is None:
        kernel.eventloop = step
    else:
        kernel.loop.call_soon_threadsafe(_replace, kernel, step)


def start(kernel: Kernel) -> None:
    """Starts the loop that was enabled before the kernel had one of its own."""
    _replace(kernel, kernel.eventloop)


def _replace(kernel: Kernel, step: Step | None) -> None:
    kernel.eventloop = step
    if step is not None:
        # The reference keeps the task alive.
        kernel.gui_task = asyncio.ensure_future(_repeat(kernel, step))


async def _repeat(kernel: Kernel, step: Step) -> None:
    try:
        while kernel.eventloop is step:
            step()
            await asyncio.sleep(INTERVAL)
    except Exception:
        logger.exception("the event loop of a GUI ended")
        kernel.eventloop = None


def _tk(_gui: str) -> Step:
    import tkinter

    root = tkinter.Tk()
    root.withdraw()
    return root.update


def _qt(gui: str) -> Step:
    # Qt's bindings are chosen by this variable, by matplotlib and IPython alike.
    if gui in ("qt5", "qt6"):
        os.environ.setdefault("QT_API", _binding("PyQt" + gui[2:], "PySide2" if gui == "qt5" else "PySide6"))
    from IPython.external.qt_for_kernel import QtGui

    application = QtGui.QApplication.instance() or QtGui.QApplication([" "])
    application.setQuitOnLastWindowClosed(False)
    return lambda: application.processEvents()


def _binding(*names: str) -> str:
    from importlib.util import find_spec

    found = next((name for name in names if find_spec(name)), None)
    if found is None:
        raise ImportError(f"none of {', '.join(names)} is installed")
    return found.lower()


def _wx(_gui: str) -> Step:
    import wx

    application = wx.App.GetInstance() or wx.App(redirect=False)
    application.SetExitOnFrameDelete(False)
    loop = wx.GUIEventLoop()

    def step() -> None:
        activated = wx.EventLoopActivator(loop)
        while loop.Pending():
            loop.Dispatch()
        loop.ProcessIdle()
        del activated

    return step


def _gtk(gui: str) -> Step:
    import gi

    gi.require_version("Gtk", "4.0" if gui == "gtk4" else "3.0")
    from gi.repository import GLib

    context = GLib.MainContext.default()

    def step() -> None:
        while context.pending():
            context.iteration(False)

    return step


STARTS: dict[Any, Callable[[str], Step]] = {
    "tk": _tk,
    "qt": _qt,
    "qt5": _qt,
    "qt6": _qt,
    "wx": _wx,
    "gtk": _gtk,
    "gtk3": _gtk,
    "gtk4": _gtk,
}
