"""Runs the tests of one package with the package's modules recorded. Started by `sandboxed`, with the path of its
configuration; everything of it is loaded by path, so that no name of ours is among those that the tests can import.
"""

import ctypes
import importlib.util
import json
import os
import signal
import sys
import traceback
import warnings

PR_SET_PDEATHSIG = 1


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    # The folder of this file, which Python puts first.
    del sys.path[0]
    with open(sys.argv[1]) as file:
        configuration = json.load(file)
    native = load("_twincell", configuration["extension"])
    importing = load("_twincell_importing", os.path.join(here, "importing.py"))

    # If the collecting process dies, so does this process.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(configuration["source"])
    held = native.lock_in(
        configuration["writable"], configuration["readable"], configuration["memory"], configuration["open_files"]
    )
    if configuration["must_hold"] and not held["complete"]:
        print(f"the sandbox does not hold here, and nothing was run: {held}")
        return 1
    recorder = importing.Recorder(native, configuration)
    recorder.install()
    # As with `python -m pytest`.
    sys.path.insert(0, configuration["source"])
    # Not earlier, since the recorded package may be a part of pytest.
    import pytest

    limiting = load("_twincell_limiting", os.path.join(here, "limiting.py"))
    limiter = limiting.Limiter(configuration, recorder)
    # Warnings that the package's configuration turns into errors say nothing about its values.
    warnings.simplefilter("ignore")
    sys.argv = ["pytest", *limiting.ARGUMENTS, *configuration["tests"]]
    try:
        pytest.main(sys.argv[1:], plugins=[limiter])
    finally:
        recorder.write()
        limiter.report()
    return 0


if __name__ == "__main__":
    status = 1
    try:
        status = main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Threads and exit handlers that the tests left behind are not waited for.
        os._exit(status)
