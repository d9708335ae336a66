"""The recorded answer for each access path, as a value."""

import builtins

from .paths import bounded
from .recorded import ANSWERS, EXCEPTIONS, names
from .standin import Standin
from .state import loading, made


def may_fail(operation):
    """Raises the exception that was decided for an operation."""
    failure = recorded(bounded(f"raise {operation}"), None)
    if isinstance(failure, Raises):
        raise failure.exception(operation, None)


def recorded(path, default):
    """The decision for a path."""
    return default if loading else ANSWERS.get(path, default)


def answer(path, failure=NameError):
    """The value at an access path. `...` in a record, like a path without a record, is another stand-in."""
    if loading:
        return Standin(path)
    if path in EXCEPTIONS:
        return exception(path)
    if path not in made:
        made[path] = build(ANSWERS.get(path, ...), path, failure)
    return made[path]


def build(value, path, failure=None):
    kind = type(value)
    if value is ...:
        return made.setdefault(path, Standin(path))
    if kind is Same:
        return there(value.path)
    if kind is Raises:
        raise value.exception(path, failure)
    if kind in (list, tuple, set):
        return kind(build(item, f"{path}[{index}]") for index, item in enumerate(value))
    if kind is dict:
        return {key: build(item, f"{path}[{key!r}]") for key, item in value.items()}
    return value


def there(path):
    """The object of a dotted name, or the value at a path."""
    first, *rest = path.split(".")
    if first not in names and not hasattr(builtins, first):
        return answer(path)
    found = names[first] if first in names else getattr(builtins, first)
    for name in rest:
        found = getattr(found, name)
    return found


class Same:
    """Recorded in place of a value: the very object at another path."""

    def __init__(self, path):
        self.path = path


class Raises:
    """Recorded in place of a value: the look-up or call raises this, or fails as in Python."""

    def __init__(self, name=None):
        self.name = name

    def exception(self, path, failure):
        if self.name is None:
            return failure(path)
        first, *rest = self.name.split(".")
        found = names[first] if first in names else getattr(builtins, first, None) or answer(first)
        for part in rest:
            found = getattr(found, part)
        found = exception(str(found)) if isinstance(found, Standin) else found
        try:
            return found("injected by twincell")
        except Exception:
            return found.__new__(found)


def exception(path):
    """A missing exception class."""
    key = f"class {path}"
    made[key] = made.get(key) or type(path, (Exception,), {"__module__": "builtins"})
    return made[key]
