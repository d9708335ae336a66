"""The kernel that tests share: what one leaves behind, the next does not see."""

import pytest

from .shared import SharedKernel

#: What tests do in a kernel, and an expression that is true after it and false in a kernel that has just started.
TRACES = {
    "a name": ("left = 1", "'left' in globals()"),
    "a count": ("1", "get_ipython().execution_count > 3"),
    "the folder": ("import os; os.chdir('/')", "__import__('os').getcwd() == '/'"),
    "the environment": ("import os; os.environ['LEFT'] = '1'", "'LEFT' in __import__('os').environ"),
    "a folder of modules": ("import sys; sys.path.insert(0, '/left')", "'/left' in __import__('sys').path"),
    "a module": (
        "import sys, types; sys.modules['left'] = types.ModuleType('left')",
        "'left' in __import__('sys').modules",
    ),
    "a stream": ("import io, sys; sys.stderr = io.StringIO()", "hasattr(__import__('sys').stderr, 'getvalue')"),
    "a signal": (
        "import signal; signal.signal(signal.SIGUSR1, print)",
        "__import__('signal').getsignal(__import__('signal').SIGUSR1) is print",
    ),
    "a setting": ("%config Completer.use_jedi = False", "not get_ipython().Completer.use_jedi"),
    "a setting of the kernel": (
        "get_ipython().kernel.stop_on_error_timeout = 7.0",
        "get_ipython().kernel.stop_on_error_timeout == 7.0",
    ),
    "a callback": (
        "get_ipython().events.register('pre_run_cell', lambda info: None)",
        "any(one.__module__ == '__main__' for one in get_ipython().events.callbacks['pre_run_cell'])",
    ),
    "a hook": ("get_ipython().display_pub.register_hook(print)", "bool(get_ipython().display_pub._hooks)"),
    "a handler": (
        "get_ipython().kernel.shell_handlers['left_request'] = print",
        "'left_request' in get_ipython().kernel.shell_handlers",
    ),
    "a method": ("get_ipython().kernel.do_complete = print", "get_ipython().kernel.do_complete is print"),
    "a comm": (
        "import comm; comm.create_comm(target_name='left')",
        "bool(get_ipython().kernel.comm_manager.comms)",
    ),
    "a target of comms": (
        "import comm; comm.get_comm_manager().register_target('left', lambda *_: None)",
        "'left' in get_ipython().kernel.comm_manager.targets",
    ),
    "a magic": (
        "get_ipython().register_magic_function(lambda line: None, 'line', 'left')",
        "'left' in get_ipython().magics_manager.magics['line']",
    ),
    "a version": (
        "%%version left\nx = 1",
        "'left' in get_ipython().magics_manager.registry['TwincellMagics'].versions",
    ),
    "a task": (
        "import asyncio; task = asyncio.ensure_future(asyncio.sleep(600)); task.set_name('left')",
        "any(task.get_name() == 'left' for task in __import__('asyncio').all_tasks(get_ipython().kernel.loop))",
    ),
}


@pytest.mark.parametrize(("code", "is_left"), TRACES.values(), ids=TRACES.keys())
def test_what_a_test_leaves_behind_is_taken_back(shared_kernel, code, is_left):
    kernel = shared_kernel.get()
    for _ in range(3):
        kernel.run(code)
    assert kernel.run(is_left).value == "True"
    shared_kernel.clean()
    assert shared_kernel.get() is kernel
    assert kernel.run(is_left).value == "False"
    shared_kernel.clean()


@pytest.mark.parametrize(
    "code", ["import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "exit"]
)
def test_a_kernel_that_cannot_be_cleaned_is_replaced(code):
    shared = SharedKernel()
    try:
        harmed = shared.get()
        harmed.run(code)
        if code == "exit":
            assert harmed.ends()
        shared.clean()
        assert shared.get() is not harmed
        assert shared.get().run("1 + 1").value == "2"
    finally:
        shared.close()
