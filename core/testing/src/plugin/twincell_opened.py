"""The files of the checkout that Python opens: modules, data, configuration.

An audit hook hears of each, whoever opens it. It cannot be taken away again, so it does little.
"""

import os
import sys

MOST = 20_000


class Opened:
    def __init__(self, root):
        self.inside = root + os.sep
        self.paths = set()
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if event != "open" or not arguments or len(self.paths) >= MOST:
            return
        path = arguments[0]
        # A subclass of `str` would run code of its own here.
        if type(path) is bytes:
            path = os.fsdecode(path)
        if type(path) is str:
            self.paths.add(path)

    def taken(self):
        """What was opened since this was asked last, relative to the checkout."""
        paths, self.paths = self.paths, set()
        # Relative paths are of the folder in which tests run.
        whole = {os.path.normpath(os.path.join(self.inside, path)) for path in paths}
        return sorted(path[len(self.inside) :] for path in whole if path.startswith(self.inside))
