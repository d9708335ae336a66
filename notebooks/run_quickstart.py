"""Runs quickstart.ipynb through twincell's own kernel, prints the verdict of each comparison, writes quickstart.html.

Called by `make demo`. Ends with status 1 when a cell fails.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter

NOTEBOOK = Path(__file__).with_name("quickstart.ipynb")
PAGE = Path(__file__).parents[1] / "quickstart.html"
COMPARISON = "application/vnd.twincell.comparison+json"


def run(path: Path) -> nbformat.NotebookNode:
    """Executes a notebook under the kernel `twincell`, in the notebook's folder.

    As JupyterLab does, every request says which cell it runs. A cell whose metadata hold an earlier text
    (`twincell.before`) runs with that first, as if somebody had changed it in between.
    """
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, kernel_name="twincell", timeout=300, resources=resources)

    def say_which(cell: nbformat.NotebookNode, **_: Any) -> None:
        client.kc.session.metadata = {"cellId": cell["id"]}

    client.on_cell_execute = say_which
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            before = cell.metadata.get("twincell", {}).get("before")
            if before is not None:
                client.execute_cell(nbformat.from_dict({**cell, "source": before, "outputs": []}), index)
            client.execute_cell(cell, index)
    return notebook


def comparisons(notebook: nbformat.NotebookNode) -> dict[str, dict[str, Any]]:
    """The comparisons that an executed notebook shows, by the id of their cell, in its order."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            comparison = output.get("data", {}).get(COMPARISON)
            if comparison:
                found[cell["id"]] = comparison
    return found


def main() -> int:
    try:
        notebook = run(NOTEBOOK)
    except NoSuchKernel:
        print("the kernel twincell is not installed in this Python: run `make build`", file=sys.stderr)
        return 1
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"{NOTEBOOK.name}: a cell failed\n{error}", file=sys.stderr)
        return 1
    for comparison in comparisons(notebook).values():
        print(f"{comparison['verdict'].replace('_', ' ')}\n  {comparison['sentence']}")
    page, _resources = HTMLExporter().from_notebook_node(notebook)
    PAGE.write_text(page, encoding="utf-8")
    print(f"\nThe whole notebook: {PAGE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
