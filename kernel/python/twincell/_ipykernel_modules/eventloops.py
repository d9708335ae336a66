"""The event loops of GUIs."""

from IPython import get_ipython

__all__ = ["enable_gui"]


def enable_gui(gui: str | None, kernel: object = None) -> None:
    """Lets a GUI work while the kernel waits."""
    get_ipython().enable_gui(gui)
