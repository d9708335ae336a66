"""The architecture and the decisions name files that are there, and files say what they hold."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
DOCUMENTS = [ROOT / "docs" / "architecture.md", *DECISIONS]
RUST = [path for folder in ("core/*", "*", "kernel/rust-cells") for path in ROOT.glob(f"{folder}/src/**/*.rs")]
PYTHON = [path for folder in ("kernel/python", "core/*/src", "runtime/src") for path in ROOT.glob(f"{folder}/**/*.py")]
TYPESCRIPT = list((ROOT / "widgets" / "js" / "src").rglob("*.ts"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_of_files_start_at_the_root_and_exist(document):
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/[\w-]+\.[a-z]{2,4}|[a-z]+/(?:[\w-]+/)+)`", document.read_text("utf-8"))
    missing = [path for path in named if not (ROOT / path).exists()]
    assert not missing


def test_the_index_has_every_decision():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- .*?\]\(([\w-]+\.md)\)", index, re.MULTILINE)
    assert sorted(listed) == [path.name for path in DECISIONS if path.name != "README.md"]


def test_every_file_begins_with_what_it_holds():
    silent = [path for path in RUST if "tests" not in path.stem and not path.read_text("utf-8").startswith("//!")]
    silent += [path for path in PYTHON if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    silent += [path for path in TYPESCRIPT if not re.match(r"//|/\*", path.read_text("utf-8"))]
    assert not sorted(path.relative_to(ROOT).as_posix() for path in silent)
