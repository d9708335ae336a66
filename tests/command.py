"""The command `twincell` in this process, so that a test pays for what the command does and not for a start of Python.

Tests whose subject is a process (signals, terminals, start-up, two processes at once) start one instead.
"""

import faulthandler
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

#: How a command line begins that runs twincell in a process of its own.
PROGRAM = (sys.executable, "-m", "twincell")

#: The options of `subprocess.run` that a command in this process takes. A time limit guards against hanging: it ends
#: this process, with a traceback of each thread.
UNDERSTOOD = {"cwd", "env", "input", "text", "check", "capture_output", "timeout"}


def run_here(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess:
    """Like `subprocess.run`, which gets other commands than `twincell` and those with options not understood here."""
    arguments = [str(argument) for argument in command]
    if tuple(arguments[: len(PROGRAM)]) != PROGRAM or options.keys() - UNDERSTOOD:
        return subprocess.run(arguments, **options)
    text, check = options.pop("text", False), options.pop("check", False)
    given = options.pop("input", None) or b""
    given = given.encode() if isinstance(given, str) else given
    cwd, env, limit = options.get("cwd"), options.get("env"), options.get("timeout")
    if limit is not None:
        faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__)
    try:
        status, out, err = _main(arguments[len(PROGRAM) :], cwd, env, given)
    finally:
        faulthandler.cancel_dump_traceback_later()
    done = subprocess.CompletedProcess(arguments, status, out.decode() if text else out, err.decode() if text else err)
    if check:
        done.check_returncode()
    return done


def _main(arguments: list[str], cwd: Any, env: dict[str, str] | None, given: bytes) -> tuple[int, bytes, bytes]:
    """The exit status, and what came out on both streams, which are files meanwhile."""
    from twincell._twincell import main

    before = Path.cwd(), dict(os.environ), [os.dup(number) for number in range(3)]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(given)
        stdin.seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for number, file in enumerate((stdin, out, err)):
                os.dup2(file.fileno(), number)
            if cwd is not None:
                os.chdir(cwd)
            if env is not None:
                _become(env)
            status = main(arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            folder, environment, streams = before
            os.chdir(folder)
            _become(environment)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
        return status, _written(out), _written(err)


def _become(environment: dict[str, str]) -> None:
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _written(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
