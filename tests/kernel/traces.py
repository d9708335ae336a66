"""What a test leaves behind in a kernel. `shared.py` loads this module into kernels that serve many tests.

The kernel is as after its start afterwards, but for modules of packages, which stay imported. Whatever cannot be taken
back is named, and the kernel is not used again.
"""

from __future__ import annotations

import asyncio
import builtins
import gc
import inspect
import logging
import os
import resource
import signal
import sys
import sysconfig
import threading
import warnings
from collections.abc import Iterator
from typing import Any

#: Seconds for a thread that has nothing left to do. One that needs longer costs the next test a start, and no more.
PATIENCE = 2
#: Threads of packages that serve later cells as well, by how their names begin.
SERVING = ("asyncio_", "tmonitor", "IPythonHistorySavingThread", "control", "shells", "pydevd.", "Thread-debugpy")
#: Folders of modules that a test does not make.
INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Start:
    """The state of a kernel after its start."""

    def __init__(self, shell: Any) -> None:
        self.shell, self.kernel = shell, shell.kernel
        # Each test has a session of its own in the history, which needs no disk.
        shell.history_manager.db.execute("PRAGMA synchronous = OFF")
        self.cwd, self.environment = os.getcwd(), dict(os.environ)
        self.lists = [(one, list(one)) for one in (sys.path, sys.meta_path, sys.argv, warnings.filters)]
        self.lists.append((logging.root.handlers, list(logging.root.handlers)))
        self.lists.append((cleanup := shell.input_transformer_manager.cleanup_transforms, list(cleanup)))
        self.mappings = [(one, dict(one)) for one in (self.kernel.shell_handlers, self.kernel.control_handlers)]
        self.attributes = [
            (owner, name, getattr(owner, name))
            for owner, names in (
                (sys, ("stdin", "stdout", "stderr", "displayhook", "excepthook", "breakpointhook", "unraisablehook")),
                (builtins, ("input", "print", "open", "breakpoint", "__import__")),
                (threading.Thread, ("start",)),
            )
            for name in names
        ]
        self.signals = {number: signal.getsignal(number) for number in signal.valid_signals()}
        self.files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.modules = dict(sys.modules)
        self.threads = set(threading.enumerate())
        self.tasks = set(asyncio.all_tasks(self.kernel.loop))
        configured = (shell, self.kernel, shell.Completer, shell.display_pub, shell.displayhook, shell.history_manager)
        self.settings = [(one, self._settings(one)) for one in configured]
        self.members = [(one, set(vars(one))) for one in (shell, self.kernel)]

    @staticmethod
    def _settings(configurable: Any) -> dict[str, Any]:
        names = configurable.trait_names(config=True)
        return {
            name: getattr(configurable, name) for name in names if name not in ("connection_options", "db_cache_size")
        }

    async def restore(self) -> list[str]:
        """Takes back what was changed. Returns what stays."""
        await self._end_tasks()
        self._restore_shell()
        self._restore_interpreter()
        self.shell.reset(new_session=True)
        self.shell.kept_displays.clear()
        self._forget_modules()
        staying = list(self._threads_that_stay())
        # IPython collects garbage at each reset. What packages hold is not looked at again.
        gc.freeze()
        return staying

    async def _end_tasks(self) -> None:
        self.shell.enable_gui(None)
        left = asyncio.all_tasks() - self.tasks - {asyncio.current_task()}
        left = {task for task in left if not is_of_kernel(task)}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _restore_shell(self) -> None:
        shell, kernel = self.shell, self.kernel
        for owner, names in self.members:
            for name in set(vars(owner)) - names:
                if callable(vars(owner)[name]):
                    delattr(owner, name)
        for mapping, before in self.mappings:
            mapping.clear()
            mapping.update(before)
        for configurable, settings in self.settings:
            for name, value in settings.items():
                if getattr(configurable, name) is not value:
                    setattr(configurable, name, value)
        for callbacks in shell.events.callbacks.values():
            callbacks[:] = [callback for callback in callbacks if not is_of_cell(callback)]
        shell.display_pub._hooks.clear()
        shell.displayhook._hooks.clear()
        for comm in list(kernel.comm_manager.comms.values()):
            comm.close()
        targets = kernel.comm_manager.targets
        for name in [name for name, target in targets.items() if is_of_cell(target)]:
            del targets[name]
        magics = shell.magics_manager.registry["TwincellMagics"]
        magics.versions.clear()
        magics.last_run.held.clear()
        magics.last_run.on_rerun = magics._autocompare = None
        for functions in shell.magics_manager.magics.values():
            for name in [name for name, function in functions.items() if is_of_cell(function)]:
                del functions[name]
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")

    def _restore_interpreter(self) -> None:
        os.chdir(self.cwd)
        for name in os.environ.keys() - self.environment.keys():
            del os.environ[name]
        os.environ.update(self.environment)
        for kept, before in self.lists:
            kept[:] = before
        for owner, name, value in self.attributes:
            setattr(owner, name, value)
        for number, handler in self.signals.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_NOFILE, self.files)

    def _forget_modules(self) -> None:
        for name, module in list(sys.modules.items()):
            before = self.modules.get(name)
            if before is not None and before is not module:
                sys.modules[name] = before
            elif before is None and not is_installed(name, module):
                del sys.modules[name]

    def _threads_that_stay(self) -> Iterator[str]:
        left = [thread for thread in threading.enumerate() if thread not in self.threads and not is_serving(thread)]
        if left:
            # The threads of a pool end with it.
            gc.collect()
        for thread in left:
            thread.join(PATIENCE)
            if thread.is_alive():
                yield f"the thread {thread.name}"


def is_serving(thread: threading.Thread) -> bool:
    """Whether a thread of a package serves later cells as well."""
    return thread.name.startswith(SERVING) or type(thread).__module__.startswith(("tqdm", "_pydev", "debugpy"))


def is_of_cell(function: Any) -> bool:
    """Whether code of a cell defined a function."""
    return getattr(inspect.unwrap(function) if callable(function) else function, "__module__", None) == "__main__"


def is_of_kernel(task: asyncio.Task[Any]) -> bool:
    """Whether the kernel itself runs a task: it serves requests, or is the cell that asks."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "twincell" in code.co_filename.split(os.sep)


def is_installed(name: str, module: Any) -> bool:
    """Whether a module comes from a package, and not from a file of a test, nor from the test itself."""
    if not inspect.ismodule(module) or module.__spec__ is None:
        return inspect.ismodule(module) and module.__name__.startswith(("ipykernel", "_pydev", "pydev"))
    origin = module.__spec__.origin or ""
    return not os.path.isabs(origin) or origin.startswith(INSTALLED) or name.startswith("twincell")


#: Set when a kernel loads this module.
start: Start | None = None


def note(shell: Any) -> None:
    """Keeps the state of a kernel that has just started."""
    global start
    start = Start(shell)
