"""The script that runs public notebooks under both kernels, on a repository of its own."""

import subprocess

import nbformat
import pytest

pytest.importorskip("tomllib")
pytest.importorskip("ipykernel")

from .notebooks import measure, notebooks, row

CELLS = ["!pip install something\nx = 20", "%pip -q install other", "x + 1", "1 / 0", "import random; random.random()"]


@pytest.fixture
def clone(tmp_path):
    """A repository with a notebook, one with too few cells, and one in another language."""

    def save(name, cells, kernel):
        told = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code in cells],
            metadata={"kernelspec": {"name": kernel, "display_name": kernel}},
        )
        nbformat.write(told, tmp_path / name)

    save("one.ipynb", [*CELLS, "%lsmagic", "open('data.txt').read()"], "python3")
    save("short.ipynb", CELLS[:2], "python3")
    save("other.ipynb", CELLS, "julia-1.10")
    (tmp_path / "data.txt").write_text("data")
    (tmp_path / "broken.ipynb").write_text("{")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Notebooks"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_lines_that_install_are_left_out(clone):
    assert list(notebooks(clone)) == ["one.ipynb"]
    assert [code.strip() for code in notebooks(clone)["one.ipynb"]][:2] == ["x = 20", "x + 1"]


def test_a_cell_differs_where_ipykernel_agrees_with_itself_and_not_with_this_kernel(clone, capsys):
    found = measure(clone, each=5)
    cells = found[0].cells
    assert [cell.failed for cell in cells] == [False, False, True, False, False, False]
    assert [cell.varies for cell in cells] == [False, False, False, True, False, False]
    assert [bool(cell.differs) for cell in cells] == [False, False, False, False, True, False]
    assert row("name", found) == ("name", "1", "6", "0", "1", "1", "1")
    assert "cell 4: %lsmagic\n--- python3\n+++ twincell\n" in capsys.readouterr().out
