"""`twincell.slice`, `twincell.blame`, `Comparison.blame` and their magics in a plain IPython shell."""

import json
import os
import signal
import sys

import pytest
import twincell
from twincell import _bar, _widget

from tests.history import commit, git, shop

#: What the tests of the slices run with.
PYTHON = {"python": sys.executable}


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return shop(tmp_path_factory.mktemp("history") / "project")


@pytest.fixture(scope="module")
def found(repository):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return twincell.slice(repository, "HEAD~5..HEAD", "tests", progress=False, **PYTHON)


def test_a_slice_has_the_commits_that_stay_and_all_reasons(repository, found):
    subjects = [git(repository, "show", "-s", "--format=%s", one).strip() for one in found.commits]
    assert subjects == ["Add a tax", "Use the tax"]
    assert [unit["stays"] for unit in found.units] == [False, True, False, True, False]
    assert "No module named 'tax'" in found.units[1]["reason"] and "tests_fail" in found.units[1]["state"]["stays"]
    assert found.units[0]["reason"].startswith("it goes: ")
    assert found.is_minimal and found.ended == "minimal"
    assert found.tests["deciding"] == ["tests/test_shop.py::test_price"]
    assert found.steps[0]["is_passed"] and found.base == git(repository, "rev-parse", "HEAD~5").strip()
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["range"] == "HEAD~5..HEAD"


def test_a_slice_is_shown_as_the_command_prints_it(found):
    assert repr(found).startswith("2 of 5 commits in HEAD~5..HEAD keep the tests passing\n")
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == repr(found) and "Use the tax" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "| Use the tax |" in found.to_markdown() and "Use the tax" in found.to_html("A title")
    assert json.loads(found._state())["size"] == 2


def test_a_commit_of_a_slice_is_explained(found):
    assert "No module named 'tax'" in found.explain(found.commits[0][:9])
    with pytest.raises(twincell.TwincellError, match=r"zzz is no commit of HEAD~5\.\.HEAD that changes something"):
        found.explain("zzz")
    with pytest.raises(twincell.TwincellError, match=r"an empty text is no commit of HEAD~5\.\.HEAD"):
        found.explain("")


def test_a_slice_becomes_patches_and_a_branch_wherever_the_process_is(repository, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patches = found.write_patches("patches")
    assert [path.name for path in patches] == ["0001-Add-a-tax.patch", "0002-Use-the-tax.patch"]
    assert all(path.exists() for path in patches)
    made = found.make_branch("alone")
    assert git(repository, "rev-parse", "alone").strip() == made[-1] and len(made) == 2
    with pytest.raises(twincell.TwincellError, match="alone"):
        found.make_branch("alone")


def test_tests_are_a_text_or_a_list_and_progress_is_told(repository):
    told = []
    asked = {"progress": lambda *now: told.append(now), **PYTHON}
    one = twincell.slice(repository, "HEAD~5..HEAD", ["tests/test_shop.py::test_price"], **asked)
    assert len(one.commits) == 2
    done, total, text, stage = told[-1]
    assert 0 < done <= total and "2 of 5 are left after" in text and stage == "refining"
    assert {stage for *_, stage in told} <= {"reading", "criterion", "comparing", "refining"}
    for tests, said in [([], "no tests are given"), ([1], "tests are texts or paths"), (3, "tests are texts or paths")]:
        with pytest.raises(twincell.TwincellError, match=said):
            twincell.slice(repository, "HEAD~5..HEAD", tests)
    with pytest.raises(twincell.TwincellError, match="scheme cannot be 'best'"):
        twincell.slice(repository, "HEAD~5..HEAD", "tests", scheme="best")
    with pytest.raises(twincell.TwincellError, match="slice has no option seed: it has onto, compare, bisect, scheme"):
        twincell.slice(repository, "HEAD~5..HEAD", "tests", seed=1)


def test_an_interrupt_leaves_the_best_slice_so_far(repository):
    def interrupt(done, _total, _text, stage):
        if stage == "refining" and done:
            os.kill(os.getpid(), signal.SIGINT)

    # Another selection, whose runs are in no store.
    commit(
        repository, "Test it twice", {"tests/test_more.py": "from shop import price\n\n\ndef test(): assert price(1)\n"}
    )
    best = twincell.slice(repository, "HEAD~6..HEAD", "tests", progress=interrupt, **PYTHON)
    assert best.ended in ("interrupted", "minimal") and best.commits
    git(repository, "reset", "-q", "--hard", "HEAD~1")

    def fail(*_now):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        twincell.slice(repository, "HEAD~5..HEAD", "tests/test_shop.py", progress=fail, **PYTHON)


def test_a_call_is_blamed(repository):
    told = twincell.blame("shop.py:price", "price(2)", repository=repository, progress=False)
    assert told.answer == "since" and told.message == "Use the tax"
    assert told.commit == git(repository, "rev-parse", "HEAD~1").strip() and told.candidates == [told.commit]
    assert (told.before, told.after) == ("returned 2", "returned 4")
    assert "+    return tax(n)\n" in told.hunk
    assert told.steps[0]["state"]["gave"]["shown"] == "returned 4"
    assert json.loads(told.to_json()) == told.to_dict()
    bundle = told._repr_mimebundle_()
    assert bundle["text/plain"] == repr(told) and repr(told).startswith("price(2) gives its value since ")
    assert "Use the tax" in bundle["text/html"] and "Use the tax" in told.to_markdown() and "<html" in told.to_html()
    same = twincell.blame("shop.py:price", "price(0)", repository=repository, budget=50)
    assert (same.answer, same.commit, same.before, same.hunk) == ("same", None, None, None)


@pytest.mark.parametrize(
    ("place", "call", "said"),
    [
        ("shop.py", "price(2)", "shop.py is no FILE:FUNCTION"),
        ("shop.py:price", "other(2)", "does not call price"),
        ("shop.py:none", "none(2)", "shop.py has no none"),
    ],
)
def test_what_cannot_be_blamed_is_one_line(repository, place, call, said):
    with pytest.raises(twincell.TwincellError, match=said) as raised:
        twincell.blame(place, call, repository=repository)
    assert "\n" not in str(raised.value)


CART = "def total(price, count=1):\n    return price * count\n"
NEWER = "def total(price, count=1):\n    if count > 2:\n        return price * count - 1\n    return price * count\n"


@pytest.fixture
def cart(tmp_path):
    """A repository in which the total changed, and the old version of the file beside it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    hashes = [
        commit(folder, "Begin", {"cart.py": "def total(price, count=1):\n    return price\n"}),
        commit(folder, "Count", {"cart.py": CART}),
        commit(folder, "Say what it is", {"README.md": "Shop\n"}),
        commit(folder, "Give a discount", {"cart.py": NEWER}),
        commit(folder, "Say more", {"README.md": "A shop\n"}),
    ]
    (tmp_path / "old.py").write_text(CART)
    return folder, tmp_path / "old.py", hashes


def test_the_witness_of_a_comparison_is_blamed(cart):
    folder, old, hashes = cart
    comparison = twincell.compare(old, folder / "cart.py", budget=100)
    assert comparison.verdict == "changing"
    newer = comparison.blame(progress=False)
    assert (newer.commit, newer.message) == (hashes[3], "Give a discount")
    assert comparison.blame("HEAD~2..HEAD").commit == hashes[3]
    # The older version is found where the history has it.
    older = comparison.blame(old=True)
    assert older.to_dict()["newest"]["id"] == hashes[2] and older.commit == hashes[1]


def test_what_has_no_call_or_no_history_is_said(cart, tmp_path):
    folder, old, _hashes = cart
    (folder / "cart.py").write_text(NEWER.replace("- 1", "- 2"))
    with pytest.raises(
        twincell.TwincellError, match=r"cart\.py is as it was compared in none of the last 1000 commits"
    ):
        twincell.compare(old, folder / "cart.py", budget=100).blame()
    with pytest.raises(
        twincell.TwincellError, match="neither version was compared as a Python file of a git repository"
    ):
        twincell.compare(CART, NEWER, budget=100).blame()
    with pytest.raises(twincell.TwincellError, match="no difference"):
        twincell.compare(CART, CART).blame()
    (folder / "cart.py").write_text("TOTAL = 1\nprint(TOTAL + 1)\n")
    (tmp_path / "statements.py").write_text("TOTAL = 1\nprint(TOTAL)\n")
    with pytest.raises(twincell.TwincellError, match="statements outside of functions"):
        twincell.compare(tmp_path / "statements.py", folder / "cart.py", budget=100).blame()
    held = "def total(cart):\n    return cart.sum()\n"
    with pytest.raises(twincell.TwincellError, match="neither version was compared"):
        twincell.compare(held, held.replace("sum()", "sum() + 1"), budget=100).blame()


#: A function of an object, and a method that changes its own.
HELD = "RATE = 1\n\n\ndef total(cart):\n    return cart.sum() * RATE\n"
STATE = "class Cart:\n    def add(self, price):\n        self.prices.append(price)\n"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (HELD, HELD.replace("* RATE", "* RATE + 1"), "returned"),
        # What differs is what it uses, or no result.
        (HELD, HELD.replace("RATE = 1", "RATE = 2"), "returned"),
        (STATE, STATE.replace("append(price)", "append(price + 1)"), "did"),
    ],
)
def test_a_witness_that_is_no_call_runs_on_its_values(tmp_path, before, after, kind):
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", {"cart.py": "TOTAL = 1\n"})
    begun = commit(folder, "Add it", {"cart.py": before})
    commit(folder, "Break it", {"cart.py": before + "def ("})
    commit(folder, "Mend it", {"cart.py": before})
    changed = commit(folder, "Change it", {"cart.py": after})
    commit(folder, "Say more", {"README.md": "A shop\n", "cart.py": after + "\n\nX = 1\n"})
    # More commits than there are copies of at once.
    for number in range(20):
        commit(folder, f"Say {number}", {"README.md": f"{number}\n"})
    (tmp_path / "old.py").write_text(before)
    comparison = twincell.compare(tmp_path / "old.py", folder / "cart.py", budget=100)
    assert comparison.verdict == "changing"
    newer = comparison.blame(progress=False)
    assert (newer.commit, newer.answer) == (changed, "since"), newer
    found = newer.to_dict()
    assert found["value"]["kind"] == kind and found["witness"], newer
    assert newer.before != newer.after
    older = comparison.blame(old=True)
    assert older.commit == begun and older.before == "the function was not there", older
    assert comparison.blame("HEAD~25..HEAD").commit == changed


def test_magics_give_the_results_and_take_the_flags_of_the_commands(shell, repository, tmp_path, capsys):
    line = f"%slice HEAD~5..HEAD --tests tests --repository {repository} --python {sys.executable}"
    outcome = shell.run_cell(f"{line} --patches {tmp_path / 'patches'} --html {tmp_path / 'slice.html'}")
    assert isinstance(outcome.result, twincell.Slice) and len(outcome.result.commits) == 2
    assert "wrote 2 patches to " in capsys.readouterr().out and "Use the tax" in (tmp_path / "slice.html").read_text()
    line = f"told = %blame shop.py:price --returns 'price(2)' HEAD~5..HEAD --repository {repository}"
    assert shell.run_cell(line).success
    assert shell.user_ns["told"].message == "Use the tax"


def test_magics_say_mistakes_in_one_line_and_have_help(shell, capsys):
    for cell, said in [
        ("%slice HEAD~5..HEAD", "--tests"),
        ("%slice a..b --tests tests --repository /none", "/none"),
        ("%blame shop.py --returns 'f(1)'", "is no FILE:FUNCTION"),
    ]:
        capsys.readouterr()
        assert not shell.run_cell(cell).success
        shown = capsys.readouterr()
        assert said in shown.err and shown.err.count("\n") == 1 and "Traceback" not in shown.out
    shell.run_cell("%slice --help")
    shown = capsys.readouterr().out
    assert "--scheme" in shown and "--json" not in shown
    shell.run_cell("%blame --help")
    assert "--returns" in capsys.readouterr().out
    for magic in ("slice", "blame"):
        assert "see `" in shell.magics_manager.magics["line"][magic].__doc__


def test_flags_of_the_magics_are_completed(shell):
    for line, flag in [("%slice --te", "--tests"), ("%slice --sch", "--scheme"), ("%blame --ret", "--returns")]:
        assert flag in shell.complete(line.split()[1], line)[1]


def test_a_live_front_end_gets_the_search_and_then_the_slice(repository, found, monkeypatch):
    pytest.importorskip("anywidget")
    view = _widget.view_class()(found)
    assert (view.kind, len(view.state["units"])) == ("slice", 5)
    seen = []
    monkeypatch.setattr(_bar, "PATIENCE", 0)
    monkeypatch.setattr(_bar, "in_notebook", lambda: True)
    monkeypatch.setattr(_widget, "is_live", lambda: True)
    monkeypatch.setattr(_bar.Shown, "display", lambda *_: None)
    monkeypatch.setattr(_bar.LiveBar, "show", lambda _bar, progress: seen.append(progress))
    twincell.slice(repository, "HEAD~5..HEAD", "tests", **PYTHON)
    assert seen[-1]["stage"] == "refining" and seen[-1]["points"][0] == {"runs": 0, "kept": 5}
