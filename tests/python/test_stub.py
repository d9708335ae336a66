"""The types that the package declares for its native module are those of the module."""

import ast
import subprocess
import sys

import pytest
from twincell import _twincell

# Regular expression -> why the stub does not say it.
UNSTUBBED = {r"twincell\._twincell\.__all__": "PyO3 makes this list; every name in it is compared by itself"}


def test_the_stub_agrees_with_the_module(tmp_path, pytestconfig):
    pytest.importorskip("mypy", reason="`make check` installs mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"{name}  # {why}\n" for name, why in UNSTUBBED.items()))
    command = [sys.executable, "-m", "mypy.stubtest", "twincell._twincell", "--concise", "--ignore-disjoint-bases"]
    options = ["--mypy-config-file", "pyproject.toml", "--allowlist", allowed]
    done = subprocess.run([*command, *options], cwd=pytestconfig.rootpath, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_module_has_every_class_of_the_stub(pytestconfig):
    stub = ast.parse((pytestconfig.rootpath / "kernel/python/twincell/_twincell.pyi").read_text())
    # The others describe dictionaries, or add to another class.
    names = {node.name for node in stub.body if isinstance(node, ast.ClassDef) and not node.bases}
    assert names and not {name for name in names if not hasattr(_twincell, name)}
