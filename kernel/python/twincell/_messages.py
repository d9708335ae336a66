"""Messages as dictionaries, and a session and sockets for code that sends its own. Code written for ipykernel has them.

No socket is here: Rust makes the headers, signs and sends.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ._json import dumps
from ._twincell import PROTOCOL_VERSION, Request

if TYPE_CHECKING:
    from ._output import Output

DELIMITER = b"<IDS|MSG>"


class Message(dict[str, Any]):
    """A message as ipykernel hands it to handlers, with the request by which Rust knows it."""

    request: Request | None

    def __init__(self, request: Request | None, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self.request = request

    @classmethod
    def read(cls, request: Request) -> Message:
        """A message that a client sent."""
        header = json.loads(request.header)
        return cls(
            request,
            {
                "header": header,
                "parent_header": {},
                "metadata": json.loads(request.metadata),
                "content": json.loads(request.content),
                "buffers": request.buffers,
                "msg_type": request.msg_type,
                "msg_id": header["msg_id"],
            },
        )

    @classmethod
    def attribution(cls, header: Mapping[str, Any]) -> Message:
        """Stands for a message of which only the header is known. With an empty header, it stands for none."""
        request = Request.with_header(dumps(header))
        ids = {name: header[name] for name in ("msg_type", "msg_id") if name in header}
        return cls(request, {"header": dict(header), "parent_header": {}, "metadata": {}, "content": {}, **ids})


def header_of(parent: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The header of a message, or of what is one already: code passes both."""
    if not parent:
        return {}
    header: Mapping[str, Any] = parent if "msg_id" in parent and "header" not in parent else parent.get("header", {})
    return header


class Socket:
    """Where a channel of ipykernel has its socket: a way into the kernel's own."""

    def __init__(self, name: str, deliver: Callable[[Mapping[str, Any], Sequence[bytes]], None]) -> None:
        self.name = name
        self._deliver = deliver

    def send_message(self, message: Mapping[str, Any], buffers: Sequence[Any] = ()) -> None:
        """Sends a message that is a dictionary."""
        self._deliver(message, [memoryview(buffer).cast("B").tobytes() for buffer in buffers])

    def send_multipart(self, parts: Sequence[Any], flags: int = 0, copy: bool = True, track: bool = False) -> None:
        """Sends a message that is serialized already, as `jupyter_client.session.Session` does."""
        frames = [bytes(part) for part in parts]
        if DELIMITER not in frames:
            raise ValueError(f"the frames for the {self.name} channel have no delimiter {DELIMITER.decode()}")
        header, parent, metadata, content, *buffers = frames[frames.index(DELIMITER) + 2 :]
        names = ("header", "parent_header", "metadata", "content")
        message = dict(zip(names, map(json.loads, (header, parent, metadata, content)), strict=True))
        self.send_message({**message, "msg_type": message["header"]["msg_type"]}, buffers)

    def flush(self, *_arguments: Any) -> None:
        """Does nothing: what was sent is on its way."""

    @property
    def closed(self) -> bool:
        return False


class Session:
    """Makes and sends messages of this kernel, with the functions that code uses of `jupyter_client`'s `Session`."""

    username = "kernel"

    def __init__(self, output: Output, key: bytes) -> None:
        self.output = output
        self.session = uuid.uuid4().hex
        self.key = key

    @property
    def msg_id(self) -> str:
        return str(uuid.uuid4())

    def msg_header(self, msg_type: str) -> dict[str, Any]:
        return {
            "msg_id": self.msg_id,
            "msg_type": msg_type,
            "username": self.username,
            "session": self.session,
            "date": datetime.now(timezone.utc),
            "version": PROTOCOL_VERSION,
        }

    def msg(
        self,
        msg_type: str,
        content: Mapping[str, Any] | None = None,
        parent: Mapping[str, Any] | None = None,
        header: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A message that was not sent yet."""
        header = dict(header or self.msg_header(msg_type))
        return {
            "header": header,
            "msg_id": header["msg_id"],
            "msg_type": header["msg_type"],
            "parent_header": header_of(parent),
            "content": dict(content or {}),
            "metadata": dict(metadata or {}),
        }

    def send(
        self,
        stream: Socket,
        msg_or_type: str | Mapping[str, Any],
        content: Mapping[str, Any] | None = None,
        parent: Mapping[str, Any] | None = None,
        ident: Any = None,
        buffers: Sequence[Any] | None = None,
        track: bool = False,
        header: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        """Sends a message on one of the kernel's sockets, and returns it."""
        if not isinstance(stream, Socket):
            raise TypeError(f"the kernel's session sends on the kernel's own sockets, not on a {type(stream).__name__}")
        if isinstance(msg_or_type, str):
            message: Mapping[str, Any] = self.msg(msg_or_type, content, parent, header, metadata)
        else:
            message = msg_or_type
            buffers = buffers or message.get("buffers")
        stream.send_message(message, buffers or ())
        return message
