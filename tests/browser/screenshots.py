"""Pictures of notebooks in JupyterLab and Jupyter Notebook: when they have run, and opened again without a kernel.

In both themes, wide and narrow: `python -m tests.browser.screenshots FOLDER`, which `make screenshots` runs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbformat

from ..chromium import chromium
from ..widgets.conftest import ROOT
from .jupyter import LAB, NOTEBOOK, TIMEOUT, Notebook, Server, serving, without_kernel

WIDTHS = {"wide": 1400, "narrow": 480}
THEMES = ("light", "dark")

FRAMES = """\
%%compare
import pandas as pd

def totals(orders):
    paid = orders[orders["paid"]]
    return paid.groupby("customer")["amount"].sum()
# ---
import pandas as pd

def totals(orders):
    paid = orders[orders["paid"]]
    return paid.groupby("customer", dropna=False)["amount"].sum()
"""

#: A study of 200 small functions, of which a third change.
STUDY = """\
changes = []
for number in range(200):
    old = f"def price_{number}(amount, discount):\\n    return amount - discount * {number}\\n"
    new = old.replace("discount * ", "max(discount, 0) * " if number % 3 == 0 else "1 * discount * ")
    changes.append({"id": f"shop/prices_{number % 7}.py:price_{number}", "old": old, "new": new})
"""


def notebooks(folder: Path) -> list[str]:
    """The names of notebooks that it writes into a folder."""
    shutil.copy(ROOT / "notebooks" / "quickstart.ipynb", folder)
    for name, cells in {"frames": [FRAMES], "study": [STUDY, "%study changes"]}.items():
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "twincell", "display_name": "Twincell (Python)"}},
        )
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return ["quickstart", "frames", "study"]


def pictures(browser, server: Server, folder: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTHS["wide"], "height": 4000})
    page.set_default_timeout(TIMEOUT)

    def take(notebook: Notebook, name: str) -> None:
        for theme in THEMES:
            notebook.show(theme)
            for width, pixels in WIDTHS.items():
                page.set_viewport_size({"width": pixels, "height": 4000})
                page.evaluate("window.jupyterapp.shell.collapseLeft()")
                page.wait_for_timeout(1500)
                page.screenshot(path=folder / f"{name}-{theme}-{width}.png")

    for name in notebooks(server.folder):
        page.set_viewport_size({"width": WIDTHS["wide"], "height": 4000})
        notebook = Notebook(page, server, LAB, f"{name}.ipynb")
        notebook.run_all()
        take(notebook, f"{name}-lab")
        notebook.end()
        without_kernel(server.folder / f"{name}.ipynb")
        for application, address in {"lab": LAB, "notebook": NOTEBOOK}.items():
            notebook = Notebook(page, server, address, f"{name}.ipynb", has_kernel=False)
            take(notebook, f"{name}-{application}-reopened")
    page.close()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as root, chromium() as browser:
        if browser is None:
            sys.exit("no Chromium is installed")
        with serving(Path(home), Path(root)) as server:
            pictures(browser, server, folder)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
