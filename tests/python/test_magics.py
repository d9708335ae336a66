"""The magics in a plain IPython shell, as under any kernel that is not twincell's own."""

import json

import pytest
import twincell

OLD = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
NEW = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"


def run(shell, code):
    return shell.run_cell(code, store_history=True)


def failure(shell, capsys, code):
    """What a cell that fails shows."""
    capsys.readouterr()
    assert not run(shell, code).success
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    assert shown.err.count("\n") == 1
    return shown.err


def test_a_cell_with_both_versions_is_compared(shell):
    result = run(shell, f"%%compare --budget 50\n{OLD}# ---\n{NEW}")
    assert isinstance(result.result, twincell.Comparison)
    assert result.result.verdict == "changing"
    assert result.result.to_dict()["budget"] == 50
    assert shell.user_ns["_"] is result.result


def test_examples_of_a_file_run_first(shell, tmp_path):
    calls = tmp_path / "calls.py"
    calls.write_text("f(3, b=4)\n")
    result = run(shell, f"%%compare --budget 20 --examples {calls}\n{OLD}# ---\n{NEW}")
    first = result.result.to_dict()["pairs"][0]["executions"][0]
    assert first["example"] == {"file": {"label": str(calls), "line": 1}} and first["old"] == "returned 4"


def test_an_old_spelling_works_and_says_what_to_write(shell, capsys):
    assert run(shell, f"%%compare --budget 20 --without calls\n{OLD}# ---\n{NEW}").result.verdict == "changing"
    assert capsys.readouterr().err.startswith("--without is the old spelling of --disable calls: write that")


def test_nothing_is_run_unless_asked_for(shell):
    run(shell, f"%%compare\n{OLD}# ---\n{NEW}")
    assert "f" not in shell.user_ns
    run(shell, f"%%compare --run\n{OLD}# ---\n{NEW}")
    assert shell.user_ns["f"](1, 2) == 1


def test_stored_versions_are_compared_by_name(shell, capsys):
    run(shell, f"%%version old\n{OLD}")
    run(shell, f"%%version new\n{NEW}")
    assert "f" not in shell.user_ns
    assert run(shell, "%compare old new --seed 3").result.verdict == "changing"
    capsys.readouterr()
    run(shell, "%version")
    assert capsys.readouterr().out == "old: 4 lines\nnew: 4 lines\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"%%compare\n{OLD}", "there is only one version: write the old one above and the new one below a line # ---"),
        (f"%%compare\n{OLD}# ---\n", "the new version is empty"),
        (f"%%compare\n{OLD}# ---\nx = 1\n", "the new version has no function to compare"),
        (f"%%compare\n{OLD}# ---\ndef f(:\n", "the new version is not valid Python: line 7"),
        (f"%%compare --bugdet 3\n{OLD}# ---\n{NEW}", "--budget"),
        (f"%%compare --budget 0\n{OLD}# ---\n{NEW}", "--budget cannot be 0: give a whole number"),
        (f"%%compare --with-last\n{OLD}", "store versions with %%version instead"),
        ("%compare old new", "no version is called old; store it with %%version old at the top of a cell"),
        ("%compare old", "<NEW>"),
        ("%%version old\n\n", "the cell is empty"),
    ],
)
def test_bad_input_is_one_line_that_says_what_to_do(shell, capsys, code, expected):
    assert expected in failure(shell, capsys, code)


def test_a_cell_is_compared_with_what_it_held_before(shell, capsys):
    request = {"metadata": {"cellId": "one"}}
    shell.get_parent = lambda: request
    run(shell, OLD)
    assert run(shell, f"%%compare --with-last\n{NEW}").result.verdict == "changing"
    assert run(shell, f"%%compare --with-last\n{NEW}").result.verdict == "identical"
    request["metadata"] = {"cellId": "two"}
    assert run(shell, f"%%compare --with-last\n{NEW}").result is None


def test_a_mistake_in_between_does_not_take_the_place_of_the_version_before(shell, capsys):
    shell.get_parent = lambda: {"metadata": {"cellId": "one"}}
    run(shell, OLD)
    assert not run(shell, "%%compare --with-last\ndef f(a, b:\n    return a\n").success
    assert not run(shell, "def f(a, b:\n    return a\n").success
    assert run(shell, f"%%compare --with-last\n{NEW}").result.verdict == "changing"


def test_the_first_run_of_a_cell_is_kept_and_is_no_mistake(shell, capsys):
    shell.get_parent = lambda: {"metadata": {"cellId": "one"}}
    assert run(shell, f"%%compare --with-last --run\n{OLD}").success
    assert "first run" in capsys.readouterr().out
    assert shell.user_ns["f"](1, 2) == 2
    assert run(shell, f"%%compare --with-last\n{NEW}").result.verdict == "changing"


def test_help_is_printed(shell, capsys):
    run(shell, "%%compare --help\nx")
    assert "--raise-probability" in capsys.readouterr().out
    run(shell, "%%version --help\nx")
    assert "not run" in capsys.readouterr().out


@pytest.mark.parametrize("body", ["", "\n", "\nx"])
def test_help_needs_no_body(shell, capsys, body):
    for magic, said in (("compare", "--with-last"), ("predict", "Usage"), ("version", "not run")):
        run(shell, f"%%{magic} --help{body}")
        assert said in capsys.readouterr().out
    assert "cell body is empty" in failure(shell, capsys, "%%compare --budget 3")


def test_a_study_says_its_warnings_and_not_where_they_were_raised(shell, capsys, tmp_path):
    row = json.dumps({"id": "a", "old": OLD, "new": NEW}) + "\n"
    (tmp_path / "in.jsonl").write_text(row + row)
    assert isinstance(run(shell, f"%study --budget 20 {tmp_path / 'in.jsonl'}").result, twincell.Study)
    shown = capsys.readouterr()
    assert "the id a occurs 2 times" in shown.out and "Warning" not in shown.out + shown.err


def test_options_are_completed(shell):
    _, matches = shell.complete("--bud", "%%compare --bud")
    assert "--budget" in matches
