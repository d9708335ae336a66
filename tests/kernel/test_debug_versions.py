"""`Comparison.debug`: both versions of a change in the debugger of a front end."""

import pytest

pytest.importorskip("debugpy", reason="debugpy is not installed")

OLD = "def size(limit, app):\n    if limit is not None:\n        return limit\n    return app.size\n"
NEW = "def size(limit, app):\n    return limit or app.size\n"
COMPARE = f"import twincell\ncomparison = twincell.compare({OLD!r}, {NEW!r}, predictor='frequency')"


@pytest.fixture
def front_end(debugger):
    assert debugger.kernel.run(COMPARE).reply["status"] == "ok"
    return debugger


def stop(front_end):
    """The thread that stops next, its innermost frame, and the name of its file."""
    thread = front_end.event("stopped")["threadId"]
    frame = front_end.frames(thread)[0]
    return thread, frame, frame["source"]["path"].rpartition("/")[2]


def line(front_end, frame):
    """The line where a frame stands."""
    content = front_end.do("source", source={"path": frame["source"]["path"]})["content"]
    return content.split("\n")[frame["line"] - 1].strip()


def test_old_then_new_stop_at_their_first_changed_line_on_the_same_values(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    for side, where in (("old", "if limit is not None:"), ("new", "return limit or app.size")):
        thread, frame, file = stop(front_end)
        assert (file, frame["name"], line(front_end, frame)) == (f"size_{side}.py", "size", where)
        assert front_end.variables(frame["id"])["limit"] == "0"
        names = [one["name"] for one in front_end.frames(thread)]
        assert names == ["size", "test_size", "<module>"]
        front_end.do("continue", threadId=thread)
    outcome = front_end.kernel.wait(cell)
    assert outcome.reply["status"] == "ok"
    old, new = outcome.text().splitlines()[-2:]
    assert old == "old: returned 0; its test passed here"
    assert new.startswith("new: returned 1; its test failed here: AssertionError: 0 before the change, 1 after it")
    assert front_end.do("debugInfo")["breakpoints"] == []


def test_a_function_that_differs_by_a_helper_stops_in_itself(front_end):
    old = "def help(x):\n    y = x\n    return y + 1\n\n\ndef f(x):\n    return help(x)\n"
    new = old.replace("+ 1", "+ 2")
    front_end.kernel.run(f"comparison = twincell.compare({old!r}, {new!r}, predictor='frequency')")
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug(pair=1)")
    for side in ("old", "new"):
        thread, frame, file = stop(front_end)
        assert (file, frame["name"], line(front_end, frame)) == (f"f_{side}.py", "f", "return help(x)")
        front_end.do("continue", threadId=thread)
    assert front_end.kernel.wait(cell).reply["status"] == "ok"


def test_stop_leaves_no_breakpoint_behind(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    stop(front_end)
    front_end.kernel.manager.interrupt_kernel()
    front_end.kernel.wait(cell)
    assert front_end.do("debugInfo")["breakpoints"] == []


def test_values_of_a_person_are_debugged(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug(changes={'limit': '[]'})")
    for _ in range(2):
        thread, frame, _ = stop(front_end)
        assert front_end.variables(frame["id"])["limit"] == "[]"
        front_end.do("continue", threadId=thread)
    assert front_end.kernel.wait(cell).reply["status"] == "ok"


def test_a_version_that_the_test_has_as_a_text_is_a_file_of_its_own(front_end):
    code = (
        "comparison = twincell.compare('x = a + 1\\ny = x * 2\\n', 'x = a + 1\\ny = x * 3\\n', predictor='frequency')"
    )
    front_end.kernel.run(code)
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    for side, factor in (("old", 2), ("new", 3)):
        thread, frame, file = stop(front_end)
        assert (file, line(front_end, frame)) == (f"thesnippet_{side}.py", f"y = x * {factor}")
        front_end.do("continue", threadId=thread)
    assert front_end.kernel.wait(cell).reply["status"] == "ok"


def test_breakpoints_of_the_front_end_in_these_files_stay(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    thread, frame, _ = stop(front_end)
    source, own = {"path": frame["source"]["path"]}, frame["line"]
    front_end.do("setBreakpoints", source=source, breakpoints=[{"line": own}, {"line": own + 1}])
    front_end.do("continue", threadId=thread)
    thread, frame, _ = stop(front_end)
    assert frame["line"] == own + 1
    front_end.do("continue", threadId=thread)
    stop(front_end)
    front_end.do("continue", threadId=thread)
    front_end.kernel.wait(cell)
    kept = front_end.do("debugInfo")["breakpoints"]
    assert [(one["source"], [point["line"] for point in one["breakpoints"]]) for one in kept] == [
        (source["path"], [own + 1])
    ]


def test_when_the_debugger_is_turned_off_both_versions_run_to_their_ends(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    stop(front_end)
    front_end.do("disconnect", restart=False, terminateDebuggee=False)
    outcome = front_end.kernel.wait(cell)
    assert outcome.reply["status"] == "ok"
    assert [text.split(":")[0] for text in outcome.text().splitlines()[-2:]] == ["old", "new"]


def test_what_runs_and_where_it_stops_is_said_before(front_end):
    front_end.attach()
    cell = front_end.kernel.send("comparison.debug()")
    front_end.kernel.wait_for_text("in this kernel, outside of the sandbox. They stop at ")
    front_end.do("disconnect", restart=False, terminateDebuggee=False)
    assert front_end.kernel.wait(cell).reply["status"] == "ok"


def test_the_view_debugs_an_execution(front_end):
    front_end.attach()
    view = "from twincell import _widget\nview = _widget.view_class()(comparison)\nprint(view.debugs)"
    assert front_end.kernel.run(view).text() == "True\n"
    request = {"do": "debug", "pair": 0, "execution": None, "changes": {"limit": "0"}}
    cell = front_end.kernel.send(f"print(view._carry_out({request}))")
    for _ in range(2):
        thread, frame, _ = stop(front_end)
        assert front_end.variables(frame["id"])["limit"] == "0"
        front_end.do("continue", threadId=thread)
    assert "'ok': True, 'outcomes': {'old': 'returned 0; its test passed here'" in front_end.kernel.wait(cell).text()
    front_end.do("disconnect", restart=False, terminateDebuggee=False)
    assert (
        "'ok': False, 'error': 'the debugger is off"
        in front_end.kernel.run(f"print(view._carry_out({request}))").text()
    )


def test_without_a_debugger_one_line_says_what_to_do_and_nothing_runs(front_end):
    outcome = front_end.kernel.run("comparison.debug()")
    assert outcome.reply["ename"] == "TwincellError"
    assert outcome.reply["evalue"].startswith("the debugger is off: turn it on")
    assert "_debug_run" not in "".join(outcome.reply["traceback"])
    assert outcome.text() == ""
    front_end.attach()
    outcome = front_end.kernel.run("comparison.debug(changes={'limit': '7'})")
    assert "both versions do the same" in outcome.reply["evalue"]


def test_outside_of_the_kernel_one_line_says_so():
    twincell = pytest.importorskip("twincell")
    comparison = twincell.compare(OLD, NEW, predictor="frequency")
    with pytest.raises(twincell.TwincellError, match="needs the kernel Twincell"):
        comparison.debug()
