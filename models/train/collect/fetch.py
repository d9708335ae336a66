"""Makes a package ready: its source distribution, which has the tests, and an environment in which it is installed.

Everything goes through pip. Where a package has a wheel, that is installed; building a source distribution runs the
package's own build, as any installation does, outside of the sandbox.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .listing import Package

#: The time limit for one pip command, in seconds.
DEADLINE = 3600
PYTEST = "pytest>=8,<10"
#: What is installed beside a package without being part of it, and where tests are looked for.
BESIDE = frozenset({"tests", "test", "testing", "docs", "doc", "examples", "example", "benchmarks", "tools", "scripts"})
TESTS = ("tests", "test", "testing", "t", "unittests", "unit_tests")


class Unready(Exception):
    """Why a package could not be prepared, in one line."""


@dataclass(frozen=True)
class Ready:
    version: str
    python: Path
    source: Path
    #: The top-level names that it installs.
    names: tuple[str, ...]
    tests: tuple[str, ...]


def plain(text: str) -> str:
    """A line of foreign output, shortened and without characters that a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text.strip())[:300]


def run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=DEADLINE
        )
    except subprocess.TimeoutExpired:
        raise Unready(f"{what} took more than {DEADLINE} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or [f"exit status {done.returncode}"]
        raise Unready(f"{what} failed: {plain(errors[-1])}")


def pip(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", *arguments]


def ready(package: Package, folder: Path) -> Ready:
    """Downloads, unpacks and installs a package below an empty folder."""
    downloads = folder / "download"
    run(pip("download", "--no-deps", "--no-binary", package.name, "--dest", str(downloads), package.pinned), "download")
    archive = next((path for path in downloads.iterdir() if path.suffix in {".gz", ".zip", ".bz2", ".xz"}), None)
    if archive is None:
        raise Unready("download failed: there is no source distribution")
    source = unpack(archive, folder / "source")
    environment = folder / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    python = environment / "bin" / "python"
    install = ["install", "--no-compile", "--no-warn-script-location"]
    # The same version as a wheel, if there is one, so that nothing has to be built.
    version = package.version or archive.name.removesuffix(".zip").removesuffix(".tar.gz").rpartition("-")[2]
    wanted = f"{package.name}=={version}"
    run([*pip("--python", str(python)), *install, wanted, PYTEST, *package.requirements], "installation")
    version, names = installed(package.name, environment)
    tests = tuple(package.arguments) or found(source, names)
    return Ready(version, python, source, names, tests)


def unpack(archive: Path, folder: Path) -> Path:
    """The folder in an archive. Members that lead out of it are an error."""
    folder.mkdir()
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(folder)
        else:
            with tarfile.open(archive) as opened:
                opened.extractall(folder, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError) as error:
        raise Unready(f"the source distribution cannot be unpacked: {error}") from None
    inner = [path for path in folder.iterdir() if path.is_dir()]
    return inner[0] if len(inner) == 1 else folder


def installed(name: str, environment: Path) -> tuple[str, tuple[str, ...]]:
    """The version and the top-level names of the installed package."""
    folders = [str(path) for path in environment.glob("lib/python*/site-packages")]
    found = next(iter(importlib.metadata.distributions(name=name, path=folders)), None)
    if found is None:
        raise Unready("the installation left nothing under the package's name")
    names = set()
    for path in found.files or ():
        first = path.parts[0]
        if path.suffix == ".py" and first != ".." and not first.endswith((".dist-info", ".data")):
            names.add(first if len(path.parts) > 1 else path.stem)
    names -= BESIDE
    return found.version, tuple(sorted(names))


def found(source: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Where the tests of an unpacked package are."""
    places = [Path(test) for test in TESTS]
    for name in names:
        places += [Path(root, name, test) for root in ("", "src", "lib") for test in TESTS]
    there = [str(place) for place in places if (source / place).is_dir() and has_tests(source / place)]
    there += sorted(path.name for path in source.glob("test*.py"))
    if not there:
        raise Unready("no tests were found in the source distribution")
    return tuple(there)


def has_tests(folder: Path) -> bool:
    return any(name.endswith(".py") and "test" in name for _, _, names in os.walk(folder) for name in names)
