"""Matplotlib's back end for notebooks."""

from matplotlib_inline.backend_inline import *  # noqa: F403
