"""The widget that is committed is what its sources build."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess

import pytest

from .conftest import ROOT, WIDGET

SOURCES = ROOT / "widgets" / "js"
#: What a notebook has to load at most, in bytes after gzip.
LIMIT = 450 * 1024


def hash_of_sources() -> str:
    """As widgets/js/build.mjs makes it."""
    names = ["package-lock.json", "tsconfig.json", "build.mjs", "../src/html/style.css"]
    names += [path.relative_to(SOURCES).as_posix() for path in (SOURCES / "src").rglob("*") if path.is_file()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + (SOURCES / name).read_bytes() + b"\0")
    return digest.hexdigest()


@pytest.mark.parametrize("name", ["widget", "loader"])
def test_the_widget_is_what_its_sources_build(name):
    file = WIDGET.parent / f"{name}.js"
    built = re.match(
        rf"/\* twincell {name}, built from widgets/js, sources sha256:([0-9a-f]{{64}}) \*/", file.read_text()
    )
    assert built is not None, f"widgets/dist/{name}.js does not say what it was built from; run make widgets"
    assert built.group(1) == hash_of_sources(), "the sources of the widget changed; run make widgets"


def test_the_widget_is_small_enough():
    assert len(gzip.compress(WIDGET.read_bytes())) <= LIMIT


def test_the_widget_makes_no_code_and_no_markup_from_text():
    text = WIDGET.read_text()
    assert not re.search(r"\beval\(|new Function\(|\.outerHTML\s*=|insertAdjacentHTML|document\.write", text)
    # One library has a method for markup, which sets it on `this`; nobody here calls it.
    assert not re.search(r"(?<!this)\.innerHTML\s*=(?!=)", text)
    for source in (SOURCES / "src").rglob("*.ts"):
        assert not re.search(r"innerHTML|outerHTML|\.html\(", source.read_text()), source


@pytest.mark.long
def test_the_build_gives_the_same_bytes(tmp_path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("Node is not installed")
    folder = tmp_path / "js"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    # The style of static output is built beside the widget, from sources of its own.
    shutil.copytree(SOURCES.parent / "src" / "html", tmp_path / "src" / "html")
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=600)
    subprocess.run([npm, "run", "build"], cwd=folder, check=True, timeout=600)
    for name in ("widget.js", "loader.js", "static.css", "THIRD_PARTY.txt"):
        assert (tmp_path / "dist" / name).read_bytes() == (WIDGET.parent / name).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("script", ["check", "test"])
def test_types_and_unit_tests_of_the_widget(script):
    if not (SOURCES / "node_modules").is_dir():
        pytest.skip("the packages of widgets/js are not installed; make widgets does it")
    subprocess.run(["npm", "run", script], cwd=SOURCES, check=True, timeout=600)
