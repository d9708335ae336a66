"""Assignments of the code to a stand-in."""

from .state import DELETED
from .text import text


def assigned(value):
    """The assignments to a stand-in, as text."""
    own = ("_path_", "_real_", "_bare_", "_items_", "_deleted_", "_sum_")
    found = {f".{name}": text(item) for name, item in vars(value).items() if name not in own}
    return found | {f"[{key}]": text(item) for key, item in value._items_.items() if item is not DELETED}
