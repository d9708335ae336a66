"""JupyterLab and Jupyter Notebook with twincell's kernel, and a browser in front. Skipped where one is missing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jupyterlab")
pytest.importorskip("notebook")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: Milliseconds; machines that run tests are often busy with others.
TIMEOUT = 120_000


@pytest.fixture(scope="session")
def page():
    """An open tab."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(TIMEOUT)
        yield page
        browser.close()


class Server:
    """A running Jupyter server."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def kernels(self) -> list[dict]:
        with urllib.request.urlopen(f"{self.url}/api/kernels", timeout=10) as answer:
            return json.load(answer)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One Jupyter server, which has both applications, on its own port, with its own settings."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(home / "log", "w") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process:
        server = Server(f"http://127.0.0.1:{port}", folder)
        deadline = time.monotonic() + TIMEOUT / 1000
        while True:
            with contextlib.suppress(OSError):
                server.kernels()
                break
            assert process.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
            time.sleep(0.2)
        yield server
        process.terminate()


class Notebook:
    """A notebook that is open in the browser."""

    def __init__(self, page, url: str) -> None:
        self.page = page
        page.goto(url)
        page.wait_for_function("window.jupyterapp && window.jupyterapp.shell.currentWidget?.context?.isReady")
        self.wait_until_idle()

    def command(self, name: str) -> None:
        """Has JupyterLab carry out a command, without waiting for its end."""
        self.page.evaluate("name => { window.jupyterapp.commands.execute(name) }", name)

    def kernel_id(self) -> str:
        return self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id")

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
        )

    def run(self, index: int) -> None:
        """Runs a cell as Shift-Enter would."""
        self.page.evaluate(
            "index => { const panel = window.jupyterapp.shell.currentWidget; panel.content.deselectAll();"
            " panel.content.activeCellIndex = index; window.jupyterapp.commands.execute('notebook:run-cell') }",
            index,
        )

    def output(self, index: int):
        """What a cell shows."""
        return self.page.locator(f".jp-Cell[data-windowed-list-index='{index}'] .jp-Cell-outputArea")


@contextlib.contextmanager
def opener(page, server: Server, address: str):
    """What opens a notebook with these cells in the application at this address; its kernel ends with it."""

    def open_one(*cells: str) -> Notebook:
        name = f"notebook-{time.monotonic_ns()}.ipynb"
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code in cells],
            metadata={"kernelspec": {"name": "twincell", "display_name": "Twincell (Python)"}},
        )
        nbformat.write(notebook, server.folder / name)
        return Notebook(page, f"{server.url}/{address.format(name)}")

    yield open_one
    with contextlib.suppress(sync_api.Error):
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


LAB, NOTEBOOK = "lab/tree/{}?reset", "notebooks/{}"


@pytest.fixture(params=[LAB, NOTEBOOK], ids=["lab", "notebook"])
def open_notebook(page, server, request):
    """Opens a notebook with these cells, in JupyterLab and in Jupyter Notebook."""
    with opener(page, server, request.param) as open_one:
        yield open_one


@pytest.fixture(scope="module", params=["light", "dark"])
def themed_lab(page, server, request):
    """Opens a notebook in JupyterLab, in its light and in its dark theme; one kernel for all tests of a module."""
    name = f"JupyterLab {request.param.title()}"
    with opener(page, server, LAB) as open_one:

        def open_themed(*cells: str) -> Notebook:
            notebook = open_one(*cells)
            page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
            page.locator(f"body[data-jp-theme-name='{name}']").wait_for(state="attached")
            return notebook

        yield open_themed
