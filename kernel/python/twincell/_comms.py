"""Comms: how widgets in the browser and objects in the kernel talk, for the package `comm`."""

from __future__ import annotations

from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager

from ._output import Output

#: Maximum length of the id of a comm and of the name of its target. Front ends use the 36 characters of a UUID.
LONGEST = 256


def wrong_with(message: dict[str, Any], manager: CommManager) -> str | None:
    """Why a message for a comm cannot be passed on. `CommManager` trusts front ends with all of this."""
    content = message["content"]
    comm_id = content.get("comm_id")
    if not _is_name(comm_id):
        return f"its comm_id is no text of 1 to {LONGEST} characters of ASCII"
    if not isinstance(content.get("data"), (dict, type(None))):
        return "its data is no JSON object"
    if message["msg_type"] == "comm_open":
        if not _is_name(content.get("target_name")):
            return f"its target_name is no text of 1 to {LONGEST} characters of ASCII"
        if comm_id in manager.comms:
            return "a comm with its comm_id is open already"
    elif comm_id not in manager.comms:
        return "no comm with its comm_id is open"
    return None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and 0 < len(value) <= LONGEST


def install(output: Output) -> CommManager:
    """Makes `comm.create_comm` and `comm.get_comm_manager` use this kernel."""
    manager = CommManager()

    class Comm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
        ) -> None:
            content = {"comm_id": self.comm_id, "data": data or {}, **keys}
            output.publish(msg_type, content, metadata=metadata, buffers=buffers)

    comm.create_comm = Comm
    comm.get_comm_manager = lambda: manager
    return manager
