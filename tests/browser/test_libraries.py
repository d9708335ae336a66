"""Libraries that draw and ask in the notebook work in JupyterLab: each is drawn, and hears what a person does."""

import pytest

from .jupyter import LAB, opener

pytestmark = pytest.mark.long


@pytest.fixture
def run(page, server):
    """Opens a notebook in JupyterLab and runs its cells."""
    with opener(page, server, LAB) as open_one:

        def run_all(*cells: str):
            notebook = open_one(*cells)
            for index in range(len(cells)):
                notebook.run(index)
            return notebook

        yield run_all


def says(notebook, index: int, text: str) -> None:
    """Waits until a cell shows this."""
    notebook.output(index).get_by_text(text).first.wait_for()


def ask(notebook, index: int, text: str) -> None:
    """Runs a cell again until it shows this: what a person did has then reached the kernel."""
    for _ in range(100):
        notebook.run(index)
        notebook.wait_until_idle()
        if text in notebook.output(index).inner_text():
            return
        notebook.page.wait_for_timeout(100)
    raise AssertionError(notebook.output(index).inner_text())


def test_ipywidgets(run):
    pytest.importorskip("ipywidgets")
    notebook = run("from ipywidgets import interact\n@interact(x=(0, 10))\ndef f(x=4): print('twice', 2 * x)")
    says(notebook, 0, "twice 8")
    handle = notebook.output(0).locator(".noUi-handle")
    handle.focus()
    handle.press("ArrowRight")
    says(notebook, 0, "twice 10")


def test_ipympl(run):
    pytest.importorskip("ipympl")
    notebook = run(
        "%matplotlib widget\nimport matplotlib.pyplot as plt\nclicks = []\nfigure, axes = plt.subplots()\n"
        "axes.plot([1, 2, 4])\n_ = figure.canvas.mpl_connect('button_press_event', lambda event: clicks.append(1))\n"
        "plt.show()",
        "print('clicks', len(clicks))",
    )
    canvas = notebook.output(0).locator(".jupyter-matplotlib canvas").last
    canvas.wait_for()
    says(notebook, 1, "clicks 0")
    canvas.click(position={"x": 200, "y": 200})
    ask(notebook, 1, "clicks 1")


def test_plotly(run):
    pytest.importorskip("plotly")
    pytest.importorskip("anywidget")
    notebook = run(
        "import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[1, 3, 2], name='bars'), layout={'title': 'still'})",
        "figure = go.FigureWidget(go.Bar(y=[1, 3, 2]), layout={'title': 'old title'})\nfigure",
        "figure.layout.title = 'new title'",
    )
    notebook.output(0).locator(".gtitle").get_by_text("still").wait_for()
    assert notebook.output(0).locator(".bars .point").count() == 3
    notebook.output(1).locator(".gtitle").get_by_text("new title").wait_for()


def test_altair(run):
    pytest.importorskip("altair")
    notebook = run(
        "import altair as alt\nalt.renderers.enable('mimetype')\n"
        "alt.Chart(alt.Data(values=[{'a': 1, 'b': 2}, {'a': 3, 'b': 1}])).mark_point().encode(x='a:Q', y='b:Q')"
    )
    notebook.output(0).locator(".vega-embed canvas, .vega-embed svg.marks").first.wait_for()


def test_bokeh(run):
    pytest.importorskip("bokeh")
    pytest.importorskip("jupyter_bokeh")
    notebook = run(
        "from bokeh.io import output_notebook, push_notebook, show\nfrom bokeh.plotting import figure\n"
        "from bokeh.resources import INLINE\noutput_notebook(INLINE)",
        "plot = figure(title='old title', height=200)\nplot.line([1, 2], [3, 4])\n"
        "handle = show(plot, notebook_handle=True)",
        "plot.title.text = 'new title'\npush_notebook(handle=handle)",
    )
    notebook.output(1).locator(".bk-Figure").wait_for()
    notebook.page.wait_for_function("window.Bokeh.documents.at(-1).roots()[0].title.text === 'new title'")


def test_panel(run):
    pytest.importorskip("panel")
    notebook = run(
        "import panel as pn\npn.extension(inline=True)",
        "number, button = pn.widgets.IntInput(value=4), pn.widgets.Button(name='press me')\n"
        "pn.Column(button, pn.bind(lambda x, n: f'twice {2 * x}, pressed {n}', number, button.param.clicks))",
        "number.value = 21",
    )
    says(notebook, 1, "twice 42, pressed 0")
    notebook.output(1).get_by_role("button", name="press me").click()
    says(notebook, 1, "twice 42, pressed 1")


def test_hvplot(run):
    pytest.importorskip("hvplot")
    pytest.importorskip("pandas")
    notebook = run(
        "import holoviews, pandas as pd\nholoviews.extension('bokeh', inline=True)\nimport hvplot.pandas",
        "pd.DataFrame({'x': [1, 2, 3, 4], 'y': [1, 4, 2, 3], 'kind': [*'aabb']})"
        ".hvplot.scatter('x', 'y', groupby='kind', dynamic=True)",
    )
    chosen = notebook.output(1).locator("select")
    chosen.wait_for()
    chosen.select_option("b")
    notebook.page.wait_for_function(
        "window.Bokeh.documents.some(drawn => [...drawn.all_models].some(model => model.text === 'kind: b'))"
    )


def test_ipyleaflet(run):
    pytest.importorskip("ipyleaflet")
    notebook = run(
        "from ipyleaflet import Map, Marker\nmap = Map(center=(52, 10), zoom=4)\n"
        "map.add(Marker(location=(52, 10)))\nmap",
        "print('zoom', map.zoom)",
    )
    notebook.output(0).locator(".leaflet-marker-icon").wait_for()
    notebook.output(0).locator(".leaflet-control-zoom-in").click()
    ask(notebook, 1, "zoom 5")


def test_k3d(run):
    pytest.importorskip("k3d")
    notebook = run(
        "import k3d\nplot = k3d.plot(height=300)\nplot += k3d.points([[0, 0, 0], [1, 1, 1]], point_size=0.3)\n"
        "first = list(plot.camera)\nplot",
        "print('turned', list(plot.camera) != first)",
    )
    canvas = notebook.output(0).locator("canvas").first
    canvas.drag_to(canvas, source_position={"x": 100, "y": 100}, target_position={"x": 200, "y": 150})
    ask(notebook, 1, "turned True")


def test_dash(run):
    pytest.importorskip("dash")
    notebook = run(
        "from dash import Dash, Input, Output, dcc, html\napp = Dash()\n"
        "app.layout = html.Div([dcc.Input(id='name', value='Ada'), html.P(id='greeting')])\n"
        "@app.callback(Output('greeting', 'children'), Input('name', 'value'))\n"
        "def greet(name): return f'hello {name}'",
        "app.run(jupyter_mode='inline', port=0)",
    )
    frame = notebook.output(1).frame_locator("iframe")
    frame.get_by_text("hello Ada").wait_for()
    frame.locator("#name").fill("Grace")
    frame.get_by_text("hello Grace").wait_for()


def test_the_variable_inspector(run):
    pytest.importorskip("lckr_jupyterlab_variableinspector")
    notebook = run("number, words = 41, ['a', 'b']")
    notebook.command("variableinspector:open")
    inspector = notebook.page.locator(".jp-VarInspector")
    inspector.get_by_text("number").wait_for()
    inspector.get_by_text("41").wait_for()
    notebook.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code: 'number = 42'}).done"
    )
    inspector.get_by_text("42").wait_for()
