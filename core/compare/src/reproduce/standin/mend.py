"""Exception classes that are not here."""

from .answers import exception
from .recorded import EXCEPTIONS, names
from .standin import Standin


def mend():
    """Classes that are raised and are not here, or whose bases are not here, become exceptions."""
    for path in EXCEPTIONS:
        real = names.get(path)
        made_here = isinstance(real, type) and not issubclass(real, BaseException) and "__init__" not in vars(real)
        if made_here or isinstance(real, Standin):
            names[path] = exception(path)
