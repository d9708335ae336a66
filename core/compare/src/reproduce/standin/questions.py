"""Questions about two values: their order, and whether one is an instance of the other."""

from .answers import recorded
from .paths import short
from .recorded import ANSWERS
from .standin import Standin


def order(one, other):
    """The recorded order of two values: -1, 0 or 1."""
    if isinstance(other, Standin) and other._path_ == one._path_:
        return 0
    swapped = isinstance(other, Standin) and other._path_ < one._path_
    key = f"order({short(other)}, {short(one)})" if swapped else f"order({short(one)}, {short(other)})"
    return (1 - recorded(key, 0)) if swapped else recorded(key, 0) - 1


def equals(path):
    """The paths of all values that are recorded as equal to the one at a path, and its own."""
    found = [path]
    for one in found:
        first, second = f"order({one}, ", f", {one})"
        for key in (key for key, sign in ANSWERS.items() if sign == 1 and key.startswith("order(")):
            other = key[len(first) : -1] if key.startswith(first) else None
            other = key[len("order(") : -len(second)] if other is None and key.endswith(second) else other
            if other is not None and other not in found:
                found.append(other)
    return found


def is_a(value, name):
    """Whether a value is of a missing class."""
    if not isinstance(value, Standin):
        return type(value).__name__ == name
    return recorded(f"isinstance({value._path_}, {name})", recorded(f"class({value._path_})", None) == name)
