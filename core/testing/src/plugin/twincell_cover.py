"""Which lines a test runs: by `sys.monitoring`, coverage.py's tracer in C, or `sys.settrace`, whichever is there."""

import os
import sys
import threading


class Files:
    """Which code belongs to covered files, by the name of its file."""

    def __init__(self, root, covered):
        self.root = root
        self.covered = set(covered)
        self.known = {}

    def name(self, filename):
        """The path relative to the root, or None."""
        try:
            return self.known[filename]
        except KeyError:
            pass
        path = filename if os.path.isabs(filename) else os.path.join(self.root, filename)
        path = os.path.normpath(path)
        name = None
        if not filename.startswith("<") and path.startswith(self.root + os.sep):
            inner = path[len(self.root) + 1 :].replace(os.sep, "/")
            if not self.covered or inner in self.covered:
                name = inner
        self.known[filename] = name
        return name


def begin(root, covered):
    files = Files(root, covered)
    if hasattr(sys, "monitoring"):
        free = [tool for tool in (1, 3, 4, 2, 5) if sys.monitoring.get_tool(tool) is None]
        if free:
            return Monitored(files, free[0])
    try:
        return Measured(files)
    except Exception:
        return Traced(files)


class Monitored:
    """Each line calls back once in a test."""

    def __init__(self, files, tool):
        self.files = files
        self.tool = tool
        self.seen = set()
        monitoring = sys.monitoring
        monitoring.use_tool_id(tool, "twincell")
        monitoring.register_callback(tool, monitoring.events.PY_START, self.enter)
        monitoring.register_callback(tool, monitoring.events.LINE, self.line)
        self.local = set()

    def enter(self, code, _):
        if self.files.name(code.co_filename) is not None and code not in self.local:
            self.local.add(code)
            sys.monitoring.set_local_events(self.tool, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def line(self, code, number):
        self.seen.add((code.co_filename, number))
        return sys.monitoring.DISABLE

    def start(self):
        self.seen.clear()
        sys.monitoring.restart_events()
        sys.monitoring.set_events(self.tool, sys.monitoring.events.PY_START)

    def stop(self):
        sys.monitoring.set_events(self.tool, 0)
        return lines_of(self.files, self.seen)


class Measured:
    """coverage.py, with its own file in memory."""

    def __init__(self, files):
        import coverage
        from coverage.tracer import CTracer  # noqa: F401 - its plain tracer is slower than ours

        self.files = files
        include = [os.path.join(files.root, name) for name in files.covered] or [os.path.join(files.root, "*")]
        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, include=include, check_preimported=False, messages=False
        )
        self.coverage.set_option("run:core", "ctrace")
        self.coverage.set_option("run:disable_warnings", ["no-data-collected", "module-not-measured"])
        self.tests = 0

    def start(self):
        # A context for each test: to erase the data would set up everything anew, which takes milliseconds.
        self.tests += 1
        self.coverage.start()
        self.coverage.switch_context(str(self.tests))

    def stop(self):
        self.coverage.stop()
        data = self.coverage.get_data()
        data.set_query_context(str(self.tests))
        seen = {(file, line) for file in data.measured_files() for line in data.lines(file) or ()}
        return lines_of(self.files, seen)


class Traced:
    """A trace function. Code whose lines have all run in a test is traced no further."""

    def __init__(self, files):
        self.files = files
        self.seen = set()
        self.left = {}
        self.lines = {}

    def enter(self, frame, event, argument):
        code = frame.f_code
        if self.files.name(code.co_filename) is None:
            return None
        left = self.left.get(code)
        if left is None:
            left = self.left[code] = set(self.lines_within(code))
        return self.line if left else None

    def lines_within(self, code):
        """The lines of some code that call back. That of `def` does so only where the body begins there."""
        lines = self.lines.get(code)
        if lines is None:
            lines = {line for _, _, line in code.co_lines() if line}
            lines = self.lines[code] = lines - {code.co_firstlineno} or lines
        return lines

    def line(self, frame, event, argument):
        if event == "line":
            left = self.left.get(frame.f_code)
            if left is not None:
                left.discard(frame.f_lineno)
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line

    def start(self):
        self.seen.clear()
        self.left.clear()
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)
        return lines_of(self.files, self.seen)


def lines_of(files, seen):
    found = {}
    for filename, line in list(seen):
        name = files.name(filename)
        if name is not None and line:
            found.setdefault(name, []).append(line)
    return {name: sorted(set(lines)) for name, lines in sorted(found.items())}
