"""The JSON text of messages, whatever user code puts into them."""

import json
from datetime import datetime, timezone

import pytest
from twincell._json import dumps

MOMENT = datetime(2024, 1, 2, 3, 4, 5)
LOCAL = MOMENT.astimezone().isoformat().replace("+00:00", "Z")


def test_a_time_without_a_zone_is_local():
    assert json.loads(dumps([MOMENT, MOMENT.date()])) == [LOCAL, "2024-01-02"]
    assert json.loads(dumps(MOMENT.replace(tzinfo=timezone.utc))) == "2024-01-02T03:04:05Z"


@pytest.mark.parametrize("end", [datetime.min, datetime.max])
def test_a_time_at_an_end_of_the_calendar_is_written(end):
    assert json.loads(dumps(end)).startswith(end.isoformat()[:4])


def test_times_of_pandas_are_written():
    pandas = pytest.importorskip("pandas")
    assert json.loads(dumps({"at": pandas.Timestamp(MOMENT), "none": pandas.NaT})) == {"at": LOCAL, "none": "NaT"}
