"""The streams of cells."""

from twincell._output import OutStream

__all__ = ["OutStream"]
