"""What the installed package brings: the kernel spec and the command, both for the Python that it is installed in."""

import json
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, entry_points, metadata
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager

ROOT = Path(__file__).parents[2]


def test_jupyter_finds_the_kernel():
    spec = KernelSpecManager().get_kernel_spec("twincell")
    assert spec.display_name == "Twincell (Python)"
    assert spec.language == "python"
    assert spec.argv[0] == "python" and spec.argv[-2:] == ["-f", "{connection_file}"]
    assert Path(spec.resource_dir).is_relative_to(sys.prefix)
    assert {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} <= {f.name for f in Path(spec.resource_dir).iterdir()}


def test_the_command_is_installed():
    assert entry_points(group="console_scripts")["twincell"].value == "twincell.__main__:main"
    assert (Path(sys.executable).parent / "twincell").exists()


def test_the_version_is_that_of_the_workspace():
    import twincell

    stated = [line for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version = ")]
    assert stated == [f'version = "{twincell.__version__}"']
    assert metadata("twincell")["Version"] == twincell.__version__


def licences():
    """The texts of the licences that the package is installed with."""
    files = {path.name: path for path in distribution("twincell").files or [] if "licenses" in path.parts}
    return {name: path.locate().read_text() for name, path in files.items()}


def test_the_licences_of_all_that_is_inside_come_with_the_package():
    texts = licences()
    assert {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt", "THIRD_PARTY.txt"} <= set(texts)
    notices = texts["THIRD-PARTY-NOTICES.txt"]
    for bundled in ["LINKING EXCEPTION", "PCRE2 Licence", "llhttp", "Jean-loup Gailly", "SQLite", "Zstandard software"]:
        assert bundled in notices, bundled
    assert "codemirror" in texts["THIRD_PARTY.txt"].lower()


def test_the_notices_name_the_crates_that_are_built():
    notices = (ROOT / "THIRD-PARTY-NOTICES.txt").read_text()
    named = set(re.findall(r"^- (\S+ \S+) \(", notices, re.MULTILINE))
    locked = set(re.findall(r'^name = "(.+)"\nversion = "(.+)"$', (ROOT / "Cargo.lock").read_text(), re.MULTILINE))
    assert len(named) > 200 and named <= {" ".join(one) for one in locked}
    ours = (ROOT / "kernel/Cargo.toml").read_text()
    for crate in re.findall(
        r"^(\w[\w-]*)(?:\.workspace)? = ", ours.partition("[dependencies]")[2].partition("[")[0], re.M
    ):
        assert crate.startswith("twincell") or any(name.startswith(f"{crate} ") for name in named), crate


def test_every_dependency_has_an_upper_bound():
    for requirement in metadata("twincell").get_all("Requires-Dist") or []:
        assert "<" in requirement.partition(";")[0], requirement


@pytest.mark.long
def test_the_wheel_alone_makes_the_kernel_run_in_a_new_environment(tmp_path):
    build = ["maturin", "build", "--release", "--out", str(tmp_path)]
    subprocess.run([Path(sys.executable).parent / build[0], *build[1:]], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("twincell-*.whl")
    assert "-cp310-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        assert any(name.endswith(".dist-info/licenses/THIRD-PARTY-NOTICES.txt") for name in archive.namelist())
        (spec,) = [name for name in archive.namelist() if name.endswith("kernels/twincell/kernel.json")]
        assert json.loads(archive.read(spec))["argv"][0] == "python"
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel), "jupyter_client"], check=True)
    script = (
        "from jupyter_client.manager import start_new_kernel\n"
        "manager, client = start_new_kernel(kernel_name='twincell')\n"
        "reply = client.execute_interactive('import sys; print(sys.prefix)')\n"
        "manager.shutdown_kernel()\n"
    )
    run = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(environment)
