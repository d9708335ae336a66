"""Values as structural text."""

import array
import datetime
import decimal
import operator
import pathlib
import re

from .paths import short
from .recorded import RENAMED
from .standin import Standin

WRITTEN = (
    *(array.array, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, operator.attrgetter, operator.itemgetter, operator.methodcaller, re.Pattern),
    *(pathlib.PosixPath, pathlib.PurePosixPath, pathlib.PureWindowsPath),
)


def text(value, above=()):
    """A value as structural text, with stand-ins by access path."""
    kind = getattr(type(value), "plain", type(value))
    if id(value) in above:
        return "..."
    inner = (*above, id(value))
    if isinstance(value, Standin):
        return f"<{value._path_}>"
    if kind in (list, tuple, set, frozenset):
        items = [text(item, inner) for item in value]
        if kind is list:
            return f"[{', '.join(items)}]"
        if kind is tuple:
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        return f"{{{', '.join(sorted(items))}}}" if items else "set()"
    if kind is dict:
        return f"{{{', '.join(f'{text(key, inner)}: {text(item, inner)}' for key, item in value.items())}}}"
    if isinstance(value, BaseException):
        return f"{kind.__name__}({', '.join(text(item, inner) for item in value.args)})"
    if isinstance(value, type):
        return f"<class {value.__name__}>"
    if kind.__name__ in ("dict_keys", "dict_items"):
        return text(set(value), above)
    if kind.__name__ in ("dict_values", "deque", "range"):
        return text(list(value), above)
    if kind.__name__ == "module":
        return f"<module {value.__name__}>"
    if kind.__name__ in ("function", "builtin_function_or_method", "method", "method-wrapper", "method_descriptor"):
        return f"<function {RENAMED.get(value.__qualname__, value.__name__)}>"
    if kind in (type(None), bool, int, float, str, bytes):
        return repr(value)
    if kind is bytearray:
        return repr(bytes(value))
    if kind is slice:
        return f"slice({short(value)})()"
    if kind in (complex, type(...)):
        return f"{value!r}()"
    if kind in WRITTEN:
        return f"{kind.__name__}({repr(value).split('(', 1)[1]}"
    parts = {"match": ("re", "regs", "string"), "partial": ("args", "func", "keywords")}.get(kind.__name__.lower(), ())
    parts = {name: getattr(value, name) for name in parts if kind.__module__ in ("re", "functools")}
    for base, name in ((dict, "[items]"), (list, "[items]"), (tuple, "[items]"), (str, "[text]"), (int, "[value]")):
        if isinstance(value, base) and not parts:
            parts[name] = base(value)
    for name, item in getattr(value, "__dict__", {}).items():
        if not (name[:2] == name[-2:] == "__"):
            parts[name] = item
    for owner in kind.__mro__:
        for name in vars(owner) if "__slots__" in vars(owner) else ():
            if type(vars(owner)[name]).__name__ == "member_descriptor" and hasattr(value, name):
                parts[name] = getattr(value, name)
    return f"{kind.__name__}({', '.join(f'{name}={text(parts[name], inner)}' for name in sorted(parts))})"
