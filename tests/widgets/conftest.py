"""A browser with a page around the widget, served from memory under a strict content security policy."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import pytest

from . import states

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
WIDGET = ROOT / "widgets" / "dist" / "widget.js"
AXE = ROOT / "widgets" / "js" / "node_modules" / "axe-core" / "axe.min.js"
ADDRESS = "http://widget.test/"
#: Neither inline scripts nor eval: what a notebook server may forbid, too.
POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data: blob:"
TIMEOUT = 60_000


class Tab:
    """An open page with the widget in it."""

    def __init__(self, browser, scheme: str, width: int) -> None:
        self.page = browser.new_page(
            color_scheme=scheme, viewport={"width": width, "height": 900}, accept_downloads=True, bypass_csp=False
        )
        self.page.set_default_timeout(TIMEOUT)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        files = {"": HERE / "page.html", "page.js": HERE / "page.js", "widget.js": WIDGET}
        types = {".html": "text/html", ".js": "text/javascript"}

        def serve(route):
            file = files[route.request.url.removeprefix(ADDRESS)]
            headers = {"content-type": f"{types[file.suffix]}; charset=utf-8", "content-security-policy": POLICY}
            route.fulfill(body=file.read_bytes(), headers=headers)

        self.page.route(f"{ADDRESS}**", serve)
        self.page.goto(ADDRESS)
        self.page.wait_for_function("window.ready")

    def show(self, state: dict | None, live: bool = True, kept: dict | None = None) -> float:
        """Shows a state; milliseconds until it was painted. `kept` is the comparison that a study kept of changes."""
        packed = base64.b64encode(zlib.compress(json.dumps(kept).encode())).decode()
        comparison = {"state": kept, "packed": packed}
        show = "([state, live, comparison]) => window.show(state, live, comparison)"
        return self.page.evaluate(show, [state, live, comparison])

    def sent(self) -> list[dict]:
        """What the widget asked the kernel for."""
        return self.page.evaluate("window.model.sent")

    def tab(self, name: str):
        """Opens a tab of the widget and gives its panel."""
        self.page.get_by_role("tab", name=name).click()
        return self.page.get_by_role("tabpanel")


@pytest.fixture(params=["light", "dark"])
def scheme(request) -> str:
    return request.param


@pytest.fixture
def open_tab(browser):
    """Opens pages, and checks that nothing went wrong in them."""
    opened = []

    def open_one(scheme: str = "light", width: int = 1100) -> Tab:
        opened.append(Tab(browser, scheme, width))
        return opened[-1]

    yield open_one
    for tab in opened:
        tab.page.close()
        assert tab.errors == []


def executions_table(tab):
    return tab.tab(re.compile("^Executions")).get_by_role("grid", name="Executions")


def rows_listed(table) -> int:
    return int(table.get_attribute("aria-rowcount")) - 1


def at_line_four(open_tab):
    """A page in which the keyboard is at line 4 of the new version."""
    tab = open_tab()
    tab.show(states.comparison())
    page = tab.page
    page.get_by_role("textbox", name=re.compile("^new version")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    return page
