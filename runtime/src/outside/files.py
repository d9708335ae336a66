"""Files below the working folder: whether one is there and what it holds is drawn when the code first asks for it, in
whatever way. Its path in decisions is `file('a/b.txt')`: None where there is nothing, a text, or a list for a folder.
That nothing else is in a folder which was listed is `file('a/*')`.
"""

import os
import pathlib
import posixpath
import sys
from _thread import RLock as _Lock
from _thread import get_ident as _ident

from twincell_outside import decided, draw, folders, is_on, names_folders, texts

_DEEPEST, _LONGEST, _MOST_SHOWN, _MOST_LOOKED_AT, _MOST_BYTES = 8, 100, 64, 512, 1 << 16
_MADE_AT = 1_700_000_000, 1_700_000_000
_mkdir, _open, _write, _read, _close, _fspath = os.mkdir, os.open, os.write, os.read, os.close, os.fspath
_getcwd, _fsdecode, _scandir, _lexists, _frame = os.getcwd, os.fsdecode, os.scandir, os.path.lexists, sys._getframe
_join, _normpath, _text, _utime = posixpath.join, posixpath.normpath, str.__str__, os.utime
_known, _made, _busy = set(), {}, set()
_lock = _Lock()


def begin():
    _known.clear()
    _made.clear()
    _busy.clear()


def _within(path):
    """The parts of a path below the working folder, none for the folder itself, or nothing."""
    if isinstance(path, bytes):
        path = _fsdecode(path)
    if not isinstance(path, str):
        return None
    path = _text(path)
    if not path or "\0" in path:
        return None
    here = path if path.startswith("/") else _join(_getcwd(), path)
    for folder in folders():
        if (here + "/").startswith(folder + "/"):
            parts = _normpath(here[len(folder) :].lstrip("/") or ".").split("/")
            if parts == ["."]:
                return []
            return None if parts[0] == ".." or len(parts) > _DEEPEST or len("/".join(parts)) > _LONGEST else parts
    return None


def _choices(wanted):
    if wanted == "folder":
        return [[]] * 8 + [None] * 2
    if wanted == "new":
        return [None] * 7 + [[]] * 2 + [""]
    if wanted == "target":
        return [None] * 5 + ["", "a", "a\n"]
    held = texts(True)
    if wanted == "file":
        return held + [None] * (len(held) // 4 + 1)
    return held + [None] * len(held) + [[]] * (len(held) // 2 if names_folders() else 0)


def settle(path, wanted):
    """Makes what is at a path, if the code did not ask for it or make it before."""
    me = _ident()
    if me in _busy or not is_on():
        return
    with _lock:
        _busy.add(me)
        try:
            path = _fspath(path)
            parts = _within(path)
            if parts is None or _is_asked_by_library():
                return
            if wanted != "listed" and path[-1:] in ("/", b"/"):
                wanted = "folder"
            if wanted == "listed":
                _list(parts)
            elif parts:
                _settle(parts, "/".join(parts), wanted)
        except Exception:
            # A file stands where a folder would, or it is no path. The system will say so.
            pass
        finally:
            _busy.discard(me)


def _is_made_by_the_code(folder):
    """In a folder that the code made is what it put there."""
    return folder not in _made and _lexists(f"{folders()[0]}/{folder}")


def _settle(parts, name, wanted):
    if name in _known:
        return
    if _lexists(f"{folders()[0]}/{name}"):
        _known.add(name)
        return
    known = dict(decided())
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    if any(part in known and not isinstance(known[part], list) for part in above):
        return
    if above and _is_made_by_the_code(above[-1]):
        return
    _known.add(name)
    if name in known:
        content = draw(f"file({name!r})", [known[name]], False)
    elif any(other.startswith(name + "/") and value is not None for other, value in known.items()):
        content = []
    elif "/".join([*above[-1:], "*"]) in known:
        content = None
    else:
        content = draw(f"file({name!r})", _choices(wanted), False)
    if content is not None:
        _make(above, name, content)
    elif above and wanted in ("target", "new"):
        # Only the folder matters.
        _settle(parts[:-1], above[-1], "folder")


def _make(above, name, content):
    root = folders()[0]
    for part in [*above, name] if isinstance(content, list) else above:
        if not _lexists(f"{root}/{part}"):
            _mkdir(f"{root}/{part}")
            _made[part] = None
    if not isinstance(content, list) and not _lexists(f"{root}/{name}"):
        data = content if isinstance(content, bytes) else str(content).encode(errors="surrogateescape")
        descriptor = _open(f"{root}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        _made[name] = data
        _write(descriptor, data)
        _utime(descriptor, _MADE_AT)
        _close(descriptor)


def _list(parts):
    """What is in a folder is what is decided, and nothing else from now on."""
    name = "/".join(parts)
    if parts:
        _settle(parts, name, "folder")
        if _is_made_by_the_code(name) or not _lexists(f"{folders()[0]}/{name}"):
            return
    start = f"{name}/" if parts else ""
    draw(f"file({start + '*'!r})", [[]], True)
    for other, value in sorted(decided(), key=lambda one: one[0]):
        if other.startswith(start) and value is not None and not other.endswith("*"):
            inner = other.split("/")
            _settle(inner, other, "file")


def _is_asked_by_library():
    """Whether an installed package asks on its own behalf, or for a name of nobody's choice."""
    frame = _frame(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<twincell"):
            return False
        if "site-packages" in file or "dist-packages" in file or frame.f_globals.get("__name__") == "tempfile":
            return True
        frame = frame.f_back
    return False


def left():
    """What the code changed: names with their content now, a list for a folder, False where nothing is any more."""
    me = _ident()
    _busy.add(me)
    try:
        found = _found(folders()[0])
    finally:
        _busy.discard(me)
    before = {name: [] if data is None else data for name, data in _made.items()}
    changed = {name: now for name, now in found.items() if name not in before or before[name] != now}
    changed.update((name, False) for name in before if name not in found)
    shown = dict(sorted(changed.items())[:_MOST_SHOWN])
    if len(shown) < len(changed):
        shown["..."] = str(len(changed)).encode()
    return shown


def _found(root):
    """The files and folders below a folder, by name, with their content."""
    found, open_folders = {}, [("", root)]
    while open_folders and len(found) < _MOST_LOOKED_AT:
        start, folder = open_folders.pop()
        with _scandir(folder) as entries:
            for entry in entries:
                name = start + entry.name
                if entry.is_dir(follow_symlinks=False):
                    found[name] = []
                    if name.count("/") < 2 * _DEEPEST:
                        open_folders.append((name + "/", f"{folder}/{entry.name}"))
                else:
                    found[name] = _content(f"{folder}/{entry.name}", entry)
                if len(found) >= _MOST_LOOKED_AT:
                    break
    return found


def _content(path, entry):
    if not entry.is_file(follow_symlinks=False):
        return b"no file"
    size = entry.stat(follow_symlinks=False).st_size
    try:
        descriptor = _open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b"closed to the code"
    try:
        data = _read(descriptor, _MOST_BYTES)
    finally:
        _close(descriptor)
    return data if size <= len(data) else data + f"... [{size} bytes]".encode()


def bypass(stat):
    """Python 3.10 keeps functions of the system in a class."""
    accessor = getattr(pathlib, "_NormalAccessor", None)
    if accessor is not None:
        accessor.stat = stat


_OF_FILES = {"os.remove", "os.truncate", "os.chmod", "os.utime", "os.rename", "os.link"}


def heard(event, arguments):
    """Before the system is asked, as the audit hook hears it."""
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        flags = flags if isinstance(flags, int) else 0
        creates = flags & os.O_CREAT != 0
        settle(path, "target" if creates else "file")
    elif event in ("os.listdir", "os.scandir", "os.rmdir"):
        if not isinstance(arguments[0], int):
            settle("." if arguments[0] is None else arguments[0], "listed")
    elif event == "os.chdir":
        if not isinstance(arguments[0], int):
            settle(arguments[0], "folder")
    elif event in _OF_FILES:
        settle(arguments[0], "file")
        if event in ("os.rename", "os.link"):
            settle(arguments[1], "target")
    elif event == "os.mkdir":
        settle(arguments[0], "new")
