"""What code may read of the folders in which imports look: packages and modules with their data, and nothing else."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest
import twincell

from .layers import SANDBOX

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")

#: What a project has in its folder, and whether code may read it.
PROJECT = {
    "module.py": True,
    "package/__init__.py": True,
    "package/data.json": True,
    "package/inner/table.csv": True,
    "package/inner/__init__.py": True,
    "namespace/deep/module.py": True,
    "src/library/__init__.py": True,
    "library.dist-info/METADATA": True,
    "hiding/__init__.py": True,
    "hiding/data.txt": True,
    "hiding/inner/data.txt": True,
    "hiding/.env": False,
    "hiding/.cache/token": False,
    "hiding/inner/.secret": False,
    ".env": False,
    ".git/config": False,
    ".ssh/id_ed25519": False,
    ".hidden.py": False,
    ".venv/module.py": False,
    "notes.txt": False,
    "credentials.json": False,
    "letters/2024.txt": False,
    "my-data/a.py": False,
    "linked/secret.txt": False,
    "linked_file.py": False,
}

READ = """
def read(paths):
    marks = ""
    for path in paths:
        try:
            with open(path) as file:
                file.read()
            marks += "+"
        except OSError:
            marks += "-"
    return marks
"""


@pytest.fixture
def project(tmp_path):
    """A project's folder, with links out of it, and a home folder beside it."""
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (outside / "secret.py").write_text("secret = 1")
    for name in PROJECT:
        path = root / name
        if name.startswith("linked"):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n" if name.endswith(".py") else "{}\n")
    (root / "linked").symlink_to(outside)
    (root / "linked_file.py").symlink_to(outside / "secret.py")
    return root


def read(tmp_path, paths, imports="pass", arguments=(), **environment):
    """Those of the files that code could read."""
    # Text that is executed has no hooks, so nothing in it is replaced.
    module = f"exec({READ!r})\nexec({imports!r})\ndef f():\n    return "
    (tmp_path / "old.py").write_text(f"{module}read({[str(path) for path in paths]!r})\n")
    (tmp_path / "new.py").write_text(f"{module}'' + read({[str(path) for path in paths]!r})\n")
    options = "--json --budget 1 --function f --predictor uniform --context module".split()
    ran = subprocess.run(
        [sys.executable, "-m", "twincell", "compare", "old.py", "new.py", *options, *arguments],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    [pair] = json.loads(ran.stdout)["pairs"]
    shown = [row["old"] for row in pair["executions"] if row["old"].startswith("returned ")]
    assert shown, (pair["reason"], pair["executions"])
    marks = shown[0].removeprefix("returned ").strip("'")
    return [str(path) for path, mark in zip(paths, marks, strict=True) if mark == "+"]


def expected(project):
    return [str(project / name) for name, may in PROJECT.items() if may]


def test_of_a_project_only_what_can_be_imported_is_read(project, tmp_path):
    paths = [project / name for name in PROJECT]
    imports = "import module, package.inner, namespace.deep.module, hiding"
    assert read(tmp_path, paths, imports, PYTHONPATH=str(project)) == expected(project)


@SANDBOX
def test_what_a_pth_file_names_is_read_in_the_same_way(project, tmp_path):
    """An editable install, in a virtual environment that lies in the project's folder."""
    environment = project / ".environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    here = [os.path.dirname(os.path.dirname(twincell.__file__)), sysconfig.get_path("purelib")]
    (packages / "project.pth").write_text("\n".join([str(project), *here]))
    (packages / "installed.py").write_text("x = 1\n")
    names = ["module.py", "package/data.json", "hiding/data.txt", "hiding/.env", ".env", ".git/config", "notes.txt"]
    paths = [packages / "installed.py", *(project / name for name in names)]
    found = read(tmp_path, paths, "import module, installed", arguments=["--python", str(environment / "bin/python")])
    assert found == [str(path) for path in paths[:4]]


def test_a_package_that_a_table_names_is_read_as_well(project, tmp_path):
    """An editable install of setuptools whose project is not on the module search path."""
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "from twincell import _importable\n"
            f"readable, listable = _importable.paths('', [{str(project / 'hiding')!r}])\n"
            "print(*readable, *listable, sep='\\n')",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    own = [path.removeprefix(f"{project}/") for path in found if path.startswith(str(project))]
    assert sorted(own) == ["hiding", "hiding/__init__.py", "hiding/data.txt", "hiding/inner/data.txt"]


@pytest.mark.parametrize("where", [".", pytest.param("..", marks=SANDBOX)])
def test_a_home_folder_stays_closed(where, project, tmp_path):
    """Also where the module search path names it, or a folder that it is in."""
    paths = [project / "module.py", project / "package/data.json", project / ".env"]
    searched = str((project / where).resolve())
    assert read(tmp_path, paths, PYTHONPATH=searched, HOME=str(project)) == []


@SANDBOX
def test_packages_within_a_home_folder_are_read(project, tmp_path):
    paths = [project / "module.py", tmp_path / "module.py"]
    (tmp_path / "module.py").write_text("x = 1\n")
    found = read(tmp_path, paths, PYTHONPATH=f"{tmp_path}:{project}", HOME=str(tmp_path))
    assert found == [str(project / "module.py")]


def test_too_much_to_look_at_is_not_read(project, monkeypatch):
    from twincell import _importable

    monkeypatch.setattr(sys, "path", [str(project)])
    monkeypatch.setattr(_importable, "MOST_LOOKED_AT", 5)
    readable, _ = _importable.paths("")
    assert not any(path.startswith(str(project / "package")) for path in readable)
