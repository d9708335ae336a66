"""`twincell.prefix_study` and `%prefix --study`: prefixes for many snippets from Python."""

import json
import os
import signal
import threading

import pytest
import twincell

OPTIONS = {"predictor": "frequency", "jobs": 2}


@pytest.fixture
def folder(tmp_path):
    """Two folders of snippets: one runs as it is, one needs something, and one is no Python."""
    for name, text in {
        "a/plain.py": "x = 1\nprint(x)\n",
        "a/user.py": "if user.is_admin:\n    print(user.name)\nelse:\n    log(user)\n",
        "b/broken.py": "def f(:\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def timeless(study):
    return [{**row, "milliseconds": 0} for row in study.rows]


def test_folders_give_rows_and_the_figures_of_each(folder):
    study = twincell.prefix_study([folder / "a", folder / "b"], **OPTIONS)
    plain, user, broken = study.rows
    assert [row["coverage"] for row in study] == [1.0, 1.0, 0.0] and len(study) == 3
    assert plain["as_is"] == 1.0 and user["error_before"] == "NameError" and "line 1" in broken["reason"]
    assert [(one["name"], one["snippets"]) for one in study.figures] == [
        (str(folder / "a"), 2),
        (str(folder / "b"), 1),
        ("all", 3),
    ]
    assert study.figures[0]["steps"][2] == {"coverage": 1.0, "whole": 1.0}


def test_what_is_shown_has_the_tables_of_the_paper(folder):
    study = twincell.prefix_study(str(folder / "a"), **OPTIONS)
    bundle = study._repr_mimebundle_()
    for table in ("Table II", "Table III", "Table IV", "Figure 7"):
        assert table in repr(study) and table in bundle["text/html"] and table in study.to_html()
    assert bundle["text/plain"] == repr(study)
    assert "<svg" in bundle["text/html"] and "<html" not in bundle["text/html"] and "<script" not in bundle["text/html"]


def test_snippets_can_be_texts(folder):
    given = [{"id": "q1", "code": "print(a.b)\n", "folder": "questions"}, {"code": "x = 1\n"}]
    study = twincell.prefix_study(given, **OPTIONS)
    assert [(row["id"], row["folder"]) for row in study.rows] == [("q1", "questions"), ("2", "snippets")]
    assert "q1" in study and "a" in study["q1"].to_dict()["undefined"]
    with pytest.raises(KeyError, match="no snippet has the id q9"):
        study["q9"]


def test_a_study_resumes_from_its_rows(folder):
    out = folder / "rows.jsonl"
    told = []
    first = twincell.prefix_study(folder / "a", out=out, **OPTIONS)
    again = twincell.prefix_study(folder / "a", out=out, progress=lambda *so_far: told.append(so_far), **OPTIONS)
    assert again.rows == first.rows, "the times are those of the first run"
    assert told[-1][:2] == (2, 2)
    assert timeless(twincell.prefix_study(folder / "a", out=out, fresh=True, **OPTIONS)) == timeless(first)
    loaded = twincell.load_prefix_study(out)
    assert timeless(loaded) == timeless(first)
    with pytest.raises(twincell.TwincellError, match="the texts of the snippets are not known"):
        loaded[first.rows[0]["id"]]


def test_an_interrupt_keeps_the_rows_so_far(folder):
    for number in range(40):
        (folder / "a" / f"more_{number}.py").write_text(f"print(thing_{number}.name)\n")
    out = folder / "rows.jsonl"

    def interrupt(done, _total, _line):
        if done:
            signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        twincell.prefix_study(folder / "a", out=out, progress=interrupt, **OPTIONS)
    so_far = twincell.load_prefix_study(out).rows
    assert 0 < len(so_far) < 42
    kept = {row["id"]: row for row in so_far}
    resumed = twincell.prefix_study(folder / "a", out=out, **OPTIONS)
    assert len(resumed) == 42 and all(kept.get(row["id"], row) == row for row in resumed)


def test_rows_become_frames_and_files(folder):
    study = twincell.prefix_study(folder / "a", **OPTIONS)
    frame = study.to_pandas()
    assert list(frame.columns) == list(study.rows[0]) and len(frame) == 2
    study.save(folder / "saved.jsonl")
    study.save(folder / "saved.html")
    assert twincell.load_prefix_study(folder / "saved.jsonl").rows == study.rows
    assert (folder / "saved.html").read_text() == study.to_html()
    with pytest.raises(twincell.TwincellError, match=r"ends in \.html or \.jsonl"):
        study.save(folder / "saved.txt")


def test_other_frames_have_the_same_columns(folder):
    study = twincell.prefix_study(folder / "a", **OPTIONS)
    pytest.importorskip("polars", reason="`make test-long` installs it")
    pytest.importorskip("pyarrow", reason="`make test-long` installs it")
    assert study.to_arrow().column_names == study.to_polars().columns == list(study.rows[0])


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (3, "class int"),
        ([], "there are no inputs"),
        ([{"text": "x"}], "input 1 has no code"),
        ([3], "input 1 is of class int"),
        (["a", {"code": "x"}], "one or the other"),
        ("nowhere", "nowhere"),
    ],
)
def test_wrong_inputs_are_told_in_one_line(inputs, said):
    with pytest.raises(twincell.TwincellError) as raised:
        twincell.prefix_study(inputs, **OPTIONS)
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_the_magic_takes_folders_and_variables(folder, shell, monkeypatch):
    monkeypatch.chdir(folder)
    study = shell.run_line_magic("prefix", "--study rows.jsonl --predictor frequency --html page.html a b")
    assert len(study) == 3 and "Table II" in (folder / "page.html").read_text()
    assert len(json.loads((folder / "rows.jsonl").read_text().splitlines()[0])) == 17
    shell.user_ns["given"] = [{"code": "print(a.b)\n"}]
    assert len(shell.run_line_magic("prefix", "--study other.jsonl --predictor frequency given")) == 1
    assert os.path.exists("other.jsonl")
