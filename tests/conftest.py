"""What holds for all tests."""

import signal

import pytest

from .chromium import chromium


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory):
    """What shells, kernels and predictors under test keep stays out of the user's own folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Interrupts arrive, here and in processes under test: a shell's background job starts with them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def browser():
    """The one Chromium of all tests that need one."""
    pytest.importorskip("playwright.sync_api")
    with chromium() as browser:
        if browser is None:
            pytest.skip("no Chromium is installed")
        yield browser
