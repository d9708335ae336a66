"""A connection that speaks the debug adapter protocol: requests with their responses, and events."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

#: A message of the protocol.
Content = dict[str, Any]

LENGTH = b"content-length"


class Adapter:
    """The connection to a debug adapter. All of it belongs to one event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Content]] = {}
        self._receiving: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, host: str, port: int, on_event: Callable[[Content], None]) -> Adapter:
        """Connects. `on_event` gets each event, in the order of the protocol."""
        adapter = cls(*await asyncio.open_connection(host, port))
        adapter._receiving = asyncio.create_task(adapter._receive(on_event))
        return adapter

    def send(self, command: str, arguments: Any = None) -> asyncio.Future[Content]:
        """Sends a request. The result is its response, which says so if the connection ended before."""
        number = next(self._numbers)
        request = {"seq": number, "type": "request", "command": command}
        if arguments is not None:
            request["arguments"] = arguments
        body = json.dumps(request).encode()
        answer = asyncio.get_running_loop().create_future()
        if self._receiving is None or self._receiving.done():
            answer.set_result(_ended(command))
            return answer
        self._waiting[number] = answer
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return answer

    async def close(self) -> None:
        """Ends the connection."""
        self._writer.close()
        if self._receiving is not None:
            await self._receiving

    async def _receive(self, on_event: Callable[[Content], None]) -> None:
        try:
            while True:
                message = await self._read()
                if message.get("type") == "event":
                    on_event(message)
                elif (answer := self._waiting.pop(message.get("request_seq", 0), None)) is not None:
                    answer.set_result(message)
        except (asyncio.IncompleteReadError, OSError):
            # The adapter or this side has closed the connection.
            pass
        finally:
            self._writer.close()
            for answer in self._waiting.values():
                answer.set_result(_ended(""))
            self._waiting.clear()

    async def _read(self) -> Content:
        length = 0
        while (line := await self._reader.readuntil(b"\n")).strip():
            name, _, value = line.partition(b":")
            if name.strip().lower() == LENGTH:
                length = int(value)
        message: Content = json.loads(await self._reader.readexactly(length))
        return message


def _ended(command: str) -> Content:
    return {
        "type": "response",
        "command": command,
        "success": False,
        "message": "the debugger's connection ended: turn the debugger off and on again",
        "body": {},
    }
