"""`twincell.impact` and `%impact` in a plain IPython shell."""

import json
from pathlib import Path

import pytest
import twincell
from IPython.core.interactiveshell import InteractiveShell
from twincell import _widget

from tests.history import commit, git

OLD = "def net(price):\n    return price\n\n\ndef show(price):\n    value = net(price)\n    print(value)\n"
NEW = OLD.replace("return price", "return price * 2")

#: A change of two functions: level 0 proves that one does the same.
BEFORE = (
    "def rate(item):\n    if item is None:\n        return 0\n    return item.size\n\n\n"
    "def show(item):\n    print(rate(item))\n    print(net(1))\n\n\ndef net(price):\n    return price\n"
)
AFTER = BEFORE.replace("return price", "return price * 2").replace(
    "    if item is None:\n        return 0\n    return item.size\n", "    return 0 if item is None else item.size\n"
)


@pytest.fixture(scope="module")
def found():
    return twincell.impact(OLD, NEW)


def test_statements_and_functions_have_their_states(found):
    states = [(one["lines"], one["state"], one["distance"]) for one in found.statements]
    assert states == [
        ([1, 1], "not_impacted", None),
        ([2, 2], "changed", None),
        ([5, 5], "not_impacted", None),
        ([6, 6], "impacted", 3),
        ([7, 7], "impacted", 4),
    ]
    assert found.statements[3]["because"] == "uses what net returns"
    counts = {one["function"]: (one["changed"], one["impacted"], one["not_impacted"]) for one in found.functions}
    assert counts == {"": (0, 0, 2), "net": (1, 0, 0), "show": (0, 2, 0)}
    assert (found.changed, found.impacted) == (1, 2)
    assert [one["lines"] for one in found.removed] == [[2, 2]]
    assert (found.unsound, found.left_out) == ([], [])
    assert json.loads(found.to_json()) == found.to_dict()


def test_a_line_says_why(found):
    assert found.why(7) == found.why("module.py:7") == found.why(7, "module.py")
    assert found.why(7).startswith("module.py:7 may see other values: print(value)\n  1. module.py:2 changed: ")
    assert found.why(1) == "module.py:1 sees the same values: def net(price):\n"
    for line, said in [(3, "there is no statement in line 3"), ("a.py:x", "a.py:x is no FILE:LINE")]:
        with pytest.raises(twincell.TwincellError, match=said):
            found.why(line)


def test_each_level_leaves_fewer_statements_and_says_when_it_was_whole():
    found = twincell.impact(BEFORE, AFTER)
    assert [(level["k"], level["impacted"]) for level in found.levels] == [(None, 2), (0, 1)]
    times = [level["milliseconds"] for level in found.levels]
    assert times == sorted(times) and found.to_dict()["levels"] == found.levels
    assert found.stopped is None and not found.to_dict()["is_partial"]
    pruned = [(one["lines"], one["pruned_at"], one["equivalence"]) for one in found.statements if one["equivalence"]]
    assert pruned == [([6, 6], 0, "proved")]
    (proof,) = found.to_dict()["proofs"]
    assert (proof["path"], proof["function"], proof["rules"]) == ("module.py", "rate", ["branches"])
    assert "k=0 pruned it: what rate returns is the same" in found.why(6)
    assert "(ruled out)" in found.why(6) and "pruned" not in found.why(7)
    state = json.loads(found._state())
    assert [(level["name"], level["impacted"]) for level in state["levels"]] == [("DCIA", 2), ("k=0", 1)]


def test_the_depth_and_the_time_end_the_levels():
    deepest = twincell.impact(BEFORE, AFTER, depth="max")
    assert twincell.impact(BEFORE, AFTER, depth=0).impacted == deepest.impacted == 1
    over = twincell.impact(BEFORE, AFTER, time=0)
    assert (over.stopped, over.impacted, len(over.levels)) == ("time", 2, 1)
    assert "ended after DCIA, since the time was over" in repr(over)
    assert twincell.impact(BEFORE, AFTER, time=10**6).stopped is None
    for arguments, said in [({"depth": "deep"}, "depth cannot be"), ({"depth": -1}, "depth"), ({"time": -1}, "time")]:
        with pytest.raises(twincell.TwincellError, match=said):
            twincell.impact(BEFORE, AFTER, **arguments)


def test_an_impact_is_shown_as_the_command_prints_it(found):
    assert repr(found).startswith("1 statement changed, and 2 others may see other values")
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == repr(found)
    assert "<details" in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert "| show |" in found.to_markdown() and "statement-impacted" in found.to_sarif()
    assert "<title>A title</title>" in found.to_html("A title")
    state = json.loads(found._state())
    assert [file["path"] for file in state["reached"]] == ["module.py"]
    view = _widget.view_class()(found)
    assert (view.kind, view.state) == ("impact", state)


def test_versions_are_paths_texts_or_those_of_a_repository(tmp_path):
    repository = tmp_path / "project"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    commit(repository, "Begin", {"shop.py": OLD})
    commit(repository, "Double", {"shop.py": NEW})
    (tmp_path / "old.py").write_text(OLD)
    paths = twincell.impact(tmp_path / "old.py", repository / "shop.py")
    commits = twincell.impact(git="HEAD~1..HEAD", repository=repository, paths=["shop.py"])
    assert paths.impacted == commits.impacted == 2
    assert commits.to_dict()["versions"] == {"old": "HEAD~1", "new": "HEAD"}
    assert twincell.impact(git="HEAD", repository=repository).changed == 0
    assert twincell.impact(git="HEAD~1..HEAD", repository=repository, entry=["shop:net"]).impacted == 0
    for arguments, said in [
        ({}, "give two versions"),
        ({"old": OLD}, "give two versions"),
        ({"old": OLD, "new": NEW, "git": "HEAD"}, "give two versions"),
        ({"old": str(repository), "new": NEW}, "for a folder give its path"),
        ({"git": "none..HEAD", "repository": repository}, "none is not a revision"),
        ({"old": OLD, "new": NEW, "entry": "f"}, "f is no MODULE:FUNCTION"),
        ({"old": OLD, "new": NEW, "outside": True}, "outside cannot be"),
    ]:
        with pytest.raises(twincell.TwincellError, match=said):
            twincell.impact(**arguments)


def test_the_magic_takes_files_and_stored_versions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell()
    twincell.load_ipython_extension(shell)
    Path("old.py").write_text(OLD)
    Path("new.py").write_text(NEW)
    found = shell.run_line_magic("impact", "old.py new.py --html page.html")
    assert found.impacted == 2 and "<details" in Path("page.html").read_text()
    shell.run_cell_magic("version", "old", OLD)
    shell.run_cell_magic("version", "new", NEW)
    assert shell.run_line_magic("impact", "old new").why(6).startswith("module.py:6 may see other values")
    assert shell.run_line_magic("impact", "old new --depth 0 --time 0").stopped == "time"
    assert shell.run_line_magic("impact", "--help") is None
    assert "--entry" in capsys.readouterr().out
    _, matches = shell.complete("--out", "%impact --out")
    assert "--outside" in matches
