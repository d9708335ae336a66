"""Python values -> the JSON text of a message. Never fails on what user code displays."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
import math
import numbers
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

#: Containers in one another. What is deeper becomes its `repr`.
DEEPEST = 50


def dumps(value: Any) -> str:
    """The JSON text of a value. Bytes become base64, data classes objects, enumerations their values, and numbers that
    are not finite null; a value that JSON does not know, or that holds itself, becomes its `repr`."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_clean(value), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime.datetime):
        return _moment(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return _scalar(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _finite(float(value))
    if isinstance(value, (numbers.Number, uuid.UUID)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return _shown(value)


def _scalar(value: Any) -> Any:
    """A scalar of NumPy, or an array without dimensions."""
    match value.dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return int(value)
        case "f":
            return _finite(float(value))
    return str(value)


def _moment(value: datetime.datetime) -> str:
    """As `jupyter_client` writes it: a time without a zone is local."""
    if value.tzinfo is None:
        try:
            # What is derived from `datetime`, as the times of pandas are, may have another `astimezone`.
            value = datetime.datetime.combine(value.date(), value.time()).astimezone()
        except (OverflowError, OSError, ValueError):
            pass  # no time at all, or one at an end of the calendar, where no zone is known
    return value.isoformat().replace("+00:00", "Z")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _clean(value: Any, around: tuple[int, ...] = ()) -> Any:
    """As `_plain`, all the way down; for keys that are not text, numbers that are not finite, and what holds itself.
    `around` has the identities of the containers around a value."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _finite(value)
    if id(value) in around or len(around) > DEEPEST:
        return _shown(value)
    around = (*around, id(value))
    if isinstance(value, Mapping):
        return {str(key): _clean(item, around) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item, around) for item in value]
    plain = _plain(value)
    return plain if isinstance(plain, str) else _clean(plain, around)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return object.__repr__(value)
