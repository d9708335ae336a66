"""Real functions that answer as recorded."""

import builtins

from .calls import patched
from .recorded import PURE, names
from .standin import Standin


class Around:
    """A real object with some functions of its own."""

    def __init__(self, real):
        vars(self).update(_real_=real)

    def __getattr__(self, name):
        return getattr(self._real_, name)


def patch(place, name):
    """Replaces a real function by a patched one where the code finds it."""
    first, *rest = place.split(".")
    if first not in names and first in PURE:
        names[first] = names[first]
    if first not in names and not hasattr(builtins, first):
        return
    if not rest:
        if callable(names[first]):
            names[first] = patched(names[first], name)
        return
    holder, part = names, first
    for following in rest:
        found = names[first] if holder is names else getattr(holder, part, None)
        if found is None or isinstance(found, Standin):
            return
        if not isinstance(found, Around):
            found = Around(found)
            holder.update({first: found}) if holder is names else setattr(holder, part, found)
        holder, part = found, following
    if callable(getattr(holder, part, None)):
        setattr(holder, part, patched(getattr(holder, part), name))
