"""Studies on Dask and ipyparallel, with several real worker processes."""

import json
import os
import signal
import subprocess
import sys

import pytest
import twincell
from test_studies import KEPT, NEW, change, timeless

pytestmark = pytest.mark.long

CHANGES = [change(number, [NEW, KEPT][number % 2]) for number in range(24)] + ["nonsense", change(3)]


@pytest.fixture(scope="module")
def alone():
    return timeless(twincell.study(CHANGES, budget=60))


@pytest.fixture
def dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_gives_what_this_process_gives_byte_for_byte(dask, alone, tmp_path):
    out = tmp_path / "out.jsonl"
    study = twincell.study(CHANGES, budget=60, executor=dask.get_executor(), out=out)
    assert timeless(study) == alone
    twincell.study(CHANGES, budget=60, out=tmp_path / "local.jsonl")

    def lines(path):
        rows = [{**json.loads(line), "milliseconds": 0} for line in path.read_text().splitlines()]
        return sorted(json.dumps(row) for row in rows)

    assert lines(out) == lines(tmp_path / "local.jsonl")


def test_workers_of_dask_that_are_killed_lose_and_double_nothing(dask, tmp_path):
    changes, killed = [change(number, KEPT) for number in range(60)], []

    def progress(done, total, text):
        if len(killed) < 3 and done >= 5 * (len(killed) + 1):
            for pid in dask.run(os.getpid).values():
                if pid not in killed:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)
                    break

    out = tmp_path / "out.jsonl"
    study = twincell.study(changes, executor=dask.get_executor(), out=out, progress=progress)
    assert killed
    assert timeless(study) == timeless(twincell.study(changes))
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == [f"c{number}" for number in range(60)]


def test_the_command_line_runs_on_dask(dask, alone, tmp_path):
    changes, out = tmp_path / "changes.jsonl", tmp_path / "out.jsonl"
    changes.write_text("".join(json.dumps(row) + "\n" for row in CHANGES if isinstance(row, dict)))
    address = dask.scheduler.address.replace("tcp://", "dask://")
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(out), "--budget", "60"]
    done = subprocess.run([*command, "--on", address], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [row for row in alone if not row["reason"].startswith("item 25 ")]
    assert timeless(twincell.load_study(out)) == rows


def test_an_address_without_a_scheduler_is_told(tmp_path):
    pytest.importorskip("distributed")
    changes = tmp_path / "changes.jsonl"
    changes.write_text(json.dumps(change(0)) + "\n")
    command = [sys.executable, "-m", "twincell", "study", str(changes), "--out", str(tmp_path / "out.jsonl"), "--on"]
    for address, said in [("dask://127.0.0.1:1", "no Dask scheduler answers"), ("ray://a", "give dask://HOST:PORT")]:
        done = subprocess.run([*command, address], capture_output=True, text=True, timeout=120)
        assert done.returncode == 3 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.fixture
def engines():
    ipyparallel = pytest.importorskip("ipyparallel")
    with ipyparallel.Cluster(n=2, log_level=40) as client:
        client.wait_for_engines(2)
        yield client


def test_ipyparallel_gives_what_this_process_gives(engines, alone):
    view = engines.load_balanced_view()
    assert timeless(twincell.study(CHANGES, budget=60, executor=view.executor)) == alone


def test_an_engine_of_ipyparallel_that_is_killed_loses_nothing(engines, tmp_path):
    view = engines.load_balanced_view()
    [victim, _] = engines[:].apply_sync(os.getpid)
    changes, killed = [change(number, KEPT) for number in range(40)], []

    def progress(done, total, text):
        if done >= 4 and not killed:
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    study = twincell.study(changes, executor=view.executor, out=tmp_path / "out.sqlite", progress=progress)
    assert killed
    assert timeless(study) == timeless(twincell.study(changes))
