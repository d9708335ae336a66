"""What stands in for ipykernel in twincell's kernel."""

from typing import Any

from twincell._connect import connect_qtconsole, get_connection_file, get_connection_info
from twincell._twincell import PROTOCOL_VERSION

__all__ = ["connect_qtconsole", "get_connection_file", "get_connection_info"]

#: The version whose functions are here, for code that asks. An installed ipykernel tells its own.
_VERSION = (7, 0, 0)

kernel_protocol_version = PROTOCOL_VERSION
kernel_protocol_version_info = tuple(map(int, PROTOCOL_VERSION.split(".")))


def __getattr__(name: str) -> Any:
    if name not in ("__version__", "version_info"):
        raise AttributeError(f"twincell's kernel has no ipykernel.{name}")
    try:
        from ipykernel import _version
    except ImportError:
        return _VERSION if name == "version_info" else ".".join(map(str, _VERSION))
    return getattr(_version, name)
