"""The paths that code under comparison may read, besides the system's libraries: Python's own, and what imports find.

A folder on the module search path may be the root of a project, which holds more than code: a `.env`, a `.git`, notes.
So only the packages and modules in it are readable, with their data files, and nothing hidden. A rule of Landlock holds
for a whole tree. So a tree without hidden entries gets one rule, and another one gets a rule for each entry that is not
hidden.
"""

import importlib.machinery
import os
import pwd
import site
import sys
import sysconfig
from collections.abc import Iterable

#: Where an installation of Python, or a virtual environment, keeps what it needs. Its folder may be that of a project.
PARTS = ("bin", "etc", "include", "lib", "lib32", "lib64", "libexec", "share", "ssl", "pyvenv.cfg")
INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib", "include", "platinclude", "scripts")
#: Folders into which installers put packages. Nobody keeps other things there.
PACKAGES = ("site-packages", "dist-packages")
METADATA = (".dist-info", ".egg-info")
MODULES = tuple(importlib.machinery.all_suffixes())
#: How deep a folder without modules may lie above the modules of a package: `src` above `src/package/module.py`.
DEPTH = 3
#: What lies beyond these counts cannot be imported, except Python itself and installed packages.
MOST_LOOKED_AT = 100_000
MOST_RULES = 2_000


def paths(home: str, editable: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """What this process's imports can find: the files and folders that they read, and the folders whose names they list
    before. `home`: the home folder of whoever compares. `editable`: packages and modules that finders have in a table.
    """
    closed = {os.path.realpath(folder) for folder in (home, _home_of_account()) if folder}
    installed = [path for name, path in sysconfig.get_paths().items() if name in INSTALLED]
    installed += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        installed.append(site.getusersitepackages())
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        if _is_open(os.path.realpath(prefix), closed):
            installed += [os.path.join(prefix, part) for part in PARTS]
    own = _outermost([path for path in _real(installed) if _is_open(path, closed)])
    readable: list[str] = []
    listable: list[str] = []
    search = _Search()

    def is_new(path: str) -> bool:
        return _is_open(path, closed) and not any(_lies_in(path, granted) for granted in (*own, *readable))

    for path in filter(is_new, _real(sys.path)):
        if os.path.basename(path) in PACKAGES or not os.path.isdir(path):
            own.append(path)
        else:
            listable.append(path)
            readable += search.importable(path)
    for path in filter(is_new, _real([*editable, os.path.dirname(__file__)])):
        listable.append(path)
        readable += search.visible(path)
    own = _outermost(own)
    others = [path for path in _outermost(own + readable) if path not in own]
    return own + others[: max(0, MOST_RULES - len(own))], listable


def _outermost(some: list[str]) -> list[str]:
    """Those that exist and do not lie in another."""
    found: list[str] = []
    # By their parts, what lies in a folder follows it at once.
    for path in sorted(set(some), key=lambda path: path.split(os.sep)):
        if os.path.exists(path) and not (found and _lies_in(path, found[-1])):
            found.append(path)
    return found


def _home_of_account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _real(some: list[str]) -> list[str]:
    """In order, each once."""
    return list(dict.fromkeys(os.path.realpath(path) for path in some if path and os.path.isabs(path)))


def _lies_in(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _is_open(path: str, closed: set[str]) -> bool:
    """Packages may lie within a home folder, but the folder itself, and what it lies in, stays closed."""
    return path != os.sep and not any(_lies_in(home, path) for home in closed)


class _Search:
    """Looks through folders, and at no more than a certain number of entries in all."""

    def __init__(self) -> None:
        self.left = MOST_LOOKED_AT

    def importable(self, folder: str) -> list[str]:
        """The paths in a folder of the module search path that together hold what can be imported."""
        found = []
        for entry in self.entries(folder):
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if not entry.is_dir():
                found += [entry.path] if entry.name.endswith(MODULES) else []
            elif entry.name.endswith(METADATA) or entry.name.isidentifier() and self.has_modules(entry.path, DEPTH):
                found += self.visible(entry.path)
        return found

    def has_modules(self, folder: str, depth: int) -> bool:
        entries = [entry for entry in self.entries(folder) if not entry.name.startswith(".") and not entry.is_symlink()]
        if any(entry.name.endswith(MODULES) for entry in entries if not entry.is_dir()):
            return True
        inner = [entry for entry in entries if entry.is_dir() and entry.name.isidentifier()]
        return depth > 0 and any(self.has_modules(entry.path, depth - 1) for entry in inner)

    def visible(self, path: str) -> list[str]:
        """The paths that together hold what is not hidden in a file or tree: itself if nothing is."""
        is_whole, parts = self.parts(path)
        return [path] if is_whole else parts

    def parts(self, folder: str) -> tuple[bool, list[str]]:
        """Whether nothing in a tree is hidden, and what `visible` gives otherwise."""
        is_whole, parts = True, []
        for entry in self.entries(folder):
            if entry.name.startswith("."):
                is_whole = False
            elif not entry.is_symlink() and entry.is_dir():
                is_whole_below, below = self.parts(entry.path)
                is_whole = is_whole and is_whole_below
                parts += [entry.path] if is_whole_below else below
            elif not entry.is_symlink():
                parts.append(entry.path)
        return is_whole and self.left > 0, parts

    def entries(self, folder: str) -> list["os.DirEntry[str]"]:
        """Links are among them. What they lead to has a rule of its own, or none."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            return []
        entries = entries[: self.left]
        self.left -= len(entries)
        return entries
