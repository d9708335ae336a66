"""The debugger of front ends, by the requests that JupyterLab sends."""

import pytest

from .client import Client
from .debugging import CELL, FrontEnd

pytest.importorskip("debugpy", reason="debugpy is not installed")


@pytest.fixture
def attached(debugger):
    debugger.attach()
    return debugger


@pytest.fixture
def stopped(attached):
    """A debugger whose kernel stands in the fourth line of `CELL`, with the thread and the message of the cell."""
    attached.break_at(CELL, 4)
    attached.cell = attached.kernel.send(CELL)
    attached.thread = attached.event("stopped")["threadId"]
    return attached


def test_the_kernel_says_that_it_has_a_debugger(kernel):
    info = kernel.ask("kernel_info_request")
    assert info["debugger"] is True
    assert "debugger" in info["supported_features"]


def test_where_debugpy_is_missing_one_line_says_so():
    hide = "import sys; sys.modules['debugpy'] = None"
    with Client.start(extra_arguments=[f"--IPKernelApp.exec_lines={hide}"]) as kernel:
        response = FrontEnd(kernel).ask("initialize")
    assert response["success"] is False
    assert response["message"] == "the debugger needs debugpy, which is not installed: pip install debugpy"


def test_nothing_is_imported_before_a_front_end_asks(fresh_kernel):
    debugger = FrontEnd(fresh_kernel)
    loaded = "import sys; print(any(name.startswith(('debugpy', 'pydevd')) for name in sys.modules))"
    assert debugger.do("debugInfo")["isStarted"] is False
    assert debugger.kernel.run(loaded).text() == "False\n"
    assert debugger.ask("threads")["message"] == "the debugger is not started: send initialize first"


def test_a_breakpoint_stops_a_cell_which_is_inspected_and_goes_on(stopped):
    frames = stopped.frames(stopped.thread)
    assert [(frame["name"], frame["line"]) for frame in frames] == [("add", 4), ("<module>", 7)]
    assert stopped.variables(frames[0]["id"]) == {"a": "1", "b": "2"}
    assert stopped.do("evaluate", expression="a * 10 + b", frameId=frames[0]["id"])["result"] == "12"
    assert stopped.do("debugInfo")["stoppedThreads"] == [stopped.thread]
    stopped.do("continue", threadId=stopped.thread)
    outcome = stopped.kernel.wait(stopped.cell)
    assert outcome.reply["status"] == "ok"
    assert outcome.text() == "3\n"
    assert stopped.do("debugInfo")["stoppedThreads"] == []


def test_steps_lead_over_into_and_out_of_calls(attached):
    attached.break_at(CELL, 7)
    cell = attached.kernel.send(CELL)
    thread = attached.event("stopped")["threadId"]
    seen = []
    for command in ("stepIn", "next", "stepOut", "next"):
        attached.do(command, threadId=thread)
        attached.event("stopped")
        seen.append([(frame["name"], frame["line"]) for frame in attached.frames(thread)][0])
    assert seen == [("add", 4), ("add", 5), ("<module>", 7), ("<module>", 8)]
    attached.do("continue", threadId=thread)
    assert attached.kernel.wait(cell).text() == "3\n"


def test_the_names_of_the_kernel_are_no_variables_of_a_cell(attached):
    code = "mine = [1, 2]\nNone"
    attached.break_at(code, 2)
    cell = attached.kernel.send(code)
    thread = attached.event("stopped")["threadId"]
    names = set(attached.variables(attached.frames(thread)[0]["id"]))
    assert {name for name in names if "variables" not in name} == {"mine"}
    attached.do("continue", threadId=thread)
    attached.kernel.wait(cell)
    assert [one["name"] for one in attached.do("inspectVariables")["variables"]] == ["mine"]


def test_variables_are_inspected_between_cells(attached):
    attached.kernel.run("numbers = [1, 2]")
    (shown,) = attached.do("inspectVariables")["variables"]
    assert (shown["name"], shown["value"], shown["type"]) == ("numbers", "[1, 2]", "list")
    children = attached.do("variables", variablesReference=shown["variablesReference"])["variables"]
    assert [one["value"] for one in children if one["name"] in "01"] == ["1", "2"]


def test_variables_are_shown_richly(stopped):
    kernel, frame = stopped.kernel, stopped.frames(stopped.thread)[0]["id"]
    data = stopped.do("richInspectVariables", variableName="b", frameId=frame)["data"]
    assert data == {"text/plain": "2"}
    stopped.do("continue", threadId=stopped.thread)
    kernel.wait(stopped.cell)
    kernel.run("from IPython.display import HTML\npage = HTML('<b>\"it\\'s\"</b>')")
    assert stopped.do("richInspectVariables", variableName="page")["data"]["text/html"] == '<b>"it\'s"</b>'
    assert stopped.do("richInspectVariables", variableName="special variables")["data"] == {}
    assert stopped.ask("richInspectVariables", variableName="gone")["message"] == "the notebook has no variable gone"


def test_a_local_is_copied_to_the_notebook(stopped):
    frame = stopped.frames(stopped.thread)[0]["id"]
    stopped.do("copyToGlobals", srcVariableName="b", dstVariableName="kept", srcFrameId=frame)
    stopped.do("continue", threadId=stopped.thread)
    stopped.kernel.wait(stopped.cell)
    assert stopped.kernel.run("print(kept)").text() == "2\n"
    wrong = stopped.ask("copyToGlobals", srcVariableName="b", dstVariableName="a b", srcFrameId=frame)
    assert wrong["message"] == "a variable is copied under a name of Python"


def test_an_interrupt_ends_a_cell_at_a_breakpoint_and_later_ones_stop_again(attached):
    code = "import time\nfor _ in range(6000):\n    time.sleep(0.01)"
    attached.break_at(code, 2)
    for _ in range(2):
        cell = attached.kernel.send(code)
        thread = attached.event("stopped")["threadId"]
        assert attached.frames(thread)[0]["line"] == 2
        attached.kernel.manager.interrupt_kernel()
        outcome = attached.kernel.wait(cell)
        assert outcome.reply["ename"] == "KeyboardInterrupt"
        assert not any("pydev" in line for line in outcome.reply["traceback"])


def test_a_running_cell_is_stopped_where_it_is(attached):
    code = "import time\nis_on = True\nwhile is_on:\n    time.sleep(0.01)"
    attached.break_at(code)
    cell = attached.kernel.send(code)
    attached.kernel.wait_for("execute_input")
    (thread,) = attached.do("threads")["threads"]
    attached.do("pause", threadId=thread["id"])
    assert attached.event("stopped")["threadId"] == thread["id"]
    frame = attached.frames(thread["id"])[0]
    assert frame["line"] in (3, 4)
    attached.do("setExpression", expression="is_on", value="False", frameId=frame["id"])
    attached.do("continue", threadId=thread["id"])
    assert attached.kernel.wait(cell).reply["status"] == "ok"


def test_an_exception_stops_where_it_is_raised(attached):
    attached.do("setExceptionBreakpoints", filters=["raised"])
    code = "def fail():\n    raise ValueError('no')\ntry:\n    fail()\nexcept ValueError:\n    pass"
    cell = attached.kernel.send(code)
    stopped = attached.event("stopped")
    assert stopped["reason"] == "exception"
    frames = attached.frames(stopped["threadId"])
    assert [(frame["name"], frame["line"]) for frame in frames] == [("fail", 2), ("<module>", 4)]
    attached.do("setExceptionBreakpoints", filters=[])
    attached.do("continue", threadId=stopped["threadId"])
    assert attached.kernel.wait(cell).reply["status"] == "ok"


def test_a_breakpoint_in_a_file_stops_and_its_source_is_shown(attached, tmp_path):
    module = tmp_path / "helper.py"
    module.write_text("def double(x):\n    y = 2 * x\n    return y\n")
    attached.do("setBreakpoints", source={"path": str(module)}, breakpoints=[{"line": 3}])
    cell = attached.kernel.send(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport helper\nhelper.double(4)")
    thread = attached.event("stopped")["threadId"]
    frames = attached.frames(thread)
    assert [(frame["name"], frame["line"]) for frame in frames] == [("double", 3), ("<module>", 3)]
    assert attached.do("source", source={"path": frames[0]["source"]["path"]})["content"] == module.read_text()
    assert {module["name"] for module in attached.do("modules")["modules"]} >= {"helper"}
    attached.do("continue", threadId=thread)
    assert attached.kernel.wait(cell).value == "8"
    assert "cannot be read" in attached.ask("source", source={"path": str(tmp_path / "gone.py")})["message"]


@pytest.mark.parametrize("just_my_code", [True, False])
def test_steps_enter_packages_only_where_they_shall(debugger, just_my_code):
    front_end, kernel = debugger, debugger.kernel
    front_end.attach(justMyCode=just_my_code)
    code = "import textwrap\ntextwrap.dedent('  a')\nNone"
    front_end.break_at(code, 2)
    cell = kernel.send(code)
    thread = front_end.event("stopped")["threadId"]
    front_end.do("stepIn", threadId=thread)
    front_end.event("stopped")
    frame = front_end.frames(thread)[0]
    assert (frame["name"], frame["line"] == 3) == (("<module>", True) if just_my_code else ("dedent", False))
    front_end.do("setBreakpoints", source={"path": front_end.do("dumpCell", code=code)["sourcePath"]}, breakpoints=[])
    front_end.do("continue", threadId=thread)
    assert kernel.wait(cell).reply["status"] == "ok"


def test_asynchronous_cells_and_threads_stop(attached):
    code = "import asyncio\nasync def wait():\n    await asyncio.sleep(0)\n    return 1\nawait wait()"
    attached.break_at(code, 4)
    cell = attached.kernel.send(code)
    thread = attached.event("stopped")["threadId"]
    assert attached.frames(thread)[0]["line"] == 4
    attached.do("continue", threadId=thread)
    assert attached.kernel.wait(cell).value == "1"
    code = "import threading\ndef work():\n    return 1\nt = threading.Thread(target=work)\nt.start()\nt.join()"
    attached.break_at(code, 3)
    cell = attached.kernel.send(code)
    thread = attached.event("stopped")["threadId"]
    assert attached.frames(thread)[0]["name"] == "work"
    attached.do("continue", threadId=thread)
    assert attached.kernel.wait(cell).reply["status"] == "ok"


def test_a_front_end_leaves_and_another_one_attaches(stopped):
    stopped.do("disconnect", restart=False, terminateDebuggee=False)
    assert stopped.kernel.wait(stopped.cell).text() == "3\n"
    assert stopped.do("debugInfo")["isStarted"] is False
    assert stopped.kernel.run(CELL).text() == "3\n"
    stopped.attach()
    assert stopped.do("debugInfo")["breakpoints"] == []
    path = stopped.break_at(CELL, 4)
    assert stopped.do("debugInfo")["breakpoints"] == [{"source": path, "breakpoints": [{"line": 4}]}]
    cell = stopped.kernel.send(CELL)
    stopped.do("continue", threadId=stopped.event("stopped")["threadId"])
    assert stopped.kernel.wait(cell).text() == "3\n"


def test_a_kernel_at_a_breakpoint_restarts_and_is_debugged_again(fresh_kernel):
    front_end = FrontEnd(fresh_kernel)
    for is_first in (True, False):
        front_end.attach()
        front_end.break_at(CELL, 4)
        cell = fresh_kernel.send(CELL)
        thread = front_end.event("stopped")["threadId"]
        if is_first:
            fresh_kernel.manager.restart_kernel()
            fresh_kernel.wait_until_ready()
    front_end.do("continue", threadId=thread)
    assert fresh_kernel.wait(cell).text() == "3\n"


@pytest.mark.parametrize("content", [{}, {"command": 3}, {"command": "attach", "arguments": []}, {"command": "source"}])
def test_what_is_no_request_of_the_protocol_is_answered(debugger, content):
    message = debugger.kernel.channels.session.msg("debug_request", content)
    debugger.kernel.channels.control_channel.send(message)
    response = debugger.kernel.channels.get_control_msg(timeout=60)["content"]
    assert response["success"] is False
    assert response["message"]


def test_an_interrupt_ends_a_loop_with_a_breakpoint(attached):
    code = "count = 0\nwhile True:\n    count += 1"
    path = attached.break_at(code, 3)
    cell = attached.kernel.send(code)
    attached.event("stopped")
    attached.kernel.manager.interrupt_kernel()
    assert attached.kernel.wait(cell).reply["ename"] == "KeyboardInterrupt"
    assert attached.do("debugInfo")["breakpoints"] == [{"source": path, "breakpoints": [{"line": 3}]}]
