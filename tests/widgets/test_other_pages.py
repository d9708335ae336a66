"""The views of studies, prefixes and amplified tests in a browser without a notebook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import states
from .conftest import rows_listed

pytestmark = pytest.mark.long

#: A clipboard in the place of the browser's, which this page may not use.
CLIPBOARD = """\
Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } })"""


def test_the_matrix_of_a_study_filters_and_a_change_opens(open_tab, scheme):
    tab = open_tab(scheme)
    state = states.study()
    tab.show(state, live=False, kept=states.comparison(120))
    page = tab.page
    changes = page.get_by_role("grid", name="Changes")
    assert rows_listed(changes) == 120
    page.get_by_role("button", name=re.compile("^. \\d+ inconclusive$")).click()
    assert rows_listed(changes) == sum(row["verdict"] == "inconclusive" for row in state["rows"])
    page.get_by_role("button", name=re.compile("^. \\d+ inconclusive$")).click()
    page.get_by_role("button", name=re.compile("labelled changing, judged likely preserving, which disagrees")).click()
    wrong = [row for row in state["rows"] if (row["label"], row["verdict"]) == ("changing", "likely_preserving")]
    assert rows_listed(changes) == len(wrong)
    page.get_by_role("button", name="No longer only one cell of the matrix").click()
    page.get_by_role("searchbox").fill("function_1")
    assert 0 < rows_listed(changes) < 120
    page.get_by_role("searchbox").fill("")
    changes.get_by_role("columnheader", name="Executions").get_by_role("button").click()
    assert "300" in changes.get_by_role("row").nth(1).inner_text().split("\n")
    page.get_by_role("searchbox").fill("0000:module")
    changes.get_by_role("row").nth(1).click()
    assert page.locator(".tcw-sentence").inner_text() == states.SENTENCE
    page.get_by_role("button", name="All changes").click()
    page.get_by_role("searchbox").fill("0003:module")
    changes.get_by_role("row").nth(1).click()
    assert "The whole comparison is not stored" in page.locator(".tcw").inner_text()
    assert page.get_by_role("figure").count() in (0, 4)


def test_a_change_of_a_study_is_compared_once_more_where_there_is_a_kernel(open_tab):
    tab = open_tab()
    tab.show(states.study(), kept=states.comparison(120))
    page = tab.page
    changes = page.get_by_role("grid", name="Changes")
    page.get_by_role("searchbox").fill("0000:module")
    changes.get_by_role("row").nth(1).click()
    # What is stored stays as it is for whoever works in it, until he asks for more.
    tab.tab("Execution 3")
    assert [one["do"] for one in tab.sent()] == ["kept"] and page.locator(
        ".tcw-sentence"
    ).inner_text() == states.SENTENCE
    assert page.get_by_role("button", name="Run again").is_disabled()
    page.evaluate("window.holdAnswers()")
    page.get_by_role("button", name="Work with it").click()
    page.get_by_text("Comparing this change once more…").wait_for()
    request = tab.sent()[-1]
    assert isinstance(request.pop("id"), int) and request == {"do": "open", "row": 0}
    assert page.locator(".tcw-sentence").inner_text() == states.SENTENCE
    page.evaluate("window.letOneGo()")
    assert page.get_by_role("button", name="Work with it").count() == 0
    assert page.evaluate("document.querySelector('.tcw').contains(document.activeElement)")
    assert tab.tab("Execution 3").get_by_role("button", name="Run again").is_enabled()
    page.get_by_role("button", name="All changes").click()
    # An answer to a change that was closed and opened once more takes nothing away.
    changes.get_by_role("row").nth(1).click()
    page.get_by_role("button", name="Work with it").click()
    page.get_by_role("button", name="All changes").click()
    changes.get_by_role("row").nth(1).click()
    # The comparison that was kept comes with its own answer, and so does each that was asked for.
    for _ in range(3):
        page.evaluate("window.letOneGo()")
    page.wait_for_timeout(100)
    assert page.locator(".tcw-sentence").inner_text() == states.SENTENCE
    page.get_by_role("button", name="Work with it").click()
    page.evaluate("window.letOneGo()")
    assert tab.tab("Execution 3").get_by_role("button", name="Run again").is_enabled()
    page.get_by_role("button", name="All changes").click()
    tab.show(states.study())
    page.get_by_role("searchbox").fill("0003:module")
    changes.get_by_role("row").nth(1).click()
    page.get_by_text("the texts of this change are not known.").wait_for()


def test_keys_go_through_the_listed_changes_and_back_to_the_row(open_tab):
    tab = open_tab()
    tab.show(states.study(), live=False)
    page = tab.page
    changes = page.get_by_role("grid", name="Changes")
    page.get_by_role("searchbox").fill("cart.py")
    names = [row.get_by_role("gridcell").nth(1).inner_text() for row in changes.get_by_role("row").all()[1:5]]
    changes.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", level=2)
    seen = [heading.first.inner_text()]
    for key in ["n", "n", "p", "p", "p"]:
        page.keyboard.press(key)
        seen.append(heading.first.inner_text())
    assert seen == [names[place] for place in (0, 1, 2, 1, 0, 0)]
    page.get_by_role("button", name="Next ›").click()
    assert heading.first.inner_text() == names[1]
    page.get_by_text("2 of 40 listed").wait_for()
    page.keyboard.press("Escape")
    assert changes.evaluate("element => element === document.activeElement")
    chosen = changes.get_by_role("row", selected=True)
    assert names[1] in chosen.inner_text() and chosen.is_visible()
    page.keyboard.press("Enter")
    assert heading.first.inner_text() == names[1]


def test_a_narrow_table_of_changes_keeps_the_name_and_the_reason(open_tab):
    shown = {}
    for width in (480, 1400):
        tab = open_tab(width=width)
        tab.show(states.study(), live=False)
        tab.page.wait_for_timeout(100)
        headings = tab.page.get_by_role("grid", name="Changes").get_by_role("columnheader").all_inner_texts()
        shown[width] = [heading.split(" ")[0] for heading in headings if heading.strip()]
    assert shown[480] == ["≠", "Function", "Reason"]
    everything = "Verdict Function Reason Label Project File Commit Executions Covered Time"
    assert shown[1400] == everything.split()


def test_prefixes_show_the_best_one_and_the_whole_tree(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.prefixes())
    page = tab.page
    assert "5 of 5 lines run" in page.locator(".tcw-sentence").inner_text()
    tree = page.get_by_role("tree")
    assert [one.inner_text().split()[:2] for one in tree.get_by_role("treeitem").all()] == [["★", "2"], ["3", "P"]]
    prefix, code = (page.get_by_role("textbox", name=re.compile(name)) for name in ("^Prefix 2", "^The code that runs"))
    assert "fetch_orders = lambda session" in prefix.inner_text()
    assert "requeue(order)" in code.inner_text()
    signs = page.locator(".tcw-g-reach .cm-gutterElement").all_inner_texts()
    assert [sign for sign in signs if sign] == ["✓", "✓", "✓", "✓", "–"]
    page.get_by_role("button", name="Whole tree (4 of 7)").click()
    assert tree.get_by_role("treeitem").count() == 4
    tree.focus()
    page.keyboard.press("Home")
    assert "Its text" not in page.get_by_role("tabpanel").inner_text()
    assert "✗" in page.locator(".tcw-g-reach .cm-gutterElement").all_inner_texts()
    assert "NameError" in page.get_by_role("tabpanel").inner_text()
    tab.tab("Change from its parent")
    assert "It has no parent" in page.get_by_role("tabpanel").inner_text()
    tree.focus()
    page.keyboard.press("End")
    page.locator(".cm-deletedLine", has_text="threshold = 0").wait_for()
    assert page.locator(".cm-insertedLine", has_text="threshold = 5").count() == 1
    # Prefix 3 is kept; going back from one that is not chooses the best one.
    page.keyboard.press("Home")
    page.get_by_role("button", name="Only the best prefix and those of P").click()
    assert tree.get_by_role("treeitem", selected=True).inner_text().startswith("★ 2")
    assert "Not listed: 3 nodes." in page.locator(".tcw-prefixes").inner_text()


def test_a_prefix_is_copied_downloaded_and_counted(open_tab):
    tab = open_tab()
    tab.show(states.prefixes())
    page = tab.page
    page.evaluate(CLIPBOARD)
    for name, text in [("script", states.SNIPPET), ("test", "def test_prefix_2"), ("cell", "threshold = 0")]:
        # A page has no cells, so that the prefix is copied instead.
        page.get_by_role("button", name=name).click()
        page.get_by_role("status").filter(has_text="copied").wait_for()
        assert text in page.evaluate("window.copied")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").first.click()
    assert download.value.suggested_filename == "prefix_2.py"
    source = Path(download.value.path()).read_text()
    assert source.startswith("threshold = 0\n") and source.endswith(states.SNIPPET)
    panel = tab.tab("Test")
    assert "def test_prefix_2" in panel.inner_text() and "def test_prefix_3" in panel.inner_text()
    rows = [row.inner_text().split() for row in tab.tab("Values").get_by_role("row").all()]
    assert rows == [["Type", "★", "2", "3"], ["int", "1", "1"], ["list", "1", "1"]]


def test_a_slice_is_filtered_chosen_and_followed_by_keys(open_tab, scheme):
    tab = open_tab(scheme)
    state = states.sliced()
    tab.show(state)
    page = tab.page
    table = page.get_by_role("grid", name="Commits of the range")
    unit = page.get_by_role("region", name="The chosen commit")
    assert "Give orders of kind 5 a tax" in unit.inner_text()
    assert unit.get_by_role("textbox", name="What changes in shop/part_5.py, read-only").inner_text().count("tax") == 2
    page.get_by_role("button", name="50 go").click()
    assert int(table.get_attribute("aria-rowcount")) == 51
    page.get_by_role("searchbox").fill("part 46")
    page.get_by_text("1 of 60 commits").wait_for()
    table.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert "Fix a typo in part 46" in unit.inner_text()
    panel = tab.tab(re.compile("^Dependencies"))
    listed = panel.get_by_role("listbox")
    listed.focus()
    page.keyboard.press("Home")
    chosen = panel.get_by_role("option", selected=True)
    first = chosen.inner_text()
    page.keyboard.press("ArrowRight")
    assert chosen.count() == 1 and chosen.inner_text() != first
    assert panel.locator(".tcw-arc-on").count() > 0
    panel.get_by_role("button", name="All 60 commits").click()
    assert panel.get_by_role("option").count() == 60
    unit.get_by_role("button", name=re.compile("^Show the commit")).first.click()
    search = tab.tab(re.compile("^Search"))
    search.get_by_role("img", name="The search").wait_for()
    assert not unit.is_visible()
    assert "flaky: its runs differ" in tab.tab(re.compile("^Tests")).inner_text()


def test_amplified_tests_are_shown_run_written_and_copied(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.amplification())
    page = tab.page
    assert "3 new tests do" in page.locator(".tcw-sentence").inner_text()
    code = page.get_by_role("textbox", name=re.compile("read-only"))
    page.locator(".cm-insertedLine", has_text="== 4").wait_for()
    assert page.locator(".cm-deletedLine", has_text="assert cart.total() == 3").count() == 1
    page.get_by_role("button", name="Old behavior").click()
    assert "assert cart.total() == 3" in code.inner_text()
    page.get_by_role("button", name="Run on both versions").click()
    page.get_by_text("Before the change: passed. After it: failed.").wait_for()
    page.get_by_role("button", name="Write to the test file").click()
    page.get_by_text("the file is not what it was").wait_for()
    page.get_by_role("button", name="New behavior").click()
    page.get_by_role("button", name="Write to the test file").click()
    page.get_by_text("It stands in tests/test_cart.py.").wait_for()
    assert [one["do"] for one in tab.sent()] == ["run_test", "write_test", "write_test"]
    page.get_by_role("button", name="Old behavior").click()
    page.get_by_role("button", name=re.compile("^Show the test: cart.tax")).click()
    assert "It has no form that passes after the change." in page.get_by_role("tabpanel").inner_text()
    page.get_by_role("button", name=re.compile("^Show the test: parse")).click()
    assert "no test runs this code, so its values are injected" in page.get_by_role("tabpanel").inner_text()
    assert page.locator(".cm-insertedLine").count() == 0
    page.evaluate(CLIPBOARD)
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_text("The test is copied.").wait_for()
    assert page.evaluate("window.copied") == states.amplification()["tests"][2]["old"]["text"]
    assert "2 of 3 changed statements" in tab.tab("The change").inner_text()
    assert "--- a/new" in tab.tab("Patch").inner_text()
