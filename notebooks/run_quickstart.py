"""Runs quickstart.ipynb through twincell's own kernel, prints what each cell answers, writes quickstart.html.

Called by `make demo`. Ends with status 1 when a cell fails.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

NOTEBOOK = Path(__file__).with_name("quickstart.ipynb")
PAGE = Path(__file__).parents[1] / "quickstart.html"
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def run(path: Path) -> nbformat.NotebookNode:
    """Executes a notebook in place, under the kernel `twincell`, in the notebook's folder."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, kernel_name="twincell", timeout=300, resources=resources).execute()
    return notebook


def answers(notebook: nbformat.NotebookNode) -> list[str]:
    """The first line of everything that a cell shows, in order: for a comparison that is its verdict."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain") or ""
            lines = [line for line in COLOR.sub("", text).splitlines() if line.strip()]
            found.extend(lines[:1])
    return found


def main() -> int:
    try:
        notebook = run(NOTEBOOK)
    except CellExecutionError as error:
        print(f"{NOTEBOOK.name}: a cell failed\n{error}", file=sys.stderr)
        return 1
    for answer in answers(notebook):
        print(answer)
    page, _resources = HTMLExporter().from_notebook_node(notebook)
    PAGE.write_text(page, encoding="utf-8")
    print(f"\nThe whole notebook: {PAGE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
