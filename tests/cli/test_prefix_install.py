"""`twincell prefix --install`: libraries that the code imports and nobody has installed. No test needs a network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest
import twincell as library

from ..command import run_here

NAME = "surely_not_installed"
CODE = f"import {NAME}\nprint({NAME}.double(21).bit_length())\n"
DOUBLE = "def double(number):\n    return 2 * number\n"


def wheel(folder, name=NAME, files=None, requires=()):
    """A wheel as an index has it."""
    files = {f"{name}.py": DOUBLE} if files is None else files
    needs = "".join(f"Requires-Dist: {other}\n" for other in requires)
    about = f"{name}-1.0.dist-info"
    files = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{about}/RECORD"))
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        for path, text in {**files, f"{about}/RECORD": record}.items():
            file.writestr(path, text)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a snippet, an empty index and an empty cache. There is pip and no uv."""
    (tmp_path / "snippet.py").write_text(CODE)
    for folder in ("index", "bin", "cache"):
        (tmp_path / folder).mkdir()
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def command(*arguments):
    return [sys.executable, "-m", "twincell", "prefix", "--predictor", "frequency", *arguments]


def run(place, *arguments):
    return run_here(
        command(*arguments, "snippet.py"), cwd=place, capture_output=True, text=True, timeout=120, check=False
    )


def tree(place, *arguments):
    done = run(place, "--json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def installed(place):
    """What lies in the cache folder, by its path there."""
    folders = [*(place / "cache").rglob("site-packages")]
    return {str(path.relative_to(folder)) for folder in folders for path in folder.rglob("*") if path.is_file()}


def own_packages():
    return sorted(os.listdir(sysconfig.get_path("purelib")))


def test_a_missing_library_is_installed_apart_and_the_real_one_runs(place):
    wheel(place / "index")
    before = own_packages()
    found = tree(place, "--install")
    assert found["libraries"] == [{"module": NAME, "distribution": NAME, "problem": None}]
    assert found["covered"] == found["lines"] == [1, 2]
    assert found["nodes"][found["best"]]["text"] == ""
    assert f"{NAME}.py" in installed(place) and own_packages() == before


def test_without_the_option_something_stands_in_for_it_and_nothing_is_installed(place):
    wheel(place / "index")
    found = tree(place)
    assert found["libraries"] == [] and installed(place) == set()
    assert NAME in found["nodes"][found["best"]]["text"]
    # Not even what is there already.
    tree(place, "--install")
    assert tree(place) == found


def test_the_second_run_needs_no_installer(place):
    wheel(place / "index")
    first = tree(place, "--install")
    (place / "index" / f"{NAME}-1.0-py3-none-any.whl").unlink()
    assert tree(place, "--install") == first


def test_what_a_library_requires_comes_with_it(place):
    wheel(place / "index", "surely_required", {"surely_required.py": DOUBLE})
    wheel(place / "index", files={f"{NAME}.py": "from surely_required import double\n"}, requires=("surely_required",))
    found = tree(place, "--install")
    assert found["covered"] == [1, 2] and found["nodes"][found["best"]]["text"] == ""


def test_the_text_says_what_was_installed(place):
    wheel(place / "index")
    done = run(place, "--install")
    assert done.returncode == 0, done.stderr
    assert f"# installed for the code: {NAME}\n" in done.stdout


def test_for_what_cannot_be_installed_something_stands_in_and_the_result_says_why(place):
    # `google` belongs to many distributions, so that nobody knows which one brings this.
    (place / "snippet.py").write_text(f"from google.surely_not import there\nthere.go()\n{CODE}")
    done = run(place, "--install")
    assert done.returncode == 0, done.stderr
    said = [
        line for line in done.stdout.splitlines() if line.startswith("# not installed, so that something stands in")
    ]
    assert len(said) == 2 and not any("\x1b" in line for line in said)
    assert ": google.surely_not: nobody knows which distribution brings it" in said[0]
    assert f": {NAME}: " in said[1] and "No matching distribution found" in said[1]
    kinds = [library["problem"] for library in tree(place, "--install")["libraries"]]
    assert kinds[0] == "unknown" and "No matching distribution" in kinds[1]["refused"]["message"]


def test_a_distribution_without_the_module_is_said_to_lack_it(place):
    wheel(place / "index", files={"surely_another.py": DOUBLE})
    assert [library["problem"] for library in tree(place, "--install")["libraries"]] == ["lacking"]


def test_what_lies_in_the_folder_of_the_file_is_no_library(place):
    wheel(place / "index")
    (place / f"{NAME}.py").write_text("")
    assert tree(place, "--install")["libraries"] == [] and installed(place) == set()


def test_nothing_of_a_library_runs_outside_of_the_sandbox(place):
    ran = place / "ran"
    hostile = f"try: open({str(ran)!r}, 'w')\nexcept OSError: pass\n"
    start = f"import os; exec({hostile!r})\n"
    files = {f"{NAME}.py": hostile + DOUBLE, "start.pth": start, "sitecustomize.py": hostile, "pip.py": hostile}
    wheel(place / "index", files=files)
    wheel(place / "index", "surely_second")
    (place / "snippet.py").write_text(f"{CODE}import surely_second\n")
    # The second library is installed when the files of the first are there, and so is a third.
    found = tree(place, "--install")
    assert {library["module"] for library in found["libraries"]} == {NAME, "surely_second"}
    (place / "snippet.py").write_text(f"{CODE}import surely_third\n")
    tree(place, "--install")
    assert found["covered"][:2] == [1, 2] and "start.pth" in installed(place)
    assert not ran.exists()


def test_what_a_library_requires_by_its_address_is_not_built(place):
    ran, source = place / "ran", place / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'own'\nbackend-path = ['.']\n"
    )
    (source / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    wheel(place / "index", requires=(f"surely_required @ {source.as_uri()}",))
    (problem,) = [library["problem"] for library in tree(place, "--install")["libraries"]]
    assert "refused" in problem and "\n" not in problem["refused"]["message"]
    assert not ran.exists() and installed(place) == set()


def test_an_installer_from_the_path_comes_first(place):
    uv = place / "bin" / "uv"
    uv.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('nothing\\nof ' + ' '.join(sys.argv[1:3]))\n")
    uv.chmod(0o755)
    (problem,) = [library["problem"] for library in tree(place, "--install")["libraries"]]
    assert problem == {"refused": {"message": "nothing of pip install"}}


@pytest.mark.long
def test_uv_itself_installs_wheels_apart_and_says_what_it_lacks(place, monkeypatch):
    uv = Path(pytest.importorskip("uv", reason="`make test-long` installs it").find_uv_bin())
    (place / "bin" / "uv").symlink_to(uv)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(place / "index"))
    monkeypatch.setenv("UV_CACHE_DIR", str(place / "uv"))
    (problem,) = [library["problem"] for library in tree(place, "--install")["libraries"]]
    assert "No solution found" in problem["refused"]["message"] and "\n" not in problem["refused"]["message"]
    # What it requires by its address is refused, and what it requires by name comes.
    ran, source = place / "ran", place / "source"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(ran)!r}, 'w')\n")
    for address in (source.as_uri(), "git+https://localhost:9/a.git", "https://localhost:9/a.tar.gz"):
        wheel(place / "index", requires=(f"surely_required @ {address}",))
        (problem,) = [library["problem"] for library in tree(place, "--install")["libraries"]]
        # uv leaves its lock.
        assert "\n" not in problem["refused"]["message"] and installed(place) <= {".lock"}
    wheel(place / "index", "surely_required", {"surely_required.py": DOUBLE})
    wheel(place / "index", files={f"{NAME}.py": "from surely_required import double\n"}, requires=("surely_required",))
    before = own_packages()
    shutil.rmtree(place / "uv")
    assert tree(place, "--install")["libraries"] == [{"module": NAME, "distribution": NAME, "problem": None}]
    assert {f"{NAME}.py", "surely_required.py"} <= installed(place) and own_packages() == before
    assert not ran.exists()


@pytest.mark.parametrize("address", ["git+https://localhost:9/a.git", "https://localhost:9/a.tar.gz", "../a"])
def test_no_option_and_no_policy_names_an_address(place, address):
    wheel(place / "index")
    done = run(place, f"--install={address}")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    (place / "pyproject.toml").write_text(f"[tool.twincell]\ninstall = {address!r}\n")
    done = run(place)
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "install" in done.stderr, done.stderr
    assert installed(place) == set()


def test_an_interrupt_ends_the_installer_and_prints_what_was_found(place):
    uv, started = place / "bin" / "uv", place / "started"
    uv.write_text(f"#!/bin/sh\n/bin/sleep 600 &\necho $! > {started}.part\n/bin/mv {started}.part {started}\nwait\n")
    uv.chmod(0o755)
    running = subprocess.Popen(
        command("--install", "snippet.py"), cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not started.exists():
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert f"{NAME}: stopped before it was done" in out and "Traceback" not in err
    status = Path(f"/proc/{int(started.read_text())}/stat")
    assert not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_it_is_an_option_of_the_library(place, monkeypatch):
    wheel(place / "index")
    monkeypatch.chdir(place)
    found = library.prefix(CODE, install=True, predictor="frequency").to_dict()
    assert [(one["module"], one["problem"]) for one in found["libraries"]] == [(NAME, None)]
