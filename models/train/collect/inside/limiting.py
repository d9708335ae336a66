"""A plugin of pytest: how long tests may take, and how many there are."""

import json
import os
import signal
import time
from collections import Counter

import pytest

#: Options of the package itself that ask for coverage, other processes or plugins have no use here.
ARGUMENTS = [
    "-q",
    "--tb=line",
    "--continue-on-collection-errors",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-o",
    "addopts=",
    "-o",
    "required_plugins=",
    "-o",
    "filterwarnings=ignore",
]
#: The fewest seconds that a file of tests gets, however many files there are.
LEAST_SHARE = 5


#: Time is processor time, so that a busy machine records as much of a package as an idle one. Waiting counts, too, but
#: this many times less.
PATIENCE = 6


class TooLong(BaseException):
    """A test exceeded its time. Its own `except Exception` does not catch this."""


def chosen(keys, most):
    """Which of the tests that have the same key are kept: as many as `most`, evenly spread."""
    total, seen, kept = Counter(keys), Counter(), []
    for key in keys:
        place, seen[key] = seen[key], seen[key] + 1
        count = total[key]
        kept.append(count <= most or place * most // count != (place - 1) * most // count)
    return kept


def used(began):
    """The counted seconds since a moment of the clock."""
    return max(time.process_time(), (time.monotonic() - began) / PATIENCE)


class Limiter:
    def __init__(self, configuration, recorder):
        self.recorder = recorder
        self.folder = configuration["seen"]
        self.seconds = configuration["seconds"]
        self.test_seconds = configuration["test_seconds"]
        self.cases = configuration["cases"]
        self.write_each = configuration["write_each"]
        self.process = os.getpid()
        self.began = self.written = time.monotonic()
        self.outcomes = Counter()
        self.files_left = 0
        self.file = None
        self.file_ends = 0.0

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        try:
            import hypothesis
        except ImportError:
            return
        hypothesis.settings.register_profile(
            "twincell",
            max_examples=10,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("twincell")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        kept = chosen([item.nodeid.partition("[")[0] for item in items], self.cases)
        left = [item for item, keep in zip(items, kept, strict=True) if not keep]
        self.outcomes["left_out"] += len(left)
        items[:] = [item for item, keep in zip(items, kept, strict=True) if keep]
        if left:
            config.hook.pytest_deselected(items=left)
        self.files_left = len({item.location[0] for item in items})

    def pytest_runtest_protocol(self, item, nextitem):
        """Each file of tests gets its share of the time that is left; True says that the test was dealt with."""
        now = used(self.began)
        if item.location[0] != self.file:
            left = self.seconds - now
            share = max(2 * left / max(self.files_left, 1), LEAST_SHARE)
            self.file, self.file_ends = item.location[0], now + share
            self.files_left -= 1
        is_over = now > self.seconds
        if is_over:
            item.session.shouldstop = "time is over"
        if is_over or now > self.file_ends:
            self.outcomes["out_of_time"] += 1
            # Fixtures that the next test does not share end with this one.
            item.session._setupstate.teardown_exact(nextitem)
            return True
        return None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        def over(*_):
            raise TooLong(f"the test took more than {self.test_seconds:g} s")

        before = signal.signal(signal.SIGALRM, over)
        # Once more, in case the first was raised where it could not propagate.
        signal.setitimer(signal.ITIMER_REAL, self.test_seconds, 1)
        outcome = yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if isinstance(getattr(outcome, "excinfo", None) and outcome.excinfo[1], TooLong):
            outcome.force_exception(AssertionError("out of time"))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
        if os.getpid() == self.process and time.monotonic() - self.written >= self.write_each:
            self.recorder.write()
            self.report()
            self.written = time.monotonic()

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes["not_collected"] += 1

    def report(self):
        """Counts of tests so far."""
        path = os.path.join(self.folder, "report.json")
        with open(path + ".part", "w") as file:
            json.dump(dict(sorted(self.outcomes.items())), file)
        os.replace(path + ".part", path)
