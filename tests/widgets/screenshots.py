"""Pictures of every view, in light and dark and in a narrow column: `make screenshots`, or with a folder as argument.

The comparison is a real one of the installed twincell, the study is made up.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import twincell

from ..chromium import chromium
from . import states
from .conftest import ROOT, Tab

#: Those that stand in the documents.
PICKED = {
    "found-light": "view.png",
    "plots-light": "view-plots.png",
    "study-light": "view-study.png",
}
TABS = {
    "found": "Found",
    "execution": "Execution ",
    "executions": "Executions",
    "values": "Values",
    "calls": "Calls",
    "plots": "Plots",
    "test": "Test",
}


#: The limit of a request once counted when it was 0; now 0 means the limit of all.
SHORTER = states.OLD.replace("limit = self.max", 'limit = request.meta.get("max_retry_times") or self.max').replace(
    """    if "max_retry_times" in request.meta:
        limit = request.meta["max_retry_times"]
""",
    "",
)


def picture(tab: Tab, folder: Path, name: str) -> None:
    tab.page.mouse.move(0, 0)
    # An editor measures its lines only where it is in sight.
    height = tab.page.evaluate("document.documentElement.scrollHeight")
    tab.page.set_viewport_size({"width": tab.page.viewport_size["width"], "height": max(900, height)})
    tab.page.wait_for_timeout(300)
    tab.page.screenshot(path=folder / f"{name}.png", full_page=True)


def pictures(browser, folder: Path) -> None:
    comparison = json.loads(twincell.compare(states.OLD, SHORTER, seed=5)._state())
    for name, scheme, width in [("light", "light", 1060), ("dark", "dark", 1060), ("narrow", "light", 360)]:
        tab = Tab(browser, scheme, width)
        tab.show(comparison)
        for view, title in TABS.items():
            tab.page.get_by_role("tab").filter(has_text=title).first.click()
            picture(tab, folder, f"{view}-{name}")
        tab.page.get_by_role("tab").filter(has_text="Execution ").first.click()
        tab.page.get_by_role("button", name="Pin as example").click()
        tab.page.get_by_role("tab").filter(has_text="Pinned").click()
        picture(tab, folder, f"pinned-{name}")
        tab.show(states.study(), kept=states.comparison(120))
        picture(tab, folder, f"study-{name}")
        tab.show(states.amplification())
        picture(tab, folder, f"amplification-{name}")
        tab.show(states.sliced())
        for title in ("Commits", "Dependencies", "Search"):
            tab.page.get_by_role("tab").filter(has_text=title).click()
            picture(tab, folder, f"slice-{title.lower()}-{name}")
        tab.show(states.impact())
        tab.page.get_by_role("button", name="Why line 8").click()
        picture(tab, folder, f"impact-{name}")
        tab.page.evaluate("progress => window.showProgress(progress)", states.SLICING)
        picture(tab, folder, f"slicing-{name}")
        tab.page.evaluate("window.showProgress({pair: 1, pairs: 3, executions: 120, budget: 300, coverage: 0.825})")
        picture(tab, folder, f"progress-{name}")
        tab.page.close()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if browser is None:
            raise SystemExit("no Chromium is installed")
        pictures(browser, folder)
    for name, document in PICKED.items():
        shutil.copyfile(folder / f"{name}.png", ROOT / "docs" / "images" / document)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
