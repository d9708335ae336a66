"""`twincell.study` and `%study`: many changes from Python, in this process and on executors."""

import base64
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing

import pytest
import twincell

OLD = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
NEW = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"
KEPT = "def f(a, b):\n    return a if a > b else b\n"


def change(number: int, new: str = NEW, **more: object) -> dict:
    """Each is a different function."""
    return {
        "id": f"c{number}",
        "old": OLD.replace("f(", f"f{number}("),
        "new": new.replace("f(", f"f{number}("),
        **more,
    }


def timeless(study: twincell.Study) -> list[dict]:
    return [{**row, "milliseconds": 0, "comparison": None} for row in study.rows]


def spawned(workers: int = 2) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def older(a, b):
    return a + b


def newer(a, b):
    return a - b


def test_changes_are_dictionaries_or_pairs_in_anything_that_is_iterated_over():
    study = twincell.study([change(0, label="changing"), change(1, KEPT)], budget=30)
    assert [(row["id"], row["verdict"]) for row in study.rows] == [("c0", "changing"), ("c1", "likely_preserving")]
    assert study.rows[0]["label"] == "changing"
    assert study["c1"].verdict == "likely_preserving"
    pairs = twincell.study(((OLD, NEW), [OLD, OLD], (older, newer)), budget=30)
    assert [row["verdict"] for row in pairs.rows] == ["changing", "identical", "changing"]
    lazily = twincell.study((change(number) for number in range(3)), budget=30)
    assert [row["id"] for row in lazily.rows] == ["c0", "c1", "c2"]
    with pytest.raises(twincell.TwincellError):
        lazily["c0"]


LIMIT = 5


def reads_a_constant(x):
    return LIMIT


def writes_it_out(x):
    return 5


def test_a_pair_is_compared_as_it_is_alone():
    pairs = [(reads_a_constant, writes_it_out), (lambda x: x, lambda x: x + 1), ("old.py", "new.py")]
    study = twincell.study(pairs, budget=30)
    assert study.rows[0]["verdict"] == "likely_preserving"
    assert study.rows[0]["verdict"] == twincell.compare(*pairs[0], budget=30).verdict
    assert [row["verdict"] for row in study.rows[1:]] == ["inconclusive"] * 2
    assert "for a file give its path" in study.rows[2]["reason"]


def test_an_id_is_any_value_of_json():
    study = twincell.study([change(0) | {"id": ("p", 3)}, change(1) | {"id": 2.5}], budget=5)
    assert [row["id"] for row in study.rows] == [["p", 3], 2.5]
    assert study[("p", 3)].verdict == "changing" and ("p", 3) in study and "p" not in study


def test_items_that_are_no_changes_are_rows_with_the_reason():
    study = twincell.study([{"id": "half", "old": OLD}, 7, change(0), {"old": 1, "new": ""}, ("only",)], budget=20)
    assert [row["verdict"] for row in study.rows] == [*["inconclusive"] * 2, "changing", *["inconclusive"] * 2]
    reasons = [row["reason"] for row in study.rows]
    assert reasons[0].startswith("item 1 is not a change: the field `new` is missing")
    assert reasons[1] == "item 2 is not a change: it is an int; give a dictionary, or a pair (old, new)"


def test_an_iterator_that_fails_ends_the_study_with_what_was_found(tmp_path):
    def failing():
        yield change(0)
        raise RuntimeError("no more")

    with pytest.raises(twincell.TwincellError, match="cannot read the changes to their end: RuntimeError: no more"):
        twincell.study(failing(), out=tmp_path / "out.sqlite", budget=20)
    assert len(twincell.load_study(tmp_path / "out.sqlite")) == 1


def test_an_iterable_is_read_by_who_called_and_can_be_interrupted(tmp_path):
    with closing(sqlite3.connect(":memory:")) as database:
        cursor = database.execute("SELECT ?, ?", (OLD, NEW))
        assert (
            twincell.study(({"old": old, "new": new} for old, new in cursor), budget=20).rows[0]["verdict"]
            == "changing"
        )

    def waiting():
        yield change(0)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
        waited.append(True)

    waited, out = [], tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        twincell.study(waiting(), out=out, budget=20)
    assert not waited


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((3,), {}, "changes are an int"),
        (([],), {"bugdet": 3}, "there is no option bugdet"),
        (([],), {"out": "x.csv"}, "ends in .jsonl, .sqlite or .parquet"),
        (([],), {"executor": 3}, "executor cannot be 3: give an executor"),
        (([],), {"progress": 3}, "progress cannot be called"),
        (("/no/such.jsonl",), {}, "cannot read /no/such.jsonl"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, options, said):
    with pytest.raises(twincell.TwincellError, match=said) as raised:
        twincell.study(*arguments, **options)
    assert "\n" not in str(raised.value)


def test_results_go_to_a_file_and_are_taken_up_from_there(tmp_path):
    out, told = tmp_path / "out.jsonl", []
    first = twincell.study([change(0), change(1)], out=out, budget=20, progress=lambda *now: told.append(now))
    assert told[-1][:2] == (2, 2)
    before = out.read_text()
    again = twincell.study([change(0), change(1)], out=str(out), budget=20, progress=False)
    assert again.rows == first.rows and out.read_text() == before
    assert all(json.loads(line)["key"] for line in before.splitlines())


def test_progress_is_told_and_may_stop_the_study(tmp_path):
    told = []

    def progress(done, total, text):
        told.append((done, total, text))
        if done >= 3:
            raise KeyboardInterrupt

    out = tmp_path / "out.sqlite"
    with pytest.raises(KeyboardInterrupt):
        twincell.study([change(number, KEPT) for number in range(200)], out=out, jobs=1, progress=progress)
    done, total, text = told[-1]
    assert total == 200 and f"{done} of 200 changes" in text and "left" in text
    assert done <= len(twincell.load_study(out)) < 200


def test_a_study_that_progress_stopped_keeps_what_it_found_and_says_so(tmp_path):
    changes = [change(number, KEPT) for number in range(200)]
    with pytest.warns(UserWarning, match=r"stopped after \d+ of 200 changes"):
        study = twincell.study(changes, jobs=1, progress=lambda done, total, text: done >= 3)
    assert study.stopped and 3 <= len(study) < 200
    said = f"The study was stopped after {len(study)} of 200 changes."
    assert said in repr(study) and said in study.to_html()
    assert json.loads(study._state())["unfinished"] == said
    # The plots are those of what was found.
    assert f"{len(study)} changes" in study.plot.verdicts().description
    assert not twincell.study(changes[:2], progress=False).stopped


def test_rows_have_the_kind_and_the_date_of_their_change():
    rows = [change(0) | {"date": "2026-01-02T03:04:05Z"}, change(1) | {"rule": "SIM103", "commit_date": "2026-02-01"}]
    study = twincell.study([*rows, change(2)], budget=20, progress=False)
    found = [(row["kind"], row["date"]) for row in study]
    assert found[1] == ("SIM103", "2026-02-01") and found[0][1] == "2026-01-02T03:04:05Z"
    assert found[0][0] == found[2][0] != "SIM103" and found[2][1] is None
    assert "Verdicts by kind of change" in study.plot.kinds().svg
    assert "by day of the commit" in study.plot.over_time().description


def test_two_studies_are_drawn_by_what_they_found_when():
    first = twincell.study([change(0), change(1)], budget=40, progress=False)
    second = twincell.study([change(0), change(1, KEPT)], budget=40, progress=False)
    plot = first.diff(second).plot(["this", "that"])
    assert "this found 2" in plot.description and "that found 1" in plot.description


def test_a_kept_comparison_is_given_packed():
    study = twincell.study([change(0), "nonsense"], budget=20, progress=False)
    kept = json.loads(zlib.decompress(base64.b64decode(study._kept(0))))
    assert kept["verdict"] == study.rows[0]["verdict"]
    assert study._kept(1) is None and study._kept(7) is None


def test_an_executor_gives_what_this_process_gives(tmp_path):
    changes = [*(change(number, [NEW, KEPT][number % 2]) for number in range(12)), "nonsense", change(3)]
    alone = twincell.study(changes, budget=30)
    with spawned() as executor:
        apart = twincell.study(changes, budget=30, executor=executor, reproducers=tmp_path / "tests")
    assert timeless(apart) == timeless(alone)
    assert "test_c0.py" in os.listdir(tmp_path / "tests")


def test_lost_workers_lose_nothing_where_others_can_be_made(tmp_path):
    made: list[ProcessPoolExecutor] = []

    def make() -> ProcessPoolExecutor:
        made.append(spawned())
        return made[-1]

    def progress(done, total, text):
        if done >= 2 and len(made) == 1:
            for pid in list(made[0]._processes):
                os.kill(pid, signal.SIGKILL)

    changes = [change(number, KEPT) for number in range(30)]
    out = tmp_path / "out.jsonl"
    apart = twincell.study(changes, out=out, executor=make, progress=progress)
    assert len(made) == 2
    assert timeless(apart) == timeless(twincell.study(changes))
    assert len(out.read_text().splitlines()) == 30


def test_a_pool_that_broke_is_told_and_what_was_found_stays(tmp_path):
    out, changes = tmp_path / "out.parquet", [change(number, KEPT) for number in range(30)]
    executor = spawned()

    def progress(done, total, text):
        if done >= 2:
            for pid in list(executor._processes or ()):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(twincell.TwincellError, match="BrokenProcessPool.*run the study again with a new executor"):
        twincell.study(changes, out=out, executor=executor, progress=progress)
    found = len(twincell.load_study(out))
    assert 2 <= found < 30
    with spawned() as another:
        assert len(twincell.study(changes, out=out, executor=another)) == 30


class Mixed(ThreadPoolExecutor):
    """The second of its workers has another model."""

    def submit(self, function, *arguments):
        if function.__name__ == "compare_chunk" and arguments[-1] == 1:
            chunk, options, _, ticket = arguments
            options = json.dumps({**json.loads(options), "predictor": "uniform"})
            return super().submit(function, chunk, options, arguments[2], ticket)
        return super().submit(function, *arguments)


def test_a_worker_that_would_answer_otherwise_is_refused():
    with Mixed(2) as executor, pytest.raises(twincell.TwincellError, match="a worker has another twincell, another"):
        twincell.study([change(number) for number in range(8)], budget=20, executor=executor)


def test_processes_that_were_forked_after_a_comparison_are_refused():
    twincell.compare(OLD, NEW, budget=5)
    forked = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    with forked, pytest.raises(twincell.TwincellError, match="start processes with multiprocessing's method 'spawn'"):
        twincell.study([change(0)], executor=forked)


def test_an_executor_that_was_shut_down_is_refused():
    executor = spawned()
    executor.shutdown()
    with pytest.raises(twincell.TwincellError, match="the workers of ProcessPoolExecutor cannot be used"):
        twincell.study([change(0)], executor=executor)


def test_the_magic_takes_a_file_or_a_variable(shell, tmp_path, capsys, monkeypatch):
    path = tmp_path / "changes.jsonl"
    path.write_text(json.dumps(change(0)) + "\n")
    result = shell.run_cell(f"%study {path} --budget 20 --out {tmp_path / 'out.jsonl'}").result
    assert [row["verdict"] for row in result.rows] == ["changing"]
    shell.user_ns["mine"] = [change(0), change(1)]
    assert len(shell.run_cell("%study mine --budget 20").result) == 2
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not shell.run_cell("%study mine").success
    assert "mine is a variable and a file: write ./mine for the file" in capsys.readouterr().err
    shutil.rmtree("mine")
    assert "--fresh" in shell.run_cell("%study --help").info.raw_cell or "--fresh" in capsys.readouterr().out
    capsys.readouterr()
    assert not shell.run_cell("%study nowhere.jsonl").success
    shown = capsys.readouterr()
    assert "cannot read nowhere.jsonl" in shown.err and "Traceback" not in shown.out + shown.err
