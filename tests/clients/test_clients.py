"""Programs that run notebooks and kernels, with twincell's kernel."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
COMPARISON = "application/vnd.twincell.comparison+json"
CELLS = [
    "x = 20\nprint('printed')",
    "x + 1",
    "%%compare\ndef f(a):\n    return a or 1\n# ---\ndef f(a):\n    return 1 if a is None else a",
]


def needs(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def run(*command, **options):
    options = {"capture_output": True, "text": True, "timeout": 300, **options}
    done = subprocess.run([sys.executable, "-m", *map(str, command)], **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def notebook(tmp_path):
    path = tmp_path / "notebook.ipynb"
    kernel = {"name": "twincell", "display_name": "Twincell (Python)", "language": "python"}
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def check(path):
    """All cells of the notebook have run and show what they should."""
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"][-len(CELLS) :]
    assert code[0].outputs[0].text == "printed\n"
    assert code[1].outputs[0].data["text/plain"] == "21"
    assert code[2].outputs[0].data[COMPARISON]["verdict"] == "changing"


def test_nbclient(notebook, tmp_path):
    needs("nbclient")
    run("jupyter", "execute", "--output=executed", notebook, cwd=tmp_path)
    check(tmp_path / "executed.ipynb")


def test_nbconvert(notebook, tmp_path):
    needs("nbconvert")
    run("nbconvert", "--execute", "--to", "notebook", "--output", "executed", notebook, cwd=tmp_path)
    check(tmp_path / "executed.ipynb")


def test_nbconvert_to_a_page(notebook, tmp_path):
    needs("nbconvert")
    run("nbconvert", "--execute", "--to", "html", "--output", "page", notebook, cwd=tmp_path)
    assert "tc-out" in (tmp_path / "page.html").read_text()


def test_papermill(notebook, tmp_path):
    needs("papermill")
    run("papermill", "--no-progress-bar", "--log-output", notebook, tmp_path / "executed.ipynb", "-p", "y", "5")
    check(tmp_path / "executed.ipynb")


def test_jupyter_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print(6 * 7)\n")
    assert "42" in run("jupyter_client.runapp", "--kernel=twincell", script).stdout


def test_jupyter_console():
    needs("jupyter_console")
    done = run(
        "jupyter_console",
        "--kernel=twincell",
        "--simple-prompt",
        input="print(6 * 7)\n'a' + 'b'\n1/0\n%version\nexit\n",
        env={**os.environ, "TERM": "dumb"},
    )
    assert "42" in done.stdout and "'ab'" in done.stdout and "ZeroDivisionError" in done.stderr
    assert "no versions yet" in done.stdout


def run_nbval(tmp_path, *notebooks):
    command = ["pytest", "--nbval-lax", "--nbval-kernel-name=twincell", "-q", "-p", "no:cacheprovider"]
    return run(*command, "--rootdir", tmp_path, *notebooks, cwd=tmp_path, timeout=1200).stdout


def test_nbval_passes_over_a_notebook(notebook, tmp_path):
    needs("nbval")
    assert f"{len(CELLS)} passed" in run_nbval(tmp_path, notebook)


@pytest.mark.long
def test_nbval_passes_over_our_notebooks(tmp_path):
    needs("nbval")
    assert "passed" in run_nbval(tmp_path, *sorted((ROOT / "notebooks").glob("*.ipynb")))
