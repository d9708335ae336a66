"""The application that starts the kernel, with the names and settings of `ipykernel.kernelapp.IPKernelApp`."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import faulthandler
import logging
import os
import sys
import threading
from typing import Any, TextIO

from IPython.core.application import BaseIPythonApplication
from IPython.core.shellapp import InteractiveShellApp, shell_aliases, shell_flags
from traitlets import Bool, Dict, Unicode

from . import _connect, _debugger, _gui, _ipykernel
from ._answers import IPythonKernel
from ._json import dumps
from ._messages import Session, Socket
from ._output import Output
from ._serve import logger, run_until_done
from ._twincell import Connection
from .shell import ZMQInteractiveShell


class IPKernelApp(BaseIPythonApplication, InteractiveShellApp):
    """Starts the kernel. Reads IPython's configuration and startup files, as every IPython does."""

    name = "ipython-kernel"
    description = "The Jupyter kernel of twincell. Jupyter starts it; there is no need to start it by hand."
    aliases = Dict({**BaseIPythonApplication.aliases, **shell_aliases, "f": "IPKernelApp.connection_file"})
    flags = Dict({**BaseIPythonApplication.flags, **shell_flags})
    #: Both are set in `initialize`, as are `transport`, `ip` and the ports.
    shell: ZMQInteractiveShell
    kernel: IPythonKernel
    connection_file = Unicode("", help="The file in which Jupyter wrote ports and key.").tag(config=True)
    capture_fd_output = Bool(
        True, help="Whether what programs and C code write into descriptors 1 and 2 is output of the notebook."
    ).tag(config=True)
    no_stdout = Bool(False, help="Whether sys.stdout of cells leads nowhere.").tag(config=True)
    no_stderr = Bool(False, help="Whether sys.stderr of cells leads nowhere.").tag(config=True)

    def initialize(self, argv: list[str] | None = None) -> None:
        super().initialize(argv)
        if not self.connection_file:
            self.exit("twincell.kernel: give the connection file with -f FILE, or start the kernel from Jupyter")
        self.kernel = IPythonKernel.instance(parent=self, config=self.config)
        try:
            connection = Connection.open(self.connection_file, dumps(self.kernel.kernel_info))
        except OSError as error:
            self.exit(f"twincell.kernel: {error}")
        # Code that asks whether it runs in a notebook looks for ipykernel's application in the configuration.
        self.config.IPKernelApp.connection_file = self.connection_file
        if self.capture_fd_output:
            _log_to(open(connection.capture_output(), "w", buffering=1, closefd=False), self.log)
        else:
            _log_to(sys.__stderr__ or sys.stderr, self.log)
        info = self.connection_info
        for name in ("transport", "ip", "shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"):
            setattr(self, name, info.get(name))
        output = Output(connection, info["key"])
        self.shell = ZMQInteractiveShell.instance(
            parent=self.kernel, config=self.config, profile_dir=self.profile_dir, output=output, kernel=self.kernel
        )
        self.kernel.connect(connection, output, self.shell)
        output.install()
        self._close_streams()
        _debugger.install()
        _ipykernel.install()
        with contextlib.suppress(Exception):
            # Before what lies beside the notebook can be imported. Failing again, it says why.
            from . import magics  # noqa: F401
        self.init_path()
        self.init_gui_pylab()
        self.init_extensions()
        self._load_magics()
        self.init_code()

    @property
    def connection_info(self) -> dict[str, Any]:
        """What the connection file holds."""
        return _connect.get_connection_info(self.connection_file, unpack=True)

    @property
    def abs_connection_file(self) -> str:
        return _connect.get_connection_file(self)

    @property
    def connection_dir(self) -> str:
        return os.path.dirname(self.abs_connection_file)

    @property
    def session(self) -> Session:
        return self.kernel.session

    @property
    def iopub_socket(self) -> Socket:
        return self.kernel.iopub_socket

    def _close_streams(self) -> None:
        for name, closed in (("stdout", self.no_stdout), ("stderr", self.no_stderr)):
            if closed:
                setattr(sys, name, open(os.devnull, "w"))

    def _load_magics(self) -> None:
        try:
            from .magics import load_ipython_extension

            load_ipython_extension(self.shell)
        except Exception:
            logger.exception("the magics of twincell could not be loaded; plain Python works all the same")

    def start(self) -> None:
        """Serves until the client ends it."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            threading.Thread(target=self.kernel.start_threads, name="shells", daemon=True).start()
            serving = self.kernel.start_main(loop)
            loop.call_soon(_gui.start, self.kernel)
            run_until_done(loop, serving)
        finally:
            # The functions of cells come first, and IPython's own, which clears their names, after them.
            atexit._run_exitfuncs()
            self.kernel.connection.close()
            self._end_threads_softly()

    def _end_threads_softly(self) -> None:
        """Ends the process although threads may run: a cell's threads must not keep a kernel alive that shall end."""
        if any(t is not threading.main_thread() and not t.daemon for t in threading.enumerate()):
            os._exit(0)


def _log_to(terminal: TextIO, app_log: logging.Logger) -> None:
    """Sends the kernel's own log to the server's terminal, not into a notebook."""
    handler = logging.StreamHandler(terminal)
    handler.setFormatter(logging.Formatter("twincell kernel: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    for other in app_log.handlers:
        if isinstance(other, logging.StreamHandler) and other.stream is sys.__stderr__:
            other.setStream(terminal)
    faulthandler.enable(terminal)
