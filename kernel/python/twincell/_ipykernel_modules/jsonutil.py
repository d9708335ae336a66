"""Values as JSON."""

import json
from typing import Any

from twincell._json import dumps

__all__ = ["encode_images", "json_clean"]


def json_clean(obj: Any) -> Any:
    """The value with nothing in it but what JSON knows."""
    return json.loads(dumps(obj))


def encode_images(format_dict: dict[str, Any]) -> dict[str, Any]:
    """Returns its argument: bytes are encoded when they are sent."""
    return format_dict
