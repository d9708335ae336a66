"""The magics that a kernel adds to IPython's."""

import importlib.util
import json

import pytest


def pages(outcome):
    return [payload["data"]["text/plain"] for payload in outcome.reply["payload"] if payload["source"] == "page"]


def test_autosave_tells_the_front_end(kernel):
    outcome = kernel.run("%autosave 60")
    (shown,) = outcome.of("display_data")
    assert shown["data"]["application/javascript"] == "IPython.notebook.set_autosave_interval(60000)"
    assert outcome.text() == "Autosaving every 60 seconds\n"
    assert kernel.run("%autosave 0").text() == "Autosave disabled\n"
    assert "number of seconds, not 'often'" in kernel.run("%autosave often").text("stderr")


def test_clear_runs(kernel):
    assert kernel.run("%clear").reply["status"] == "ok"


def test_connect_info_shows_the_connection_file(kernel):
    text = kernel.run("%connect_info").text()
    info, _, advice = text.partition("\n\n")
    assert json.loads(info)["key"].encode() == kernel.channels.session.key
    assert "jupyter <app> --existing" in advice


@pytest.mark.parametrize("magic", ["%edit", "%ed"])
def test_edit_asks_the_front_end_for_an_editor(kernel, tmp_path, magic):
    path = tmp_path / "code.py"
    path.write_text("x = 1\n")
    outcome = kernel.run(f"{magic} -n 1 {path}")
    assert outcome.reply["payload"] == [{"source": "edit_magic", "filename": str(path), "line_number": 1}]


@pytest.mark.parametrize("magic", ["%less", "%more"])
def test_a_file_is_shown_in_the_pager(kernel, tmp_path, magic):
    path = tmp_path / "notes.txt"
    path.write_text("what is in it\n")
    assert pages(kernel.run(f"{magic} {path}")) == ["what is in it\n"]
    path = tmp_path / "code.py"
    path.write_text("x = 1\n")
    assert "x" in pages(kernel.run(f"{magic} {path}"))[0]
    assert "take the name of a file" in kernel.run(magic).text("stderr")


def test_a_manual_is_shown_in_the_pager(kernel):
    assert len(pages(kernel.run("%man no-such-command"))) == 1


def test_a_qt_console_that_is_not_installed_is_named(kernel):
    if importlib.util.find_spec("qtconsole") is not None:
        pytest.skip("the Qt console is installed")
    assert "pip install qtconsole" in kernel.run("%qtconsole").text("stderr")


def test_subshell_tells_where_the_cell_runs(kernel):
    lines = kernel.run("%subshell").text().splitlines()
    assert lines[0] == "subshell id: None"
    assert lines[-1] == "subshell list: []"
