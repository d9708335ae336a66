"""The magics through the kernel: progress, interrupts, autocompare, and a failure of what `--run` runs."""

import subprocess

import pytest

from ..processes import wait_for_work, worked

OLD = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
SAME = "def f(a, b):\n    return a if a > b else b\n"
OTHER = "def f(a, b):\n    return b if a > b else a\n"
COMPARISON = "application/vnd.twincell.comparison+json"
#: Takes its time, without end of what can be drawn.
STEADY = "def f(x):\n    for _ in range(2000):\n        x = [x]\n    return len(x)\n"
STEADY_TOO = STEADY.replace("len(x)", "len(x) + 0")
#: Long enough to be interrupted.
LONG = f"%%compare --budget 1000000\n{STEADY}# ---\n{STEADY_TOO}"
#: Each execution stays in C code, until it is ended from outside.
SLOW = "def f(n):\n    return sum(range(10**13)) + 1\n# ---\ndef f(n):\n    return 1 + sum(range(10**13))\n"


def comparisons(outcome):
    shown = outcome.of("display_data") + outcome.of("execute_result")
    return [content["data"][COMPARISON] for content in shown if COMPARISON in content["data"]]


@pytest.fixture
def early_bars(kernel):
    """Bars appear at once, not only where a comparison or a study takes a while."""
    kernel.run(
        "from twincell import _bar, _progress\n"
        "get_ipython().patience = _bar.PATIENCE, _progress.PATIENCE\n"
        "_bar.PATIENCE = _progress.PATIENCE = 0"
    )
    yield
    kernel.run("from twincell import _bar, _progress\n_bar.PATIENCE, _progress.PATIENCE = get_ipython().patience")


def wait_for_progress(kernel):
    while "<progress" not in kernel.wait_for("display_data")["content"]["data"].get("text/html", ""):
        pass


def interrupted(kernel, cell):
    """The outcome of a comparison that was interrupted once it showed progress."""
    msg_id = kernel.send(cell)
    wait_for_progress(kernel)
    kernel.manager.interrupt_kernel()
    outcome = kernel.wait(msg_id)
    assert outcome.reply["ename"] == "KeyboardInterrupt"
    return outcome


def test_progress_is_shown_in_one_place_and_gives_way_to_the_result(kernel, early_bars):
    outcome = kernel.run(f"%%compare --budget 200\n{STEADY}# ---\n{STEADY_TOO}")
    (shown,) = [content for content in outcome.of("display_data") if COMPARISON not in content["data"]]
    updates = outcome.of("update_display_data")
    assert "executions" in shown["data"]["text/plain"]
    assert {update["transient"]["display_id"] for update in updates} <= {shown["transient"]["display_id"]}
    assert outcome.types[-2:] == ["clear_output", "execute_result"]


def test_an_old_spelling_is_told_in_one_line_on_standard_error(kernel):
    outcome = kernel.run(f"%%compare --budget 20 --without calls\n{STEADY}# ---\n{STEADY_TOO}")
    (said,) = [content["text"] for content in outcome.of("stream") if content["name"] == "stderr"]
    assert (
        said == "--without is the old spelling of --disable calls: write that, since the next version drops --without\n"
    )
    assert len(comparisons(outcome)) == 1


def test_an_interrupt_shows_what_was_found(kernel):
    outcome = interrupted(kernel, LONG)
    (comparison,) = comparisons(outcome)
    assert 0 < len(comparison["pairs"][0]["executions"]) < 1_000_000
    assert "stopped before the budget was used up" in comparison["pairs"][0]["notes"]
    (error,) = outcome.of("error")
    assert error["traceback"] == ["Stopped. The results so far are above."]
    assert kernel.run("1 + 1").value == "2"


CHANGES = f"""rows = [
    {{"id": number, "old": {STEADY!r}.replace("2000", str(number)), "new": {STEADY_TOO!r}.replace("2000", str(number))}}
    for number in range(400)
]"""


def test_an_interrupted_study_shows_what_was_found(kernel, early_bars):
    kernel.run(CHANGES)
    outcome = interrupted(kernel, "%study --jobs 1 rows")
    (error,) = outcome.of("error")
    assert error["traceback"] == ["Stopped. Above is what was found so far."]
    [study] = [content["data"] for content in outcome.of("display_data") if "text/html" in content["data"]][-1:]
    assert "The study was stopped after" in study["text/plain"] and "of 400 changes" in study["text/plain"]


def test_the_bar_of_a_study_leaves_nothing_behind(kernel, early_bars):
    kernel.run(CHANGES)
    kernel.run("rows = rows[:20]")
    outcome = kernel.run("%study --jobs 1 --budget 20 rows")
    bars = [content for content in outcome.of("display_data") if "<progress" in content["data"].get("text/html", "")]
    assert len(bars) == 1 and "of 20 changes" in bars[0]["data"]["text/plain"]
    assert outcome.of("update_display_data")[-1]["data"] == {"text/html": "", "text/plain": ""}


def test_an_interrupt_does_not_wait_for_an_execution_to_end(kernel):
    kernel.run(f"%%compare --timeout 600\n{OLD}# ---\n{SAME}")
    before = worked(kernel.pid)
    msg_id = kernel.send(f"%%compare --timeout 600\n{SLOW}")
    # All executions of the versions before together take no such time of the processor.
    wait_for_work(kernel.pid, before)
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"
    assert comparisons(kernel.run(f"%%compare --timeout 600\n{OLD}# ---\n{OTHER}"))[0]["verdict"] == "changing"


def test_an_interrupt_does_not_wait_for_a_prediction_to_end(kernel):
    body = "    a.b = a.c(a.d, a.e[0])\n" * 1000
    msg_id = kernel.send("%%predict --cache memory\n" + "".join(f"def f{n}(a):\n{body}\n" for n in range(40)))
    # Python is in the native function, and goes on elsewhere meanwhile.
    main = "__import__('sys')._current_frames()[__import__('threading').main_thread().ident]"
    kernel.wait_for_state(f"{main}.f_code.co_name == 'one_line'")
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("1 + 1").value == "2"


def test_an_interrupt_aborts_the_cells_that_wait(kernel):
    first, second = kernel.send(LONG), kernel.send("1 + 1")
    wait_for_progress(kernel)
    kernel.manager.interrupt_kernel()
    kernel.wait(first)
    assert kernel.wait(second).reply["status"] == "aborted"


def test_a_failure_of_what_was_run_afterwards_is_one_of_the_cell(kernel):
    failing = SAME + "raise ValueError('on purpose')\n"
    first, second = kernel.send(f"%%compare --run\n{OLD}# ---\n{failing}"), kernel.send("1 + 1")
    outcome = kernel.wait(first)
    assert (outcome.reply["status"], outcome.reply["ename"]) == ("error", "ValueError")
    assert len(outcome.of("error")) == 1
    assert [found["verdict"] for found in comparisons(outcome)] == ["likely_preserving"]
    assert kernel.wait(second).reply["status"] == "aborted"
    assert kernel.run("f(1, 2)").value == "2"


@pytest.mark.parametrize("magic", ["%%compare", "%%predict", "%%prefix", "%%version"])
def test_a_cell_magic_tells_its_help_without_a_body(kernel, magic):
    for flag in ("--help", "-h"):
        assert f"Usage: {magic}" in kernel.run(f"{magic} {flag}").text()
    assert "cell body is empty" in kernel.run(magic).text("stderr")


@pytest.fixture
def rerun(kernel):
    """Runs a cell of one identity, as often as asked."""
    kernel.run("%autocompare on")
    yield lambda code: kernel.run(code, metadata={"cellId": "c1"})
    kernel.run("%autocompare off")
    kernel.run("pass", metadata={"cellId": "c1"})


def test_autocompare_says_in_one_line_that_nothing_changed(rerun):
    assert rerun(OLD).text() == ""
    outcome = rerun(SAME)
    assert outcome.text().startswith("autocompare: ") and outcome.text().count("\n") == 1
    assert comparisons(outcome) == []


def test_autocompare_shows_everything_where_behavior_changed(rerun):
    rerun(OLD)
    outcome = rerun(OTHER)
    assert [found["verdict"] for found in comparisons(outcome)] == ["changing"]
    assert outcome.reply["status"] == "ok"


def test_autocompare_is_quiet_where_there_is_nothing_to_compare(rerun):
    for code in ("x = 1", "x = 2", "def f(): return 1", "def f(): return 1", "x = 3"):
        assert rerun(code).types in (["execute_input"], [])


def test_autocompare_understands_cells_with_magics(rerun):
    rerun(f"%time\n{OLD}")
    outcome = rerun(f"!true\n{OTHER}")
    assert [found["verdict"] for found in comparisons(outcome)] == ["changing"]


def test_autocompare_compares_what_a_magic_of_the_cell_runs(rerun):
    rerun(f"%%time\n{OLD}")
    outcome = rerun(f"\n%%capture out\n%%time\n{OTHER}")
    assert [found["verdict"] for found in comparisons(outcome)] == ["changing"]


def test_autocompare_says_that_it_needs_to_know_which_cell_runs(kernel):
    outcome = kernel.run("%autocompare on")
    assert "does not say which cell runs" in outcome.text() and outcome.text().count("\n") == 1
    assert "is compared with" in kernel.run("%autocompare on", metadata={"cellId": "c1"}).text()
    kernel.run("%autocompare off")


def test_autocompare_is_switched_off(kernel):
    assert "is on" in kernel.run("%autocompare on --budget 20").text()
    assert "is off" in kernel.run("%autocompare off").text()
    assert "is off" in kernel.run("%autocompare").text()
    assert "--budget" in kernel.run("%autocompare --help").text()
    kernel.run(OLD, metadata={"cellId": "c2"})
    assert kernel.run(OTHER, metadata={"cellId": "c2"}).types == ["execute_input"]


def test_code_that_fails_after_a_comparison_shows_its_own_traceback(kernel):
    outcome = kernel.run(f"%%compare --run\n{OLD}# ---\n{SAME}1 / 0\n")
    assert outcome.reply["ename"] == "ZeroDivisionError"
    assert "Custom TB Handler failed" not in outcome.text("stderr") + outcome.text()


def test_a_cell_gets_what_makes_it_run_and_a_new_cell_with_it(kernel):
    outcome = kernel.run("%%prefix --insert --predictor frequency\npage = render(user.name)\nprint(page.title)\n")
    (result,) = outcome.of("execute_result")
    assert result["data"]["text/plain"].startswith("# 2 of 2 lines run")
    assert "<details" in result["data"]["text/html"] and "<script" not in result["data"]["text/html"]
    (payload,) = outcome.reply["payload"]
    assert payload["source"] == "set_next_input" and "def render(" in payload["text"]


def test_the_body_of_a_function_of_the_notebook_gets_what_makes_it_run(kernel):
    kernel.run("def total(rows):\n    price = rows[0].price\n    return price * rate\n")
    outcome = kernel.run("%prefix total --predictor frequency")
    (result,) = outcome.of("execute_result")
    assert result["data"]["text/plain"].startswith("# 2 of 2 lines run")


def test_the_tests_with_the_values_of_a_cell_go_to_a_file(kernel, tmp_path):
    kernel.run(f"%%prefix --pytest {tmp_path / 'test_cell.py'} --predictor frequency\nprint(page.title)\n")
    assert "def test_prefix_" in (tmp_path / "test_cell.py").read_text()


def test_a_mistake_in_the_line_of_prefix_is_told_in_one_line(kernel):
    outcome = kernel.run("%prefix nothing_of_this_name")
    assert outcome.reply["ename"] == "UsageError" and "nothing_of_this_name" in outcome.reply["evalue"]


def test_tests_that_show_a_change_of_a_repository_stand_below_the_cell(kernel, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "shop.py").write_text("def parse(text):\n    return int(text)\n")
    (project / "test_shop.py").write_text("from shop import parse\n\n\ndef test_parse():\n    assert parse('7')\n")
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", project, *arguments], check=True)
    (project / "shop.py").write_text("def parse(text):\n    return int(text) + 1\n")
    patch = tmp_path / "new.patch"
    outcome = kernel.run(f"%amplify --repository {project} --patch {patch}")
    (result,) = outcome.of("execute_result")
    assert "parse('7') gave 7, gives 8" in result["data"]["text/plain"]
    assert "<details" in result["data"]["text/html"] and "<script" not in result["data"]["text/html"]
    assert "+++ b/test_shop.py" in patch.read_text()
    assert kernel.run("%amplify no_such_revision").reply["ename"] == "UsageError"


def test_a_study_of_prefixes_shows_its_tables(kernel, tmp_path):
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets" / "one.py").write_text("print(page.title)\n")
    rows = tmp_path / "rows.jsonl"
    outcome = kernel.run(f"%prefix --study {rows} --predictor frequency {tmp_path / 'snippets'}")
    (result,) = outcome.of("execute_result")
    assert "Table II" in result["data"]["text/plain"] and "<svg" in result["data"]["text/html"]
    assert rows.read_text().count("\n") == 1


def test_an_interrupted_study_of_prefixes_shows_what_it_found(kernel, tmp_path):
    kernel.run(
        "import signal, threading\n"
        "given = [{'code': f'print(thing_{number}.name)'} for number in range(400)]\n"
        "def watch():\n"
        f"    while not (path.exists() and path.stat().st_size): pause(0.01)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        f"from pathlib import Path\nfrom time import sleep as pause\npath = Path({str(tmp_path / 'rows.jsonl')!r})\n"
        "threading.Thread(target=watch, daemon=True).start()"
    )
    outcome = kernel.run(f"%prefix --study {tmp_path / 'rows.jsonl'} --predictor frequency given")
    assert outcome.reply["ename"] == "KeyboardInterrupt"
    (shown,) = outcome.of("display_data")[-1:]
    assert "Table II" in shown["data"]["text/plain"]
    assert any("The rows so far are in the file" in line for line in outcome.reply["traceback"])
