"""`isinstance` of stand-ins."""

from .questions import is_a
from .standin import Standin


def is_instance(value, classes):
    """`isinstance` that knows the classes of stand-ins."""
    if not isinstance(value, Standin):
        return isinstance(value, classes)
    if isinstance(classes, tuple):
        return any(is_instance(value, one) for one in classes)
    return classes is object or is_a(value, classes._path_ if isinstance(classes, Standin) else classes.__name__)
