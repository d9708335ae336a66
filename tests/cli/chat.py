"""An endpoint like those of language models, with answers that a test has written."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: What a request gets: answers, or a status with the bytes of a body.
Reply = list[str] | tuple[int, bytes]


def answer(*initialization: str, imports: tuple[str, ...] = ()) -> str:
    """An answer as the prompts ask for it."""
    return json.dumps({"imports": list(imports), "initialization": list(initialization)})


class Chat:
    """The requests that came, and where to send more."""

    def __init__(self, url: str) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []
        self.environment = {
            "TWINCELL_LLM_URL": url,
            "TWINCELL_LLM_MODEL": "tiny",
            "TWINCELL_LLM_KEY": "secret-key-of-the-user",
        }


@contextmanager
def chat(reply: Callable[[list[dict[str, str]], int], Reply]) -> Iterator[Chat]:
    """Serves until the block ends. `reply` gets the messages of a request and its number, from 0."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(served.requests)
            served.requests.append(request)
            served.keys.append(self.headers["Authorization"])
            served.paths.append(self.path)
            found = reply(request["messages"], number)
            if isinstance(found, list):
                choices = [
                    {"index": at, "message": {"role": "assistant", "content": it}} for at, it in enumerate(found)
                ]
                found = 200, json.dumps({"choices": choices, "usage": {"total_tokens": 1000}}).encode()
            status, body = found
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "http://127.0.0.1:9/")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Chat(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
