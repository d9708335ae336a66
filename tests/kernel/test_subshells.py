"""Subshells (Jupyter Enhancement Proposal 91): requests that are handled while a cell of the main shell runs."""

import pytest

from .client import TIMEOUT


@pytest.fixture
def subshell(kernel):
    created = kernel.control("create_subshell_request")
    assert created["status"] == "ok"
    yield created["subshell_id"]
    kernel.control("delete_subshell_request", subshell_id=created["subshell_id"])


def send(kernel, subshell, msg_type, **content):
    message = kernel.channels.session.msg(msg_type, content)
    message["header"]["subshell_id"] = subshell
    kernel.channels.shell_channel.send(message)
    return message["header"]["msg_id"]


def test_the_kernel_says_that_it_has_subshells(kernel):
    assert "kernel subshells" in kernel.ask("kernel_info_request")["supported_features"]


def test_subshells_are_created_listed_and_deleted(kernel):
    assert kernel.control("list_subshell_request")["subshell_id"] == []
    ids = sorted(kernel.control("create_subshell_request")["subshell_id"] for _ in range(2))
    assert sorted(kernel.control("list_subshell_request")["subshell_id"]) == ids
    for subshell in ids:
        assert kernel.control("delete_subshell_request", subshell_id=subshell) == {"status": "ok"}
    assert kernel.control("list_subshell_request")["subshell_id"] == []
    assert kernel.control("delete_subshell_request", subshell_id=ids[0])["status"] == "error"


def test_a_subshell_works_while_a_cell_runs(kernel, subshell, tmp_path):
    mark = tmp_path / "done"
    main = kernel.send(
        f"x = 20\nprint('started')\nimport os, time\nwhile not os.path.exists({str(mark)!r}): time.sleep(0.01)"
    )
    kernel.wait_for_text("started")
    outcome = kernel.wait(send(kernel, subshell, "execute_request", code="print('in between')\nx + 1"))
    assert (outcome.text(), outcome.value) == ("in between\n", "21")
    reply = kernel.wait(send(kernel, subshell, "complete_request", code="pri", cursor_pos=3)).reply
    assert "print" in reply["matches"]
    outcome = kernel.wait(
        send(kernel, subshell, "execute_request", code="import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')")
    )
    assert outcome.text() == "awaited\n"
    mark.touch()
    assert kernel.wait(main).reply["status"] == "ok"


def test_a_failure_in_a_subshell_aborts_only_what_waits_there(kernel, subshell):
    kernel.run("import threading\nmay_fail = threading.Event()")
    failing = send(kernel, subshell, "execute_request", code="may_fail.wait(); 1/0")
    waiting = send(kernel, subshell, "execute_request", code="1")
    # The kernel takes requests in their order, so the one that waits is there.
    assert kernel.run("may_fail.set(); 2 + 2").value == "4"
    replies = {}
    while len(replies) < 2:
        reply = kernel.channels.get_shell_msg(timeout=TIMEOUT)
        replies[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
    assert (replies[failing], replies[waiting]) == ("error", "aborted")


@pytest.mark.parametrize("exception", ["SystemExit", "KeyboardInterrupt"])
def test_a_task_that_exits_does_not_end_its_subshell(kernel, subshell, exception):
    code = f"import asyncio\nasync def leave(): raise {exception}\ntask = asyncio.ensure_future(leave())"
    kernel.wait(send(kernel, subshell, "execute_request", code=code))
    awaiting = send(kernel, subshell, "execute_request", code="await asyncio.wait([task]); 1 + 1")
    assert kernel.wait(awaiting).value == "2"


def test_the_tasks_of_a_subshell_end_with_it(kernel):
    subshell = kernel.control("create_subshell_request")["subshell_id"]
    code = "import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(600)); await asyncio.sleep(0)"
    kernel.wait(send(kernel, subshell, "execute_request", code=code))
    assert kernel.control("delete_subshell_request", subshell_id=subshell)["status"] == "ok"
    assert kernel.run("task.cancelled(), task.get_loop().is_closed()").value == "(True, True)"


def test_exit_in_a_subshell_ends_a_kernel_whose_main_shell_waits(fresh_kernel):
    subshell = fresh_kernel.control("create_subshell_request")["subshell_id"]
    fresh_kernel.wait(send(fresh_kernel, subshell, "execute_request", code="exit()"))
    assert fresh_kernel.ends()


def test_a_request_for_an_unknown_subshell_is_an_error(kernel):
    reply = kernel.wait(send(kernel, "nobody", "execute_request", code="1")).reply
    assert reply["status"] == "error"
    assert "nobody" in reply["evalue"]
    assert kernel.run("1 + 1").value == "2"


#: A widget, which cells of several shells use.
WIDGET = """
import asyncio, comm, threading, time
threads, order, waiting = {}, [], None
def on_answer(message):
    name = message["content"]["data"]["content"]["id"]
    threads[name] = threading.current_thread()
    order.append(name)
    if waiting is not None and not waiting.done():
        waiting.set_result(name)
widget = comm.create_comm(target_name="asking")
widget.on_msg(on_answer)
def ask(name):
    widget.send({"method": "custom", "content": {"id": name}})
widget.comm_id
"""


@pytest.fixture
def answer(kernel, subshell):
    """Answers what the widget, which is made in a subshell, has asked. Its message goes to this subshell."""
    comm_id = kernel.wait(send(kernel, subshell, "execute_request", code=WIDGET)).value.strip("'")

    def answer(name):
        data = {"method": "custom", "content": {"id": name}}
        return send(kernel, subshell, "comm_msg", comm_id=comm_id, data=data)

    return answer


#: The question leaves when the cell awaits already.
ASK_AND_AWAIT = """
waiting = asyncio.get_running_loop().create_future()
asyncio.get_running_loop().call_soon(ask, "asked")
await waiting, threads[await waiting] is threading.current_thread()
"""


@pytest.mark.parametrize("answered", ["asked", "another"])
def test_an_answer_to_a_subshell_comes_to_the_cell_that_asked_and_awaits_it(kernel, answer, answered):
    asking = kernel.send(ASK_AND_AWAIT)
    kernel.wait_for("comm_msg")
    answer(answered)
    assert kernel.wait(asking).value == f"('{answered}', True)"


def test_an_answer_comes_to_the_shell_that_asked_and_not_to_the_one_that_asked_last(kernel, subshell, answer):
    asking = kernel.send(ASK_AND_AWAIT)
    kernel.wait_for("comm_msg")
    kernel.wait(send(kernel, subshell, "execute_request", code="ask('later')"))
    answer("asked")
    assert kernel.wait(asking).value == "('asked', True)"


#: A cell that only awaits while messages take a while, and one that works between two awaits.
AWAITING = {
    "waits": (
        "widget.on_msg(lambda message: (time.sleep(0.003), on_answer(message)))\n",
        "    await asyncio.sleep(0.001)\n",
    ),
    "works": ("", "    await asyncio.sleep(0)\n    time.sleep(0.003)\n"),
}


@pytest.mark.parametrize("what", AWAITING)
def test_messages_for_a_cell_that_awaits_keep_their_order_and_their_thread(kernel, answer, what):
    before, step = AWAITING[what]
    handling = kernel.send(
        f"{before}asyncio.get_running_loop().call_soon(ask, 'any')\nwhile len(order) < 40:\n{step}"
        "order == sorted(order), set(threads.values()) == {threading.current_thread()}"
    )
    kernel.wait_for("comm_msg")
    for number in range(40):
        answer(f"{number:02}")
    assert kernel.wait(handling).value == "(True, True)"


def test_an_answer_comes_in_a_subshell_while_the_cell_that_asked_does_not_await(kernel, answer):
    asking = kernel.send(
        "ask('asked')\nwhile not threads: time.sleep(0.01)\nthreads['asked'] is threading.current_thread()"
    )
    kernel.wait_for("comm_msg")
    answer("asked")
    assert kernel.wait(asking).value == "False"


def test_messages_keep_their_order_when_the_cell_that_asked_does_not_await(kernel, answer):
    asking = kernel.send(
        "ask('any')\nwhile len(order) < 40: time.sleep(0.01)\n"
        "order == sorted(order), threading.current_thread() in threads.values()"
    )
    kernel.wait_for("comm_msg")
    for number in range(40):
        answer(f"{number:02}")
    assert kernel.wait(asking).value == "(True, False)"


def test_a_cell_goes_on_when_a_widget_of_a_subshell_did_what_it_awaits(kernel, answer):
    awaiting = kernel.send("waiting = asyncio.get_running_loop().create_future()\nprint('awaits')\nawait waiting")
    kernel.wait_for_text("awaits")
    answer("unasked")
    assert kernel.wait(awaiting).value == "'unasked'"


def test_a_task_of_an_earlier_cell_goes_on_when_it_is_answered_through_a_subshell(kernel, answer):
    kernel.run(
        "waiting = asyncio.get_running_loop().create_future()\n"
        "async def show(): print('got', await waiting, threading.current_thread() is threads['asked'])\n"
        "task = asyncio.ensure_future(show())\n"
        "ask('asked')"
    )
    answer("asked")
    kernel.wait_for_text("got asked True")


@pytest.mark.parametrize("data", [None, {"content": []}, {"content": {"id": 1}}, {"content": {"id": ""}}])
def test_odd_messages_for_a_comm_do_no_harm(kernel, subshell, data):
    comm_id = kernel.wait(send(kernel, subshell, "execute_request", code=WIDGET)).value.strip("'")
    kernel.run("widget.on_msg(order.append)\nask('asked')")
    send(kernel, subshell, "comm_msg", comm_id=comm_id, data=data)
    assert kernel.run("while not order: await asyncio.sleep(0.001)\nlen(order)").value == "1"


def test_a_kernel_without_comms_runs_cells(fresh_kernel):
    fresh_kernel.run("import comm.base_comm; get_ipython().kernel.comm_manager = comm.base_comm.CommManager()")
    assert fresh_kernel.run("1 + 1").value == "2"
