"""Other programs: none runs, and each answers as it was drawn, however it is started. Its path in decisions is
`program('git status')`.
"""

import errno
import io
import os
import shlex
import shutil
import sys
import zlib

from twincell_outside import draw, folders, intended, is_on, tell, texts

# Zero is the usual status. Negative ones are signals.
_STATUSES = [0, 0, 0, 0, 0, 1, 1, 2, -15]
_OF_A_SHELL = set("|&;<>()$`\\\"'*?[]#~=%!{}\n")
_MISSING, _UNKNOWN, _LONGEST = 127, "a", 60


def _command(arguments, shell):
    """The command as a shell would have it: a list and a text that mean the same are the same."""
    if not isinstance(arguments, (str, bytes, os.PathLike)):
        parts = [os.fsdecode(part) for part in arguments]
        return parts[0] if shell and parts else shlex.join(parts)
    text = os.fsdecode(arguments)
    if not shell:
        return shlex.join([text])
    return text if _OF_A_SHELL & set(text) else shlex.join(text.split())


def _first(command):
    """The program that a command starts: behind assignments of variables, in a shell."""
    try:
        parts = shlex.split(command)
    except ValueError:
        parts = command.split()
    return next((part for part in parts if "=" not in part), _UNKNOWN)


def _exists(name):
    place = name if "/" in name else f"/usr/bin/{name}"
    return draw(f"shutil.which({_short(name)!r})", [place] * 6 + [None], True)


def _short(text):
    """A text that a path of a decision may hold whole."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 9]}~{zlib.crc32(text.encode(errors='replace')):08x}"


def _status(command):
    if _exists(_first(command)) is None:
        return _MISSING
    return draw(f"program({_short(command)!r}).returncode", _STATUSES, True)


def _say(descriptor, path, stream):
    text = draw(f"{path}.{stream}", texts(stream == "stdout"), False)
    os.write(descriptor, text.encode(errors="surrogateescape")[:4096])


def _catch(descriptor):
    """Has a file in the place of a pipe that nobody reads, so that no writer waits."""
    name = f"{folders()[0]}/.{os.getpid()}-{descriptor}"
    caught = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(name)
    os.dup2(caught, descriptor, inheritable=False)
    # It is closed with the object.
    return io.FileIO(caught, "r+")


def _changed(environment):
    """The variables that differ from those of this process, None for those that are left out."""
    mine = dict(os.environ)
    names = sorted(name for name in {*mine, *environment} if mine.get(name) != environment.get(name))
    return {name: environment.get(name) for name in names}


def _is_of_asyncio():
    # Its transports wait for the process itself.
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "subprocess":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").startswith("asyncio")


def patch(subprocess):
    Popen = subprocess.Popen
    execute_child, internal_poll, try_wait, wait = (
        Popen._execute_child,
        Popen._internal_poll,
        Popen._try_wait,
        Popen._wait,
    )

    def _execute_child(self, *options):
        if not is_on() or _is_of_asyncio():
            return execute_child(self, *options)
        args, executable, _, _, _, cwd, env, _, _, shell, *pipes = options[:16]
        _, p2cwrite, _, c2pwrite, _, errwrite = pipes
        try:
            command = _command(args, shell)
            path = f"program({_short(command)!r})"
            given = {} if cwd is None else {"cwd": os.fspath(cwd)}
            if executable is not None:
                given["executable"] = os.fspath(executable)
            if env is not None:
                given["env"] = _changed(env)
            if not shell and _exists(_first(command)) is None:
                missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), _first(command))
                intended(missing)
                raise missing
            tell("program", [command], given)
            self._answer = path, _status(command)
            self._caught = _catch(p2cwrite) if p2cwrite != -1 else None
            unread = getattr(self, "_devnull", None)
            for stream, descriptor in (("stdout", c2pwrite), ("stderr", errwrite)):
                if descriptor not in (-1, unread):
                    _say(descriptor, path, stream)
            self.pid = os.getpid() + 1
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)

    def _end(self):
        path, status = self._answer
        if self._caught is not None:
            caught, self._caught = self._caught, None
            caught.seek(0)
            if given := caught.read(1 << 16):
                tell(f"{path}.stdin.write", [given], {})
            caught.close()
        return status

    def _internal_poll(self, *arguments, **keywords):
        if not hasattr(self, "_answer"):
            return internal_poll(self, *arguments, **keywords)
        if self.returncode is None:
            self.returncode = _end(self)
        return self.returncode

    def _try_wait(self, flags):
        if not hasattr(self, "_answer"):
            return try_wait(self, flags)
        status = _end(self)
        return self.pid, status << 8 if status >= 0 else -status

    def _wait(self, timeout):
        if hasattr(self, "_answer") and timeout is not None and self.returncode is None:
            path, _ = self._answer
            if draw(f"{path}.is_late", [False] * 5 + [True], True):
                self._answer = path, -9
                late = subprocess.TimeoutExpired(self.args, timeout)
                intended(late)
                raise late
        return wait(self, timeout)

    Popen._execute_child, Popen._internal_poll, Popen._try_wait, Popen._wait = (
        _execute_child,
        _internal_poll,
        _try_wait,
        _wait,
    )


_system, _which = os.system, shutil.which


def system(command):
    if not is_on():
        return _system(command)
    command = _command(command, True)
    tell("program", [command], {})
    status = _status(command)
    return status << 8 if status >= 0 else -status


def which(cmd, mode=os.F_OK | os.X_OK, path=None):
    if not is_on() or path is not None or not isinstance(cmd, str) or os.path.dirname(cmd):
        return _which(cmd, mode, path)
    return _exists(cmd)
