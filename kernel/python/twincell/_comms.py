"""Comms: how widgets in the browser and objects in the kernel talk, for the package `comm`."""

from __future__ import annotations

from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager

from ._output import Output


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
