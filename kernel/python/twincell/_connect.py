"""How other clients find this kernel: its connection file. With the names that `ipykernel.connect` has."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from IPython import get_ipython

if TYPE_CHECKING:
    from ._app import IPKernelApp


def get_connection_file(app: IPKernelApp | None = None) -> str:
    """The path of the connection file of this kernel."""
    app = app or get_ipython().kernel.parent
    return os.path.abspath(app.connection_file)


@overload
def get_connection_info(connection_file: str | None = None, unpack: Literal[False] = False) -> str: ...


@overload
def get_connection_info(connection_file: str | None = None, *, unpack: Literal[True]) -> dict[str, Any]: ...


@overload
def get_connection_info(connection_file: str | None, unpack: Literal[True]) -> dict[str, Any]: ...


def get_connection_info(connection_file: str | None = None, unpack: bool = False) -> str | dict[str, Any]:
    """What a connection file holds: as text or, unpacked, as a dictionary."""
    path = get_connection_file() if connection_file is None else _found(connection_file)
    text = Path(path).read_text(encoding="utf-8")
    if not unpack:
        return text
    info: dict[str, Any] = json.loads(text)
    info["key"] = info.get("key", "").encode()
    return info


def connect_qtconsole(connection_file: str | None = None, argv: list[str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a Qt console that is connected to this kernel, or to that of a connection file."""
    if importlib.util.find_spec("qtconsole") is None:
        raise ImportError("the Qt console is not installed: pip install qtconsole")
    path = get_connection_file() if connection_file is None else _found(connection_file)
    start = "from qtconsole import qtconsoleapp; qtconsoleapp.main()"
    command = [sys.executable, "-c", start, "--existing", path, *(argv or [])]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def runtime_folder() -> Path | None:
    """The folder in which Jupyter keeps connection files."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    return Path(jupyter_runtime_dir())


def _found(name: str) -> str:
    """The path of a connection file that is given by a path, or by its name in Jupyter's folder."""
    folder = runtime_folder()
    for path in (Path(name), folder / name if folder else None):
        if path is not None and path.is_file():
            return str(path.resolve())
    raise FileNotFoundError(f"there is no connection file {name}")
