"""Missing exception classes."""

from .answers import exception
from .recorded import EXCEPTIONS, names
from .standin import Standin


def mend():
    """Turns raised classes that are missing, or whose bases are missing, into exceptions."""
    for path in EXCEPTIONS:
        real = names.get(path)
        made_here = isinstance(real, type) and not issubclass(real, BaseException) and "__init__" not in vars(real)
        if made_here or isinstance(real, Standin):
            names[path] = exception(path)
