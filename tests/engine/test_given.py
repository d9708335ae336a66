"""Values that somebody gives are injected as they are and varied, and what their files run stays in the sandbox."""

import os
import subprocess
import sys

import pytest
import twincell

SMALL = 60


def compare(old, new, values, **options):
    return twincell.compare(old, new, values=values, **{"budget": SMALL} | options)


def injected(comparison, path):
    """The texts of the values that entered under a path."""
    (report,) = [found for found in comparison.pairs[0]["paths"] if found["path"] == path]
    return [value["value"] for value in report["injected"]]


def notes(comparison):
    return comparison.pairs[0]["notes"]


def function(body, parameters="x"):
    return f"def f({parameters}):\n    {body}\n"


def test_a_plain_value_is_injected_as_it_is_and_varied():
    old, new = function("return rate * 2", "rate"), function("return rate + rate", "rate")
    comparison = compare(old, new, {"rate": 12345})
    values = injected(comparison, "rate")
    assert comparison.verdict == "likely_preserving"
    assert "12345" in values and "24690" in values and len(values) > 4
    assert all(value.lstrip("-").isdigit() for value in values)


def test_a_value_decides_what_made_up_ones_would_hardly_find():
    old = function("return 1 if sum(x['codes']) == 6006 else 0")
    new = function("return 2 if sum(x['codes']) == 6006 else 0")
    comparison = compare(old, new, {"x": {"codes": [1001, 2002, 3003]}})
    assert comparison.verdict == "changing"
    assert "6006" in comparison.reproducer


def test_a_global_of_the_module_gives_way_to_a_given_value():
    module = "RATE = 1\ndef f(x):\n    return {}\n"
    comparison = compare(module.format("RATE * 3"), module.format("RATE + RATE + RATE"), {"RATE": 4321})
    assert "4321" in injected(comparison, "RATE")


def test_the_same_values_give_the_same_result():
    old, new = function("return sorted(x)[:2]"), function("return sorted(x)[:3]")
    first, second = (compare(old, new, {"x": list(range(300))}) for _ in range(2))
    assert first.verdict == "changing"
    assert [pair["witness"] for pair in first.pairs] == [pair["witness"] for pair in second.pairs]
    assert first.reproducer == second.reproducer


def frame(rows=50):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "region": [f"r{number % 7}" for number in range(rows)],
            "price": [number * 1.5 for number in range(rows)],
            "units": pandas.array([number % 5 for number in range(rows)], dtype="int32"),
            "at": pandas.date_range("2024-01-01", periods=rows, freq="D"),
            "kind": pandas.Categorical([("a", "b")[number % 2] for number in range(rows)]),
        }
    )


OLD_FRAME = "def f(df):\n    return df[df['price'] > 30].groupby('region')['units'].sum()\n"


def test_a_frame_is_sampled_and_keeps_its_columns_and_types():
    same = "def f(df):\n    found = df.loc[df['price'] > 30]\n    return found.groupby('region').units.sum()\n"
    comparison = compare(OLD_FRAME, same, {"df": frame()})
    assert comparison.verdict == "likely_preserving", comparison.to_dict()
    values = injected(comparison, "df")
    assert values[0].startswith("<df, a DataFrame of 50 x 5") and len(values) > 10
    kinds = "['object', 'float64', 'int32', 'datetime64[ns]', 'category']"
    checks = f"def f(df):\n    return [str(kind) for kind in df.dtypes] == {kinds} and len(df.columns) == 5\n"
    assert compare(checks, "def f(df):\n    return True\n", {"df": frame()}).verdict == "likely_preserving"


@pytest.mark.long
def test_a_difference_on_a_frame_comes_with_a_small_table(tmp_path):
    other = OLD_FRAME.replace("> 30", ">= 30")
    comparison = compare(OLD_FRAME, other, {"df": frame()}, budget=300)
    assert comparison.verdict == "changing"
    assert "pd.DataFrame(" in comparison.reproducer
    file = tmp_path / "test_change.py"
    comparison.save(file)
    for subject, status in [("old", 0), ("new", 1)]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", file], env=os.environ | {"TWINCELL_SUBJECT": subject}, check=False
        )
        assert done.returncode == status


def test_a_difference_in_one_of_many_rows_is_narrowed_down_to_this_row():
    many = frame(30_000)
    many.loc[20_123, "price"] = -5.25
    old = "def f(df):\n    return int((df['price'] < -5).sum())\n"
    comparison = compare(old, old.replace("-5", "-6"), {"df": many})
    assert comparison.verdict == "changing"
    (found,) = comparison.evidence
    assert (found["old"], found["new"]) == ("1", "0")
    assert "pd.DataFrame(" in comparison.reproducer and len(comparison.reproducer) < 3000


def test_a_frame_that_no_literal_gives_has_no_reproducer_and_the_report_says_why():
    old = "def f(df):\n    return len(df) > 5000\n"
    comparison = compare(old, old.replace("5000", "7000"), {"df": frame(6000)})
    assert comparison.verdict == "changing"
    assert comparison.reproducer is None
    made = comparison.pairs[0]["witness"]["reproducer"] if "reproducer" in comparison.pairs[0]["witness"] else None
    assert made is None or made["source"] is None
    assert comparison.to_dict()["pairs"][0]["reproducer"]["why_not"]


def test_both_versions_get_separate_frames_and_changes_are_seen():
    old = "def f(df):\n    df['price'] = 0.0\n    return len(df)\n"
    same = "def f(df):\n    df.loc[:, 'price'] = 0.0\n    return len(df)\n"
    kept = "def f(df):\n    df = df.assign(price=0.0)\n    return len(df)\n"
    assert compare(old, same, {"df": frame()}).verdict == "likely_preserving"
    changing = compare(old, kept, {"df": frame()})
    assert [found["channel"] for found in changing.evidence] == ["arguments"]


def test_an_execution_on_a_given_object_can_be_repeated():
    old = "def f(df):\n    return len(df) > 5000\n"
    comparison = compare(old, old.replace("5000", "7000"), {"df": frame(6000)})
    assert comparison.replay()["differs"]


def test_a_value_for_no_name_of_the_code_is_told():
    old = "RATE = 2\ndef f(x):\n    return x * RATE\n"
    values = {"x": 1, "RATE": 3, "rates": 4}
    said = [note.split()[0] for note in notes(compare(old, old.replace("x * RATE", "RATE * x"), values))]
    assert [name for name in said if name in values] == ["rates"], said


def test_objects_of_the_codes_own_classes_are_each_versions_own(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import twincell\n"
        "TEXT = '''\nclass Cart:\n    def __init__(self, prices):\n        self.prices = prices\n"
        "    def total(self):\n        return {}\n\ndef f(cart):\n    return cart.total(){}\n'''\n"
        "exec(TEXT.format('sum(self.prices)', ''))\n"
        "result = twincell.compare(TEXT.format('sum(self.prices)', ''), TEXT.format('sum(self.prices[1:])', ' * 1'),\n"
        "    values={'cart': Cart([3, 4, 5])}, function='f', predictor='frequency')\n"
        "print(result.verdict)\nprint(result.pairs[0]['paths'][0]['injected'][0]['value'])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "changing\n<cart, a Cart>\n" or done.stdout.startswith("changing\n<cart, a Cart")


class Reduced:
    """Unpickling it calls something."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


SAME_PAIR = ("def f(x):\n    return x == 3\n", "def f(x):\n    return 3 == x\n")


def test_what_a_pickle_runs_stays_in_the_sandbox(tmp_path):
    mark = tmp_path / "mark"
    for call in [(os.system, (f"touch {mark}",)), (open, (str(mark), "w")), (os.kill, (os.getppid(), 9))]:
        comparison = compare(*SAME_PAIR, {"x": Reduced(*call)})
        assert not mark.exists()
        assert comparison.verdict in ("likely_preserving", "inconclusive", "changing")
    assert os.getpid()


def raising(error):
    raise error


@pytest.mark.parametrize(
    "value",
    [Reduced(raising, (ValueError("broken\nfor good"),)), lambda: 3, Reduced("nowhere")],
    ids=["fails to load", "cannot be pickled", "is not where it says"],
)
def test_what_cannot_be_copied_is_said_in_one_line_and_the_rest_goes_on(value):
    old, new = ("def f(x, y):\n    return y * 2\n", "def f(x, y):\n    return y + y\n")
    comparison = compare(old, new, {"x": value, "y": 77})
    (note,) = [note for note in notes(comparison) if note.startswith("x ")]
    assert "\n" not in note
    assert "77" in injected(comparison, "y")


class Liar:
    """Lies about everything, and would show if it were asked."""

    asked: list = []

    @property
    def __class__(self):
        self.asked.append("class")
        return dict

    def __eq__(self, other):
        self.asked.append("eq")
        raise RuntimeError

    __hash__ = None

    def __len__(self):
        self.asked.append("len")
        raise RuntimeError

    def __bool__(self):
        self.asked.append("bool")
        raise RuntimeError

    def __repr__(self):
        self.asked.append("repr")
        raise RuntimeError


def test_a_value_that_lies_is_not_asked():
    comparison = compare(*SAME_PAIR, {"x": Liar()})
    assert Liar.asked in ([], ["class"] * len(Liar.asked))
    assert len(notes(comparison)) >= 1


class Endless:
    def __reduce__(self):
        return list, (), None, iter(lambda: bytes(1 << 22), None)


def test_an_endless_value_is_bounded():
    comparison = compare(*SAME_PAIR, {"x": Endless()})
    assert [note for note in notes(comparison) if note.startswith("x ")]


def test_a_value_whose_pickling_never_ends_is_given_up(monkeypatch):
    class Stuck:
        def __getstate__(self):
            while True:
                pass

    from twincell import _given

    monkeypatch.setattr(_given, "SECONDS", 1)
    Stuck.__qualname__ = "Stuck"
    monkeypatch.setattr(sys.modules[__name__], "Stuck", Stuck, raising=False)
    assert [note for note in notes(compare(*SAME_PAIR, {"x": Stuck()})) if note.startswith("x ")]


def test_a_pickle_that_ends_its_worker_costs_only_itself():
    comparison = compare(*SAME_PAIR, {"x": Reduced(os._exit, (3,))})
    assert comparison.verdict == "likely_preserving"
    (note,) = [note for note in notes(comparison) if "given" in note]
    assert "\n" not in note


@pytest.mark.parametrize("values", [3, [("a", 1)], {1: 2}])
def test_values_are_named(values):
    with pytest.raises(twincell.TwincellError, match="values"):
        twincell.compare(*SAME_PAIR, values=values)


@pytest.mark.long
def test_the_text_of_a_query_reads_given_values():
    pd = pytest.importorskip("pandas")
    old = 'def top(df):\n    return df[df["price"] > 10 * rate]\n'
    new = 'def top(df):\n    return df.query("price > 10 * @rate")\n'
    sales = pd.DataFrame({"price": [12.0, 9.5, 20.0, 11.99], "units": [3, 8, 1, 4]})
    values = {"df": sales, "rate": 1.2}
    assert twincell.compare(old, new, values=values).verdict == "likely_preserving"
    assert twincell.compare(old, new.replace("> 10", ">= 10"), values=values).verdict == "changing"
