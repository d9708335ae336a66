"""A running kernel, as every front end starts it."""

import pytest

from .client import Client


@pytest.fixture(scope="module")
def shared_kernel():
    with Client.start() as client:
        yield client


@pytest.fixture
def kernel(shared_kernel):
    """One kernel for all tests of a file, with nothing left over from the test before."""
    shared_kernel.run("%reset -f", store_history=False)
    return shared_kernel


@pytest.fixture
def fresh_kernel():
    """A kernel of its own, for tests that end or harm it."""
    with Client.start() as client:
        yield client
