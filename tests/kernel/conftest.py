"""A running kernel, as every front end starts it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .client import Client, Spare
from .debugging import FrontEnd
from .shared import SharedKernel

HAS_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[HAS_FAILED] = item.stash.get(HAS_FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def shared_kernel() -> Iterator[SharedKernel]:
    """The kernel of all tests that need none of their own."""
    shared = SharedKernel()
    yield shared
    shared.close()


@pytest.fixture
def kernel(request, shared_kernel) -> Iterator[Client]:
    """The shared kernel, with nothing left over from the test before. A kernel that a test has harmed is replaced."""
    yield shared_kernel.get()
    shared_kernel.clean(has_failed=request.node.stash.get(HAS_FAILED, False))


@pytest.fixture(scope="session")
def spare_kernel() -> Iterator[Spare]:
    """A kernel that starts while the tests before the one that needs it run."""
    spare = Spare()
    yield spare
    spare.close()


@pytest.fixture
def fresh_kernel(spare_kernel) -> Iterator[Client]:
    """A kernel of its own, for tests that end or harm it, and for what holds of the first cells alone."""
    with spare_kernel.take() as client:
        yield client


@pytest.fixture(scope="session")
def debugged_kernel() -> Iterator[SharedKernel]:
    """The kernel of the tests that turn the debugger on. Once it was on, code is traced more slowly."""
    shared = SharedKernel()
    yield shared
    shared.close()


@pytest.fixture
def debugger(request, debugged_kernel) -> Iterator[FrontEnd]:
    """A front end whose debugger is off."""
    pytest.importorskip("debugpy")
    front_end = FrontEnd(debugged_kernel.get())
    yield front_end
    has_failed = request.node.stash.get(HAS_FAILED, False)
    if not has_failed:
        front_end.do("disconnect", restart=False, terminateDebuggee=False)
    debugged_kernel.clean(has_failed=has_failed)


@pytest.fixture(scope="session")
def guest() -> Iterator[Client]:
    """ipykernel, with twincell's extension."""
    pytest.importorskip("ipykernel")
    with Client.start("python3") as client:
        assert client.ask("kernel_info_request")["implementation"] == "ipython"
        assert client.run("%load_ext twincell").reply["status"] == "ok"
        yield client
