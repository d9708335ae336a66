"""The files of the checkout that Python opens: modules, data, configuration.

An audit hook hears of each, whoever opens it. It cannot be taken away again, so it does little.
"""

import os
import sys

MOST = 20_000
# What opens files that nobody here hears of.
ELSEWHERE = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "sqlite3.connect"}


class Opened:
    def __init__(self, root):
        self.inside = root + os.sep
        self.paths = set()
        self.is_whole = True
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if event in ELSEWHERE:
            self.is_whole = False
        if event != "open" or not arguments or not self.is_whole:
            return
        path = arguments[0]
        # A subclass of `str` would run code of its own here.
        if type(path) is bytes:
            path = os.fsdecode(path)
        if type(path) is not str:
            return
        if not os.path.isabs(path):
            try:
                path = os.path.join(os.getcwd(), path)
            except OSError:
                return
        self.paths.add(path)
        self.is_whole = len(self.paths) < MOST

    def taken(self):
        """What was opened since this was asked last, relative to the checkout. None if that is not all."""
        (paths, is_whole), (self.paths, self.is_whole) = (self.paths, self.is_whole), (set(), True)
        if not is_whole:
            return None
        # A link leads to another file.
        whole = {os.path.normpath(path) for path in paths} | {os.path.realpath(path) for path in paths}
        return sorted(path[len(self.inside) :] for path in whole if path.startswith(self.inside))
