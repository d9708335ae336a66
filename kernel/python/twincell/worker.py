"""The program of a zygote, `python -m twincell.worker`, from which workers are forked. Only the engine starts it.

It collects the paths that Python needs to read. Then native code forks workers, which lock themselves in.
"""

import os
import signal
import site
import sys
import sysconfig
import traceback
from types import TracebackType


def _readable() -> list[str]:
    """The folders and archives that imports read: the interpreter's own and the entries of the module search path."""
    import pwd

    import twincell

    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    found += sysconfig.get_paths().values()
    found += sys.path
    found += [os.path.dirname(os.path.dirname(path)) for path in twincell.__path__]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    try:
        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        home = os.sep
    real = {os.path.realpath(path) for path in found if path and os.path.isabs(path)}
    # Packages may lie within the home folder, but the folder itself stays closed.
    return sorted(path for path in real if os.path.commonpath([path, home]) != path)


def main() -> int:
    # Foreign code does not see it.
    socket = os.environ.pop("TWINCELL_WORKER_SOCKET", None)
    if socket is None:
        print("twincell.worker is started by twincell itself; to compare code, run: twincell compare", file=sys.stderr)
        return 2
    # An interrupt from the terminal or the notebook is meant for the comparing process, which decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.getcwd()
    # Foreign code writes to its current folder. Before Python 3.11, nothing else keeps it out of the search path.
    sys.path[:] = [path for path in sys.path if path and path != folder]
    from twincell import _twincell

    _twincell.serve_worker(int(socket), folder, _readable())
    return 0


def _fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Writes to the original stderr, whose last line the engine reads. Foreign code may replace `sys.stderr`."""
    traceback.print_exception(kind, error, trace, file=sys.__stderr__)
    os._exit(1)


if __name__ == "__main__":
    sys.excepthook = _fail
    # Whatever foreign code left behind (threads, exit handlers) does not run.
    os._exit(main())
