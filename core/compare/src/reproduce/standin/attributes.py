"""`hasattr` of stand-ins."""

from .answers import recorded
from .paths import bounded
from .standin import Standin


def has_attribute(value, name):
    """`hasattr` as recorded, also for the names that every stand-in has."""
    if not isinstance(value, Standin) or value._real_:
        return hasattr(value, name)
    if name in value._deleted_:
        return False
    return name in vars(value) or recorded(f"hasattr({bounded(f'{value._path_}.{name}')})", hasattr(value, name))
