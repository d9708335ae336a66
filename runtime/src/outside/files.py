"""Files below the working folder: whether one is there and what it holds is drawn when the code first asks for it, in
whatever way. Its path in decisions is `file('a/b.txt')`: None where there is nothing, a text, or a list for a folder.
"""

import os
import posixpath
import sys

from twincell_outside import decided, draw, folders, is_on, texts

_DEEPEST, _LONGEST = 8, 100
_stat, _lstat, _access, _mkdir, _open, _fspath = os.stat, os.lstat, os.access, os.mkdir, os.open, os.fspath
_exists = os.path.lexists
_known = set()
_made = {}
_busy = False


def begin():
    _known.clear()
    _made.clear()


def _within(path):
    """The parts of a path below the working folder."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    for folder in folders():
        if path.startswith(folder + "/"):
            path = path[len(folder) + 1 :]
            break
    else:
        if path.startswith("/"):
            return None
        here = os.getcwd()
        inside = next((here[len(folder) + 1 :] for folder in folders() if (here + "/").startswith(folder + "/")), None)
        if inside is None:
            return None
        path = posixpath.join(inside, path)
    parts = posixpath.normpath(path).split("/")
    if parts[0] in ("..", ".", "") or len(parts) > _DEEPEST or any(len(part) > _LONGEST for part in parts):
        return None
    return parts


def _choices(wanted):
    if wanted == "folder":
        return [[]] * 8 + [None] * 2
    if wanted == "new":
        return [None] * 7 + [[]] * 2 + [""]
    if wanted == "file":
        held = texts(True)
        return held + [None] * (len(held) // 4 + 1)
    held = texts(True)
    return held + [None] * len(held) + [[]] * (len(held) // 2)


def settle(path, wanted):
    """Makes what is at a path, if the code did not ask for it or make it before."""
    global _busy
    if _busy or not is_on():
        return
    try:
        path = _fspath(path)
        parts = _within(path)
    except Exception:
        return
    if path[-1:] in ("/", b"/"):
        wanted = "folder"
    if parts is None or (name := "/".join(parts)) in _known:
        return
    _busy = True
    try:
        if not _is_asked_by_library():
            _settle(parts, name, wanted)
    except OSError:
        # A file stands where a folder would.
        pass
    finally:
        _busy = False


def _settle(parts, name, wanted):
    root = folders()[0]
    if _exists(f"{root}/{name}"):
        _known.add(name)
        return
    known = dict(decided())
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    if any(part in known and not isinstance(known[part], list) for part in above):
        return
    if above and above[-1] not in _made and _exists(f"{root}/{above[-1]}"):
        # In a folder that the code made is what it put there.
        return
    if wanted == "nothing":
        # Only the folder matters.
        if above and above[-1] not in _known:
            _settle(parts[:-1], above[-1], "folder")
        return
    _known.add(name)
    is_above = name not in known and any(
        other.startswith(name + "/") and value is not None for other, value in known.items()
    )
    content = [] if is_above else draw(f"file({name!r})", _choices(wanted))
    if content is None:
        return
    for part in [*above, name] if isinstance(content, list) else above:
        if not _exists(f"{root}/{part}"):
            _mkdir(f"{root}/{part}")
            _made[part] = None
    if not isinstance(content, list):
        data = content if isinstance(content, bytes) else str(content).encode(errors="surrogateescape")
        descriptor = _open(f"{root}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(descriptor, data)
        os.close(descriptor)
        _made[name] = data


def _is_asked_by_library():
    """Whether an installed package asks on its own behalf."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<twincell"):
            return False
        if "site-packages" in file or "dist-packages" in file:
            return True
        frame = frame.f_back
    return True


def left():
    """What the code changed: names with their content now, None where nothing is any more, a list for a folder."""
    root = folders()[0]
    found = {}
    for folder, names, files in os.walk(root):
        for name in [*names, *files]:
            path = posixpath.join(folder, name)
            key = path[len(root) + 1 :]
            if len(found) >= 64:
                return {}
            found[key] = _content(path)
    changed = {name: now for name, now in found.items() if name not in _made or _made[name] != now}
    changed.update((name, False) for name in _made if name not in found)
    return changed


def _content(path):
    if posixpath.isdir(path):
        return None
    try:
        descriptor = _open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def stat(path, *, dir_fd=None, follow_symlinks=True):
    if dir_fd is None and not isinstance(path, int):
        settle(path, "any")
    return _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)


def lstat(path, *, dir_fd=None):
    if dir_fd is None:
        settle(path, "any")
    return _lstat(path, dir_fd=dir_fd)


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    if dir_fd is None and not isinstance(path, int):
        settle(path, "any")
    return _access(path, mode, dir_fd=dir_fd, effective_ids=effective_ids, follow_symlinks=follow_symlinks)


_OF_FOLDERS = {"os.listdir", "os.scandir", "os.rmdir", "os.chdir"}
_OF_FILES = {"os.remove", "os.truncate", "os.chmod", "os.utime", "os.rename", "os.link"}


def heard(event, arguments):
    """Before the system is asked, as the audit hook hears it."""
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        flags = flags if isinstance(flags, int) else 0
        writes = mode is not None and mode[:1] == "w" or flags & (os.O_TRUNC | os.O_EXCL) != 0
        settle(path, "nothing" if writes else "file")
    elif event in _OF_FOLDERS and arguments[0] is not None and not isinstance(arguments[0], int):
        settle(arguments[0], "folder")
    elif event in _OF_FILES:
        settle(arguments[0], "file")
        if event in ("os.rename", "os.link"):
            settle(arguments[1], "nothing")
    elif event == "os.mkdir":
        settle(arguments[0], "new")
