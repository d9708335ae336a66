"""The settings of Matplotlib's back end for notebooks."""

from matplotlib_inline.config import InlineBackend

__all__ = ["InlineBackend"]
