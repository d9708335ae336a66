"""JupyterLab and Jupyter Notebook in a browser. Skipped where one is missing."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("jupyterlab")
pytest.importorskip("notebook")

from .jupyter import LAB, NOTEBOOK, TIMEOUT, Notebook, opener, serving


@pytest.fixture(scope="session")
def page(browser):
    """An open tab."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(TIMEOUT)
    yield page


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")) as server:
        yield server


@pytest.fixture(params=[LAB, NOTEBOOK], ids=["lab", "notebook"])
def open_notebook(page, server, request):
    """Opens a notebook with these cells, in JupyterLab and in Jupyter Notebook."""
    with opener(page, server, request.param) as open_one:
        yield open_one


@pytest.fixture(scope="module", params=["light", "dark"])
def themed_lab(page, server, request):
    """Opens a notebook in JupyterLab, in its light and in its dark theme; one kernel for all tests of a module."""
    with opener(page, server, LAB) as open_one:

        def open_themed(*cells: str) -> Notebook:
            notebook = open_one(*cells)
            notebook.show(request.param)
            return notebook

        yield open_themed
