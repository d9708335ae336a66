"""Plain values that also have the attributes and items that were looked up in them."""

from .answers import answer, build
from .calls import called
from .paths import bounded, short
from .recorded import EXTENDED
from .standin import Standin


def extended(value, path):
    """A plain value that also has missing attributes and items that were looked up in it."""
    kind = type(value)

    def item(self, key):
        try:
            return kind.__getitem__(self, key)
        except LookupError:
            return answer(bounded(f"{path}[{short(key)}]"), KeyError)

    def call(self, *args, **kwargs):
        return called(path, args, kwargs)

    more = {
        "plain": kind,
        "__call__": call,
        "__getattr__": lambda self, name: answer(bounded(f"{path}.{name}"), AttributeError),
    }
    more |= {"__getitem__": item} if hasattr(kind, "__getitem__") else {}
    return type(kind.__name__, (kind,), more)(value)


build_plain = build


def build(value, path, failure=None):
    value = build_plain(value, path, failure)
    return extended(value, path) if path in EXTENDED and type(value) not in (Standin, type(None), bool) else value
