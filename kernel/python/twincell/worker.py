"""The program of a zygote, `python -m twincell.worker`, from which workers are forked. Only the engine starts it.

It collects the paths that imports read. Then native code forks workers, which lock themselves in.
"""

import os
import signal
import sys
import traceback
from types import TracebackType


def main() -> int:
    # Foreign code does not see them.
    socket = os.environ.pop("TWINCELL_WORKER_SOCKET", None)
    home = os.environ.pop("TWINCELL_WORKER_HOME", "")
    packages = os.environ.pop("TWINCELL_WORKER_PACKAGES", "")
    if socket is None:
        print("twincell.worker is started by twincell itself; to compare code, run: twincell compare", file=sys.stderr)
        return 2
    # An interrupt from the terminal or the notebook is meant for the comparing process, which decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.getcwd()
    # Foreign code writes to its current folder. Before Python 3.11, nothing else keeps it out of the search path.
    sys.path[:] = [path for path in sys.path if path and path != folder]
    # Last, so that none of them takes the place of what the user has. Their `.pth` files are not run.
    sys.path += [path for path in packages.split(os.pathsep) if path]
    from twincell import _importable, _twincell

    _twincell.serve_worker(int(socket), folder, *_importable.paths(home))
    return 0


def _fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Writes to the original stderr, whose last line the engine reads. Foreign code may replace `sys.stderr`."""
    traceback.print_exception(kind, error, trace, file=sys.__stderr__)
    os._exit(1)


if __name__ == "__main__":
    sys.excepthook = _fail
    # Whatever foreign code left behind (threads, exit handlers) does not run.
    os._exit(main())
