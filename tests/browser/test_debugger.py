"""The debugger of JupyterLab: a breakpoint, a step, variables, and on."""

import contextlib
import re

import pytest
from playwright import sync_api

from .jupyter import LAB, opener

pytest.importorskip("debugpy", reason="debugpy is not installed")
pytestmark = pytest.mark.long

COMPARE = """%%compare
def size(limit, app):
    if limit is not None:
        return limit
    return app.size

# ---

def size(limit, app):
    return limit or app.size
"""
CELL = "def add(a, b):\n    total = a + b\n    return total\n\nprint('sum', add(20, 22))"


def turn_on(notebook):
    """Turns the debugger on. JupyterLab ignores a click while it still asks a new kernel about its debugger."""
    button = notebook.page.locator(".jp-DebuggerBugButton").first
    notebook.wait_until_idle()
    for _ in range(10):
        button.click()
        with contextlib.suppress(AssertionError):
            return sync_api.expect(button).to_have_attribute("aria-pressed", "true", timeout=20_000)
    raise AssertionError("the debugger stays off")


def test_a_cell_stops_is_inspected_and_goes_on(page, server):
    with opener(page, server, LAB) as open_one:
        notebook = open_one(CELL)
        turn_on(notebook)
        cell = page.locator(".jp-Cell[data-windowed-list-index='0']")
        gutter = cell.locator(".cm-gutter.cm-breakpoint-gutter")
        gutter.wait_for(state="attached")
        line = cell.locator(".cm-line").nth(1).bounding_box()
        gutter.click(position={"x": 4, "y": line["y"] - gutter.bounding_box()["y"] + line["height"] / 2})
        page.locator(".jp-DebuggerBreakpoint").wait_for()
        notebook.run(0)
        page.locator(".jp-DebuggerCallstackFrame").first.wait_for()
        frames = page.locator(".jp-DebuggerCallstackFrame-name").all_inner_texts()
        assert frames == ["add", "<module>"]
        variables = page.locator(".jp-DebuggerVariables-body")
        variables.get_by_text("20").first.wait_for()
        page.screenshot(path=server.folder / "stopped.png")
        notebook.command("debugger:next")
        variables.get_by_text("total").first.wait_for()
        variables.get_by_text("42").first.wait_for()
        page.screenshot(path=server.folder / "stepped.png")
        notebook.command("debugger:continue")
        notebook.output(0).get_by_text("sum 42").wait_for()
        notebook.wait_until_idle()
        page.screenshot(path=server.folder / "done.png")


def test_an_execution_of_a_comparison_is_debugged_old_then_new(page, server):
    with opener(page, server, LAB) as open_one:
        notebook = open_one(COMPARE)
        turn_on(notebook)
        notebook.run(0)
        view = notebook.output(0)
        view.get_by_role("tab", name=re.compile(r"^Execution \d+$")).click()
        view.get_by_role("button", name="Debug …").click()
        page.screenshot(path=server.folder / "asked.png")
        view.get_by_role("button", name="Run in the debugger").click()
        frames = page.locator(".jp-DebuggerCallstackFrame")
        for side in ("old", "new"):
            frames.get_by_text(f"size_{side}.py").first.wait_for()
            assert [name.split()[0] for name in frames.all_inner_texts()] == ["size", "test_size"]
            page.locator(".jp-DebuggerVariables-body").get_by_text("limit").first.wait_for()
            page.screenshot(path=server.folder / f"{side}.png")
            notebook.command("debugger:continue")
        view.get_by_text("Debugged. Old: ").wait_for(state="attached")
        page.get_by_role("tab", name=re.compile("^notebook-")).click()
        view.get_by_text("Debugged. Old: ").wait_for()
        page.screenshot(path=server.folder / "debugged.png")
