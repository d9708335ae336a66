"""Stand-ins in `with`."""

from .standin import Standin
from .state import record


def note(method, result):
    """A method that is recorded as a call without arguments."""

    def noted(self, *_):
        record(f"{self._path_}.{method}", f"{self._path_}.{method}()")
        return result and self

    return noted


Standin.__enter__, Standin.__exit__ = note("__enter__", True), note("__exit__", False)
