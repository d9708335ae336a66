"""Runs quickstart.ipynb through twincell's own kernel, prints the verdict of each comparison, writes quickstart.html.

Called by `make demo`. Ends with status 1 when a cell fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

NOTEBOOK = Path(__file__).with_name("quickstart.ipynb")
PAGE = Path(__file__).parents[1] / "quickstart.html"
COMPARISON = "application/vnd.twincell.comparison+json"


def run(path: Path) -> nbformat.NotebookNode:
    """Executes a notebook in place, under the kernel `twincell`, in the notebook's folder."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, kernel_name="twincell", timeout=300, resources=resources).execute()
    return notebook


def verdicts(notebook: nbformat.NotebookNode) -> list[str]:
    """What each comparison of the notebook says: its verdict and the one sentence about it."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            comparison = output.get("data", {}).get(COMPARISON)
            if comparison:
                found.append(f"{comparison['verdict'].replace('_', ' ')}: {comparison['sentence']}")
    return found


def main() -> int:
    try:
        notebook = run(NOTEBOOK)
    except CellExecutionError as error:
        print(f"{NOTEBOOK.name}: a cell failed\n{error}", file=sys.stderr)
        return 1
    for verdict in verdicts(notebook):
        print(verdict)
    page, _resources = HTMLExporter().from_notebook_node(notebook)
    PAGE.write_text(page, encoding="utf-8")
    print(f"\nThe whole notebook: {PAGE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
