"""Comparisons of stand-ins."""

from .questions import order
from .standin import Standin

for name, holds in (
    ("lt", lambda sign: sign < 0),
    ("le", lambda sign: sign <= 0),
    ("gt", lambda sign: sign > 0),
    ("ge", lambda sign: sign >= 0),
):
    setattr(Standin, f"__{name}__", lambda self, other, holds=holds: holds(order(self, other)))
