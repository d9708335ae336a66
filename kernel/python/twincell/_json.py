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


def dumps(value: Any) -> str:
    """The JSON text of a value. Bytes become base64, data classes objects, enumerations their values, and numbers that
    are not finite null; a value that JSON does not know becomes its `repr`."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (ValueError, TypeError):
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
    if isinstance(value, uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _finite(float(value))
    if isinstance(value, numbers.Number):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return repr(value)


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


def _clean(value: Any, depth: int = 0) -> Any:
    """As `_plain`, all the way down; for keys that are not text, numbers that are not finite, and cycles."""
    if depth > 50:
        return repr(value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, Mapping):
        return {str(key): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item, depth + 1) for item in value]
    plain = _plain(value)
    return plain if isinstance(plain, str) else _clean(plain, depth + 1)
