"""Examples that a program gives as they are: lists of calls as JSON lines."""

from __future__ import annotations

import json
from typing import Any

from twincell._recorder import Limits, Opaque, encode

_LIMITS = Limits(depth=40, parts=1_000_000, text=1_000_000, items=100_000)


def written(calls: Any) -> str:
    """Calls as JSON lines, one each: `[(10, 0.2), {"cost": 10}]`, or these by function, `{"price": [...]}`."""
    by_function = calls if isinstance(calls, dict) else {"": calls}
    lines = []
    for function, given in by_function.items():
        if not isinstance(function, str) or not isinstance(given, list | tuple):
            raise TypeError("examples are a list of calls, or a dict with a list of calls for each function")
        for number, call in enumerate(given, 1):
            if isinstance(call, dict):
                line = {"function": function, "kwargs": {str(name): _value(value) for name, value in call.items()}}
            elif isinstance(call, list | tuple):
                line = {"function": function, "args": [_value(value) for value in call]}
            else:
                of = f" of {function}" if function else ""
                raise TypeError(
                    f"example {number}{of} is {type(call).__name__}: give a tuple of arguments, or a dict by name"
                )
            lines.append(json.dumps(line))
    return "\n".join(lines)


def _value(value: Any) -> Any:
    try:
        return encode(value, _LIMITS)
    except Opaque:
        return {"$opaque": type(value).__name__}
