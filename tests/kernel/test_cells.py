"""What plain cells do: output, results, errors, input, history, completion."""

import json

import pytest

from .client import TIMEOUT


def test_output_and_results_come_in_the_order_of_the_program(kernel):
    outcome = kernel.run(
        "import sys\nprint('one')\nprint('two', file=sys.stderr)\nprint('three')\ndisplay(4)\nprint('five')\n6"
    )
    assert outcome.types == ["execute_input", "stdout", "stderr", "stdout", "display_data", "stdout", "execute_result"]
    assert outcome.text() == "one\nthree\nfive\n"
    assert outcome.value == "6"


def test_every_message_of_a_cell_lies_between_busy_and_idle(kernel):
    messages = kernel.run("print('x'); 1").messages
    states = [m["content"]["execution_state"] for m in messages if m["msg_type"] == "status"]
    assert states == ["busy", "idle"]
    assert messages[0]["msg_type"] == messages[-1]["msg_type"] == "status"


def test_output_is_seen_while_the_cell_still_runs(kernel, tmp_path):
    mark = tmp_path / "seen"
    msg_id = kernel.send(
        f"import os, time\nprint('early')\nwhile not os.path.exists({str(mark)!r}): time.sleep(0.01)\nprint('late')"
    )
    kernel.wait_for_text("early")
    mark.touch()
    assert kernel.wait(msg_id).text() == "late\n"


def test_many_prints_become_few_messages_and_lose_nothing(kernel):
    outcome = kernel.run("for n in range(20_000): print(n)")
    assert outcome.text().split() == [str(n) for n in range(20_000)]
    assert any(content["text"].count("\n") > 1 for content in outcome.of("stream"))


def test_text_that_is_no_valid_unicode_does_not_end_a_cell(kernel):
    assert kernel.run(r"print('\ud800 café ✓')").text() == "? café ✓\n"
    assert kernel.run(r"'\ud800'").reply["status"] == "ok"


def test_a_display_is_updated_under_its_id(kernel):
    outcome = kernel.run("handle = display('old', display_id='d1')\nhandle.update('new')")
    assert outcome.of("display_data")[0]["transient"] == {"display_id": "d1"}
    update = outcome.of("update_display_data")[0]
    assert update["transient"] == {"display_id": "d1"}
    assert update["data"]["text/plain"] == "'new'"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("{1: {2}, 'b': b'x'}", {"1": [2], "b": "eA=="}),
        ("[math.nan, {'a': math.inf}, 1.5]", [None, {"a": None}, 1.5]),
        ("[dataclasses.make_dataclass('Point', ['x', 'y'])(1, {2})]", [{"x": 1, "y": [2]}]),
        ("[enum.Enum('Color', {'RED': 'red'}).RED, enum.Enum('Odd', {'A': math.nan}).A]", ["red", None]),
        (
            "[uuid.UUID(int=1), decimal.Decimal('1.50'), fractions.Fraction(1, 2)]",
            [f"{'0' * 8}-0000-0000-0000-{1:012}", "1.50", 0.5],
        ),
        ("[datetime.date(2024, 1, 2), datetime.time(3, 4)]", ["2024-01-02", "03:04:00"]),
        (
            "[numpy.bool_(False), numpy.float32('nan'), numpy.int8(3), numpy.arange(2), numpy.float64(0.5)]",
            [False, None, 3, [0, 1], 0.5],
        ),
        (
            "[numpy.longdouble(1.5), numpy.clongdouble(1), numpy.array(2), numpy.datetime64('2024-01-02', 'ns')]",
            [1.5, "(1+0j)", 2, "2024-01-02T00:00:00.000000000"],
        ),
        ("[1j, object]", ["1j", "<class 'object'>"]),
    ],
)
def test_values_that_json_does_not_know_are_displayed(kernel, value, shown):
    if "numpy" in value:
        pytest.importorskip("numpy")
        kernel.run("import numpy")
    outcome = kernel.run(
        "import dataclasses, datetime, decimal, enum, fractions, math, uuid\n"
        f"display({{'application/json': {value}, 'text/plain': 'odd'}}, raw=True)"
    )
    assert outcome.of("display_data")[0]["data"]["application/json"] == shown


CYCLE = """
import dataclasses
@dataclasses.dataclass(repr=False)
class Node:
    parent: object
    children: list
    _private: int = 0
    def __repr__(self): raise ValueError
root = Node(None, [])
root.children = [Node(root, [root]) for _ in range(8)]
nested = []
for _ in range(100_000): nested = [nested]
"""


def test_values_that_hold_themselves_are_displayed(kernel):
    kernel.run(CYCLE)
    for value in ("root", "nested"):
        shown = kernel.run(f"display({{'application/json': {value}, 'text/plain': 'odd'}}, raw=True)")
        json = shown.of("display_data")[0]["data"]["application/json"]
        assert shown.reply["status"] == "ok"
        if value == "root":
            assert json["parent"] is None and "_private" not in json and len(json["children"]) == 8
            assert "Node object" in json["children"][0]["parent"]


def test_most_displayed_data_are_forgotten(kernel):
    if kernel.run("hasattr(get_ipython().history_manager, 'outputs')").value == "False":
        pytest.skip("this IPython keeps no outputs")
    show = "for n in (4, 3, 2, 1): display({'application/json': {'a': [str(n)] * n * 100_000}}, raw=True)\ndisplay(5)"
    kernel.run(show)
    # The one of 0.8 MB and the last are kept.
    assert kernel.run("len(get_ipython().history_manager.outputs[2])").value == "2"
    kernel.run("get_ipython().display_pub.store_display_history = True")
    kernel.run(show)
    assert kernel.run("len(get_ipython().history_manager.outputs[5])").value == "5"


def test_a_failed_cell_gives_its_traceback_in_the_reply_and_on_iopub(kernel):
    outcome = kernel.run("def f():\n    raise ValueError('no such thing')\nprint('before')\nf()")
    error = outcome.of("error")[0]
    assert outcome.types == ["execute_input", "stdout", "error"]
    assert outcome.reply["status"] == "error"
    for content in (error, outcome.reply):
        assert (content["ename"], content["evalue"]) == ("ValueError", "no such thing")
        assert "no such thing" in "\n".join(content["traceback"])


@pytest.mark.parametrize("code", ["def", "x = (", "%nosuchmagic", "!&"])
def test_a_cell_that_cannot_run_is_an_error(kernel, code):
    outcome = kernel.run(code)
    assert kernel.run("1 + 1").value == "2"
    assert outcome.reply["status"] == "error" or outcome.text("stderr")


def test_an_exception_that_cannot_be_shown_as_text_is_an_error_like_any_other(kernel):
    outcome = kernel.run("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E")
    assert outcome.reply["status"] == "error"
    assert kernel.run("1 + 1").value == "2"


def test_a_value_whose_repr_fails_is_an_error(kernel):
    outcome = kernel.run("class V:\n    def __repr__(self): raise RuntimeError('no repr')\nV()")
    assert outcome.reply["status"] == "error"
    assert "no repr" in outcome.of("error")[0]["evalue"]


def test_a_failed_cell_aborts_the_cells_that_wait(kernel):
    first, second, third = kernel.send("1/0"), kernel.send("print('no')"), kernel.send("print('no')")
    statuses = [kernel.wait(msg_id).reply["status"] for msg_id in (first, second, third)]
    assert statuses == ["error", "aborted", "aborted"]
    assert kernel.run("1").reply["status"] == "ok"


def test_tasks_go_on_while_cells_that_shall_be_aborted_may_still_arrive(kernel):
    kernel.run(
        "import asyncio\n"
        "get_ipython().kernel.stop_on_error_timeout = 0.5\n"
        "failed = asyncio.Event()\n"
        "async def go_on():\n"
        "    await failed.wait()\n"
        "    print('gone on')\n"
        "task = asyncio.create_task(go_on())\n"
        "await asyncio.sleep(0)"
    )
    failing = kernel.send("failed.set()\n1/0")
    kernel.wait_for_text("gone on")
    assert kernel.wait(failing).reply["status"] == "error"


def test_without_stop_on_error_the_next_cell_runs(kernel):
    first, second = kernel.send("1/0", stop_on_error=False), kernel.send("print('yes')")
    assert kernel.wait(first).reply["status"] == "error"
    assert kernel.wait(second).text() == "yes\n"


def test_user_expressions_are_evaluated_after_the_cell(kernel):
    reply = kernel.run("x = 20", user_expressions={"good": "x + 1", "bad": "nothing"}).reply
    assert reply["user_expressions"]["good"]["data"]["text/plain"] == "21"
    assert reply["user_expressions"]["bad"]["ename"] == "NameError"


def test_a_silent_cell_shows_nothing_and_is_not_counted(kernel):
    before = kernel.run("0").reply["execution_count"]
    assert kernel.run("1", silent=True, store_history=False).types == []
    assert kernel.run("2").reply["execution_count"] == before + 1


def test_a_cell_outside_of_history_is_not_counted(kernel):
    before = kernel.run("0").reply["execution_count"]
    assert kernel.run("1", store_history=False).value == "1"
    assert kernel.run("2").reply["execution_count"] == before + 1


@pytest.mark.parametrize("function, password", [("input", False), ("__import__('getpass').getpass", True)])
def test_input_asks_the_client(kernel, function, password):
    msg_id = kernel.send(f"print({function}('name? '))", allow_stdin=True)
    question = kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    assert question["content"] == {"prompt": "name? ", "password": password}
    assert question["parent_header"]["msg_id"] == msg_id
    kernel.channels.input("Ada")
    assert kernel.wait(msg_id).text() == "Ada\n"


def test_input_where_the_client_answers_no_questions_is_an_error(kernel):
    assert kernel.run("input()").reply["ename"] == "StdinNotImplementedError"


def test_await_at_the_top_level(kernel):
    outcome = kernel.run("import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 7\nawait f()")
    assert outcome.value == "7"


def test_a_task_goes_on_after_its_cell_and_writes_under_it(kernel):
    start = kernel.run(
        "import asyncio\n"
        "async def late():\n"
        "    await may_go.wait()\n"
        "    print('from the task')\n"
        "may_go = asyncio.Event()\n"
        "task = asyncio.create_task(late())"
    )
    first = start.messages[0]["parent_header"]["msg_id"]
    kernel.send("may_go.set()")
    assert kernel.wait_for("stream")["parent_header"]["msg_id"] == first


def test_threads_and_forked_processes_write_into_the_notebook(kernel):
    outcome = kernel.run(
        "import multiprocessing, threading\n"
        "workers = [threading.Thread(target=print, args=('thread',)),\n"
        "           multiprocessing.get_context('fork').Process(target=print, args=('process',))]\n"
        "for worker in workers: worker.start(); worker.join()"
    )
    assert sorted(outcome.text().split()) == ["process", "thread"]


def test_a_forked_process_ends_with_its_cell(kernel):
    end = "if child: status = os.waitpid(child, 0)[1]\nelse: "
    for rest, status, written in [
        ("__import__('sys').exit(3)", 3 << 8, ""),
        ("print('there')", 0, "there\n"),
        ("await asyncio.sleep(0)", 0, ""),
        ("1 / 0", 256, ""),
    ]:
        outcome = kernel.run(f"import asyncio, os\nchild = os.fork()\n{end}{rest}")
        assert outcome.text() == written
        assert ("ZeroDivisionError" in outcome.text("stderr")) == (rest == "1 / 0")
        assert kernel.run("status").value == str(status)


def test_a_program_that_a_cell_starts_writes_into_the_notebook(kernel):
    assert kernel.run("!echo from a program").text().strip() == "from a program"


def test_completion_knows_names_of_cells_and_attributes(kernel):
    kernel.run("telescope = 'long'")
    for code, match in [("print(telesc", "telescope"), ("telescope.upp", "upper"), ("import jso", "json")]:
        reply = kernel.ask("complete_request", code=code, cursor_pos=len(code))
        # Some versions of IPython put the dot of an attribute into its completion.
        assert match in [found.lstrip(".") for found in reply["matches"]]
        assert code[reply["cursor_start"] : reply["cursor_end"]].lstrip(".") in match


def test_completion_counts_characters_not_bytes(kernel):
    kernel.run("étoile = 1")
    code = "'日本語'; éto"
    reply = kernel.ask("complete_request", code=code, cursor_pos=len(code))
    assert "étoile" in reply["matches"]
    assert reply["cursor_start"] == code.index("éto")


def test_inspection_shows_the_source_only_on_the_second_level(kernel):
    kernel.run("def documented(a):\n    'says what it does'\n    return a + 12345")
    plain = kernel.ask("inspect_request", code="documented", cursor_pos=3, detail_level=0)
    source = kernel.ask("inspect_request", code="documented", cursor_pos=3, detail_level=1)
    assert plain["found"] and "says what it does" in plain["data"]["text/plain"]
    assert "12345" not in plain["data"]["text/plain"]
    assert "12345" in source["data"]["text/plain"]
    assert kernel.ask("inspect_request", code="nothing_here", cursor_pos=3, detail_level=0)["found"] is False


def test_history_by_tail_range_and_search(kernel):
    count = kernel.run("'needle' + '1'").reply["execution_count"]
    kernel.run("2")
    tail = kernel.ask("history_request", hist_access_type="tail", n=2, output=False, raw=True)["history"]
    assert [source for _session, _line, source in tail] == ["'needle' + '1'", "2"]
    options = {"session": 0, "start": count, "stop": count + 1, "output": True, "raw": True}
    found = kernel.ask("history_request", hist_access_type="range", **options)["history"]
    assert found[0][2][0] == "'needle' + '1'"
    found = kernel.ask("history_request", hist_access_type="search", pattern="*needle*", output=False, raw=True)
    assert found["history"][-1][2] == "'needle' + '1'"


def test_a_cell_can_read_the_metadata_of_its_request(kernel):
    outcome = kernel.run("print(get_ipython().parent_metadata['cellId'])", metadata={"cellId": "c-1"})
    assert outcome.text() == "c-1\n"
    assert kernel.run("print(get_ipython().parent_metadata)").text() == "{}\n"


def test_figures_are_shown_in_the_notebook(kernel):
    pytest.importorskip("matplotlib")
    outcome = kernel.run("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert any("image/png" in content["data"] for content in outcome.of("display_data"))
    assert kernel.run("1;").types == ["execute_input"]


def test_widgets_talk_over_comms(kernel):
    pytest.importorskip("ipywidgets")
    outcome = kernel.run("import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\nslider")
    shown = outcome.of("execute_result")[0]["data"]["application/vnd.jupyter.widget-view+json"]
    assert shown["model_id"] in {content["comm_id"] for content in outcome.of("comm_open")}
    assert shown["model_id"] in kernel.ask("comm_info_request", target_name="jupyter.widget")["comms"]

    message = {"comm_id": shown["model_id"], "data": {"method": "update", "state": {"value": 9}}}
    kernel.request("comm_msg", message)
    assert kernel.run("slider.value").value == "9"


def test_a_comm_carries_buffers_both_ways(kernel):
    kernel.run(
        "import comm\n"
        "def opened(channel, message):\n"
        "    def answer(message):\n"
        "        channel.send({'got': message['content']['data']}, buffers=[bytes(message['buffers'][0])[::-1]])\n"
        "    channel.on_msg(answer)\n"
        "comm.get_comm_manager().register_target('echo', opened)"
    )
    kernel.request("comm_open", {"comm_id": "c1", "target_name": "echo", "data": {}})
    session = kernel.channels.session
    message = session.msg("comm_msg", {"comm_id": "c1", "data": {"n": 1}})
    session.send(kernel.channels.shell_channel.socket, message, buffers=[b"abc"])
    answer = kernel.wait_for("comm_msg")
    assert answer["content"]["data"] == {"got": {"n": 1}}
    assert bytes(answer["buffers"][0]) == b"cba"


def test_the_kernel_says_what_it_is(kernel):
    reply = kernel.ask("kernel_info_request")
    assert reply["implementation"] == "twincell"
    assert reply["protocol_version"] == "5.5"
    assert reply["language_info"]["name"] == "python"
    json.dumps(reply)


def test_the_ports_are_told(kernel):
    reply = kernel.ask("connect_request")
    assert reply["shell_port"] == kernel.channels.get_connection_info()["shell_port"]


def test_what_programs_and_c_code_write_comes_into_the_notebook(kernel):
    code = (
        "import ctypes, os, subprocess, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.puts(b'from C')\n"
        "os.write(2, b'to descriptor 2\\n')\n"
        "subprocess.run(['echo', 'from a program'])\n"
        "subprocess.run(['echo', 'to sys.stdout'], stdout=sys.stdout)\n"
        "os.system('echo from a shell')\n"
        "sys.stdout.buffer.write(b'bytes\\n')\n"
        "libc.printf(b'not a whole line')"
    )
    outcome = kernel.run(code + ";")
    expected = "from C\nfrom a program\nto sys.stdout\nfrom a shell\nbytes\nnot a whole line"
    assert outcome.text() == expected
    assert outcome.text("stderr") == "to descriptor 2\n"


def test_prints_and_what_is_written_to_descriptors_keep_their_order(kernel):
    outcome = kernel.run(
        "import os\n"
        "for n in range(200):\n"
        "    print('python', n)\n"
        "    os.write(1, f'descriptor {n}\\n'.encode())\n"
        "display(1)\n"
        "os.write(1, b'last\\n');"
    )
    lines = [f"{who} {n}" for n in range(200) for who in ("python", "descriptor")]
    assert outcome.text().splitlines() == [*lines, "last"]
    assert outcome.types == ["execute_input", "stdout", "display_data", "stdout"]


def test_characters_that_a_program_writes_in_pieces_stay_whole(kernel):
    code = "import os\nfor byte in '✓ é 🙂'.encode(): os.write(1, bytes([byte]))\nos.write(1, b'\\xff!\\n');"
    assert kernel.run(code).text() == "✓ é 🙂\ufffd!\n"


def test_a_program_that_writes_faster_than_anybody_reads_loses_nothing(kernel):
    outcome = kernel.run("import subprocess\nsubprocess.run('yes x | head -c 5000000', shell=True);")
    assert outcome.text() == "x\n" * 2_500_000


def test_a_thread_writes_under_the_cell_that_started_it(kernel):
    start = kernel.run(
        "import threading\n"
        "may_go = threading.Event()\n"
        "def late():\n"
        "    may_go.wait()\n"
        "    print('from the thread')\n"
        "    display('shown by the thread')\n"
        "threading.Thread(target=late).start()"
    )
    first = start.messages[0]["parent_header"]["msg_id"]
    kernel.send("may_go.set()")
    for msg_type in ("stream", "display_data"):
        assert kernel.wait_for(msg_type)["parent_header"]["msg_id"] == first


def test_a_pool_of_threads_writes_under_the_cell_that_uses_it(kernel):
    kernel.run(
        "import asyncio, concurrent.futures\n"
        "pool = concurrent.futures.ThreadPoolExecutor(1)\n"
        "pool.submit(print, 'first').result()"
    )
    assert kernel.run("pool.submit(print, 'second').result()").text() == "second\n"
    outcome = kernel.run("await asyncio.get_running_loop().run_in_executor(pool, print, 'third')")
    assert outcome.text() == "third\n"
    assert kernel.run("await asyncio.to_thread(print, 'fourth')").text() == "fourth\n"


def test_a_message_that_is_sent_twice_is_handled_once(kernel):
    kernel.run("count = 0")
    session = kernel.channels.session
    message = session.msg("execute_request", {"code": "count += 1"})
    for _ in range(3):
        kernel.channels.shell_channel.send(message)
    assert kernel.wait(message["header"]["msg_id"]).reply["status"] == "ok"
    assert kernel.run("count").value == "1"


def test_output_is_kept_for_exporting_the_session_as_a_notebook(kernel, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    kernel.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay('shown')\nprint('then')\n'value'")
    path = tmp_path / "session.ipynb"
    kernel.run(f"%notebook {path}")
    if not path.exists():
        pytest.skip("this IPython exports no outputs")
    (cell,) = nbformat.read(path, as_version=4).cells
    kinds = [output.get("name", output.output_type) for output in cell.outputs]
    assert kinds == ["stdout", "stderr", "display_data", "stdout", "execute_result"]


def test_a_cell_that_awaits_gets_the_answer_of_a_widget(kernel):
    msg_id = kernel.send(
        "import asyncio, comm\n"
        "answered = asyncio.get_running_loop().create_future()\n"
        "widget = comm.create_comm(target_name='asking')\n"
        "widget.on_msg(lambda message: answered.set_result(message['content']['data']['n']))\n"
        "print('in the cell', await answered)"
    )
    comm_id = kernel.wait_for("comm_open")["content"]["comm_id"]
    waiting = kernel.send("print('after it')")
    kernel.request("comm_msg", {"comm_id": comm_id, "data": {"n": 42}})
    assert kernel.wait(msg_id).text() == "in the cell 42\n"
    assert kernel.wait(waiting).text() == "after it\n"


def test_context_variables_of_a_cell_are_set_in_the_next(kernel):
    kernel.run("import contextvars\nname = contextvars.ContextVar('name', default='none')\nname.set('of a cell');")
    assert kernel.run("name.get()").value == "'of a cell'"
    if kernel.run("import sys; sys.version_info >= (3, 11)").value == "True":
        kernel.run("import asyncio; await asyncio.sleep(0); name.set('of an async cell')")
        assert kernel.run("name.get()").value == "'of an async cell'"


def test_a_thread_asks_the_client_of_its_cell(kernel):
    msg_id = kernel.send(
        "import getpass, threading\n"
        "def ask(): print('heard', input('name? '), getpass.getpass('word? '))\n"
        "thread = threading.Thread(target=ask); thread.start(); thread.join()",
        allow_stdin=True,
    )
    for prompt, answer in (("name? ", "Ada"), ("word? ", "secret")):
        assert kernel.channels.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"] == prompt
        kernel.channels.input(answer)
    assert kernel.wait(msg_id).text() == "heard Ada secret\n"


def test_a_thread_cannot_ask_after_the_end_of_its_cell(kernel):
    kernel.run(
        "import threading\n"
        "may_go = threading.Event()\n"
        "def ask():\n"
        "    global failure\n"
        "    may_go.wait()\n"
        "    try: input()\n"
        "    except Exception as error: failure = error\n"
        "thread = threading.Thread(target=ask); thread.start()",
        allow_stdin=True,
    )
    assert "does not support input" in kernel.run("may_go.set(); thread.join(); str(failure)").value


@pytest.mark.parametrize(
    ("start", "join"),
    [
        ("import threading\nwork = threading.Thread(target=late); work.start()", "work.join()"),
        (
            (
                "async def ask():\n    while not may_go.is_set(): await asyncio.sleep(0.01)\n    late()\n"
                "work = asyncio.create_task(ask())"
            ),
            "await work",
        ),
    ],
    ids=["thread", "task"],
)
def test_a_thread_or_task_of_an_earlier_cell_asks_in_the_running_one(kernel, start, join):
    kernel.run(
        "import asyncio, threading\n"
        "may_go = threading.Event()\n"
        "def late():\n"
        "    global answer\n"
        "    may_go.wait()\n"
        "    answer = input('name? ')\n" + start
    )
    msg_id = kernel.send(f"may_go.set(); {join}; answer", allow_stdin=True)
    assert kernel.channels.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"] == "name? "
    kernel.channels.input("Ada")
    assert kernel.wait(msg_id).value == "'Ada'"


def test_a_thread_that_is_not_answered_before_the_end_of_its_cell_keeps_nobody_from_asking(kernel, tmp_path):
    mark = tmp_path / "asked"
    msg_id = kernel.send(
        "import os, threading, time\n"
        "def ask():\n"
        "    global failure\n"
        "    try: input()\n"
        "    except Exception as error: failure = error\n"
        "thread = threading.Thread(target=ask); thread.start()\n"
        f"while not os.path.exists({str(mark)!r}): time.sleep(0.01)",
        allow_stdin=True,
    )
    kernel.channels.get_stdin_msg(timeout=TIMEOUT)
    mark.touch()
    kernel.wait(msg_id)
    msg_id = kernel.send("thread.join(); str(failure), input('next? ')", allow_stdin=True)
    assert kernel.channels.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"] == "next? "
    kernel.channels.input("answered")
    value = kernel.wait(msg_id).value
    assert "before the end of its cell" in value and "'answered'" in value


def test_a_thread_of_a_thread_writes_under_the_cell_that_started_both(kernel):
    start = kernel.run(
        "import threading\n"
        "may_go = threading.Event()\n"
        "def child(): print('from the child')\n"
        "def parent(): may_go.wait(); threading.Thread(target=child).start()\n"
        "threading.Thread(target=parent).start()"
    )
    first = start.messages[0]["parent_header"]["msg_id"]
    kernel.send("may_go.set()")
    assert kernel.wait_for("stream")["parent_header"]["msg_id"] == first


def test_ipython_learns_the_metadata_of_a_cell(kernel):
    kernel.run("def tell(info): print(info.cell_id, getattr(info, 'cell_meta', {'tags': ['a']})['tags'])")
    kernel.run("get_ipython().events.register('pre_run_cell', tell)")
    assert kernel.run("1", metadata={"cellId": "c-7", "tags": ["a"]}).text() == "c-7 ['a']\n"
    kernel.run("get_ipython().events.unregister('pre_run_cell', tell)", metadata={"tags": []})


def test_a_gui_works_while_the_kernel_waits(kernel):
    kernel.run(
        "import sys, types\n"
        "turns = []\n"
        "class Tk:\n"
        "    def withdraw(self): pass\n"
        "    def update(self): turns.append(1)\n"
        "before = sys.modules.get('tkinter')\n"
        "sys.modules['tkinter'] = types.SimpleNamespace(Tk=Tk)"
    )
    assert kernel.run("%gui tk").reply["status"] == "ok"
    kernel.run("import asyncio\nwhile len(turns) < 3: await asyncio.sleep(0.01)")
    kernel.run("%gui none")
    assert kernel.run("kernel = get_ipython().kernel\nawait kernel.gui_task\nkernel.eventloop").value is None
    assert "these are: gtk" in kernel.run("%gui nosuch").text("stderr") + str(kernel.run("%gui nosuch").reply)


def test_the_main_module_is_a_module_like_others(fresh_kernel):
    names = "len([__doc__, __loader__, __package__, __spec__])"
    assert fresh_kernel.run(names).value == "4"
    assert fresh_kernel.run("import sys, types; type(sys.modules['__main__']) is types.ModuleType").value == "True"
    # A spawned process asks for `__spec__`.
    assert fresh_kernel.run(f"%reset -f\n{names}").value == "4"


# A server and a client that need no certificate.
ENCRYPTED = """
import asyncio, ssl

def encryption(side):
    context = ssl.SSLContext(side)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("aNULL:@SECLEVEL=0")
    return context

async def answer(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()

server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=encryption(ssl.PROTOCOL_TLS_SERVER))
port = server.sockets[0].getsockname()[1]
reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=encryption(ssl.PROTOCOL_TLS_CLIENT))
writer.write(b"secret\\n")
answered = await reader.readline()
writer.close()
server.close()
answered, asyncio.sslproto.SSLProtocol.__name__
"""


def test_openssl_is_loaded_when_a_cell_uses_it(fresh_kernel):
    loaded = "import sys\n[name for name in ('ssl', 'asyncio.sslproto', '_hashlib') if name in sys.modules]"
    assert fresh_kernel.run(loaded).value == "[]"
    assert fresh_kernel.run(ENCRYPTED).value == "(b'SECRET\\n', 'SSLProtocol')"
    assert fresh_kernel.run(loaded).value == "['ssl', 'asyncio.sslproto']"


def test_a_traceback_has_no_frame_of_the_kernel_between_pool_and_function(kernel):
    outcome = kernel.run(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def fail(): 1 / 0\n"
        "with ThreadPoolExecutor(1) as pool: pool.submit(fail).result()"
    )
    (error,) = outcome.of("error")
    assert "fail()" in "".join(error["traceback"]) and "twincell" not in "".join(error["traceback"])


def test_a_thread_that_a_module_started_writes_under_the_running_cell(kernel, tmp_path):
    (tmp_path / "serving.py").write_text(
        "import queue, threading\n"
        "jobs = queue.Queue()\n"
        "def work():\n"
        "    while job := jobs.get(): job(); jobs.task_done()\n"
        "def start(): threading.Thread(target=work, daemon=True).start()\n"
    )
    kernel.run(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport serving; serving.start()")
    for name in ("first", "second"):
        assert kernel.run(f"serving.jobs.put(lambda: print({name!r})); serving.jobs.join()").text() == f"{name}\n"
    kernel.run("serving.jobs.put(None)")
