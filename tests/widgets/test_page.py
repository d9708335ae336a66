"""The widget in a browser without a notebook: what a person does, in light and dark, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from . import states
from .conftest import AXE

pytestmark = pytest.mark.long

#: Milliseconds from the arrival of 300 executions to their first paint, and frames a second of 10,000 rows.
PAINT, FRAMES = 150, 50

#: A clipboard in the place of the browser's, which this page may not use.
CLIPBOARD = """\
Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } })"""


def executions_table(tab):
    return tab.tab(re.compile("^Executions")).get_by_role("grid", name="Executions")


def rows_listed(table) -> int:
    return int(table.get_attribute("aria-rowcount")) - 1


def test_a_comparison_says_what_changed_and_shows_the_witness(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    page = tab.page
    assert page.locator(".tcw").get_attribute("data-tcw-theme") == scheme
    assert page.locator(".tcw-sentence").inner_text() == states.SENTENCE
    assert "≠ differs" in page.locator(".tcw-shown").inner_text()
    old, new = page.get_by_role("textbox", name=re.compile("^(old|new) version")).all()
    assert "limit = self.max_retry_times" in old.inner_text()
    assert "request.meta = {'max_retry_times': 0}" in old.inner_text()
    assert "never true" in new.inner_text()
    found = page.get_by_role("tabpanel")
    assert found.get_by_role("region", name="What differs").get_by_role("row").count() == 4
    assert "Notes" in found.inner_text()


def test_changed_lines_and_the_margin_are_there_for_the_eye(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    page = tab.page
    assert page.locator(".cm-merge-a .cm-line.tcw-del").count() == 3
    assert page.locator(".cm-merge-b .cm-line.tcw-add").count() == 4
    margin = page.locator(".cm-merge-a .tcw-g-runs .cm-gutterElement").all_inner_texts()
    assert any(text.startswith("▸") and text.endswith("270") for text in margin)
    assert "–" in margin and "·" in margin
    assert "−" in page.locator(".cm-merge-a .tcw-g-sign").inner_text()
    # Old and new of the same row stand at the same height, whatever values stand beside one of them.
    for text in ("def next_request", "stats = ", "again.dont_filter", "return again", "if self.strict", "return None"):
        tops = [page.locator(f".cm-merge-{side} .cm-line", has_text=text).bounding_box()["y"] for side in "ab"]
        assert tops[0] == pytest.approx(tops[1], abs=1.5), text


def test_a_click_on_a_line_lists_the_executions_that_ran_it(open_tab, scheme):
    tab = open_tab(scheme)
    state = states.comparison()
    tab.show(state)
    page = tab.page
    page.locator(".cm-merge-a .cm-line", has_text="logger.error").click(position={"x": 60, "y": 6})
    table = page.get_by_role("tabpanel").get_by_role("grid", name="Executions")
    pair = state["pairs"][0]
    ran = [one for one in pair["executions"] if 19 in pair["line_sets"][one["lines"]][0]]
    assert 0 < rows_listed(table) == len(ran) < 300
    page.get_by_role("button", name="List all again").click()
    assert rows_listed(table) == 300


def at_line_four(open_tab):
    """A page in which the keyboard is at line 4 of the new version."""
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    page.get_by_role("textbox", name=re.compile("^new version")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    return page


def test_a_line_is_chosen_with_the_keyboard_and_read_aloud(open_tab):
    page = at_line_four(open_tab)
    spoken = "Line 4 of new, changed: ran in 257 executions, 1 time in the one shown"
    assert page.get_by_text(spoken).count() == 1
    page.keyboard.press("Enter")
    assert page.get_by_text("257 executions ran line 4 of new.").count() == 1
    assert page.get_by_role("tab", name=re.compile("^Executions")).get_attribute("aria-selected") == "true"
    assert page.locator(".tcw-tag").inner_text() == "ran line 4 of new ✕"


def test_executions_are_sorted_filtered_and_searched(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    table = executions_table(tab)
    panel = tab.page.get_by_role("tabpanel")
    time = table.get_by_role("columnheader", name="Time")
    time.get_by_role("button").click()
    assert time.get_attribute("aria-sort") == "descending"
    assert "ms" in table.get_by_role("row").nth(1).inner_text()
    panel.get_by_label("Evidence", exact=True).select_option("differs")
    differing = sum(one["differs"] for one in states.executions(300))
    assert rows_listed(table) == differing
    panel.get_by_label("Evidence", exact=True).select_option("unexamined")
    assert rows_listed(table) == sum(not one["examined"] for one in states.executions(300)) > 0
    assert "? not examined" in table.inner_text() and "? not examined: " in panel.inner_text()
    panel.get_by_label("Evidence", exact=True).select_option("differs")
    panel.get_by_role("searchbox").fill("priority=1")
    assert rows_listed(table) < differing
    panel.get_by_role("searchbox").fill("nothing is like this")
    assert panel.get_by_text("No execution matches.").is_visible()


def test_an_execution_that_is_chosen_is_run_for_its_values(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    table = executions_table(tab)
    table.get_by_role("row").nth(5).click()
    tab.page.get_by_text("Execution 5").first.wait_for()
    request = tab.sent()[-1]
    assert isinstance(request.pop("id"), int)
    assert request == {"do": "replay", "pair": 0, "execution": 5, "changes": {}}
    assert tab.page.get_by_role("tab", name="Execution 5").count() == 1
    assert table.get_by_role("row", selected=True).inner_text().startswith("5")
    tab.page.get_by_role("button", name="Next execution listed").click()
    tab.page.get_by_role("tab", name="Execution 6").wait_for()
    tab.page.get_by_role("button", name="Back to execution 3").click()
    tab.page.get_by_role("tab", name="Execution 3").wait_for()


def test_a_value_is_changed_in_place_and_run(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    page = tab.page
    panel = tab.tab("Execution 3")
    run = panel.get_by_role("button", name="Run with changed values")
    assert run.is_disabled()
    field = panel.get_by_role("textbox", name="Value of self.max_retry_times")
    field.fill("17")
    assert run.is_enabled()
    run.click()
    page.get_by_text("Ran with changed values.").wait_for()
    assert tab.sent()[-1]["changes"] == {"self.max_retry_times": "17"}
    assert "✎ by you" in panel.inner_text()
    assert "returns with 17" in page.locator(".tcw-shown").inner_text()
    assert "self.max_retry_times = 17" in page.get_by_role("textbox", name=re.compile("^old version")).inner_text()
    field = panel.get_by_role("textbox", name="Value of reason")
    field.fill("'other'")
    field.press("Enter")
    page.get_by_text("returns with 17, 'other'").first.wait_for()
    assert tab.sent()[-1]["changes"] == {"self.max_retry_times": "17", "reason": "'other'"}
    panel.get_by_role("button", name="Put the value of reason back").click()
    page.get_by_text("Ran with the value put back.").wait_for()
    assert tab.sent()[-1]["changes"] == {"self.max_retry_times": "17"}
    panel.get_by_role("button", name="Back to the values as injected").click()
    assert "✎ by you" not in panel.inner_text()


def test_objects_are_replaced_and_given_attributes(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    page = tab.page
    panel = tab.tab("Execution 3")
    field = panel.get_by_role("textbox", name="Value of spider.crawler.stats")
    assert (field.input_value(), field.get_attribute("placeholder")) == ("", "<stats>")
    panel.get_by_role("button", name="Give spider.crawler.stats an attribute").click()
    panel.get_by_role("textbox", name="Name of the attribute of spider.crawler.stats").fill("depth")
    value = panel.get_by_role("textbox", name="Value of the attribute of spider.crawler.stats")
    value.fill("20")
    value.press("Enter")
    assert "not run yet" in panel.inner_text()
    panel.get_by_role("button", name="+ another value").click()
    panel.get_by_role("textbox", name="Access path of the value").fill("self.delay")
    panel.get_by_role("textbox", name="The value", exact=True).fill("'x'")
    panel.get_by_role("button", name="Add the value").click()
    field = panel.get_by_role("textbox", name="Value of spider.crawler.stats", exact=True)
    field.fill("None")
    field.press("Enter")
    page.get_by_text("Ran with changed values.").wait_for()
    wanted = {"spider.crawler.stats.depth": "20", "self.delay": "'x'", "spider.crawler.stats": "None"}
    assert tab.sent()[-1]["changes"] == wanted
    assert "nothing read it" in panel.inner_text()
    panel.get_by_role("button", name="Put the value of self.delay back").click()
    page.get_by_text("Ran with the value put back.").wait_for()
    assert "self.delay" not in tab.sent()[-1]["changes"] and "self.delay" not in panel.inner_text()


def test_changed_values_become_the_example_of_the_headline(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    panel = tab.tab("Execution 3")
    headline = panel.get_by_role("button", name="Show in the headline")
    assert headline.is_disabled()
    field = panel.get_by_role("textbox", name="Value of self.max_retry_times")
    field.fill("17")
    field.press("Enter")
    tab.page.get_by_text("Ran with changed values.").wait_for()
    headline.click()
    tab.page.locator(".tcw-sentence", has_text="for 17").wait_for()
    assert tab.sent()[-1] | {"id": 0} == {
        "id": 0,
        "do": "headline",
        "pair": 0,
        "execution": 3,
        "changes": {"self.max_retry_times": "17"},
    }
    # The tab stays, and the values are those that were chosen.
    assert "inputs that you chose" in tab.page.locator(".tcw-shown").inner_text()
    assert tab.page.get_by_role("textbox", name="Value of self.max_retry_times").input_value() == "17"


def test_both_versions_are_one_text_and_the_choice_is_kept(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    page = tab.page
    page.get_by_role("button", name="Unified").click()
    both = page.get_by_role("textbox", name=re.compile("^Both versions"))
    text = both.inner_text()
    assert text.index("limit = self.max_retry_times") < text.index("or self.max_retry_times")
    assert text.count("stats = spider.crawler.stats") == 1 and "self.strict = False" in text
    tab.show(states.comparison())
    assert page.get_by_role("button", name="Unified").get_attribute("aria-pressed") == "true"
    both.click(position={"x": 100, "y": 60})
    page.get_by_text("are listed.").wait_for()
    page.get_by_role("button", name="Side by side").click()
    assert page.locator(".tcw-chosenline").count() == 1
    assert page.get_by_role("textbox", name=re.compile("^(old|new) version")).count() == 2


def test_unchanged_lines_are_hidden_until_they_are_asked_for(open_tab, scheme):
    state = states.comparison()
    [pair] = state["pairs"]
    for side in ("old", "new"):
        lines = pair[side]["lines"]
        number = len(lines)
        more = [{**lines[-1], "number": number + 1 + index, "text": f"    step_{index}()"} for index in range(30)]
        lines.extend(more)
    first = [len(pair[side]["lines"]) - 30 for side in ("old", "new")]
    pair["rows"].extend({"old": first[0] + index, "new": first[1] + index} for index in range(30))
    tab = open_tab(scheme)
    tab.show(state)
    page = tab.page
    fold = page.locator(".tcw-folded")
    assert fold.count() == 2
    assert "step_20()" not in page.locator(".tcw-code").inner_text()
    tops = [box["y"] for box in (one.bounding_box() for one in fold.all())]
    assert abs(tops[0] - tops[1]) < 2
    fold.first.click()
    assert fold.count() == 0 and "step_5()" in page.locator(".tcw-code").inner_text()
    page.get_by_role("button", name="Hide unchanged lines").click()
    page.get_by_role("button", name="Unified").click()
    assert fold.count() == 1
    page.get_by_role("button", name="Show all lines").click()
    assert fold.count() == 0


def pasted(page) -> str:
    """What is on the clipboard, which a page without TLS cannot read by itself."""
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'paste'}))")
    page.locator("#paste").press("Control+V")
    text = page.locator("#paste").input_value()
    page.evaluate("document.getElementById('paste').remove()")
    return text


def test_a_line_is_linked_to(open_tab):
    tab = open_tab()
    page = tab.page
    tab.show(states.comparison(), live=False)
    page.get_by_role("textbox", name=re.compile("^new version")).locator(".cm-line").nth(6).click()
    page.get_by_role("button", name="Copy a link to the line").click()
    page.get_by_text("Copied.").wait_for()
    assert pasted(page).endswith("#pair1-new-7")
    page.get_by_role("button", name="List all again").click()
    page.evaluate("location.hash = '#pair1-old-5'")
    page.get_by_text("Executions that ran line 5 of old are listed.").wait_for()
    tab.show(states.comparison(), live=False)
    page.get_by_text("Executions that ran line 5 of old are listed.").wait_for()
    # In a notebook there is no page to link to.
    tab.show(states.comparison())
    page.get_by_role("textbox", name=re.compile("^new version")).locator(".cm-line").nth(6).click()
    page.get_by_role("button", name="Copy a link to the line").click()
    page.get_by_text("Copied.").wait_for()
    assert pasted(page) == "RetryMiddleware.next_request:7 (new)"


def test_what_the_kernel_refuses_is_said_in_its_words(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    panel = tab.tab("Execution 3")
    field = panel.get_by_role("textbox", name="Value of reason")
    field.fill("syntax error")
    field.press("Enter")
    tab.page.get_by_text("! syntax error is not a Python literal.").wait_for()
    assert field.input_value() == "syntax error"
    field.press("Escape")
    assert field.input_value() == "'timeout'"


def test_run_again_shrink_copy_and_pin(open_tab, scheme):
    tab = open_tab(scheme)
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.show(states.comparison())
    page = tab.page
    panel = tab.tab("Execution 3")
    panel.get_by_role("button", name="Run again").click()
    page.get_by_text("Ran again, with the same values.").wait_for()
    panel.get_by_role("button", name="Copy as pytest").click()
    panel.get_by_role("region", name="The test").wait_for()
    assert tab.sent()[-1]["do"] == "reproducer"
    assert "def test_it" in panel.get_by_role("region", name="The test").inner_text()
    panel.get_by_role("button", name="Shrink").click()
    page.get_by_text("These are the smallest values found.").wait_for()
    assert tab.sent()[-1]["do"] == "shrink"
    assert "made smaller" in page.locator(".tcw-shown").inner_text()
    assert "by you" not in page.locator(".tcw").inner_text()
    handle = page.evaluate("window.model.answered.detail.handle")
    panel.get_by_role("button", name="Run again").click()
    page.get_by_text("Ran again, with the same values.").wait_for()
    assert tab.sent()[-1]["handle"] == handle and tab.sent()[-1]["changes"] == {}
    panel.get_by_role("button", name="Pin as example").click()
    [pinned] = page.evaluate("window.model.get('pinned')")
    assert (pinned["handle"], pinned["changes"]) == (handle, {}) and page.evaluate("window.model.saved") == 1
    panel = tab.tab("Pinned 1")
    panel.get_by_role("button", name="Show the pinned example 1").click()
    page.get_by_role("button", name="Back to the values as injected").wait_for()
    panel = tab.tab("Pinned 1")
    panel.get_by_role("button", name="Remove the pinned example 1").click()
    assert page.evaluate("window.model.get('pinned')") == []


def test_without_a_kernel_what_needs_one_is_off_and_says_why(open_tab):
    tab = open_tab()
    tab.show(states.comparison(), live=False)
    panel = tab.tab("Execution 3")
    assert panel.get_by_role("button", name="Run again").is_disabled()
    assert panel.get_by_role("textbox").count() == 0
    assert "This needs a running kernel" in panel.inner_text()
    executions_table(tab).get_by_role("row").nth(6).click()
    assert "Its values are not stored here" in tab.tab("Execution 6").inner_text()
    assert tab.page.locator(".cm-merge-a .tcw-hit", has_text="▸").count() > 0


def test_values_show_what_was_expected_and_what_was_injected(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    panel = tab.tab(re.compile("^Values"))
    panel.get_by_role("grid", name="Access paths").get_by_role("row").nth(2).click()
    text = panel.inner_text()
    assert "self.max_retry_times" in text and "83\u00a0%" in text
    outcomes = panel.get_by_role("region", name="Injected values and their outcomes")
    assert outcomes.get_by_role("row", name="2").first.inner_text()
    assert "≠ 12" in outcomes.inner_text() and "○ 28" in outcomes.inner_text()


def test_calls_are_aligned_and_what_differs_is_marked(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    panel = tab.tab(re.compile("^Calls"))
    assert panel.locator("mark").all_inner_texts() == ["'retry/max_reached'", "'retry/count'"]
    assert "+ only new" in panel.inner_text() and "− only old" in panel.inner_text()
    before = panel.get_by_role("row").count()
    panel.get_by_role("button", name=re.compile("Show .* equal calls")).click()
    assert panel.get_by_role("row").count() > before


def test_plots_have_legends_hover_numbers_and_downloads(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    panel = tab.tab("Plots")
    figures = panel.get_by_role("figure")
    figures.nth(3).wait_for()
    titles = [
        "Coverage over executions",
        "Executions until a difference",
        "Predicted against injected values",
        "Time spent",
    ]
    assert panel.locator("figcaption h4").all_inner_texts() == titles
    coverage = figures.first
    image = coverage.get_by_role("img", name=titles[0])
    assert "lines covered so far" in image.text_content()
    image.hover(position={"x": 200, "y": 150})
    coverage.locator("tspan", has_text="covered so far").wait_for()
    coverage.get_by_text("Numbers").click()
    coverage.get_by_role("row").nth(200).wait_for()
    for ending, check in {
        "SVG": lambda data: (
            ElementTree.fromstring(data).tag.endswith("svg") and b"var(--" not in data.split(b"style=")[0]
        ),
        "PNG": lambda data: data.startswith(b"\x89PNG"),
        "CSV": lambda data: data.startswith(b"execution,covered so far") and data.count(b"\r\n") == 301,
    }.items():
        with tab.page.expect_download() as waiting:
            coverage.get_by_role("button", name=f"as {ending}").click()
        assert waiting.value.suggested_filename.endswith(f"_coverage.{ending.lower()}")
        assert check(Path(waiting.value.path()).read_bytes()), ending
    panel.get_by_label("Access path").select_option(label="reason")
    panel.get_by_text("how often it was injected, for reason.").wait_for()


def test_plots_without_anything_to_draw_are_sentences(open_tab):
    state = states.comparison()
    [pair] = state["pairs"]
    pair["executions"] = [{**one, "coverage_so_far": 0.5, "differs": False} for one in pair["executions"][:5]]
    pair["executed"], pair["paths"] = 5, []
    tab = open_tab()
    tab.show(state)
    panel = tab.tab("Plots")
    assert panel.locator("figcaption h4").all_inner_texts() == ["Time spent"]
    said = panel.inner_text()
    for sentence in [
        "of the lines of both versions, and no later one added any.",
        "No difference came in 5 executions.",
        "No value was missing in any execution",
    ]:
        assert sentence in said


def test_inputs_are_varied_weighed_and_two_numbers_put_together(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison())
    panel = tab.page.get_by_role("tabpanel")
    together = panel.get_by_role("region", name="retries and self.max_retry_times at the same time")
    cells = together.get_by_role("cell")
    assert [
        together.get_by_role("row").nth(2).get_by_role("cell").nth(index).inner_text().split()[0] for index in range(5)
    ] == ["=", "=", "≠", "≠", "≠"]
    assert "differs for 10 of 25 pairs" in panel.inner_text()
    weights = panel.get_by_role("region", name="How often the difference goes away")
    assert "7 of 15 other values" in weights.get_by_role("row").nth(2).inner_text()
    assert cells.count() == 26
    assert "equally often is line 8 (6 in new): only new ran it." in tab.page.locator(".tcw-shown").inner_text()


def test_the_test_is_shown_with_what_it_is_worth(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    panel = tab.tab("Test")
    assert "passes with old and fails with new" in panel.inner_text()
    assert "import pytest" in panel.inner_text()
    with tab.page.expect_download() as waiting:
        panel.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == "test_RetryMiddleware_next_request.py"


def test_one_of_several_pairs_is_chosen(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.comparison(several=True))
    page = tab.page
    chooser = page.get_by_role("navigation", name="Functions compared")
    verdicts = [text.split("\n")[0] for text in chooser.get_by_role("button").all_inner_texts()]
    assert [text[0] for text in verdicts] == ["≠", "?", "≈", "~", "="]
    assert "judged elsewhere" in verdicts[3] and "changing" not in verdicts[3]
    chooser.get_by_role("button").nth(2).click()
    assert chooser.get_by_role("button").nth(2).get_attribute("aria-current") == "true"
    assert page.get_by_role("heading", name="process_response").count() == 1
    chooser.get_by_role("button").nth(3).click()
    assert "Judged by what these do: RetryMiddleware.next_request." in page.get_by_role("tabpanel").inner_text()
    chooser.get_by_role("button").nth(4).click()
    assert page.get_by_role("tab").all_inner_texts() == ["Found"]
    assert "Only in new: retry_reason" in page.locator(".tcw").inner_text()


def test_progress_is_told_and_can_be_stopped(open_tab, scheme):
    tab = open_tab(scheme)
    page = tab.page
    page.evaluate("window.showProgress({pair: 1, pairs: 2, executions: 120, budget: 300, coverage: 0.825})")
    assert "120 of at most 300 executions · 82\u00a0% of the lines covered so far" in page.locator(".tcw").inner_text()
    assert "pair 2 of 2" in page.locator(".tcw").inner_text()
    page.get_by_role("button", name="Stop").click()
    assert page.get_by_role("button", name="Stopping…").is_disabled()
    assert tab.sent() == [{"do": "stop"}]
    page.get_by_text("press Interrupt").wait_for()
    page.evaluate("state => window.model.set('state', state)", states.comparison())
    assert page.locator(".tcw-sentence").inner_text() == states.SENTENCE
    assert page.get_by_role("progressbar").count() == 0


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


def test_amplified_tests_are_shown_run_written_and_copied(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.amplification())
    page = tab.page
    assert "3 tests show the change" in page.locator(".tcw-sentence").inner_text()
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


def test_a_stored_comparison_that_cannot_be_shown_says_why(open_tab):
    tab = open_tab()
    state = states.study()
    tab.show(state, live=False, kept={**states.comparison(120), "format": 1})
    page = tab.page
    page.get_by_role("searchbox").fill("0000:module")
    page.get_by_role("grid", name="Changes").get_by_role("row").nth(1).click()
    page.get_by_text("made by another version of twincell").wait_for()
    assert state["rows"][0]["reason"] in page.locator(".tcw").inner_text()


@pytest.mark.parametrize("live", [True, False])
def test_static_output_is_hidden_only_while_there_is_a_view(open_tab, live):
    tab = open_tab()
    page = tab.page
    page.evaluate("""() => {
        document.getElementById("here").className = "jp-OutputArea-child";
        const [child, output, text] = [1, 2, 3].map(() => document.createElement("div"));
        child.className = "jp-OutputArea-child";
        output.className = "jp-OutputArea-output";
        text.className = "tc-out";
        text.textContent = "Behavior changed, said without scripts.";
        output.append(text);
        child.append(output);
        document.getElementById("here").after(child);
    }""")
    static = page.locator(".tc-out")
    tab.show(states.comparison(3), live)
    static.wait_for(state="hidden")
    tab.show({**states.comparison(3), "format": 1}, live)
    page.get_by_role("alert").wait_for()
    assert static.is_visible()
    tab.show({**states.comparison(3), "pairs": [{"name": "f"}]}, live)
    page.get_by_text("could not be shown interactively").wait_for()
    assert static.is_visible()
    assert all("twincell" in error for error in tab.errors) and len(tab.errors) == 1
    tab.errors.clear()


def test_nothing_listens_after_a_view_was_taken_away(open_tab):
    tab = open_tab()
    for state in (states.comparison(), states.study(12)):
        tab.show(state)
        assert tab.page.evaluate("window.model.listeners.length") > 0
        assert tab.page.evaluate("window.takeAway()") == 0
        assert tab.page.locator(".tcw").count() == 0


def test_what_the_kernel_refuses_is_said_in_all_tabs(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    panel = tab.tab(re.compile("^Calls"))
    page.evaluate("window.model.answer = () => ({ok: false, error: 'the worker is gone.'})")
    page.get_by_role("button", name="Next execution listed").click()
    page.get_by_role("status").get_by_text("! the worker is gone.").wait_for()
    assert "shows the calls" in panel.inner_text() and "on the way" not in panel.inner_text()


def test_the_ends_of_the_list_keep_the_focus(open_tab):
    tab = open_tab()
    tab.show(states.comparison(5))
    page = tab.page
    for name, end in (("Next execution listed", 5), ("Previous execution listed", 1)):
        button = page.get_by_role("button", name=name)
        button.focus()
        for _ in range(6):
            page.keyboard.press("Enter")
        page.get_by_role("tab", name=f"Execution {end}", exact=True).wait_for()
        assert button.is_disabled()
        assert page.locator(":focus").get_attribute("aria-label") == name


def test_after_progress_the_focus_is_on_the_heading(open_tab):
    tab = open_tab()
    page = tab.page
    page.evaluate("window.showProgress({pair: 0, pairs: 1, executions: 3, budget: 9, coverage: 0.5})")
    page.get_by_role("button", name="Stop").focus()
    page.keyboard.press("Enter")
    assert page.locator(":focus").inner_text() == "Stopping…"
    page.evaluate("state => window.model.set('state', state)", states.comparison(3))
    assert page.evaluate("document.activeElement.tagName") == "H2"


def test_a_line_stays_chosen_when_the_column_becomes_narrow(open_tab):
    page = at_line_four(open_tab)
    page.set_viewport_size({"width": 500, "height": 900})
    page.locator(".cm-mergeView").wait_for(state="detached")
    assert page.locator(":focus").get_attribute("aria-label").startswith("new version")
    page.keyboard.press("ArrowDown")
    assert page.get_by_text(re.compile("^Line 5 of new")).count() == 1


def test_bars_of_verdicts_differ_without_color(open_tab, scheme):
    tab = open_tab(scheme)
    tab.show(states.study())
    image = tab.page.get_by_role("img", name="Coverage of both versions")
    image.wait_for()
    filled = "[...document.querySelectorAll('svg rect')].map(one => getComputedStyle(one).fill)"
    patterns = {fill for fill in tab.page.evaluate(filled) if "url(" in fill}
    # Two patterns in each of the plots of all verdicts; their definitions are there.
    assert len(patterns) >= 4 and len(patterns) % 2 == 0
    known = tab.page.evaluate("[...document.querySelectorAll('svg pattern')].map(one => one.id)")
    assert {fill.split("#")[1].rstrip('")') for fill in patterns} <= set(known)
    assert tab.page.locator("svg rect[fill=none]").count() > 0


def test_everything_is_reached_by_keyboard_alone(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    page.get_by_role("tab", name=re.compile("^Found")).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    focused = page.locator(":focus")
    assert focused.inner_text().startswith("Executions")
    # From the tab through search, outcomes and headings to the table, which is one stop.
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.locator(":focus").get_attribute("role") == "grid":
            break
    # JupyterLab would take x for cutting the cell, were it not for this.
    assert page.locator(":focus").get_attribute("data-lm-suppress-shortcuts") == "true"
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    # The last row is there when the table was drawn again.
    page.locator(":focus[aria-activedescendant$='-300']").wait_for()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Execution 1", exact=True).wait_for()


def test_the_focus_stays_in_the_view_when_a_button_goes_away(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    inside = "document.querySelector('.tcw').contains(document.activeElement)"

    def press(button) -> None:
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_timeout(50)
        assert page.evaluate(inside), button

    press(page.get_by_role("button", name="Show execution 3").first)
    assert page.locator(":focus").inner_text() == "Execution 3"
    field = page.get_by_role("textbox", name="Value of reason")
    field.fill("'other'")
    field.press("Enter")
    page.get_by_text("Ran with changed values.").wait_for()
    assert page.locator(":focus").get_attribute("aria-label") == "Value of reason"
    press(page.get_by_role("button", name="Put the value of reason back"))
    page.get_by_text("Ran with the value put back.").wait_for()
    assert page.evaluate(inside)
    tab.tab(re.compile("^Calls"))
    press(page.get_by_role("button", name=re.compile("equal calls")))
    page.locator(".cm-merge-a .cm-line", has_text="logger.error").click(position={"x": 60, "y": 6})
    press(page.get_by_role("button", name="List all again"))
    tab.tab("Execution 3")
    page.get_by_role("button", name="Pin as example").click()
    tab.tab("Pinned 1")
    press(page.get_by_role("button", name="Remove the pinned example 1"))


@pytest.mark.parametrize("width", [1100, 360])
def test_axe_finds_nothing_serious(open_tab, scheme, width):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; make widgets does it")
    tab = open_tab(scheme, width)
    page = tab.page
    tab.show(states.comparison(several=True))
    # Past the policy of the page, which is for the widget.
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE.read_text()})

    def check(what: str) -> None:
        page.wait_for_timeout(60)
        options = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}"
        found = page.evaluate(f"axe.run('.tcw', {options}).then(found => found.violations)")
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        shown = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]], one["help"]) for one in bad]
        assert not bad, f"{what}: {json.dumps(shown, indent=1)}"

    for name in ["Found", "Execution 3", "Executions", "Values", "Calls", "Plots", "Test", "Pinned"]:
        tab.tab(re.compile(f"^{name}( |$)") if name != "Executions" else re.compile("^Executions"))
        check(name)
    tab.show(states.study())
    check("study")
    tab.show(states.prefixes())
    for name in ["Code", "Change from its parent", "Test", "Values"]:
        tab.tab(name)
        check(f"prefixes: {name}")
    tab.show(states.amplification())
    for name in ["Tests", "The change", "Patch"]:
        tab.tab(re.compile(f"^{name}"))
        check(f"amplification: {name}")
    page.evaluate("window.showProgress({pair: 0, pairs: 1, executions: 3, budget: 9, coverage: 0.5})")
    check("progress")


def test_nothing_sticks_out_of_a_narrow_column(open_tab):
    tab = open_tab(width=360)
    page = tab.page
    for state in (states.comparison(several=True), states.study(), states.prefixes(), states.amplification()):
        tab.show(state)
        for tab_name in page.get_by_role("tab").all():
            tab_name.click()
            page.wait_for_timeout(60)
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, tab_name.inner_text()
    tab.show(states.comparison())
    assert page.locator(".cm-mergeView").count() == 0 and page.locator(".cm-editor").count() == 2


def test_hostile_text_stays_text_everywhere(open_tab, scheme):
    tab = open_tab(scheme)
    page = tab.page
    state = states.hostile(states.comparison(40, several=True))
    state["format"] = 4
    tab.show(state)

    def harmless(where: str) -> None:
        assert page.evaluate("window.hacked") is None, where
        inside = page.locator(".tcw")
        assert inside.locator("script, img:not(.cm-widgetBuffer), iframe, object, embed").count() == 0, where
        seen = page.evaluate("document.querySelector('.tcw').innerText")
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\u2028]", seen), where
        attributes = page.evaluate(
            '[...document.querySelectorAll(".tcw *")].flatMap(one => [...one.attributes]).map(one => one.value).join()'
        )
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\u2028]", attributes), where

    for each in page.get_by_role("tab").all():
        name = each.inner_text()
        each.click()
        page.wait_for_timeout(80)
        harmless(name)
    assert "</script><script>window.hacked=1</script>" in page.locator(".tcw-sentence").inner_text()
    page.get_by_role("tab").nth(1).click()
    for path, value in zip(states.INHERITED, state["pairs"][0]["shown"]["values"], strict=False):
        field = page.get_by_role("textbox", name=f"Value of {path}", exact=True)
        assert field.input_value().endswith(value["literal"][-1]), path
        assert page.get_by_role("button", name=f"Put the value of {path} back").count() == 0
        field.fill("1")
    page.get_by_role("button", name="Run with changed values").click()
    page.get_by_text("Ran with changed values.").wait_for()
    assert page.evaluate("Object.keys(window.model.sent.at(-1).changes)") == list(states.INHERITED)
    page.get_by_role("button", name="Back to the values as injected").click()
    page.get_by_role("button", name="Run again").click()
    page.get_by_text("Ran again").wait_for()
    page.get_by_role("button", name="Pin as example").click()
    page.get_by_role("tab", name=re.compile("^Pinned")).click()
    harmless("pinned")
    study = states.hostile(states.study(12))
    tab.show(study, live=False, kept=state)
    harmless("study")
    page.get_by_role("grid", name="Changes").get_by_role("row").nth(1).click()
    harmless("change")
    prefixes = states.hostile(states.prefixes())
    tab.show(prefixes)
    for each in page.get_by_role("tab").all():
        each.click()
        harmless(f"prefixes: {each.inner_text()}")
    page.get_by_role("button", name=re.compile("^Whole tree")).click()
    for item in page.get_by_role("treeitem").all():
        item.click()
        harmless(f"prefixes: {item.inner_text()}")
    tab.show(states.hostile(states.amplification()))
    for each in page.get_by_role("tab").all():
        each.click()
        harmless(f"amplification: {each.inner_text()}")


class Clock:
    """Time that the page's main thread works, which other programs on the machine do not lengthen."""

    def __init__(self, page) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def milliseconds(self) -> float:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def test_speed_of_the_first_paint(open_tab, record_property):
    tab = open_tab()
    clock, state = Clock(tab.page), states.comparison(300)
    tab.page.evaluate("state => { window.state = state }", state)
    works, waits = [], []
    for _ in range(8):
        before = clock.milliseconds()
        waits.append(tab.page.evaluate("window.show(window.state, true)"))
        works.append(clock.milliseconds() - before)
    print(f"\nfirst paint of 300 executions: {works[0]:.0f} ms of work, {waits[0]:.0f} ms by the wall clock; ", end="")
    print(f"again: {sorted(works)[4]:.0f} and {sorted(waits)[4]:.0f} ms (medians of 8)")
    record_property("first_paint_ms", round(works[0]))
    assert works[0] < PAINT


def test_speed_of_scrolling(open_tab, record_property):
    tab = open_tab()
    tab.show(states.comparison(10_000))
    table = executions_table(tab)
    assert rows_listed(table) == 10_000
    assert table.get_by_role("row").count() < 60
    clock, steps = Clock(tab.page), 180
    before = clock.milliseconds()
    found = tab.page.evaluate("steps => window.scrollThrough('.tcw-vtable', steps)", steps)
    work = (clock.milliseconds() - before) / steps
    print(f"\n10,000 rows: {work:.1f} ms of work a frame, which allows {1000 / work:.0f} frames/s; ", end="")
    print(f"seen: {found['fps']:.0f} frames/s, longest frame {found['longest']:.0f} ms")
    record_property("frames_per_second", round(1000 / work))
    assert 1000 / work >= FRAMES


def test_a_theme_that_changes_is_followed(open_tab):
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    root = page.locator(".tcw")
    assert root.get_attribute("data-tcw-theme") == "light"
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.locator(".tcw[data-tcw-theme=dark]").wait_for()
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    page.locator(".tcw[data-tcw-theme=light]").wait_for()
