"""Values and calls in the notation of access paths."""

from .standin import Standin
from .text import text


def last(path):
    """The last identifier of a path."""
    end = len(path)
    while end and (path[end - 1].isalnum() or path[end - 1] == "_" or not path[end - 1].isascii()):
        end -= 1
    return path[end:]


def cut(text, most):
    """Cuts long texts. Comparisons ignore the part that distinguished them."""
    head = text.encode()
    return text if len(head) <= most else head[: most - 17].decode(errors="ignore") + "~" + 16 * "0"


def bounded(path):
    return cut(path, 160)


def arguments_text(values):
    """The arguments of a call in the notation of access paths."""
    return cut(", ".join(in_path(value) for value in values), 80)


def in_path(value):
    return value._path_ if isinstance(value, Standin) else text(value)


def short(value):
    """A value in the notation of access paths."""
    if isinstance(value, slice):
        parts = (value.start, value.stop) if value.step is None else (value.start, value.stop, value.step)
        return ":".join("" if part is None else short(part) for part in parts)
    return bounded(in_path(value))
