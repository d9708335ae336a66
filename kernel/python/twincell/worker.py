"""The program of a zygote, from which workers are forked. Only the engine starts it, in a Python without `site`.

It collects the paths that imports read. Then native code locks the process in, lets it do what its start has left out,
and forks workers.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol


class Start(Protocol):
    """What this Python left out when it started: code of what is installed for it."""

    finish: Callable[[], None]
    tables: Callable[[], Mapping[str, str]]


def run(start: Start, incomplete: bool) -> None:
    """Serves the engine to the end of this process. With `incomplete`, code runs in a sandbox that is not complete."""
    sys.excepthook = _fail
    # Foreign code does not see them.
    socket = os.environ.pop("TWINCELL_WORKER_SOCKET")
    home = os.environ.pop("TWINCELL_WORKER_HOME", "")
    packages = os.environ.pop("TWINCELL_WORKER_PACKAGES", "")
    search = os.environ.pop("TWINCELL_WORKER_SEARCH", "")
    # An interrupt from the terminal or the notebook is meant for the comparing process, which decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.getcwd()
    from twincell import _importable, _twincell

    if search:
        os.environ["PYTHONPATH"] = search
    first = [os.path.normpath(path) for path in search.split(os.pathsep) if os.path.isabs(path)]
    # Foreign code writes to its current folder, which is no place for modules. What packages bring comes last, so that
    # none of it takes the place of what the user has. Their `.pth` files are not run.
    others = [path for path in sys.path if path and path != folder and path not in first]
    sys.path[:] = [*dict.fromkeys(first), *others, *(path for path in packages.split(os.pathsep) if path)]
    readable, listable = _importable.paths(home, list(start.tables().values()))
    _twincell.serve_worker(int(socket), folder, readable, listable, start.finish, incomplete)
    # Whatever foreign code left behind (threads, exit handlers) does not run.
    os._exit(0)


def _fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Writes to the original stderr, whose last line the engine reads. Foreign code may replace `sys.stderr`."""
    traceback.print_exception(kind, error, trace, file=sys.__stderr__)
    os._exit(1)


if __name__ == "__main__":
    sys.exit("twincell.worker is started by twincell itself; to compare code, run: twincell compare")
