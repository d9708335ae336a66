"""The view of a comparison in a browser without a notebook: by mouse and by keyboard, in light and dark."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from . import states
from .conftest import at_line_four, executions_table, rows_listed

pytestmark = pytest.mark.long


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
    assert "270" in margin and "–" in margin and "·" in margin
    assert "▸" in page.locator(".cm-merge-a .tcw-g-hits .cm-gutterElement").all_inner_texts()
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
    assert tab.page.locator(".cm-merge-a .tcw-g-hits .cm-gutterElement", has_text="▸").count() > 0


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
    assert "covered by others" in verdicts[3] and "changing" not in verdicts[3]
    chooser.get_by_role("button").nth(2).click()
    assert chooser.get_by_role("button").nth(2).get_attribute("aria-current") == "true"
    assert page.get_by_role("heading", name="process_response").count() == 1
    chooser.get_by_role("button").nth(3).click()
    assert "Covered by RetryMiddleware.next_request." in page.get_by_role("tabpanel").inner_text()
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
