"""What holds for all tests."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_ipython_folder(tmp_path_factory):
    """History and configuration of the shells and kernels under test stay out of the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        yield
