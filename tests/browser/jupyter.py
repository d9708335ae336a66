"""JupyterLab and Jupyter Notebook with twincell's kernel, and a browser in front."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
from playwright import sync_api

#: Milliseconds; machines that run tests are often busy with others.
TIMEOUT = 120_000

#: Whether a notebook is open, as JavaScript.
OPEN = "window.jupyterapp && window.jupyterapp.shell.currentWidget?.context?.isReady"

#: Runs the cell `index`, as JavaScript whose value comes when the cell is done.
RUN = (
    "(() => { const panel = window.jupyterapp.shell.currentWidget; panel.content.deselectAll();"
    " panel.content.activeCellIndex = index; return window.jupyterapp.commands.execute('notebook:run-cell') })()"
)


class Server:
    """A running Jupyter server."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def kernels(self) -> list[dict]:
        with urllib.request.urlopen(f"{self.url}/api/kernels", timeout=10) as answer:
            return json.load(answer)


@contextlib.contextmanager
def serving(home: Path, folder: Path):
    """A Jupyter server for a folder, which has both applications, on its own port, with its own settings in `home`."""
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
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    # JupyterLab asks at its start whether to build extensions that are not built (Dash has one).
    configuration = home / "config" / "labconfig"
    configuration.mkdir(parents=True)
    (configuration / "page_config.json").write_text('{"buildCheck": false}')
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(home / "log", "w") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process:
        server = Server(f"http://127.0.0.1:{port}", folder)
        deadline = time.monotonic() + TIMEOUT / 1000
        try:
            while True:
                with contextlib.suppress(OSError):
                    server.kernels()
                    break
                assert process.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
                time.sleep(0.2)
            yield server
        finally:
            process.terminate()


def without_kernel(file: Path) -> None:
    """Has a notebook name a kernel that nobody has."""
    notebook = nbformat.read(file, as_version=4)
    notebook.metadata["kernelspec"] = {"name": "gone", "display_name": "Gone"}
    nbformat.write(notebook, file)


class Notebook:
    """A notebook that is open in the browser, with its kernel unless its file names one that nobody has."""

    def __init__(self, page, server: Server, address: str, name: str, has_kernel: bool = True) -> None:
        self.page = page
        self.server = server
        page.goto(f"{server.url}/{address.format(name)}")
        if not has_kernel:
            self._refuse_kernels()
            return
        page.wait_for_function(OPEN)
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
        """Runs a cell as Shift-Enter would, without waiting for its end."""
        self.page.evaluate(f"index => {{ {RUN} }}", index)

    def run_to_end(self, index: int) -> None:
        """Runs a cell and waits until it is done."""
        self.page.evaluate(f"async index => {{ await {RUN} }}", index)

    def run_all(self) -> None:
        """Runs all cells and waits until they are done."""
        # The command ends when all cells are done.
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait_until_idle()

    def end(self) -> None:
        """Saves the file and ends its kernel."""
        self.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def show(self, theme: str) -> None:
        """Shows it in the theme `light` or `dark`."""
        name = f"JupyterLab {theme.title()}"
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        self.page.locator(f"body[data-jp-theme-name='{name}']").wait_for(state="attached")

    def reopen(self) -> None:
        """Shows the saved file again, with a kernel that ran nothing of it."""
        self.end()
        self.page.reload()
        self.page.wait_for_function(OPEN)
        self.wait_until_idle()

    def reopen_without_kernel(self) -> None:
        """Shows the saved file again, without a kernel."""
        self.end()
        without_kernel(self.server.folder / self.page.evaluate("window.jupyterapp.shell.currentWidget.context.path"))
        self.page.reload()
        self._refuse_kernels()

    def _refuse_kernels(self) -> None:
        self.page.wait_for_function(OPEN)
        self.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()

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
        return Notebook(page, server, address, name)

    yield open_one
    with contextlib.suppress(sync_api.Error):
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


LAB, NOTEBOOK = "lab/tree/{}?reset", "notebooks/{}"
