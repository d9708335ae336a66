"""The kernel `Twincell (Python)`. Jupyter runs its `main` with `-f CONNECTION_FILE`.

Rust handles sockets, signatures and ordering (`twincell._twincell.Connection`). `_serve.py` hands its requests to the
handlers in `_answers.py`, `shell.py` turns a cell's output into messages, and `_app.py` starts all of it.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec

from ._later import later

# A Python without OpenSSL has to say so to asyncio.
with later("asyncio.sslproto", "hashlib", "ssl") if find_spec("_ssl") else nullcontext():
    from ._app import IPKernelApp


def main() -> None:
    """Starts the kernel with the arguments of the command line."""
    IPKernelApp.launch_instance()


if __name__ == "__main__":
    main()
