"""ipykernel's own tests that talk to a kernel, on ours: those of the source distribution of the installed release."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.long

#: The files whose tests start a kernel and talk to it.
FILES = ["test_async.py", "test_kernel.py", "test_message_spec.py", "test_subshells.py"]

#: Tests that fail, each with the reason. docs/kernel.md lists them for users.
FAILING = {
    "test_kernel::test_print_to_correct_cell_from_thread[none]": "output of a thread stays where the thread started",
}


@pytest.fixture(scope="module")
def own_tests(tmp_path_factory):
    """A folder with the tests, and the names and results of all that ran."""
    folder = tmp_path_factory.mktemp("ipykernel")
    release = f"ipykernel=={importlib.metadata.version('ipykernel')}"
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*download, "--no-binary", "ipykernel", "--dest", str(folder), release], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"{release} cannot be downloaded from here: {done.stderr.strip().splitlines()[-1:]}")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    (tests,) = folder.glob("ipykernel-*/tests")
    # The kernels that it needs are made by name only; its own fixtures need packages for asynchronous tests.
    (tests / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--cov')\n")
    # Every test asks for the kernel `python3`, which is ours in this folder.
    spec = folder / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "twincell.kernel", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "ours", "language": "python"}))
    report = folder / "report.xml"
    environment = {**os.environ, "JUPYTER_PATH": str(folder / "jupyter")}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-c", os.devnull]
        + [f"--rootdir={tests.parent}", *(f"tests/{name}" for name in FILES)],
        cwd=tests.parent,
        env=environment,
    )
    return {
        f"{case.get('classname').rpartition('.')[2]}::{case.get('name')}": [child.tag for child in case]
        for case in ElementTree.parse(report).iter("testcase")
    }


def test_all_pass_but_those_with_a_reason(own_tests):
    failed = {name for name, problems in own_tests.items() if {"failure", "error"} & set(problems)}
    passed = {name for name, problems in own_tests.items() if not problems}
    assert failed == set(FAILING)
    assert len(passed) > 70
