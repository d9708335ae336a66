"""The settings of ipykernel's application, in the configuration that every IPython reads."""

from contextlib import contextmanager

from .client import Client


@contextmanager
def configured(tmp_path, text):
    profile = tmp_path / "profile_default"
    profile.mkdir()
    (profile / "ipython_kernel_config.py").write_text(text)
    with Client.start(extra_arguments=[f"--ipython-dir={tmp_path}"]) as kernel:
        yield kernel


def test_lines_and_extensions_of_the_configuration_are_run(tmp_path):
    (tmp_path / "greeting.py").write_text("def load_ipython_extension(shell): shell.push({'greeted': True})\n")
    text = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        "c.IPKernelApp.exec_lines = ['answer = 42']\n"
        "c.IPKernelApp.extensions = ['greeting']\n"
        "c.InteractiveShell.ast_node_interactivity = 'all'\n"
    )
    with configured(tmp_path, text) as kernel:
        outcome = kernel.run("answer\ngreeted")
        assert [content["data"]["text/plain"] for content in outcome.of("execute_result")] == ["42", "True"]


def test_links_for_the_help_menu(tmp_path):
    with configured(
        tmp_path, "c.IPythonKernel.help_links = [{'text': 'Ours', 'url': 'https://example.org'}]\n"
    ) as kernel:
        reply = kernel.ask("kernel_info_request")
        assert reply["help_links"] == [{"text": "Ours", "url": "https://example.org"}]


def test_completions_without_types(tmp_path):
    with configured(tmp_path, "c.IPythonKernel.use_experimental_completions = False\n") as kernel:
        kernel.run("telescope = 1")
        reply = kernel.ask("complete_request", code="print(telesc", cursor_pos=12)
        assert (reply["matches"], reply["cursor_start"], reply["metadata"]) == (["telescope"], 6, {})


def test_descriptors_are_left_alone(tmp_path):
    with configured(tmp_path, "c.IPKernelApp.capture_fd_output = False\n") as kernel:
        outcome = kernel.run("import os\nos.write(1, b'to the terminal\\n')\nprint('to the notebook')")
        assert outcome.text() == "to the notebook\n"


def test_a_stream_leads_nowhere(tmp_path):
    with configured(tmp_path, "c.IPKernelApp.no_stderr = True\n") as kernel:
        outcome = kernel.run("import sys\nprint('out')\nprint('lost', file=sys.stderr)")
        assert (outcome.text(), outcome.text("stderr")) == ("out\n", "")
