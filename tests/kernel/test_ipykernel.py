"""Libraries that reach for ipykernel and its kernel find them, whether ipykernel is installed or not."""

import pytest

from .client import TIMEOUT, Client
from .conftest import HAS_FAILED
from .shared import SharedKernel


@pytest.fixture(params=["installed", "missing"])
def reached(request):
    """A kernel where ipykernel is installed, and one where it is not."""
    if request.param == "installed":
        return request.getfixturevalue("kernel")
    shared = request.getfixturevalue("kernel_without_ipykernel")
    request.addfinalizer(lambda: shared.clean(has_failed=request.node.stash.get(HAS_FAILED, False)))
    return shared.get()


@pytest.fixture(scope="session")
def kernel_without_ipykernel(tmp_path_factory):
    # In a folder that comes first, a module that Python finds and cannot load hides the installed package.
    profile = tmp_path_factory.mktemp("ipython")
    (profile / "profile_default").mkdir()
    (profile / "profile_default" / "ipython_kernel_config.py").write_text(
        "import importlib.machinery\n"
        "find = importlib.machinery.PathFinder.find_spec.__func__\n"
        "def find_others(cls, name, path=None, target=None):\n"
        "    return None if name == 'ipykernel' else find(cls, name, path, target)\n"
        "importlib.machinery.PathFinder.find_spec = classmethod(find_others)\n"
    )
    shared = SharedKernel(lambda: Client.start(extra_arguments=[f"--ipython-dir={profile}"]))
    yield shared
    shared.close()


def ok(outcome):
    assert outcome.reply["status"] == "ok", "\n".join(outcome.reply["traceback"])
    return outcome


@pytest.mark.parametrize(
    "name",
    [
        "ipykernel.get_connection_file",
        "ipykernel.get_connection_info",
        "ipykernel.comm.Comm",
        "ipykernel.comm.CommManager",
        "ipykernel.comm.comm.Comm",
        "ipykernel.comm.manager.CommManager",
        "ipykernel.connect.get_connection_info",
        "ipykernel.connect.connect_qtconsole",
        "ipykernel.displayhook.ZMQShellDisplayHook",
        "ipykernel.iostream.OutStream",
        "ipykernel.ipkernel.IPythonKernel",
        "ipykernel.jsonutil.json_clean",
        "ipykernel.kernelapp.IPKernelApp",
        "ipykernel.kernelbase.Kernel",
        "ipykernel.pylab.backend_inline.show",
        "ipykernel.pylab.config.InlineBackend",
        "ipykernel.zmqshell.ZMQInteractiveShell",
        "ipykernel.zmqshell.ZMQDisplayPublisher",
    ],
)
def test_names_are_where_ipykernel_has_them(reached, name):
    if ".pylab." in name:
        pytest.importorskip("matplotlib")
    module, _, attribute = name.rpartition(".")
    ok(reached.run(f"from {module} import {attribute}"))


def test_packages_see_that_they_run_in_a_notebook(reached):
    outcome = ok(
        reached.run(
            "import sys, ipykernel\n"
            "from ipykernel.iostream import OutStream\n"
            "from ipykernel.ipkernel import IPythonKernel\n"
            "from ipykernel.kernelapp import IPKernelApp\n"
            "from ipykernel.kernelbase import Kernel\n"
            "from ipykernel.zmqshell import ZMQInteractiveShell\n"
            "shell = get_ipython()\n"
            "[\n"
            "    'ipykernel' in sys.modules and 'ipykernel.zmqshell' in sys.modules,\n"
            "    ipykernel.version_info >= (6, 18),\n"
            "    isinstance(shell, ZMQInteractiveShell),\n"
            "    str(type(shell)) == \"<class 'ipykernel.zmqshell.ZMQInteractiveShell'>\",\n"
            "    type(sys.stdout).__module__.startswith('ipykernel.') and isinstance(sys.stdout, OutStream),\n"
            "    Kernel.instance() is IPythonKernel.instance() is shell.kernel is shell.parent,\n"
            "    IPKernelApp.initialized() and IPKernelApp.instance().kernel is shell.kernel,\n"
            "    'IPKernelApp' in shell.config,\n"
            "]"
        )
    )
    assert outcome.value == str([True] * 8)


def test_the_connection_file_is_told(reached):
    outcome = ok(
        reached.run(
            "import ipykernel, json\n"
            "info = ipykernel.get_connection_info(unpack=True)\n"
            "assert json.loads(ipykernel.get_connection_info())['key'].encode() == info['key']\n"
            "info['shell_port'], ipykernel.get_connection_info(ipykernel.get_connection_file(), unpack=True) == info"
        )
    )
    assert outcome.value == f"({reached.channels.get_connection_info()['shell_port']}, True)"
    outcome = ok(
        reached.run(
            "import os\n"
            "app = get_ipython().kernel.parent\n"
            "[\n"
            "    (app.transport, app.ip, app.hb_port) == (info['transport'], info['ip'], info['hb_port']),\n"
            "    app.abs_connection_file == os.path.join(app.connection_dir, os.path.basename(app.connection_file)),\n"
            "    (app.session, app.iopub_socket) == (app.kernel.session, app.kernel.iopub_socket),\n"
            "    hasattr(app, 'no_such_port'),\n"
            "]"
        )
    )
    assert outcome.value == "[True, True, True, False]"


def test_comms_are_made_by_the_class_and_the_manager_of_ipykernel(reached):
    outcome = ok(
        reached.run(
            "from ipykernel.comm import Comm\n"
            "manager = get_ipython().kernel.comm_manager\n"
            "opened = Comm(target_name='plot', data={'a': 1})\n"
            "opened.send({'b': 2}, buffers=[b'xy'])\n"
            "manager.register_target('shout', lambda comm, message: comm.send({'heard': message['content']['data']}))"
        )
    )
    (open_,), (sent,) = outcome.of("comm_open"), outcome.of("comm_msg")
    assert (open_["target_name"], open_["data"], sent["data"]) == ("plot", {"a": 1}, {"b": 2})
    assert open_["comm_id"] == sent["comm_id"]
    reached.request("comm_open", {"comm_id": "s1", "target_name": "shout", "data": {"n": 1}})
    assert reached.wait_for("comm_msg")["content"] == {"comm_id": "s1", "data": {"heard": {"n": 1}}}
    assert reached.ask("comm_info_request", target_name="plot")["comms"] == {open_["comm_id"]: {"target_name": "plot"}}


def test_hooks_change_what_is_shown_or_send_nothing(reached):
    outcome = ok(
        reached.run(
            "kept = []\n"
            "def change(message):\n"
            "    message['content']['data']['text/plain'] += ' changed'\n"
            "    return message\n"
            "shell = get_ipython()\n"
            "shell.display_pub.register_hook(change)\n"
            "display(1)\n"
            "shell.display_pub.register_hook(kept.append)\n"
            "display(2)\n"
            "assert shell.display_pub.unregister_hook(kept.append) and shell.display_pub.unregister_hook(change)\n"
            "assert not shell.display_pub.unregister_hook(change)\n"
            "display(3)\n"
            "shell.displayhook.register_hook(change)\n"
            "kept[0]['msg_type'], kept[0]['content']['data'], kept[0]['parent_header']['msg_type']"
        )
    )
    shown = [content["data"]["text/plain"] for content in outcome.of("display_data")]
    assert shown == ["1 changed", "3"]
    assert outcome.value == "('display_data', {'text/plain': '2 changed'}, 'execute_request') changed"
    ok(reached.run("shell.displayhook.unregister_hook(change)"))


def test_code_sends_messages_of_its_own(reached):
    outcome = ok(
        reached.run(
            "kernel = get_ipython().kernel\n"
            "parent = kernel.get_parent()\n"
            "content = {'name': 'stdout', 'text': 'sent '}\n"
            "kernel.session.send(kernel.iopub_socket, 'stream', content, parent=parent['header'])\n"
            "kernel.send_response(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'as a response '})\n"
            "message = kernel.session.msg('display_data', {'data': {'text/plain': 'x'}, 'metadata': {}}, parent)\n"
            "kernel.session.send(kernel.iopub_socket, message, buffers=[b'1'])"
        )
    )
    assert outcome.text() == "sent as a response "
    assert [content["data"] for content in outcome.of("display_data")] == [{"text/plain": "x"}]


def test_a_session_of_jupyter_client_can_send_on_the_kernels_socket(reached):
    outcome = ok(
        reached.run(
            "from jupyter_client.session import Session\n"
            "kernel = get_ipython().kernel\n"
            "session = Session(key=kernel.session.key)\n"
            "content = {'name': 'stderr', 'text': 'by another session'}\n"
            "session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())"
        )
    )
    assert outcome.text("stderr") == "by another session"


def test_output_is_attributed_to_an_earlier_cell(reached):
    ok(reached.run("import sys, threading\nfirst, before = get_ipython().get_parent(), sys.stdout.parent_header"))
    outcome = ok(
        reached.run(
            "here = sys.stdout.parent_header\n"
            "sys.stdout.parent_header = before\n"
            "print('under the first cell')\n"
            "sys.stdout.parent_header = here\n"
            "def work():\n"
            "    token = get_ipython().set_thread_parent(first)\n"
            "    print('so does a thread')\n"
            "    get_ipython().reset_thread_parent(token)\n"
            "    print('here again')\n"
            "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
            "get_ipython().kernel.set_parent([], first)\n"
            "get_ipython().kernel.get_parent()['header'] == before",
        )
    )
    assert (outcome.text(), outcome.value) == ("here again\n", None)


def test_code_makes_streams_of_its_own(reached):
    outcome = ok(
        reached.run(
            "import sys\n"
            "class Shouting(type(sys.stdout)):\n"
            "    def shout(self, text): self.write(text.upper())\n"
            "stream = Shouting(sys.stdout.session, sys.stdout.pub_thread, 'stderr')\n"
            "stream.set_parent(dict(sys.stdout.parent_header))\n"
            "stream.shout('careful')\n"
            "print('to the same stream', file=stream)"
        )
    )
    assert outcome.text("stderr") == "CAREFULto the same stream\n"


def test_functions_of_the_kernel_are_called_and_replaced(reached):
    outcome = ok(
        reached.run(
            "kernel = get_ipython().kernel\n"
            "reply = await kernel.do_execute('within = 6 * 7', False)\n"
            "found = kernel.do_complete('withi', 5)['matches'], kernel.do_inspect('within', 3)['found']\n"
            "reply['status'], within, found, kernel.do_is_complete('for')['status'], kernel.user_ns is globals()"
        )
    )
    assert outcome.value == "('ok', 42, (['within'], True), 'invalid', True)"
    ok(reached.run("kernel.do_complete = lambda code, cursor: {'status': 'ok', 'matches': ['mine']}"))
    assert reached.ask("complete_request", code="x", cursor_pos=1)["matches"] == ["mine"]
    ok(reached.run("del kernel.do_complete"))


def test_a_handler_of_a_library_takes_requests(reached):
    ok(
        reached.run(
            "kernel = get_ipython().kernel\n"
            "async def answer(stream, ident, parent):\n"
            "    kernel.session.send(stream, 'tea_reply', {'status': 'ok', 'for': parent['content']}, parent, ident)\n"
            "kernel.shell_handlers['tea_request'] = answer"
        )
    )
    assert reached.ask("tea_request", sugar=2) == {"status": "ok", "for": {"sugar": 2}}


def test_the_event_loop_is_one_of_tornado(reached):
    code = "import threading, tornado.ioloop\nkernel = get_ipython().kernel\n"
    outcome = ok(reached.run(f"{code}here = kernel.io_loop\nhere is tornado.ioloop.IOLoop.current()"))
    assert outcome.value == "True"
    ok(
        reached.run(
            "def look(): global there; there = kernel.io_loop\nt = threading.Thread(target=look); t.start(); t.join()"
        )
    )
    assert reached.run("there is here").value == "True"


def test_widgets_work_while_a_cell_waits_for_them(reached):
    ok(
        reached.run(
            "import asyncio, comm\n"
            "seen = []\n"
            "def opened(channel, message): channel.on_msg(lambda message: seen.append(message['content']['data']))\n"
            "comm.get_comm_manager().register_target('slider', opened)"
        )
    )
    reached.request("comm_open", {"comm_id": "c9", "target_name": "slider", "data": {}})
    msg_id = reached.send(
        "kernel = get_ipython().kernel\nprint('started')\n"
        "while not seen:\n    await kernel.do_one_iteration()\nprint('ended with', seen)"
    )
    reached.wait_for_text("started")
    reached.request("comm_msg", {"comm_id": "c9", "data": {"n": 5}})
    outcome = reached.wait(msg_id)
    assert outcome.text().endswith("ended with [{'n': 5}]\n")


@pytest.mark.parametrize(
    "code, name, words",
    [
        ("from ipykernel.embed import embed_kernel", "ImportError", "embeds no other kernel"),
        ("import ipykernel.inprocess", "ImportError", "works in a program that no kernel runs"),
        ("import ipykernel; ipykernel.nothing", "AttributeError", "twincell's kernel has no ipykernel.nothing"),
        ("import zmq; kernel.session.send(zmq.Socket, 'stream', {})", "TypeError", "the kernel's own sockets"),
        ("kernel.session.send(kernel.stdin_socket, 'input_request', {})", "RuntimeError", "kernel.raw_input()"),
        ("kernel.session.send(kernel.shell_stream, 'tea_reply', {})", "ValueError", "answers no request"),
        ("kernel.iopub_socket.send_multipart([b'no message'])", "ValueError", "have no delimiter"),
        ("ipykernel.get_connection_info('no-such-file.json')", "FileNotFoundError", "no connection file no-such-file"),
    ],
)
def test_what_cannot_be_offered_says_so(reached, code, name, words):
    reached.run("import ipykernel\nkernel = get_ipython().kernel")
    outcome = reached.run(code)
    assert outcome.reply["ename"] == name
    assert words in outcome.reply["evalue"]


def test_an_unknown_request_is_answered(reached):
    for channel in ("shell", "control"):
        message = reached.channels.session.msg("make_coffee_request", {})
        getattr(reached.channels, f"{channel}_channel").send(message)
        reply = getattr(reached.channels, f"get_{channel}_msg")(timeout=TIMEOUT)
        while reply["parent_header"]["msg_id"] != message["header"]["msg_id"]:
            reply = getattr(reached.channels, f"get_{channel}_msg")(timeout=TIMEOUT)
        assert reply["msg_type"] == "make_coffee_reply"
        assert (reply["content"]["status"], reply["content"]["ename"]) == ("error", "UnknownRequest")
