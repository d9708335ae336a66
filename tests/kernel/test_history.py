"""`%slice`, `%blame` and `%impact` through the kernel: results, progress, and what an interrupt leaves."""

import re
import sys

import pytest

from ..history import commit, git, shop


@pytest.fixture
def early_bars(kernel):
    """The bar appears at once. The tests of the project run without plugins of this environment."""
    kernel.run(
        "import os\nfrom twincell import _bar\nget_ipython().patience, _bar.PATIENCE = _bar.PATIENCE, 0\n"
        "os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'"
    )
    yield
    kernel.run("_bar.PATIENCE = get_ipython().patience\ndel os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD']")


def test_questions_about_a_history_are_answered_below_the_cell(kernel, early_bars, tmp_path):
    repository = shop(tmp_path / "project")
    line = f"%slice HEAD~5..HEAD --tests tests --repository {repository} --python {sys.executable}"
    outcome = kernel.run(line)
    (result,) = outcome.of("execute_result")
    assert result["data"]["text/plain"].startswith("2 of 5 commits in HEAD~5..HEAD keep the tests passing\n")
    assert "Use the tax" in result["data"]["text/html"] and "<script" not in result["data"]["text/html"]
    # The bar leaves nothing behind.
    assert outcome.of("update_display_data")[-1]["data"] == {"text/html": "", "text/plain": ""}
    assert kernel.run("len(_.commits)").value == "2"
    outcome = kernel.run(f"%blame shop.py:price --returns 'price(2)' --repository {repository}")
    (result,) = outcome.of("execute_result")
    assert result["data"]["text/plain"].startswith("price(2) gives its value since ")
    assert "Use the tax" in result["data"]["text/html"]
    assert kernel.run("%slice HEAD~5..HEAD").reply["ename"] == "UsageError"
    outcome = kernel.run(f"%impact --git HEAD~2..HEAD --repository {repository}")
    (result,) = outcome.of("execute_result")
    assert " may see other values" in result["data"]["text/plain"].splitlines()[0]
    assert "<details" in result["data"]["text/html"] and "<script" not in result["data"]["text/html"]
    outcome = kernel.run("%impact only.py")
    assert outcome.reply["ename"] == "UsageError" and "give two files or folders" in outcome.reply["evalue"]


def test_an_interrupt_shows_the_best_slice_so_far(kernel, early_bars, tmp_path):
    """Each commit is needed, so that the search has a run for each."""
    repository = tmp_path / "project"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    count = 30
    commit(repository, "Begin", {"README.md": "Parts\n"})
    for number in range(count):
        commit(repository, f"Add part {number}", {f"part{number}.py": f"VALUE = {number}\n"})
    names = "".join(f"import part{number}\n" for number in range(count))
    commit(
        repository,
        "Test the parts",
        {"tests/test_parts.py": f"{names}\n\ndef test_parts():\n    assert part0.VALUE == 0\n"},
    )
    line = f"%slice HEAD~{count + 1}..HEAD --tests tests --scheme basic --repository {repository}"
    msg_id = kernel.send(f"{line} --python {sys.executable}")
    while True:
        shown = kernel.wait_for("update_display_data")["content"]["data"].get("text/plain", "")
        if re.search("left after [1-9]", shown):
            break
    kernel.manager.interrupt_kernel()
    outcome = kernel.wait(msg_id)
    assert outcome.reply["ename"] == "KeyboardInterrupt"
    assert outcome.of("error")[0]["traceback"] == ["Stopped. Above is the best slice so far."]
    best = outcome.of("display_data")[-1]["data"]
    assert "the search was interrupted, so fewer may do" in best["text/plain"]
