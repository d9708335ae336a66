"""Modules of the package under test are instrumented when they are imported; its own tests are left alone."""

import importlib.machinery
import importlib.util
import os
import sys

#: Folders and modules of tests, as far as they lie within a package.
TESTS = {"tests", "test", "conftest"}


class Loader(importlib.machinery.SourceFileLoader):
    """Executes a module with its hooks. Whoever asks for its code gets the original."""

    recorder = None

    def exec_module(self, module):
        path = self.get_filename(module.__name__)
        try:
            source = importlib.util.decode_source(self.get_data(path))
            code, recording = self.recorder.record(module.__name__, source, self.is_package(module.__name__))
            code = compile(code, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, UnicodeError, RecursionError):
            # A module that cannot be instrumented runs unchanged.
            return super().exec_module(module)
        recording.install(module.__dict__)
        exec(code, module.__dict__)


class Recorder:
    """A finder in front of Python's own, and the writer of the records."""

    def __init__(self, native, configuration):
        self.native = native
        self.package = configuration["package"]
        self.names = set(configuration["names"])
        self.folder = configuration["seen"]
        self.process = os.getpid()
        self.exit = os._exit

    def install(self):
        sys.meta_path.insert(0, self)
        os.register_at_fork(after_in_child=self.native.forget_recorded)
        # Children of `multiprocessing` and similar processes end here, without exit handlers.
        os._exit = self.end_child

    def is_own(self, name):
        parts = name.split(".")
        is_test = any(part in TESTS or part.startswith("test_") or part.endswith("_test") for part in parts)
        return parts[0] in self.names and not is_test

    def find_spec(self, name, path=None, target=None):
        if not self.is_own(name):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            loader = Loader(spec.loader.name, spec.loader.path)
            loader.recorder = self
            spec.loader = loader
        return spec

    def record(self, name, source, is_package):
        file = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        return self.native.record_module(source, self.package, file)

    def write(self):
        """Writes everything that this process has recorded so far."""
        self.native.write_recorded(os.path.join(self.folder, f"{os.getpid()}.jsonl"))

    def end_child(self, status):
        try:
            if os.getpid() != self.process:
                self.write()
        finally:
            self.exit(status)
