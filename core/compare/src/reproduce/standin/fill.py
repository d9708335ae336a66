"""Items that real mappings of this process lack, such as variables of its environment."""

import contextlib

from .answers import answer, there
from .recorded import names
from .standin import Standin


def fill(patch, place, key, path):
    """Gives a real mapping the recorded item until the test is over. Another mapping stands in for the environment."""
    holder = there(place)
    if isinstance(holder, Standin):
        return
    with contextlib.suppress(Exception):
        if type(holder) is dict:
            return patch.setitem(holder, key, answer(path))
        owner, _, name = place.rpartition(".")
        filled = {**holder, key: answer(path)}
        patch.setattr(there(owner), name, filled) if owner else patch.setitem(names, name, filled)
