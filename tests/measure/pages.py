"""How large the page of a study is, and how long it takes until its table is there and until a row is open.

python -m tests.measure.pages [--rows 200 10000] [--share 0.33] [--repeat 5]

It compares synthetic changes, of which this share runs, writes the page, and opens it in Chromium. Times are
medians, counted from the beginning of the page's load.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import twincell
from playwright.sync_api import Browser

from tests.chromium import chromium
from tests.measure.studies import synthetic

ROW = "[role=grid] [role=row][aria-rowindex='2']"


def opened(browser: Browser, page: Path) -> tuple[float, float]:
    """Milliseconds until the first row of the table is there, and from a click on it until its comparison is."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(page.as_uri(), wait_until="commit")
    tab.wait_for_selector(ROW, timeout=120_000)
    first = tab.evaluate("performance.now()")
    start = tab.evaluate("performance.now()")
    tab.click(ROW)
    tab.wait_for_selector(".tcw-tab, .tcw-head", timeout=120_000)
    took = tab.evaluate("performance.now()") - start
    tab.close()
    return first, took


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 10_000])
    parser.add_argument("--share", type=float, default=1 / 3)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    print("| rows | page, MB | table, ms | row open, ms |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            raise SystemExit("no Chromium is installed")
        for rows in asked.rows:
            page = Path(folder) / f"{rows}.html"
            twincell.study(synthetic(rows, asked.share), html=page, progress=False)
            times = [opened(browser, page) for _ in range(asked.repeat)]
            table, row = (statistics.median(of) for of in zip(*times, strict=True))
            print(f"| {rows:,} | {page.stat().st_size / 1e6:.1f} | {table:.0f} | {row:.0f} |", flush=True)


if __name__ == "__main__":
    main()
