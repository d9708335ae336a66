"""The interactive view of a comparison in a real notebook: it asks the kernel, and the kernel answers."""

import json
import re

import pytest

pytest.importorskip("anywidget")
pytestmark = pytest.mark.long

OLD = "def size(limit, app):\n    if limit is not None:\n        return limit\n    return app.size\n"
NEW = "def size(limit, app):\n    return limit or app.size\n"
SAME = "def size(limit, app):\n    return app.size if limit is None else limit\n"


@pytest.fixture
def view(open_notebook):
    """The view of a change, and the notebook around it."""
    notebook = open_notebook(f"%%compare\n{OLD}# ---\n{NEW}", "print(_.verdict)")
    notebook.run(0)
    shown = notebook.output(0).locator(".tcw")
    shown.get_by_role("tab").first.wait_for()
    return shown, notebook


def tab(shown, name):
    shown.get_by_role("tab", name=name).click()
    return shown.locator("[role=tabpanel]:visible")


def test_the_view_stands_in_the_place_of_the_static_output(view):
    shown, notebook = view
    assert "changed" in shown.inner_text()
    static = notebook.output(0).locator(".tc-out")
    assert static.count() == 1 and not static.is_visible()
    notebook.run(1)
    notebook.output(1).get_by_text("changing").wait_for()


def test_an_execution_runs_again_with_another_value(view):
    shown, _ = view
    panel = tab(shown, re.compile(r"^Execution \d+$"))
    field = panel.get_by_label("Value of limit", exact=True)
    field.fill("7")
    field.press("Enter")
    panel.get_by_text("returned 7").first.wait_for()
    assert "✎ by you" in panel.inner_text()
    field = panel.get_by_label("Value of limit", exact=True)
    field.fill("open('x')")
    field.press("Enter")
    panel.get_by_text("cannot be read").wait_for()


def test_an_execution_becomes_a_test(view):
    shown, _ = view
    panel = tab(shown, re.compile(r"^Execution \d+$"))
    panel.get_by_label("Value of limit", exact=True).fill("0")
    panel.get_by_label("Value of limit", exact=True).press("Enter")
    panel.get_by_text("returned 0").first.wait_for()
    panel.get_by_role("button", name="pytest").click()
    shown.get_by_text("def test_size").first.wait_for()


def test_values_of_a_person_become_the_headline_of_the_view_and_of_the_saved_output(view):
    shown, notebook = view
    panel = tab(shown, re.compile(r"^Execution \d+$"))
    panel.get_by_label("Value of limit", exact=True).fill("0")
    panel.get_by_role("button", name="Give app an attribute").click()
    panel.get_by_label("Name of the attribute of app").fill("size")
    panel.get_by_label("Value of the attribute of app").fill("1234")
    panel.get_by_label("Value of the attribute of app").press("Enter")
    panel.get_by_role("button", name="Run with changed values").click()
    panel.get_by_text("returned 1234").first.wait_for()
    panel.get_by_role("button", name="Show in the headline").click()
    shown.locator(".tcw-sentence").get_by_text("0 -> 1234").wait_for()
    static = notebook.output(0).locator(".tc-out")
    assert static.count() == 1 and "0 -> 1234" in static.text_content()


def test_any_execution_of_the_list_can_be_seen_in_full(view):
    shown, _ = view
    panel = tab(shown, re.compile("^Executions"))
    panel.get_by_role("row").nth(1).click()
    detail = tab(shown, re.compile(r"^Execution \d+$"))
    detail.get_by_text("Injected values").first.wait_for()


def test_prefixes_of_a_cell_are_shown_and_one_becomes_a_cell(open_notebook):
    notebook = open_notebook("%%prefix\nfor user in users:\n    print(user.name)\n", "1 + 1")
    notebook.run(0)
    shown = notebook.output(0).locator(".tcw")
    shown.get_by_role("tree").wait_for()
    shown.get_by_role("button", name="Insert as a cell").click()
    shown.get_by_text("A cell with it stands below.").wait_for()
    sources = "window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.sharedModel.source)"
    cells = notebook.page.evaluate(sources)
    assert len(cells) == 3 and "users = " in cells[1]


def test_the_stop_button_ends_a_campaign_and_keeps_what_was_found(open_notebook):
    notebook = open_notebook(f"%%compare --budget 1000000\n{OLD}# ---\n{SAME}", "print('later')")
    notebook.run(0)
    notebook.output(0).get_by_role("button", name="Stop").click()
    notebook.output(0).get_by_role("tab").first.wait_for()
    assert "stopped before the budget was used up" in notebook.output(0).inner_text()
    notebook.run(1)
    notebook.output(1).get_by_text("later").wait_for()


def test_a_saved_notebook_reads_well_without_a_kernel(view):
    _, notebook = view
    outputs = notebook.page.evaluate(
        "JSON.stringify(window.jupyterapp.shell.currentWidget.model.sharedModel.cells[0].toJSON().outputs)"
    )
    shown = [output["data"] for output in json.loads(outputs)]
    assert [("text/html" in data, "application/vnd.jupyter.widget-view+json" in data) for data in shown] == [
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize("way", ["another kernel", "no kernel"])
def test_a_saved_notebook_shows_no_error_when_it_is_opened_again(view, way):
    _, notebook = view
    notebook.reopen() if way == "another kernel" else notebook.reopen_without_kernel()
    shown = notebook.output(0)
    shown.locator(".tc-out").wait_for(state="visible")
    # Give the application the time in which it looks for the view.
    notebook.page.wait_for_timeout(3000)
    assert shown.locator(".tc-out").is_visible()
    for error in ("model not found", "Loading widget", "Error displaying widget"):
        assert not any(found.is_visible() for found in shown.get_by_text(error).all()), error


def test_views_share_one_widget_and_come_back_after_a_reload(open_notebook):
    count = (
        "from ipywidgets.widgets.widget import _instances\n"
        "views = [view for view in _instances.values() if hasattr(view, 'module')]\n"
        "print(len(views), 'views', sum(view.module != '' for view in views) <= 1)"
    )
    notebook = open_notebook(f"%%compare\n{OLD}# ---\n{NEW}", f"%%compare\n{OLD}# ---\n{SAME}", count)
    for cell in (0, 1):
        notebook.run(cell)
        notebook.output(cell).get_by_role("tab").first.wait_for()
    notebook.run(2)
    notebook.output(2).get_by_text("2 views True").wait_for()
    notebook.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    notebook.page.reload()
    notebook.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.isReady")
    for cell in (0, 1):
        notebook.output(cell).get_by_role("tab").first.wait_for()
