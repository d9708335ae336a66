"""`isinstance` of stand-ins."""

from .questions import is_a
from .standin import Standin


def is_instance(value, classes):
    """`isinstance` that knows the classes of stand-ins."""
    if not isinstance(value, Standin):
        return isinstance(value, classes)
    if isinstance(classes, tuple):
        return any(is_instance(value, one) for one in classes)
    if not isinstance(classes, (type, Standin)):
        return isinstance(value, classes)
    return classes is object or is_a(value, classes._path_ if isinstance(classes, Standin) else classes.__name__)


def is_subclass(value, classes):
    """`issubclass` that knows of which classes stand-ins are."""
    return is_instance(value, classes) if isinstance(value, Standin) else issubclass(value, classes)
