"""Runs CPython's own tests of standard library modules, with these modules instrumented or plain.

    python -I -S driver.py FOLDER plain|instrumented MODULES TESTS

FOLDER holds the extension module. Nothing but it is imported before the import system is told to instrument, so that
modules which Python's start would load are instrumented, too. Prints a JSON object: the outcome of each test.
"""

import sys


def instrument_on_import(folder, modules):
    """From now on source files of these modules are instrumented when they are imported, also when imported again.

    Gives the set of those that were.
    """
    import _frozen_importlib_external as external

    sys.path.insert(0, folder)
    import _twincell

    sys.path.remove(folder)
    loader, module = external.SourceFileLoader, type(sys)
    plain_code, plain_create = loader.get_code, loader.create_module
    hooked = set()

    def instrumented(self, name):
        return _twincell.instrumented(self.get_data(self.get_filename(name)).decode())

    def get_code(self, name):
        if name not in modules:
            return plain_code(self, name)
        return compile(instrumented(self, name)[0], self.get_filename(name), "exec", dont_inherit=True)

    def create_module(self, spec):
        if spec.name not in modules:
            return plain_create(self, spec)
        new = module(spec.name)
        _twincell.install_hooks(new.__dict__, instrumented(self, spec.name)[1])
        hooked.add(spec.name)
        return new

    loader.get_code, loader.create_module = get_code, create_module
    return hooked


def run(names):
    import io
    import os
    import tempfile
    import time
    import unittest
    import warnings

    from test import support

    warnings.simplefilter("ignore")
    support.verbose = 0
    support.use_resources = []
    outcomes = {}

    class Result(unittest.TestResult):
        def note(self, test, outcome, text=""):
            name, number = test.id(), 1
            while (key := f"{name} {number}") in outcomes and outcomes[key][0] != "running":
                number += 1
            outcomes[key] = (outcome, text)

        def startTest(self, test):
            super().startTest(test)
            self.note(test, "running")

        def addSuccess(self, test):
            self.note(test, "passed")

        def addError(self, test, error):
            self.note(test, "failed", self._exc_info_to_string(error, test))

        addFailure = addError

        def addSkip(self, test, reason):
            self.note(test, "skipped", str(reason))

        def addExpectedFailure(self, test, error):
            self.note(test, "expected failure")

        def addUnexpectedSuccess(self, test):
            self.note(test, "unexpected success")

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self.note(test, "failed", str(subtest) + "\n" + self._exc_info_to_string(error, test))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            suite = unittest.defaultTestLoader.loadTestsFromNames(names)
            started = time.process_time()
            suite.run(Result())
            seconds = time.process_time() - started
        finally:
            sys.stdout = out
            os.chdir(os.sep)
    return {"outcomes": outcomes, "seconds": seconds}


def main():
    folder, mode, modules, names = sys.argv[1:5]
    hooked = instrument_on_import(folder, modules.split(",")) if mode == "instrumented" else set()
    result = run(names.split(","))
    import json
    import os

    print(json.dumps(result | {"instrumented": sorted(hooked)}), file=sys.__stdout__)
    sys.__stdout__.flush()
    # Threads and exit handlers of the tests are of no interest.
    os._exit(0)


if __name__ == "__main__":
    main()
