"""Comms: how widgets in the browser and objects in the kernel talk, for the package `comm`."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import comm
from comm.base_comm import BaseComm, CommManager

if TYPE_CHECKING:
    from ._serve import Kernel, Shell

#: Maximum length of the id of a comm and of the name of its target. Front ends use the 36 characters of a UUID.
LONGEST = 256
#: Questions of one comm whose answers are waited for. Front ends answer few of the messages that have an id.
QUESTIONS = 1000


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


def asker(message: Mapping[str, Any], manager: CommManager) -> Shell | None:
    """The shell that asked what this message answers, or whose cell sent the last message of its comm."""
    if message["msg_type"] not in ("comm_msg", "comm_close"):
        return None
    comm_id = message["content"].get("comm_id")
    found = manager.comms.get(comm_id) if _is_name(comm_id) else None
    return found.take_asker(message["content"].get("data")) if isinstance(found, Comm) else None


def _question_id(data: Any) -> str | None:
    """The id that custom messages of ipykernel's users have where they ask, and have again where they answer."""
    content = data.get("content") if isinstance(data, dict) else None
    question = content.get("id") if isinstance(content, dict) else None
    return question if isinstance(question, str) else None


class Comm(BaseComm):
    """One connection to the front end, with the arguments of ipykernel's."""

    kernel: Kernel
    #: When a comm sent its last message, by `time.monotonic`.
    last_sent: ClassVar[float] = float("-inf")

    def __init__(self, target_name: str = "", *arguments: Any, show_warning: bool = True, **options: Any) -> None:
        options.pop("kernel", None)
        #: The shell whose cell sent the last message, and those that sent messages with an id.
        self._last_asker: Shell | None = None
        self._askers: OrderedDict[str, Shell] = OrderedDict()
        super().__init__(target_name, *arguments, **options)

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        content = {"comm_id": self.comm_id, "data": data or {}, **keys}
        self._note_asker(data)
        self.kernel.output.publish(msg_type, content, metadata=metadata, buffers=buffers)
        Comm.last_sent = time.monotonic()

    def _note_asker(self, data: Any) -> None:
        shell = self.kernel.current_shell
        if shell is None:
            return
        question = _question_id(data)
        if question is not None:
            while len(self._askers) >= QUESTIONS:
                self._askers.popitem(last=False)
            self._askers[question] = shell
        # While a cell is busy, messages for its comms are handled in another shell, which only answers them.
        if self.kernel.get_parent().get("msg_type") not in ("comm_open", "comm_msg", "comm_close"):
            self._last_asker = shell

    def take_asker(self, data: Any) -> Shell | None:
        """The shell that asked what this answers, and now has its answer, or whose cell sent the last message."""
        question = _question_id(data)
        return self._last_asker if question is None else self._askers.pop(question, self._last_asker)


class KernelCommManager(CommManager):
    """The comms of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self.kernel = kernel


def install(kernel: Kernel) -> KernelCommManager:
    """Makes `comm.create_comm` and `comm.get_comm_manager` use this kernel."""
    manager = KernelCommManager(kernel)
    Comm.kernel = kernel
    comm.create_comm = Comm
    comm.get_comm_manager = lambda: manager
    return manager
