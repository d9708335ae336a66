"""What VS Code asks of a kernel: code of its own at the start, variables from threads, names for cells, `debugpy`.

VS Code cannot be installed where the tests run. These messages have the form of those of its extension `Jupyter`.
"""

import os

import pytest

from .client import Client

#: How VS Code runs code that is not the user's.
ASIDE = {"store_history": False, "stop_on_error": False, "allow_stdin": True}

#: Makes `run_cell` set the name of the cell in an environment variable, as the interactive window does.
HOOK = """
import os, types
def _named(run_cell):
    of_class = run_cell.__func__
    def wrapper(*args, **kwargs):
        if kwargs["store_history"]:
            os.environ["IPYKERNEL_CELL_NAME"] = f"<ipython-input-{args[0].execution_count}-0123456789ab>"
        try:
            return of_class(*args, **kwargs)
        finally:
            os.environ.pop("IPYKERNEL_CELL_NAME", None)
    return types.MethodType(wrapper, run_cell.__self__)
get_ipython().run_cell = _named(get_ipython().run_cell)
"""

#: Shows a place for an answer, and gives it from a thread when the cell has ended.
FROM_A_THREAD = """
def _in_background():
    from threading import Event, Thread
    from IPython.display import display
    shown = display({"application/x-answer": ""}, raw=True, display_id=True)
    get_ipython().user_ns["go_on"] = go_on = Event()
    def answer():
        go_on.wait()
        names = %who_ls
        shown.update({"application/x-answer": "number" in names}, raw=True)
    Thread(target=answer, daemon=True).start()
_in_background()
del _in_background
"""


def aside(kernel, code: str):
    return kernel.run(code, **ASIDE)


def test_its_own_code_at_the_start_counts_no_cell(kernel):
    started = aside(kernel, "%config Completer.use_jedi = False\n__vsc_ipynb_file__ = '/tmp/notebook.ipynb'")
    assert started.reply["status"] == "ok"
    assert started.messages[1]["content"].get("code", "").startswith("%config")
    assert kernel.ask("kernel_info_request")["language_info"]["name"] == "python"
    assert kernel.run("1 + 1").reply["execution_count"] == 1
    assert aside(kernel, "1 / 0").reply["ename"] == "ZeroDivisionError"
    assert kernel.run("__vsc_ipynb_file__").value == "'/tmp/notebook.ipynb'"


def test_variables_are_listed_by_a_magic_in_its_code(kernel):
    kernel.run("number, text = 1, 'a'")
    listed = aside(kernel, "_names = %who_ls\nprint([(name, type(globals()[name]).__name__) for name in _names])")
    assert listed.text() == "[('number', 'int'), ('text', 'str')]\n"


def test_an_answer_from_a_thread_comes_under_its_request_after_the_end(kernel):
    kernel.run("number = 1")
    asked = kernel.send(FROM_A_THREAD, **ASIDE)
    (place,) = kernel.wait(asked).of("display_data")
    kernel.send("go_on.set()")
    message = kernel.wait_for("update_display_data")
    assert message["parent_header"]["msg_id"] == asked
    assert message["content"]["transient"] == place["transient"]
    assert message["content"]["data"] == {"application/x-answer": True}


def test_a_cell_has_the_name_that_its_debugger_knows(kernel):
    aside(kernel, HOOK)
    for number in (1, 2):
        named = kernel.run("(lambda: 0).__code__.co_filename")
        assert named.value == f"'<ipython-input-{number}-0123456789ab>'"
    failed = kernel.run("def f():\n    return 1 / 0\nf()")
    assert "In[3]" in failed.reply["traceback"][-2]
    assert aside(kernel, "import os; print(os.environ.get('IPYKERNEL_CELL_NAME'))").text() == "None\n"


def test_a_name_from_outside_is_of_no_cell_here(monkeypatch):
    monkeypatch.setenv("IPYKERNEL_CELL_NAME", "<of another kernel>")
    with Client.start() as kernel:
        assert "another" not in kernel.run("(lambda: 0).__code__.co_filename").value


def test_its_debugger_stops_in_a_cell_with_a_name(debugger):
    front_end, kernel = debugger, debugger.kernel
    front_end.attach()
    aside(kernel, HOOK)
    source = {"path": "<ipython-input-1-0123456789ab>"}
    front_end.do("setBreakpoints", source=source, breakpoints=[{"line": 2}])
    cell = kernel.send("a = 1\nb = 2\nprint(a + b)")
    thread = front_end.event("stopped")["threadId"]
    assert [frame["line"] for frame in front_end.frames(thread)][:1] == [2]
    front_end.do("continue", threadId=thread)
    assert kernel.wait(cell).text() == "3\n"


def test_its_debugger_listens_in_the_kernel_without_a_warning(monkeypatch):
    pytest.importorskip("debugpy")
    monkeypatch.delenv("PYDEVD_DISABLE_FILE_VALIDATION", raising=False)
    with Client.start() as kernel:
        listening = aside(kernel, "import debugpy; debugpy.listen(('localhost', 0))")
        traced = aside(kernel, "debugpy.trace_this_thread(True)\ndebugpy.trace_this_thread(False)")
    assert listening.value.startswith("('127.0.0.1', ")
    assert listening.text("stderr") == ""
    assert traced.reply["status"] == "ok"


def test_it_asks_where_the_kernel_is(kernel):
    assert aside(kernel, "import os;os.getcwd();").reply["status"] == "ok"
    assert aside(kernel, "os.getcwd()").value == repr(os.getcwd())
