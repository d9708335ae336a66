"""Libraries that draw in a notebook and listen to it work in JupyterLab.

Each is drawn. Then, but for Altair, a person does something with it, or a later cell changes it. The browser has no
network: what a library needs there has to come from its package.
"""

import socket
import time

import pytest
from playwright.sync_api import expect

from .jupyter import LAB, TIMEOUT, Notebook, opener

pytestmark = pytest.mark.long


@pytest.fixture
def open_cells(page, server):
    """Opens a notebook with these cells in JupyterLab and runs the first ones."""
    with opener(page, server, LAB) as open_one:

        def open_and_run(*cells: str, first: int = 1) -> Notebook:
            notebook = open_one(*cells)
            for index in range(first):
                notebook.run_to_end(index)
            return notebook

        yield open_and_run


def says(notebook: Notebook, index: int, text: str) -> None:
    """Waits until a cell shows this."""
    notebook.output(index).get_by_text(text, exact=True).first.wait_for()


def repeat_until(notebook: Notebook, index: int, text: str, act=lambda: None) -> None:
    """Does something and runs a cell, until the cell shows that the kernel has heard of it."""
    deadline = time.monotonic() + TIMEOUT / 1000
    while text not in notebook.output(index).inner_text():
        assert time.monotonic() < deadline, notebook.output(index).inner_text()
        act()
        notebook.page.wait_for_timeout(200)
        notebook.run_to_end(index)


def test_ipywidgets(open_cells):
    pytest.importorskip("ipywidgets")
    notebook = open_cells("from ipywidgets import interact\n@interact(x=(0, 10))\ndef f(x=4): print('twice', 2 * x)")
    says(notebook, 0, "twice 8")
    handle = notebook.output(0).locator(".noUi-handle")
    handle.focus()
    handle.press("ArrowRight")
    says(notebook, 0, "twice 10")


def test_ipympl(open_cells):
    pytest.importorskip("ipympl")
    notebook = open_cells(
        "%matplotlib widget\nimport matplotlib.pyplot as plt\nclicks = []\nfigure, axes = plt.subplots()\n"
        "axes.plot([1, 2, 4])\n_ = figure.canvas.mpl_connect('button_press_event', lambda event: clicks.append(1))\n"
        "plt.show()",
        "print('clicked', bool(clicks))",
        first=2,
    )
    says(notebook, 1, "clicked False")
    canvas = notebook.output(0).locator(".jupyter-matplotlib canvas").last
    canvas.wait_for()
    repeat_until(notebook, 1, "clicked True", lambda: canvas.click(position={"x": 200, "y": 200}))


def test_plotly(open_cells):
    pytest.importorskip("plotly")
    pytest.importorskip("anywidget")
    notebook = open_cells(
        "import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[1, 3, 2]), layout={'title': 'a figure'})",
        "figure = go.FigureWidget(go.Bar(y=[1, 3, 2]), layout={'title': 'old title'})\nfigure",
        "figure.layout.title = 'new title'",
        first=2,
    )
    says(notebook, 0, "a figure")
    expect(notebook.output(0).locator(".bars .point")).to_have_count(3)
    says(notebook, 1, "old title")
    notebook.run_to_end(2)
    says(notebook, 1, "new title")


def test_altair(open_cells):
    pytest.importorskip("altair")
    notebook = open_cells(
        "import altair as alt\nalt.renderers.enable('mimetype')\n"
        "alt.Chart(alt.Data(values=[{'a': 1, 'b': 2}, {'a': 3, 'b': 1}])).mark_point().encode(x='a:Q', y='b:Q')"
    )
    notebook.output(0).locator(".vega-embed canvas, .vega-embed svg.marks").first.wait_for()


def test_bokeh(open_cells):
    pytest.importorskip("bokeh")
    pytest.importorskip("jupyter_bokeh")
    notebook = open_cells(
        "from bokeh.io import output_notebook, push_notebook, show\nfrom bokeh.plotting import figure\n"
        "from bokeh.resources import INLINE\noutput_notebook(INLINE)",
        "plot = figure(title='old title', height=200)\nplot.line([1, 2], [3, 4])\n"
        "handle = show(plot, notebook_handle=True)",
        "plot.title.text = 'new title'\npush_notebook(handle=handle)",
        first=2,
    )
    title = "() => window.Bokeh?.documents.at(-1)?.roots()[0]?.title.text === '{} title'"
    notebook.page.wait_for_function(title.format("old"))
    notebook.run_to_end(2)
    notebook.page.wait_for_function(title.format("new"))


def test_panel(open_cells):
    pytest.importorskip("panel")
    notebook = open_cells(
        "import panel as pn\npn.extension(inline=True)",
        "number, button = pn.widgets.IntInput(value=4), pn.widgets.Button(name='press me')\n"
        "pn.Column(button, pn.bind(lambda x, n: f'twice {2 * x}, pressed {n}', number, button.param.clicks))",
        "number.value = 21",
        first=2,
    )
    says(notebook, 1, "twice 8, pressed 0")
    notebook.run_to_end(2)
    says(notebook, 1, "twice 42, pressed 0")
    notebook.output(1).get_by_role("button", name="press me").click()
    says(notebook, 1, "twice 42, pressed 1")


def test_hvplot(open_cells):
    pytest.importorskip("hvplot")
    pytest.importorskip("pandas")
    notebook = open_cells(
        "import holoviews, pandas as pd\nholoviews.extension('bokeh', inline=True)\nimport hvplot.pandas",
        "pd.DataFrame({'x': [1, 2, 3, 4], 'y': [1, 4, 2, 3], 'kind': [*'aabb']})"
        ".hvplot.scatter('x', 'y', groupby='kind', dynamic=True)",
        first=2,
    )
    titled = "() => window.Bokeh?.documents.some(drawn => [...drawn.all_models].some(one => one.text === 'kind: {}'))"
    notebook.page.wait_for_function(titled.format("a"))
    notebook.output(1).locator("select").select_option("b")
    notebook.page.wait_for_function(titled.format("b"))


def test_ipyleaflet(open_cells):
    pytest.importorskip("ipyleaflet")
    notebook = open_cells(
        "from ipyleaflet import Map, Marker\nmap = Map(center=(52, 10), zoom=4)\n"
        "map.add(Marker(location=(52, 10)))\nmap",
        "print('zoomed', map.zoom > 4)",
        first=2,
    )
    says(notebook, 1, "zoomed False")
    notebook.output(0).locator(".leaflet-marker-icon").wait_for()
    notebook.output(0).locator(".leaflet-control-zoom-in").click()
    repeat_until(notebook, 1, "zoomed True")


def test_k3d(open_cells):
    pytest.importorskip("k3d")
    notebook = open_cells(
        "import k3d\nplot = k3d.plot(height=300, camera_auto_fit=False)\nplot.camera = [4, 4, 4, 0, 0, 0, 0, 0, 1]\n"
        "plot += k3d.points([[0, 0, 0], [1, 1, 1]], point_size=0.3)\nplot",
        "print('turned', max(abs(a - 4) for a in plot.camera[:3]) > 0.5)",
        first=2,
    )
    says(notebook, 1, "turned False")
    canvas = notebook.output(0).locator("canvas").first
    canvas.wait_for()
    notebook.page.wait_for_timeout(1000)
    notebook.run_to_end(1)
    says(notebook, 1, "turned False")
    there, back = {"x": 100, "y": 100}, {"x": 250, "y": 150}
    repeat_until(
        notebook, 1, "turned True", lambda: canvas.drag_to(canvas, source_position=there, target_position=back)
    )


def test_dash(open_cells):
    # Install it for this test alone: its plugin for pytest warns in every run of pytest.
    pytest.importorskip("dash")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    notebook = open_cells(
        "from dash import Dash, Input, Output, dcc, html\napp = Dash()\n"
        "app.layout = html.Div([dcc.Input(id='name', value='Ada'), html.P(id='greeting')])\n"
        "@app.callback(Output('greeting', 'children'), Input('name', 'value'))\n"
        "def greet(name): return f'hello {name}'",
        f"app.run(jupyter_mode='inline', port={port})",
        first=2,
    )
    frame = notebook.output(1).frame_locator("iframe")
    frame.get_by_text("hello Ada", exact=True).wait_for()
    frame.locator("#name").fill("Grace")
    frame.get_by_text("hello Grace", exact=True).wait_for()


def test_the_variable_inspector(open_cells):
    pytest.importorskip("lckr_jupyterlab_variableinspector")
    notebook = open_cells("answer = 41")
    # The inspector becomes the current widget.
    notebook.page.evaluate(
        "() => { window.kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel }"
    )
    notebook.command("variableinspector:open")
    inspector = notebook.page.locator(".jp-VarInspector")
    inspector.get_by_text("answer", exact=True).wait_for()
    inspector.get_by_text("41", exact=True).wait_for()
    notebook.page.evaluate("() => window.kernel.requestExecute({code: 'answer = 42'}).done")
    inspector.get_by_text("42", exact=True).wait_for()
    notebook.page.evaluate("() => window.kernel.shutdown()")
