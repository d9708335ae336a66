"""`twincell.Study`: rows, frames, figures, plots, comparisons and differences of real studies."""

import json
import sys

import pytest
import twincell
from twincell import _study, _widget
from twincell._twincell import main

CHANGES = [
    {
        "id": "limit",
        "old": "def f(a):\n    return a[:3]\n",
        "new": "def f(a):\n    return a[:4]\n",
        "label": "changing",
    },
    {
        "id": 7,
        "old": "def f(a, b):\n    if a:\n        return b\n    return a\n",
        "new": "def f(a, b):\n    return b if a else a\n",
        "label": "preserving",
    },
    {"id": "same", "old": "def f(a):\n    return a\n", "new": "def f(a):\n    # Said.\n    return a\n"},
    {"id": "broken", "old": "def f(:\n", "new": "def f(): pass\n", "label": "preserving"},
    {"id": "limit", "old": "def f(a):\n    print(a)\n", "new": "def f(a):\n    print(a, a)\n", "label": "preserving"},
]


def run(changes, out, budget=40):
    assert main(["study", str(changes), "--out", str(out), "--budget", str(budget)]) == 0
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def changes(folder):
    path = folder / "changes.jsonl"
    path.write_text("".join(json.dumps(change) + "\n" for change in CHANGES))
    return path


@pytest.fixture(scope="module")
def results(changes, folder):
    return run(changes, folder / "results.jsonl")


@pytest.fixture(scope="module")
def study(changes, results):
    return twincell.load_study(results, changes, budget=40)


def test_a_study_is_iterated_over_and_has_a_length(study):
    assert len(study) == len(list(study)) == len(CHANGES) and study
    assert [row["id"] for row in study] == ["limit", 7, "same", "broken", "limit"]
    assert [row["verdict"] for row in study.rows[:3]] == ["changing", "likely_preserving", "identical"]
    assert study.rows[0]["label"] == "changing" and study.rows[0]["evidence"][0]["channel"] == "return"
    assert list(study.rows[0]) == _study.COLUMNS


def test_a_row_becomes_the_comparison_that_it_was(study):
    comparison = study[7]
    assert isinstance(comparison, twincell.Comparison) and comparison.verdict == "likely_preserving"
    assert comparison.pairs[0]["executed"] == study.rows[1]["executions"] == 40
    assert comparison.replay(1)["execution"] == 1
    assert study["7"].verdict == "likely_preserving"
    assert study.comparison(4).evidence == study.rows[4]["evidence"]


def test_a_row_that_is_not_clear_or_not_there_is_named(study, results):
    with pytest.raises(twincell.TwincellError, match=r'the id "limit" occurs 2 times: `study.comparison\(0\)`'):
        study["limit"]
    with pytest.raises(KeyError, match="no change has the id"):
        study["none"]
    with pytest.raises(IndexError, match="there is no row 5: the study has 5"):
        study.comparison(5)
    with pytest.raises(twincell.TwincellError, match="old is not valid Python"):
        study["broken"]
    with pytest.raises(twincell.TwincellError, match=r"twincell.load_study\(results, changes\)"):
        twincell.load_study(results)[7]
    with pytest.raises(twincell.TwincellError, match="an id must be"):
        study[object()]


def test_other_changes_and_other_options_are_found_out(results, changes, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "old": "", "new": ""}\n')
    with pytest.raises(twincell.TwincellError, match="has no change 7: give the input of the study"):
        twincell.load_study(results, other)[7]
    with pytest.warns(UserWarning, match="may differ from its row"):
        assert twincell.load_study(results, changes, budget=12)[7].pairs[0]["executed"] == 12


def test_the_summary_is_text_and_figures(study):
    summary = study.summary()
    assert repr(summary).startswith("5 changes: 2 changing, 1 likely preserving, 1 identical, 1 inconclusive\n")
    assert summary["verdicts"] == {"changing": 2, "identical": 1, "inconclusive": 1, "likely_preserving": 1}
    assert (summary["precision"], summary["recall"]) == (0.5, 1.0)
    assert dict(summary) == summary.to_dict() and len(summary) == len(list(summary))
    with pytest.raises(KeyError, match="there is no figure none; there are changes, verdicts"):
        summary["none"]


def test_the_plots_show_themselves(study, tmp_path):
    names = ["verdicts", "confusion", "coverage", "executions", "until_difference", "time", "complexity"]
    assert all(name in repr(study.plot) for name in names)
    for name in names:
        plot = getattr(study.plot, name)()
        assert plot._repr_svg_() == plot.svg and plot.svg.startswith("<svg ")
        assert repr(plot) == f"{plot.title}. {plot.description}"
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == plot.svg
    with pytest.raises(twincell.TwincellError, match="must end in .svg"):
        plot.save(tmp_path / "plot.png")


def test_two_studies_of_the_same_changes_differ_row_by_row(study, changes, folder):
    other = twincell.load_study(run(changes, folder / "short.jsonl", budget=1), changes, budget=1)
    found = study.diff(other)
    assert len(study.diff(study)) == 0 and "No difference in 5 changes" in repr(study.diff(study))
    other_verdicts = [row for row in found if len(set(row["verdict"])) > 1]
    assert found.counts["both"] == 5 and found.counts["verdict"] == len(other_verdicts)
    for row in found.rows:
        assert row["verdict"][0] in repr(found).replace("likely preserving", "likely_preserving")
    assert "<table" in found._repr_html_() or not found.rows
    fewer = folder / "fewer.jsonl"
    fewer.write_text("".join((folder / "results.jsonl").read_text().splitlines(keepends=True)[:2]))
    assert study.diff(twincell.load_study(fewer)).only == [["same", "broken", "limit"], []]


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "sqlite"])
def test_a_study_is_saved_and_read_in_each_format(study, tmp_path, ending):
    path = tmp_path / f"saved.{ending}"
    study.save(path)
    # A column of Parquet has one type: with a text among them, ids are texts.
    ids = [str(row["id"]) if ending == "parquet" else row["id"] for row in study]
    read = twincell.load_study(path)
    assert read.rows == [{**row, "id": id} for row, id in zip(study, ids, strict=True)]
    assert len(study.diff(read)) == 0 and study.diff(read).counts["both"] == len(study)


def test_a_study_is_saved_as_a_page(study, tmp_path):
    study.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Executions until the first difference" in page and "Complexity against reach" in page
    with pytest.raises(twincell.TwincellError, match="give a name that ends in"):
        study.save(tmp_path / "page.txt")


def test_arrow_gets_a_stream(study):
    assert "arrow_array_stream" in repr(study.__arrow_c_stream__())


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_frame_without_its_package_says_what_to_install(study, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(twincell.TwincellError, match=f"needs the package {package}.*pip install {package}"):
        getattr(study, f"to_{package.replace('py', '') if package == 'pyarrow' else package}")()


@pytest.mark.long
def test_pandas_has_a_frame(study, results):
    pandas = pytest.importorskip("pandas")
    frame = study.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == _study.COLUMNS
    assert frame.verdict.value_counts()["changing"] == 2
    assert frame.first_difference.isna().sum() == 3 and str(frame.first_difference.dtype) == "Int64"
    assert frame.loc[0, "evidence"][0]["channel"] == "return"
    empty = results.parent / "empty.jsonl"
    empty.write_text("")
    assert list(twincell.load_study(empty).to_pandas().columns) == _study.COLUMNS


@pytest.mark.long
def test_polars_has_a_frame(study):
    polars = pytest.importorskip("polars")
    frame = study.to_polars()
    assert frame.columns == _study.COLUMNS and frame.height == 5
    assert frame["id"].to_list() == ["limit", "7", "same", "broken", "limit"]
    channels = frame.explode("evidence").select(polars.col("evidence").struct.field("channel"))["channel"]
    assert "return" in channels.to_list()


@pytest.mark.long
def test_pyarrow_has_a_table(study):
    pyarrow = pytest.importorskip("pyarrow")
    table = study.to_arrow()
    assert isinstance(table, pyarrow.Table) and table.column_names == _study.COLUMNS
    rows = table.to_pylist()
    evidence = [one for row in rows for one in row["evidence"]]
    places = [one.pop("at") for one in evidence]
    expected = [dict(one) for row in study.rows for one in row["evidence"]]
    for place, one in zip(places, expected, strict=True):
        slot = place.pop("slot")
        found = {**place, "slot": None if slot is None else json.loads(slot)}
        assert {name: value for name, value in found.items() if value is not None} == one.pop("at")
    assert evidence == expected
    assert [row["first_difference"] for row in rows] == [row["first_difference"] for row in study.rows]


def test_the_view_opens_a_row_and_asks_about_it(study):
    reply, comparison = _widget.open_row(study, 1)
    assert reply["ok"] and reply["state"]["verdict"] == "likely_preserving"
    assert comparison.verdict == "likely_preserving"
    for wrong in [3, 9, None, "x", -1]:
        reply, comparison = _widget.open_row(study, wrong)
        assert not reply["ok"] and reply["error"] and comparison is None


def test_a_view_of_a_study_replays_what_was_opened_last(study):
    view = _widget.view_class()(study)
    assert (view.kind, len(view.state["rows"])) == ("study", len(study))
    # Front ends without widgets show the static output below, and nothing in the view's place.
    assert view._repr_mimebundle_()[0]["text/plain"] == ""
    assert not view._carry_out({"do": "replay", "execution": 1})["ok"]
    opened = view._carry_out({"do": "open", "row": 0})
    assert opened["ok"] and opened["state"]["pairs"][0]["verdict"] == "changing"
    detail = view._carry_out({"do": "replay", "execution": 1})["detail"]
    assert detail["execution"] == 1 and detail["handle"]


ODD = [
    None,
    [],
    {},
    {"method": ["update"]},
    {"method": "update"},
    {"method": "update", "state": []},
    {"method": "update", "state": {"kind": 7, "state": [], "module": None}, "buffer_paths": [[1]]},
    {"method": "update", "state": {"pinned": "x"}},
    {"method": "custom", "content": "\ud800"},
    {"method": "custom", "content": {"id": [1], "do": "replay"}},
    {"method": "custom", "content": {"id": 1, "do": ["replay"]}},
    {"method": "custom", "content": {"id": 1, "do": "\ud800" * 1000}},
    {"method": "custom", "content": {"id": 1, "do": "replay", "handle": [1]}},
    {"method": "custom", "content": {"id": 1, "do": "replay", "changes": {"\ud800": "\ud800"}}},
    {"method": "custom", "content": {"id": 1, "do": "replay", "execution": 10**30, "pair": -1}},
    {"method": "custom", "content": {"id": 1, "do": "open", "row": {"a": 1}}},
    {"method": "custom", "content": {"id": 1, "do": "headline", "changes": {"x": "0"}}},
    {"method": "custom", "content": {"id": 1, "do": "kept", "row": {"a": 1}}},
    {"method": "custom", "content": {"id": 1, "do": "kept", "row": -1}},
]


def test_a_view_takes_no_harm_from_odd_messages(study, monkeypatch):
    view = _widget.view_class()(study)
    sent = []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append(content))
    before = (view.kind, view.state, view.pinned)
    view._carry_out({"do": "open", "row": 0})
    for data in ODD:
        # Past the decorator of ipywidgets, which would show an error as a traceback.
        view._handle_msg({"content": {"data": data} if data is not None else {}, "buffers": []})
    assert (view.kind, view.state, view.pinned) == before
    assert len(sent) == 9 and all(not answer["ok"] and len(answer["error"]) < 300 for answer in sent), sent
    view._handle_msg({"content": {"data": {"method": "update", "state": {"pinned": [1]}}}, "buffers": []})
    assert view.pinned == [1]


def test_the_changes_may_be_rows_and_may_come_once(study, results):
    for changes in (CHANGES, iter(CHANGES)):
        given = twincell.load_study(results, changes, budget=40)
        assert given[7].verdict == given[7].verdict == "likely_preserving"
        assert given.rows == study.rows
    with pytest.raises(twincell.TwincellError, match="the given input has no change 7"):
        twincell.load_study(results, CHANGES[:1])[7]
