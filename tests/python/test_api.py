"""`twincell.compare` and `twincell.Comparison`."""

import ast
import json
import os
import re
import signal
import threading
from importlib.resources import files

import pytest
import twincell
from twincell import _twincell

from tests.processes import interrupted_at_work

OLD = "def f(a, b):\n    if a > b:\n        return a\n    return b\n"
NEW = "def f(a, b):\n    if a > b:\n        return b\n    return a\n"
REFACTORED = "def f(a, b):\n    return a if a > b else b\n"
# Takes its time.
SLOW = "def f(x):\n    for _ in range(4000):\n        x = [x]\n    return len(x)\n"
SAME = "def f(x, y):\n    if x > y:  # the larger one\n        return x\n    return y\n"


def doubled(number):
    return number * 2


def tripled(number):
    return number * 3


def test_a_change_has_a_verdict_and_evidence():
    comparison = twincell.compare(OLD, NEW)
    assert comparison.verdict == "changing"
    assert set(comparison.evidence[0]) == {
        "channel",
        "place",
        "at",
        "old",
        "new",
        "strength",
        "probability",
        "edge_case",
        "score",
        "execution",
    }
    assert repr(comparison) == comparison.sentence
    assert comparison.pairs[0]["verdict"] == "changing"


def test_names_and_comments_are_no_change():
    comparison = twincell.compare(OLD, SAME)
    assert (comparison.verdict, comparison.evidence) == ("identical", [])


def test_the_sentence_names_what_changed_around_a_function():
    old = "LIMIT = 1\ndef f(x):\n    return 3 if LIMIT else x\n"
    comparison = twincell.compare(old, old.replace("= 1", "= 2"), function="f")
    assert ", though LIMIT changed" in comparison.sentence


def test_lines_on_which_compound_statements_begin_are_counted():
    old = (
        "def f(rows, lock):\n    with lock:\n        for row in rows:\n            pass\n"
        "    match rows:\n        case None:\n            pass\n"
        "    try:\n        int('a')\n    except ValueError:\n        pass\n    return 1\n"
    )
    new = old.replace("with lock", "with (lock)").replace("for row", "for each").replace("ValueError", "(ValueError)")
    comparison = twincell.compare(old, new.replace("return 1", "return 2"))
    executions = {
        line["number"]: line["executions"] for line in comparison.pairs[0]["old"]["lines"] if line["executable"]
    }
    assert {2, 3, 5, 10} <= set(executions), executions
    assert executions[2] >= executions[3] >= executions[5] > 0


def test_paths_are_read(tmp_path):
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text(NEW)
    assert twincell.compare(tmp_path / "old.py", tmp_path / "new.py").verdict == "changing"
    with pytest.raises(twincell.TwincellError, match="cannot read .*none.py: No such file"):
        twincell.compare(tmp_path / "none.py", tmp_path / "new.py")


def test_function_objects_stand_for_their_source():
    assert twincell.compare(doubled, doubled).verdict == "identical"
    assert twincell.compare(doubled, "def doubled(number):\n    return number * 5\n").verdict == "changing"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("def f(:\n", NEW, "old is not valid Python: line 1"),
        (OLD, "x = 1\n", "new has no function to compare"),
        (OLD, "def g(): pass\n\n\ndef h(): pass\n", "no function in common"),
        ("old.py", NEW, "for a file give its path"),
        ("def f():\n    return '\ud800'\n", NEW, "old holds a lone surrogate"),
        (7, NEW, "old is of class int: give source text, a path or a function"),
        (len, NEW, "give source text, a path or a function"),
    ],
)
def test_bad_code_is_one_line_that_says_what_to_do(old, new, expected):
    with pytest.raises(twincell.TwincellError, match=expected) as caught:
        twincell.compare(old, new)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"budget": 0}, "budget cannot be 0: give a whole number from 1 to 1000000"),
        ({"budget": "100"}, "budget cannot be '100'"),
        ({"budget": True}, "budget cannot be 'True'"),
        ({"budget": 1 << 200}, "budget cannot be"),
        ({"raise_probability": 1.5}, "raise-probability cannot be 1.5: give a number from 0 to 1"),
        ({"context": "file"}, "context cannot be 'file': give function or module"),
        ({"bugdet": 3}, "there is no option bugdet; there are: function, budget"),
        ({"bugdet": None}, "there is no option bugdet"),
        ({"predictor": []}, r"predictor cannot be '\[\]': give neural, frequency or uniform"),
        ({"model": "/no/such/folder"}, "/no/such/folder"),
        ({"python": "/no/such/python"}, "/no/such/python"),
    ],
)
def test_bad_options_say_what_is_allowed(options, expected):
    with pytest.raises(twincell.TwincellError, match=expected) as caught:
        twincell.compare(OLD, NEW, **options)
    assert "\n" not in str(caught.value)


def test_options_reach_the_comparison():
    report = twincell.compare(OLD, REFACTORED, seed=2**64 - 1, budget=17, predictor="uniform")
    report = report.to_dict()
    assert (report["seed"], report["budget"], report["predictor"]) == (2**64 - 1, 17, "uniform")


def test_none_leaves_the_default():
    assert twincell.compare(OLD, NEW, budget=None, function=None).to_dict()["budget"] == 300


def test_lists_of_words_are_lists_or_texts():
    for words in (["calls", "trial"], ("calls", "trial"), "calls,trial", []):
        twincell.compare(OLD, NEW, budget=1, predictor="uniform", disable=words)
    with pytest.raises(twincell.TwincellError, match="disable cannot be 'luck': give some of learning, observation"):
        twincell.compare(OLD, NEW, disable=["luck"])


def test_an_old_keyword_works_and_says_what_to_write():
    with pytest.warns(DeprecationWarning, match=r'without is the old spelling of disable=\["calls"\]: write that'):
        old = twincell.compare(OLD, NEW, budget=20, predictor="uniform", without="calls")
    assert old.verdict == twincell.compare(OLD, NEW, budget=20, predictor="uniform", disable=["calls"]).verdict
    with pytest.warns(DeprecationWarning, match="rounds is the old spelling of budget=0: write that"):
        twincell.prefix("print(a)\n", rounds=0, predictor="uniform")


#: What has a function of its name in the library.
JOBS = {job for option in _twincell.option_table() for job in option["jobs"]} - {"doctor"}


@pytest.mark.parametrize("job", sorted(JOBS))
def test_the_types_list_exactly_the_options_of_the_table(job):
    tree = ast.parse(files("twincell").joinpath("_twincell.pyi").read_text())
    stub = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == job)
    table = [option for option in _twincell.option_table() if job in option["jobs"]]
    # A study also has arguments of its own, which come first.
    declared = stub.args.kwonlyargs[-len(table) :]
    assert [argument.arg for argument in declared] == [option["keyword"] for option in table]
    for argument, option in zip(declared, table, strict=True):
        for node in ast.walk(argument.annotation):
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
                words = [constant.value for constant in getattr(node.slice, "elts", [node.slice])]
                listed = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
                # A word may stand beside numbers.
                assert option["allowed"] == listed or option["allowed"].endswith(f", or {listed}")


def test_a_report_can_be_kept(tmp_path):
    comparison = twincell.compare(OLD, NEW)
    comparison.save(tmp_path / "report.json")
    comparison.save(tmp_path / "report.html")
    assert (
        json.loads((tmp_path / "report.json").read_text()) == comparison.to_dict() == json.loads(comparison.to_json())
    )
    assert (tmp_path / "report.html").read_text() == comparison.to_html()
    with pytest.raises(twincell.TwincellError, match="cannot write .*report.json: No such file"):
        comparison.save(tmp_path / "none" / "report.json")
    with pytest.raises(twincell.TwincellError, match="must end in .html, .json or .py"):
        comparison.save(tmp_path / "report.txt")


def test_a_notebook_gets_text_and_html():
    bundle = twincell.compare(OLD, NEW)._repr_mimebundle_()
    assert {"text/plain", "text/html"} <= set(bundle)


def test_the_interpreter_runs_on_while_a_comparison_does_and_an_interrupt_stops_it():
    # The interrupt comes from a thread, which needs Python's lock again and again before.
    with pytest.raises(KeyboardInterrupt), interrupted_at_work():
        twincell.compare(SLOW, SLOW.replace("len(x)", "len(x) + 0"), budget=1_000_000)


def test_a_forked_process_is_told_what_to_do_instead_of_hanging():
    twincell.compare(OLD, NEW)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            said = twincell.compare(OLD, NEW).verdict
        except BaseException as error:
            said = str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert "'spawn'" in stream.read()
    os.waitpid(child, 0)
    assert twincell.compare(OLD, NEW, seed=9).verdict == "changing"


def test_comparisons_from_several_threads_agree():
    verdicts = []
    threads = [threading.Thread(target=lambda: verdicts.append(twincell.compare(OLD, NEW).verdict)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == ["changing"] * 6


def test_a_long_comparison_counts_all_executions_and_lists_the_first():
    old = (
        "def f(a, b):\n    n = 0\n    for x in a.items():\n"
        "        if x.name == b.name:\n            n += b.size\n    return n, b.title\n"
    )
    comparison = twincell.compare(old, old.replace("x.name == b.name", "b.name == x.name"), budget=1300)
    (pair,) = comparison.pairs
    assert pair["executed"] == pair["old"]["lines"][1]["executions"] == 1300
    assert 1000 <= len(pair["executions"]) < 1100
    counts = re.match(r"f: no difference in (\d+) executions \((\d+) others not usable\)", comparison.sentence)
    assert counts is not None and sum(map(int, counts.groups())) == 1300, comparison.sentence


LIMIT = "LIMIT = {limit}\n\n\ndef pages(rows):\n    return rows[:LIMIT]\n"


def test_the_name_of_a_constant_stands_for_the_statements_that_bind_it():
    old, new = LIMIT.format(limit=3), LIMIT.format(limit=2)
    (pair,) = twincell.compare(old, new, function="LIMIT").pairs
    assert pair["verdict"] == "changing" and "LIMIT: 3 -> 2" in pair["sentence"]
    with pytest.raises(ValueError, match="no function is called OTHER"):
        twincell.compare(old, new, function="OTHER")


CACHE = """class Cache:
    def __init__(self):
        self._items = {}

    def put(self, key: str, value: int):
        self._items[key] = value

    def get(self, key: str):
        return self._items.get(key, 0)
"""


def test_a_class_that_keeps_its_state_otherwise_decides_for_its_methods():
    new = CACHE.replace("self._items = {}", "self._pairs = []")
    new = new.replace("self._items[key] = value", "self._pairs.append((key, value))")
    new = new.replace("self._items.get(key, 0)", "dict(self._pairs).get(key, 1)")
    pairs = {pair["new"]["qualname"]: pair for pair in twincell.compare(CACHE, new).pairs}
    assert pairs["Cache"]["verdict"] == "changing"
    assert all(pairs[f"Cache.{name}"]["decided_by"] == ["Cache"] for name in ("put", "get")), pairs


def test_a_value_that_differs_in_another_way_differs():
    old = (
        "def port(text: str):\n    try:\n        number = int(text)\n    except ValueError:\n        print('bad')\n"
        "        return 1\n    return number + 1\n"
    )
    new = old.replace("'bad'", "'worse'").replace("number + 1", "number + 2")
    (pair,) = twincell.compare(old, new).pairs
    (varied,) = pair["witness"]["varied"]
    assert {value["outcome"] for value in varied["values"]} == {"differs"}, varied
