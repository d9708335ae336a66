"""What people use in notebooks every day works as under ipykernel."""

import importlib.util
import re

import pytest

from .client import TIMEOUT, Client

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def needs():
    """Skips a test where a package is not installed."""

    def check(*packages):
        for package in packages:
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"{package} is not installed")

    return check


def shown(outcome):
    """The bundles of everything that a cell shows."""
    return [content["data"] for content in outcome.of("display_data") + outcome.of("execute_result")]


def answer(kernel, code, *lines):
    """Runs a cell that asks, and answers."""
    msg_id = kernel.send(code, allow_stdin=True)
    for line in lines:
        kernel.channels.get_stdin_msg(timeout=TIMEOUT)
        kernel.channels.input(line)
    return kernel.wait(msg_id)


def test_ipywidgets_are_updated_from_both_sides(kernel, needs):
    needs("ipywidgets")
    outcome = kernel.run(
        "import ipywidgets\n"
        "slider, label = ipywidgets.IntSlider(value=3), ipywidgets.Label()\n"
        "slider.observe(lambda change: setattr(label, 'value', str(change['new'])), 'value')\n"
        "slider"
    )
    model = shown(outcome)[0][WIDGET]["model_id"]
    update = {"comm_id": model, "data": {"method": "update", "state": {"value": 9}}}
    moved = kernel.request("comm_msg", update)
    assert kernel.run("slider.value, label.value").value == "(9, '9')"
    assert moved


def test_output_widgets_catch_what_is_printed(kernel, needs):
    needs("ipywidgets")
    kernel.run("import ipywidgets\nout = ipywidgets.Output()\nout")
    outcome = kernel.run("with out:\n    print('caught')\nout.msg_id == ''")
    # The front end moves the output by the id that the widget was given; the kernel sends it under the cell.
    assert outcome.text() == "caught\n"
    assert outcome.value == "True"
    states = [content["data"].get("state", {}) for content in outcome.of("comm_msg")]
    assert [state["msg_id"] != "" for state in states if "msg_id" in state] == [True, False]


def test_interact_calls_its_function(kernel, needs):
    needs("ipywidgets")
    outcome = kernel.run("from ipywidgets import interact\n@interact(n=(0, 9))\ndef show(n=4): print('n is', n)")
    assert any(WIDGET in data for data in shown(outcome))


def test_anywidget(kernel, needs):
    needs("anywidget")
    outcome = kernel.run(
        "import anywidget, traitlets\n"
        "class Counter(anywidget.AnyWidget):\n"
        "    _esm = 'export default { render({ model, el }) { el.textContent = model.get(\"count\") } }'\n"
        "    count = traitlets.Int(5).tag(sync=True)\n"
        "counter = Counter()\n"
        "counter"
    )
    model = shown(outcome)[0][WIDGET]["model_id"]
    states = [content["data"]["state"] for content in outcome.of("comm_open") if content["comm_id"] == model]
    assert states[0]["count"] == 5 and "render" in states[0]["_esm"]
    kernel.request("comm_msg", {"comm_id": model, "data": {"method": "update", "state": {"count": 6}}})
    assert kernel.run("counter.count").value == "6"


def test_matplotlib_puts_figures_into_the_notebook(fresh_kernel, needs):
    needs("matplotlib")
    outcome = fresh_kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert [data for data in shown(outcome) if "image/png" in data], outcome.of("error")
    assert not [data for data in shown(fresh_kernel.run("1;")) if "image/png" in data]


def test_ipympl_shows_figures_as_widgets(fresh_kernel, needs):
    needs("ipympl")
    outcome = fresh_kernel.run(
        "%matplotlib widget\nimport matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\nplt.show()"
    )
    assert outcome.reply["status"] == "ok", outcome.reply
    assert any(WIDGET in data for data in shown(outcome))


def test_matplotlib_shows_figures_by_comms_of_its_own(fresh_kernel, needs):
    needs("matplotlib")
    outcome = fresh_kernel.run("%matplotlib notebook\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert outcome.reply["status"] == "ok", outcome.reply
    assert [content["target_name"] for content in outcome.of("comm_open")] == ["matplotlib"]


def test_bokeh_updates_what_it_has_shown(fresh_kernel, needs):
    needs("bokeh")
    fresh_kernel.run("from bokeh.io import output_notebook, push_notebook, show\nfrom bokeh.plotting import figure")
    fresh_kernel.run("output_notebook(hide_banner=True)\nplot = figure()\nplot.line([1, 2], [3, 4])")
    shown = fresh_kernel.run("handle = show(plot, notebook_handle=True)")
    assert len(shown.of("comm_open")) == 1, shown.reply
    assert fresh_kernel.run("plot.line([1, 2], [5, 6])\npush_notebook(handle=handle)").of("comm_msg")


def test_panel_registers_its_comms(fresh_kernel, needs):
    needs("panel")
    outcome = fresh_kernel.run("import panel\npanel.extension()")
    assert outcome.reply["status"] == "ok", outcome.reply
    outcome = fresh_kernel.run("panel.widgets.IntSlider(name='n', start=0, end=4)")
    assert outcome.reply["status"] == "ok" and not outcome.text("stderr")
    assert fresh_kernel.run("bool(get_ipython().kernel.comm_manager.targets)").value == "True"


def test_widgets_work_in_a_loop_that_polls_for_them(fresh_kernel, needs):
    needs("jupyter_ui_poll")
    msg_id = fresh_kernel.send(
        "import comm, time\n"
        "from jupyter_ui_poll import ui_events\n"
        "moved = []\n"
        "slider = comm.create_comm(target_name='slider')\n"
        "slider.on_msg(lambda message: moved.append(message['content']['data']['n']))\n"
        "with ui_events() as poll:\n"
        "    while not moved: poll(10); time.sleep(0.01)\n"
        "print('moved to', moved)"
    )
    comm_id = fresh_kernel.wait_for("comm_open")["content"]["comm_id"]
    later = fresh_kernel.send("print('later')")
    fresh_kernel.request("comm_msg", {"comm_id": comm_id, "data": {"n": 5}})
    assert fresh_kernel.wait(msg_id).text() == "moved to [5]\n"
    # The package keeps cells that came meanwhile, and runs them afterwards.
    while fresh_kernel.channels.get_shell_msg(timeout=TIMEOUT)["parent_header"]["msg_id"] != later:
        pass


def test_wurlitzer_does_no_harm(fresh_kernel):
    assert fresh_kernel.run("%load_ext wurlitzer").reply["status"] == "ok"
    assert fresh_kernel.run("import os; os.system('echo from a shell'); print('from Python')").text() == (
        "from a shell\nfrom Python\n"
    )


def test_plotly(kernel, needs):
    needs("plotly")
    outcome = kernel.run("import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 3, 2])).show()")
    assert outcome.reply["status"] == "ok", outcome.reply
    assert any("application/vnd.plotly.v1+json" in data for data in shown(outcome))


def test_altair(kernel, needs):
    needs("altair")
    outcome = kernel.run("import altair\naltair.Chart(altair.Data(values=[{'a': 1}])).mark_bar().encode(x='a:Q')")
    (data,) = shown(outcome)
    assert any(mime.startswith("application/vnd.vegalite") for mime in data) or "vega" in data["text/html"]


def test_pandas(kernel, needs):
    needs("pandas")
    (data,) = shown(kernel.run("import pandas\npandas.DataFrame({'a': [1, 2]})"))
    assert "<table" in data["text/html"] and "a" in data["text/plain"]


def test_tqdm_finds_the_notebook(kernel, needs):
    needs("tqdm", "ipywidgets")
    outcome = kernel.run("from tqdm.auto import tqdm\nfor _ in tqdm(range(3)): pass")
    assert any(WIDGET in data for data in shown(outcome))
    outcome = kernel.run("import tqdm\nfor _ in tqdm.tqdm(range(3)): pass")
    assert "3/3" in outcome.text("stderr")


def test_rich_finds_the_notebook(kernel, needs):
    needs("rich")
    outcome = kernel.run("import rich.console\nrich.console.Console().is_jupyter")
    assert outcome.value == "True"


def test_time_magics(kernel):
    outcome = kernel.run("%%time\nx = 5\nx + 1")
    assert "Wall time" in outcome.text() and outcome.value == "6"
    assert "per loop" in kernel.run("%timeit -n 2 -r 2 1 + 1").text()


def test_debug_asks_at_the_place_of_the_error(kernel):
    kernel.run("def fail():\n    secret = 41 + 1\n    raise ValueError\nfail()")
    outcome = answer(kernel, "%debug", "p secret", "q")
    assert "42" in outcome.text()
    assert outcome.reply["status"] == "ok"


def test_a_breakpoint_asks(kernel):
    outcome = answer(kernel, "def stop():\n    here = 6 * 7\n    breakpoint()\nstop()", "p here", "c")
    assert "42" in outcome.text()


def test_run_takes_the_names_of_a_file(kernel, tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import sys\nanswer = 42\nprint('ran with', sys.argv[1:])\n")
    assert kernel.run(f"%run {path} a b").text() == "ran with ['a', 'b']\n"
    assert kernel.run("answer").value == "42"


def test_pip_is_that_of_the_kernels_python(kernel):
    outcome = kernel.run("%pip --version")
    version = kernel.run("import sys; print('%d.%d' % sys.version_info[:2])").text().strip()
    assert f"(python {version})" in outcome.text()


def test_capture_and_writefile_and_who(kernel, tmp_path):
    assert kernel.run("%%capture caught\nprint('hidden')\n5").types == ["execute_input"]
    assert kernel.run("caught.stdout").value == "'hidden\\n'"
    kernel.run(f"%%writefile {tmp_path / 'file.txt'}\ntext")
    assert (tmp_path / "file.txt").read_text() == "text\n"
    kernel.run("only_name = 1")
    assert "only_name" in kernel.run("%who").text()


def test_bash_and_other_interpreters_in_cells(kernel):
    assert kernel.run("%%bash\necho from bash").text() == "from bash\n"
    outcome = kernel.run("%%bash\nexit 3")
    assert outcome.reply["status"] == "error"


def test_asyncio(kernel):
    outcome = kernel.run(
        "import asyncio\n"
        "async def work(n):\n"
        "    await asyncio.sleep(0.01)\n"
        "    print(n)\n"
        "    return n * n\n"
        "await asyncio.gather(*(work(n) for n in range(3)))"
    )
    assert outcome.value == "[0, 1, 4]"
    assert kernel.run("async for x in (n async for n in agen()): print(x)").reply["ename"] == "NameError"
    loop = "async def agen():\n    for n in range(2): yield n\nasync for x in agen(): print(x)"
    assert kernel.run(loop).text() == "0\n1\n"


@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_concurrent_futures(kernel, pool):
    context = ", mp_context=multiprocessing.get_context('fork')" if pool.startswith("Process") else ""
    outcome = kernel.run(
        "import concurrent.futures, multiprocessing\n"
        "def square(n): return n * n\n"
        f"with concurrent.futures.{pool}(2{context}) as pool: print(list(pool.map(square, range(4))))"
    )
    assert outcome.text() == "[0, 1, 4, 9]\n"


def test_logging_and_warnings_go_to_stderr(kernel):
    outcome = kernel.run("import logging, warnings\nlogging.warning('careful')\nwarnings.warn('old')")
    assert "careful" in outcome.text("stderr") and "old" in outcome.text("stderr")


def test_a_package_that_redirects_output_gets_it_back(kernel):
    outcome = kernel.run(
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()) as caught: print('inside')\n"
        "print('outside', repr(caught.getvalue()))"
    )
    assert outcome.text() == "outside 'inside\\n'\n"


def test_results_that_joblib_stored_are_found_after_a_restart(needs, tmp_path):
    needs("joblib")
    cell = (
        f"import joblib\n@joblib.Memory({str(tmp_path)!r}, verbose=0).cache\n"
        "def slow(n):\n    print('computed')\n    return n + 1\nslow(3)"
    )
    for computed in ("computed\n", ""):
        with Client.start() as kernel:
            outcome = kernel.run(cell)
            assert (outcome.text(), outcome.value) == (computed, "4")


def test_packages_know_cells_by_their_paths(kernel, needs):
    needs("debugpy")
    path = kernel.run("print((lambda: 0).__code__.co_filename)").text()
    assert re.search(r"/ipykernel_\d+/\d+\.py$", path.strip())


def test_a_reply_does_not_come_while_a_client_answers_a_widget(kernel):
    # With a clock that stands still, the whole pause is left when the cell has ended.
    kernel.run(
        "import time, types\n"
        "from twincell import _answers, _comms\n"
        "slept = []\n"
        "_answers.time = _comms.time = types.SimpleNamespace(monotonic=lambda: 0.0, sleep=slept.append)"
    )
    outcome = kernel.run("from comm import create_comm; create_comm(target_name='target').send({'n': 1})")
    assert outcome.types[-1] == "comm_msg"
    assert kernel.run("_answers.time = _comms.time = time; slept == [_answers.WIDGET_PAUSE]").value == "True"
