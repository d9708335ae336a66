"""The public conformance suite for Jupyter kernels, on ours."""

import jupyter_kernel_test


class TestConformance(jupyter_kernel_test.KernelTests):
    kernel_name = "twincell"
    language_name = "python"
    file_extension = ".py"

    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [
        {"text": "zi", "matches": {"zip"}},
        {"text": "import coll", "matches": {"collections"}},
        {"text": "'abc'.upp", "matches": {"upper"}},
    ]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n", "x = '''a\nb'''"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2", "for i in range(3):", "[1,"]
    invalid_code_samples = ["import = 7q", "x = = 1"]
    code_page_something = "zip?"
    code_generate_error = "raise ValueError('no')"
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
        {"code": "dict(a=1)", "result": "{'a': 1}"},
    ]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))", "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('x^2'))", "mime": "text/latex"},
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


class TestWelcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "twincell"
    support_iopub_welcome = True
