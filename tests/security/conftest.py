"""What the attacks share."""

import shutil
from pathlib import Path

import pytest

from . import stranger

#: Not below a temporary folder: suites under test get temporary folders of their own, and would not see a home there.
PLACE = Path(__file__).resolve().parents[2] / "target" / "security"


@pytest.fixture
def person(request):
    """Somebody's machine: a home folder with secrets, and a repository."""
    worker = getattr(request.config, "workerinput", {}).get("workerid", "alone")
    folder = PLACE / worker
    yield stranger.machine(folder)
    shutil.rmtree(folder, ignore_errors=True)
