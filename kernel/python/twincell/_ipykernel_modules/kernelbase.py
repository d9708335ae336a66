"""The part of the kernel that knows no Python code."""

from twincell._serve import Kernel

__all__ = ["Kernel"]
