"""The plugin for pytest: `--twincell-impact OLD` runs only the tests that may see what changed since a revision.

pytest loads it wherever twincell is installed, so it imports nothing of twincell until the option is given. A test that
the selection does not know runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

OPTION = "--twincell-impact"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("twincell").addoption(
        OPTION,
        metavar="OLD",
        help="run only the tests that may see what changed since this revision of git (OLD, or OLD..NEW)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if versions := config.getoption(OPTION):
        config.pluginmanager.register(Selecting(config, versions), "twincell-selecting")


class Selecting:
    """Deselects the tests that cannot see a change."""

    def __init__(self, config: pytest.Config, versions: str) -> None:
        from ._twincell import TwincellError, select_tests

        try:
            found: dict[str, Any] = select_tests(
                versions,
                config.rootpath,
                test_files=config.getini("python_files"),
                test_functions=config.getini("python_functions"),
                test_classes=config.getini("python_classes"),
            )
        except TwincellError as error:
            raise pytest.UsageError(f"{OPTION}: {error}") from None
        self.found = found
        # With workers, the process that reports collects nothing itself.
        self.has_left = any(not row["runs"] for row in found["tests"])
        self.root = Path(found["root"])
        self.tests: dict[str, dict[str, Any]] = {row["name"]: row for row in found["tests"]}

    def name(self, item: pytest.Item) -> str | None:
        """What a selection calls the test of an item; None for what is no function."""
        if not isinstance(item, pytest.Function):
            return None
        try:
            path = item.path.resolve().relative_to(self.root)
        except ValueError:
            return None
        names = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
        return "::".join([path.as_posix(), *names, item.originalname or item.name])

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept, left = [], []
        for item in items:
            row = self.tests.get(self.name(item) or "")
            if row is not None and not row["runs"]:
                left.append(item)
                continue
            kept.append(item)
            if row is not None:
                item.add_report_section("setup", "twincell", row["reason"])
        if left:
            items[:] = kept
            config.hook.pytest_deselected(items=left)

    def pytest_report_header(self) -> list[str]:
        return [f"twincell: {line}" for line in [self.found["sentence"], *self.found["doubt_sentences"]]]

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        # That nothing has to run is no failure.
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.has_left:
            session.exitstatus = pytest.ExitCode.OK
