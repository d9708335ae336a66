"""A front end's debugger, as far as the tests need one."""

from __future__ import annotations

import itertools
from typing import Any

from .client import TIMEOUT, Client

#: Text of a cell, with the line of the assignment to `total` as its fourth.
CELL = "\n\ndef add(a, b):\n    total = a + b\n    return total\n\nresult = add(1, 2)\nprint(result)"


class FrontEnd:
    """Sends requests of the debugger, and collects its events."""

    def __init__(self, kernel: Client) -> None:
        self.kernel = kernel
        self._numbers = itertools.count(1)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """A response, of which nothing is expected."""
        number = next(self._numbers)
        content = {"type": "request", "seq": number, "command": command, "arguments": arguments}
        message = self.kernel.channels.session.msg("debug_request", content)
        self.kernel.channels.control_channel.send(message)
        while True:
            reply = self.kernel.channels.get_control_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                response = reply["content"]
                assert (response["request_seq"], response["command"]) == (number, command), response
                return response

    def do(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of a response that says success."""
        response = self.ask(command, **arguments)
        assert response["success"], response
        return response.get("body", {})

    def attach(self, **options: Any) -> None:
        self.do("initialize", clientID="test", adapterID="", pathFormat="path", linesStartAt1=True)
        self.do("attach", **options)

    def break_at(self, code: str, *lines: int) -> str:
        """Sets breakpoints in a cell. Returns the path of its file."""
        path = self.do("dumpCell", code=code)["sourcePath"]
        points = [{"line": line} for line in lines]
        found = self.do("setBreakpoints", source={"path": path}, breakpoints=points)["breakpoints"]
        assert [point["verified"] for point in found] == [True] * len(lines)
        self.do("configurationDone")
        return path

    def event(self, name: str) -> dict[str, Any]:
        """The next event with this name."""
        while True:
            content = self.kernel.wait_for("debug_event")["content"]
            if content["event"] == name:
                return content.get("body", {})

    def frames(self, thread: int) -> list[dict[str, Any]]:
        return self.do("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame: int, scope: int = 0) -> dict[str, str]:
        scopes = self.do("scopes", frameId=frame)["scopes"]
        found = self.do("variables", variablesReference=scopes[scope]["variablesReference"])["variables"]
        return {variable["name"]: variable["value"] for variable in found}
