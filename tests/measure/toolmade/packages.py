"""The packages: their sources with their tests, and runs of these tests."""

import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Seconds that the tests of one package may take.
PATIENCE = 180


@dataclass(frozen=True)
class Package:
    name: str
    release: str
    #: The folder of the code in the source distribution.
    source: str
    #: What pytest is given.
    tests: tuple[str, ...] = ("tests",)


STUDIED = (
    Package("humanize", "4.17.0", "src/humanize"),
    Package("marshmallow", "4.4.0", "src/marshmallow"),
    Package("mistune", "3.4.0", "src/mistune"),
    Package("packaging", "26.3", "src/packaging", ("tests", "--ignore=tests/property")),
    # The rest of its tests starts servers.
    Package(
        "werkzeug", "3.1.9", "src/werkzeug", ("tests", "--ignore=tests/test_serving.py", "--ignore=tests/live_apps")
    ),
)


#: Nobody looked at changes of these before they were judged.
OTHERS = (
    Package("itsdangerous", "2.2.0", "src/itsdangerous"),
    Package("click", "8.1.8", "src/click"),
    Package("tabulate", "0.9.0", ".", ("test",)),
    Package("tinydb", "4.8.2", "tinydb"),
    Package("jsonschema", "4.23.0", "jsonschema", ("jsonschema/tests",)),
)

SETS = {"studied": STUDIED, "others": OTHERS}


def fetch(package: Package, folder: Path) -> Path:
    """The unpacked source distribution."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", str(folder), f"{package.name}=={package.release}"]
    if not any(folder.glob(f"{package.name}-*/")):
        subprocess.run(command, check=True)
        (archive,) = folder.glob(f"{package.name}-*.tar.gz")
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    (root,) = folder.glob(f"{package.name}-*/")
    return root


def modules(package: Package, root: Path) -> Iterator[tuple[str, str]]:
    """Path below the root and text of each module."""
    for file in sorted((root / package.source).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "_vendor" not in file.parts and "\t" not in text and "\f" not in text:
            yield file.relative_to(root).as_posix(), text


def failing(package: Package, root: Path, left_out: frozenset[str] = frozenset()) -> frozenset[str] | None:
    """The tests that fail, without those left out; `None` if they cannot be run at all."""
    report = root / "twincell-tests.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "ignore"]
    command += [f"--junitxml={report}", "--maxfail=200", *package.tests]
    environment = {"PYTHONPATH": str((root / package.source).parent), "PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0"}
    try:
        subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=PATIENCE)
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (subprocess.TimeoutExpired, OSError, ElementTree.ParseError):
        return None
    failed = {
        f"{case.get('classname')}.{case.get('name')}"
        for case in cases
        if any(child.tag in ("failure", "error") for child in case)
    }
    return None if not cases else frozenset(failed) - left_out
