"""The kernel's connection file."""

from twincell._connect import connect_qtconsole, get_connection_file, get_connection_info

__all__ = ["connect_qtconsole", "get_connection_file", "get_connection_info"]
