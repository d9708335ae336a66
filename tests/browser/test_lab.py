"""The kernel in a real browser: a comparison, its interruption, a restart, widgets."""

import re

import pytest

pytestmark = pytest.mark.long

OLD = "def size(limit, app):\n    return limit if limit is not None else app.size\n"
NEW = "def size(limit, app):\n    return limit or app.size\n"
SAME = "def size(limit, app):\n    return app.size if limit is None else limit\n"


def test_a_comparison_is_shown_and_its_value_is_there(open_notebook):
    notebook = open_notebook(f"%%compare\n{OLD}# ---\n{NEW}", "print(_.verdict)")
    notebook.run(0)
    notebook.output(0).locator(".tcw, .tc-out").first.wait_for()
    assert "changed" in notebook.output(0).inner_text()
    notebook.run(1)
    notebook.output(1).get_by_text("changing").wait_for()


def test_a_campaign_shows_its_progress_and_is_interrupted(open_notebook):
    notebook = open_notebook(f"%%compare --budget 1000000\n{OLD}# ---\n{SAME}", "print('not run')", "print('later')")
    notebook.command("notebook:run-all-cells")
    notebook.output(0).locator("progress").wait_for()
    notebook.command("notebook:interrupt-kernel")
    notebook.output(0).get_by_text("Stopped. The results so far are above.").wait_for()
    assert notebook.output(0).locator(".tc-out").count() == 1
    assert notebook.output(0).locator("progress").count() == 0
    notebook.wait_until_idle()
    assert "not run" not in notebook.output(1).inner_text()
    notebook.run(2)
    notebook.output(2).get_by_text("later").wait_for()


def test_a_restart_forgets_names_and_goes_on(open_notebook):
    notebook = open_notebook("x = 41", "print(x + 1)", f"%%compare\n{OLD}# ---\n{NEW}")
    notebook.run(0)
    notebook.run(1)
    notebook.output(1).get_by_text("42").wait_for()
    notebook.command("notebook:restart-kernel")
    notebook.page.locator(".jp-Dialog .jp-mod-warn, .jp-Dialog .jp-mod-accept").last.click()
    notebook.wait_until_idle()
    notebook.run(1)
    notebook.output(1).get_by_text(re.compile("NameError")).first.wait_for()
    notebook.run(2)
    notebook.output(2).locator(".tcw, .tc-out").first.wait_for()


def test_what_a_cell_held_before_is_known_by_its_id(open_notebook):
    notebook = open_notebook(OLD)
    notebook.run(0)
    notebook.wait_until_idle()
    notebook.page.evaluate(
        "text => { window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.setSource(text) }",
        f"%%compare --with-last\n{NEW}",
    )
    notebook.run(0)
    notebook.output(0).locator(".tcw, .tc-out").first.wait_for()
    assert "changed" in notebook.output(0).inner_text()


def test_input_is_asked_for_in_the_cell(open_notebook):
    notebook = open_notebook("print('hello', input('name? '))")
    notebook.run(0)
    field = notebook.output(0).locator("input.jp-Stdin-input")
    field.fill("Ada")
    field.press("Enter")
    notebook.output(0).get_by_text("hello Ada").wait_for()


def test_a_widget_talks_to_the_kernel_while_a_cell_runs(open_notebook):
    pytest.importorskip("ipywidgets")
    notebook = open_notebook(
        "import ipywidgets\nbutton = ipywidgets.Button(description='press me')\npressed = []\n"
        "button.on_click(lambda _: pressed.append(1))\nbutton",
        "import time\nfor _ in range(600):\n    if pressed: break\n    time.sleep(0.1)\nprint('pressed', len(pressed))",
    )
    notebook.run(0)
    button = notebook.output(0).get_by_role("button", name="press me")
    button.wait_for()
    notebook.run(1)
    notebook.page.wait_for_timeout(500)
    button.click()
    notebook.output(1).get_by_text("pressed 1").wait_for()
