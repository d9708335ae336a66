"""Everything that a person can do with the view, in JupyterLab with a real kernel, in its light and its dark theme."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.widgets.conftest import AXE

pytest.importorskip("anywidget")
pytestmark = pytest.mark.long

OLD = """\
def next_try(request, limit, stats):
    if limit is not None:
        stats.inc('limited', request.url)
        return limit
    if request.retries < 0 and request.retries > 0:
        return None
    return request.meta['times'] + 1
"""
NEW = OLD.replace("limit is not None", "limit").replace("('limited', request.url)", "('limited')")
#: The same behavior, so that all executions run.
SAME = OLD.replace("if limit is not None:", "if not limit is None:")
#: Markup and controls in code, values, output and names of files.
HOSTILE = """\
def f(name, log):
    \"\"\"</script><img src=x onerror="window.hacked=1">\"\"\"
    print('<img src=x onerror=window.hacked=1>', '\\x1b[31m\\u202e')
    log.write('</style><script>window.hacked=1</script>')
    return '<svg onload=window.hacked=1>' + str(name)
"""
CHANGES = [
    {"id": "a name <b>", "old": "def f(x): return x + 1", "new": "def f(y): return y + 1", "label": "preserving"},
    {"id": "off by one", "old": "def f(x): return x + 1", "new": "def f(x): return x + 2", "label": "changing"},
    {"id": "broken", "old": "def f(x): return x", "new": "def f(x:", "label": "preserving"},
]
STUDY = f"""\
import pathlib, twincell
pathlib.Path('changes.jsonl').write_text({"".join(json.dumps(one) + chr(10) for one in CHANGES)!r})
!{{__import__('sys').executable}} -m twincell study changes.jsonl --out results.jsonl > study.log
twincell.load_study('results.jsonl', 'changes.jsonl')
"""

CHANGED, ALL, HOSTILE_CELL, STUDY_CELL, LONG_CELL, LONG_STUDY = range(6)


@pytest.fixture(scope="module")
def notebook(themed_lab):
    return themed_lab(
        f"%%compare\n{OLD}# ---\n{NEW}",
        f"%%compare --budget 300\n{OLD}# ---\n{SAME}",
        f"%%compare\n{HOSTILE}# ---\n{HOSTILE.replace('return', 'name = name or 0; return')}",
        STUDY,
        f"%%compare --budget 1000000\n{OLD}# ---\n{SAME}",
        f"import twincell\nold, new = {OLD!r}, {SAME!r}\n"
        "twincell.study([{'id': n, 'old': f'{old}# {n}', 'new': new} for n in range(2000)])",
    )


class Shown:
    """The view of a cell that has just run."""

    def __init__(self, notebook, cell: int) -> None:
        notebook.command("notebook:clear-all-cell-outputs")
        notebook.run(cell)
        self.page = notebook.page
        self.root = notebook.output(cell).locator(".tcw")

    def tab(self, name):
        self.root.get_by_role("tab", name=name).click()
        return self.root.locator("[role=tabpanel]:visible")

    def text(self) -> str:
        return self.root.inner_text()


@pytest.fixture
def show(notebook):
    def show(cell: int) -> Shown:
        shown = Shown(notebook, cell)
        shown.root.get_by_role("tab").or_(shown.root.get_by_role("searchbox")).first.wait_for()
        return shown

    return show


def grid(panel):
    return panel.get_by_role("grid", name="Executions")


def rows_listed(table) -> int:
    return int(table.get_attribute("aria-rowcount")) - 1


def execution(shown: Shown):
    """The panel of the execution that is shown."""
    return shown.tab(re.compile(r"^Execution \d+"))


def change_value(panel, path: str, literal: str) -> None:
    field = panel.get_by_label(f"Value of {path}", exact=True)
    field.fill(literal)
    field.press("Enter")


def test_the_theme_is_jupyterlabs(show):
    shown = show(CHANGED)
    is_light = shown.page.locator("body").get_attribute("data-jp-theme-light") == "true"
    assert shown.root.get_attribute("data-tcw-theme") == ("light" if is_light else "dark")


def test_the_code_shows_what_changed_what_ran_and_what_was_injected(show):
    shown = show(CHANGED)
    old, new = shown.root.get_by_role("textbox", name=re.compile("^(old|new) version")).all()
    assert "limit is not None" in old.inner_text() and "if limit:" in new.inner_text()
    assert shown.root.locator(".cm-merge-a .cm-line.tcw-del").count() == 2
    assert shown.root.locator(".cm-merge-b .cm-line.tcw-add").count() == 2
    assert re.search(r"limit = \S", old.inner_text()), "the injected value stands where it entered"
    assert "never true" in old.inner_text(), "no number is below and above zero"
    margin = shown.root.locator(".cm-merge-a .tcw-g-runs .cm-gutterElement").all_inner_texts()
    assert any(re.fullmatch(r"\d+k?", text) for text in margin)
    hits = shown.root.locator(".cm-merge-a .tcw-g-hits .cm-gutterElement").all_inner_texts()
    assert any(text.startswith("▸") for text in hits)


def test_a_click_on_a_line_filters_the_executions(show):
    shown = show(ALL)
    line = shown.root.locator(".cm-merge-a .cm-line", has_text="return limit")
    line.click(position={"x": 60, "y": 6})
    panel = shown.root.get_by_role("tabpanel")
    some = rows_listed(grid(panel))
    shown.root.get_by_role("button", name="List all again").click()
    assert 0 < some < rows_listed(grid(panel))


def test_executions_are_sorted_filtered_and_searched(show):
    shown = show(ALL)
    panel = shown.tab(re.compile("^Executions"))
    table = grid(panel)
    count = rows_listed(table)
    assert count == 300
    number = table.get_by_role("columnheader").first
    number.get_by_role("button").click()
    number.get_by_role("button").click()
    assert number.get_attribute("aria-sort") in ("ascending", "descending")
    panel.get_by_label("Evidence", exact=True).select_option("same")
    panel.get_by_role("searchbox").fill("returned")
    assert 0 < rows_listed(table) < count
    panel.get_by_role("searchbox").fill("nothing is like this")
    assert panel.get_by_text("No execution matches.").is_visible()


def test_an_execution_that_is_selected_is_seen_in_full(show):
    shown = show(ALL)
    panel = shown.tab(re.compile("^Executions"))
    grid(panel).get_by_role("row").nth(4).click()
    shown.root.get_by_role("tab", name="Execution 4").wait_for()
    detail = execution(shown)
    detail.get_by_text("Injected values").first.wait_for()
    assert detail.get_by_role("row", name=re.compile("^limit")).count() == 1
    assert detail.get_by_role("row", name=re.compile("^outcome")).count() == 1


def test_run_again_shrink_run_the_smaller_values_pin_and_show_the_pinned(show):
    shown = show(CHANGED)
    panel = execution(shown)
    panel.get_by_role("button", name="Run again").click()
    shown.root.get_by_text("Ran again, with the same values.").wait_for()
    panel.get_by_role("button", name="Shrink").click()
    shown.root.get_by_text("These are the smallest values found.").wait_for()
    smallest = panel.get_by_label("Value of limit", exact=True).input_value()
    panel.get_by_role("button", name="Run again").click()
    shown.root.get_by_text("Ran again, with the same values.").wait_for()
    assert panel.get_by_label("Value of limit", exact=True).input_value() == smallest
    panel.get_by_role("button", name="Pin as example").click()
    panel.get_by_role("button", name="Back to the values as injected").click()
    pinned = shown.tab("Pinned 1")
    assert f"limit = {smallest}" in pinned.inner_text()
    pinned.get_by_role("button", name="Show the pinned example 1").click()
    shown.root.get_by_role("button", name="Back to the values as injected").wait_for()
    assert execution(shown).get_by_label("Value of limit", exact=True).input_value() == smallest
    shown.tab("Pinned 1").get_by_role("button", name="Remove the pinned example 1").click()
    shown.root.get_by_text("Nothing is pinned").wait_for()


def test_a_value_is_changed_in_place_refused_and_put_back(show):
    shown = show(CHANGED)
    panel = execution(shown)
    before = panel.get_by_label("Value of limit", exact=True).input_value()
    change_value(panel, "limit", "7")
    panel.get_by_text("returned 7").first.wait_for()
    assert "✎ by you" in panel.inner_text()
    assert "limit = 7" in shown.root.get_by_role("textbox", name=re.compile("^old version")).inner_text()
    change_value(panel, "limit", "open('x')")
    shown.root.get_by_text("the value for limit cannot be read").wait_for()
    panel.get_by_label("Value of limit", exact=True).press("Escape")
    panel.get_by_role("button", name="Put the value of limit back").click()
    shown.root.get_by_text("Ran with the value put back.").wait_for()
    assert panel.get_by_label("Value of limit", exact=True).input_value() == before


def test_an_execution_is_copied_as_a_test(show):
    shown = show(CHANGED)
    panel = execution(shown)
    panel.get_by_role("button", name="Copy as pytest").click()
    test = panel.get_by_role("region", name="The test")
    test.wait_for()
    assert "def test_next_try" in test.inner_text()


def test_values_are_listed_by_access_path(show):
    shown = show(ALL)
    panel = shown.tab(re.compile("^Values"))
    paths = panel.get_by_role("grid", name="Access paths")
    paths.get_by_role("row", name=re.compile("limit")).first.click()
    assert "%" in panel.inner_text()
    assert panel.get_by_role("region", name="Injected values and their outcomes").get_by_role("row").count() > 2


def test_calls_are_aligned_and_what_differs_is_marked(show):
    shown = show(CHANGED)
    panel = shown.tab(re.compile("^Calls"))
    assert "stats.inc" in panel.inner_text()
    assert panel.locator("mark").count() >= 1


def test_plots_have_legends_hover_and_downloads(show):
    shown = show(ALL)
    panel = shown.tab("Plots")
    figures = panel.get_by_role("figure")
    figures.nth(2).wait_for()
    coverage = figures.first
    image = coverage.get_by_role("img", name="Coverage over executions")
    assert "lines covered so far" in image.text_content()
    image.hover(position={"x": 200, "y": 150})
    coverage.locator("tspan", has_text="covered so far").wait_for()
    for ending, check in {
        "SVG": lambda data: ElementTree.fromstring(data).tag.endswith("svg"),
        "PNG": lambda data: data.startswith(b"\x89PNG"),
        "CSV": lambda data: data.startswith(b"execution,covered so far") and data.count(b"\r\n") == 301,
    }.items():
        with shown.page.expect_download() as waiting:
            coverage.get_by_role("button", name=f"as {ending}").click()
        assert check(Path(waiting.value.path()).read_bytes()), ending


def test_progress_is_shown_and_stopped(notebook):
    shown = Shown(notebook, LONG_CELL)
    shown.root.get_by_role("progressbar").wait_for()
    shown.root.get_by_text(re.compile(r"of at most 1,000,000 executions · \d+\s% of the lines")).wait_for()
    shown.root.get_by_role("button", name="Stop").click()
    shown.root.get_by_role("tab").first.wait_for()
    assert "stopped before the budget was used up" in shown.text()


def test_a_study_is_stopped_and_shows_what_it_found(notebook):
    shown = Shown(notebook, LONG_STUDY)
    shown.root.get_by_role("progressbar").wait_for()
    shown.root.get_by_text(re.compile(r"of 2000 changes, .* left")).wait_for()
    shown.root.get_by_role("button", name="Stop").click()
    shown.root.get_by_role("grid", name="Changes").wait_for()
    assert re.search(r"The study was stopped after \d+ of 2000 changes", shown.text())


def test_the_matrix_of_a_study_filters_its_table(show):
    shown = show(STUDY_CELL)
    changes = shown.root.get_by_role("grid", name="Changes")
    assert rows_listed(changes) == 3
    shown.root.get_by_role("button", name=re.compile("labelled changing, judged changing")).click()
    assert rows_listed(changes) == 1
    assert "off by one" in changes.inner_text()
    shown.root.get_by_role("button", name="No longer only one cell of the matrix").click()
    shown.root.get_by_role("searchbox").fill("a name")
    assert rows_listed(changes) == 1


def test_a_change_of_a_study_opens_as_a_comparison_that_can_be_worked_with(show):
    shown = show(STUDY_CELL)
    shown.root.get_by_role("grid", name="Changes").get_by_role("row", name=re.compile("off by one")).click()
    shown.root.get_by_role("tab").first.wait_for()
    panel = execution(shown)
    change_value(panel, "x", "40")
    panel.get_by_text("returned 42").first.wait_for()
    shown.root.get_by_role("button", name="All changes").click()
    assert rows_listed(shown.root.get_by_role("grid", name="Changes")) == 3


def test_hostile_text_stays_text(show):
    shown = show(HOSTILE_CELL)
    for tab in shown.root.get_by_role("tab").all():
        tab.click()
        shown.page.wait_for_timeout(60)
        assert shown.page.evaluate("window.hacked") is None, tab.inner_text()
        assert shown.root.locator("script, img:not(.cm-widgetBuffer), iframe, object, embed").count() == 0
        assert not re.search("[\u202a-\u202e\x1b]", shown.text())
    assert "<svg onload" in shown.root.locator(".cm-content").first.inner_text()


def test_axe_finds_nothing_serious(show, notebook):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; make widgets does it")
    session = notebook.page.context.new_cdp_session(notebook.page)
    session.send("Runtime.evaluate", {"expression": AXE.read_text()})

    def check(what: str) -> None:
        notebook.page.wait_for_timeout(60)
        options = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}"
        found = notebook.page.evaluate(f"axe.run('.tcw', {options}).then(found => found.violations)")
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        shown = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]], one["help"]) for one in bad]
        assert not bad, f"{what}: {json.dumps(shown, indent=1)}"

    shown = show(CHANGED)
    for tab in shown.root.get_by_role("tab").all():
        tab.click()
        check(tab.inner_text())
    show(STUDY_CELL)
    check("study")
