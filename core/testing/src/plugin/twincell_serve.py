"""The pytest plugin: it lets pytest collect, and then forks a child for each request.

Requests come as lines of JSON over a socket. A child writes what its tests did into a pipe of its request. The process
that forks runs no test, so that every child begins in the same state.
"""

import importlib
import json
import linecache
import os
import re
import select
import signal
import sys
import tempfile
import threading
import time

import pytest
import twincell_cover
import twincell_observe
import twincell_operands
import twincell_values

MESSAGE = 2000
# pytest colors its errors where the environment asks for it, whatever its options say.
COLORS = re.compile(r"\x1b\[[\d;]*m")
# The largest piece that a pipe or a socket takes at once.
PIECE = 1 << 16


class Serving:
    def __init__(self, control, start, elsewhere, opened):
        self.control = control
        self.start = start
        self.root = start["root"]
        self.elsewhere = elsewhere
        self.opened = opened
        self.errors = []
        # What ended pytest before it ran tests.
        self.ending = None
        self.uncollected = {}
        self.items = {}
        self.directories = {}
        self.pipe = None
        self.reports = []
        self.failure = None
        self.running = None
        self.observer = None

    def say(self, message):
        self.control.sendall(written(message))

    def tell(self, message):
        write_all(self.pipe, written(message))

    # What pytest calls.

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        outcome = yield
        raised = getattr(getattr(outcome.get_result(), "call", None), "excinfo", None)
        if raised is not None:
            # pytest wraps what an import raises.
            cause = raised.value.__cause__ if isinstance(raised.value, collector.CollectError) else None
            self.uncollected[readable(collector.nodeid)] = cut(
                twincell_observe.dotted(type(raised.value if cause is None else cause))
            )

    def pytest_collectreport(self, report):
        if report.failed:
            text = COLORS.sub("", readable(text_of(report.longrepr))).strip()
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            said = [line[1:].strip() for line in lines if line.startswith("E ")]
            message = (said or lines or [""])[-1]
            name = readable(report.nodeid)
            kind = self.uncollected.get(name, "")
            self.errors.append({"id": name, "exception": kind, "message": self.said(message)})

    def pytest_internalerror(self, excinfo):
        self.ends_by(excinfo)

    def pytest_keyboard_interrupt(self, excinfo):
        self.ends_by(excinfo)

    def ends_by(self, excinfo):
        message = self.said(text_of(excinfo.value))
        self.ending = {"exception": twincell_observe.dotted(excinfo.type), "message": message}

    @pytest.hookimpl(hookwrapper=True, optionalhook=True)
    def pytest_collect_directory(self, path):
        # Fixtures of a conftest belong to the directory as it was collected first.
        outcome = yield
        made = outcome.get_result()
        if made is not None:
            outcome.force_result(self.directories.setdefault(path, made))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        session.testsfailed = 0
        self.items = {readable(item.nodeid): item for item in session.items}
        tests = [self.describe(item) for item in session.items]
        forks = hasattr(os, "fork") and threads() == 1
        collected = {"tests": tests, "errors": self.errors, "forks": forks, "elsewhere": self.elsewhere()}
        self.say({"collected": {**collected, "opened": self.readable_opened()}})
        Requests(self, session, forks).serve()
        os._exit(0)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self):
        self.observer.listen()
        yield
        self.observer.rest()

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        yield
        if call.excinfo is not None:
            self.failure = self.failure or self.describe_failure(item, call.excinfo)

    def describe(self, item):
        file, line, domain = item.location
        path = os.path.abspath(os.path.join(self.root, file))
        names = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
        names.append(getattr(item, "originalname", None) or item.name)
        kind = "other"
        if type(item).__name__ == "DoctestItem":
            kind = "doctest"
        elif type(item).__name__ == "TestCaseFunction":
            kind = "unittest"
        elif isinstance(item, pytest.Function):
            kind = "function"
        return {
            "id": readable(item.nodeid),
            "file": readable(self.relative(path)),
            "line": (line or 0) + 1 if line is not None else 0,
            "function": ".".join(names),
            "kind": kind,
        }

    def relative(self, path):
        inside = path.startswith(self.root + os.sep)
        return os.path.relpath(path, self.root).replace(os.sep, "/") if inside else path

    def readable_opened(self):
        opened = self.opened.taken()
        return None if opened is None else [readable(path.replace(os.sep, "/")) for path in opened]

    def said(self, text):
        """A message without the folder of the checkout, which is another one in each run."""
        return cut(readable(text).replace(self.root + os.sep, ""))

    def describe_failure(self, item, info):
        file, line, test_line = "", 0, None
        own = str(getattr(item, "path", None) or item.fspath)
        trace = info.tb
        while trace is not None:
            file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno or 0
            if file == own:
                test_line = line
            trace = trace.tb_next
        kind = info.type
        declared = pytest.fail.Exception
        return {
            "exception": twincell_observe.dotted(kind),
            "message": self.said(text_of(info.value)),
            "file": readable(self.relative(file)),
            "line": line,
            "test_line": test_line,
            "assertion": issubclass(kind, (AssertionError, declared)),
        }

    # What a child does.

    def run(self, session, request):
        """Runs the tests of a request and tells of each."""
        folder = request["temporary"]
        os.makedirs(folder, exist_ok=True)
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
        renew_capture(session.config)
        session.config.option.basetemp = None
        # Nobody reads its tracebacks, and to find the source of each takes longer than most tests.
        session.config.option.tbstyle = "native"
        items = self.find(session, request)
        cover = twincell_cover.begin(self.root, request["covered"]) if request["coverage"] else None
        values = twincell_values.Values(self.root, request["watched"]) if request["watched"] else None
        places = [folder, self.root, self.start["folder"]]
        self.observer = twincell_observe.Observer(places, request["observe"], request["quietly"])
        operands = twincell_operands.Operands(self.root, request["covered"]) if request["operands"] else None
        found = [(name, group(items, name, request["all_cases"])) for name in request["tests"]]
        for at, (name, own) in enumerate(found):
            if not own:
                self.tell({"record": {"id": name, "outcome": "not_found", "failure": self.why(name), "seconds": 0.0}})
                continue
            following = [item for _, later in found[at + 1 :] for item in later][:1]
            self.tell({"begin": name})
            if operands:
                operands.renew()
            queue = [*own, *(following or [None])]
            for number, item in enumerate(own):
                record = self.run_one(session, item, queue[number + 1], cover, values)
                if record["outcome"] != "passed":
                    break
            record["id"] = name
            record["operands"] = operands.seen if operands else []
            self.tell({"record": record})
            if "stop" in record:
                return
        self.tell("end")

    def run_one(self, session, item, following, cover, values):
        self.reports, self.failure = [], None
        session.shouldfail = session.shouldstop = False
        self.observer.renew()
        stop = False
        if cover:
            cover.start()
        if values:
            values.start()
        self.opened.taken()
        began = time.perf_counter()
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException as error:
            # pytest ends the whole run here: at `pytest.exit` and at an interrupt.
            stop = True
            kind = type(error)
            self.failure = {
                "exception": twincell_observe.dotted(kind),
                "message": self.said(text_of(error)),
                "file": "",
                "line": 0,
                "test_line": None,
                "assertion": False,
            }
        points = values.stop() if values else []
        lines = cover.stop() if cover else {}
        seconds = time.perf_counter() - began
        outcome = "failed" if stop else outcome_of(self.reports)
        failure = self.failure if outcome != "passed" else None
        if outcome == "skipped" and failure is None:
            failure = said_of_skip(self.reports)
        record = {
            "outcome": outcome,
            "failure": failure,
            "seconds": seconds,
            "lines": lines,
            "observations": self.observer.seen,
            "values": points,
            "opened": self.readable_opened(),
        }
        if stop:
            record["stop"] = True
        return record

    def why(self, name):
        file = name.split("::")[0]
        for error in reversed(self.errors):
            if error["id"].split("::")[0] == file:
                message = error["message"]
                return {
                    "exception": "",
                    "message": message,
                    "file": file,
                    "line": 0,
                    "test_line": None,
                    "assertion": False,
                }
        return None

    def find(self, session, request):
        """The items of the tests by id. What lies in files of the request is imported and collected anew."""
        files = [os.path.join(self.root, *file.split("/")) for file in request["files"]]
        brought = set(files)
        if files:
            importlib.invalidate_caches()
            for name, module in list(sys.modules.items()):
                if getattr(module, "__file__", None) in brought:
                    del sys.modules[name]
            for file in files:
                linecache.cache.pop(file, None)
        is_brought = {file: True for file in request["files"]}
        wanted = {}
        for name in request["tests"]:
            file = name.split("::")[0]
            if file in is_brought or name not in self.items:
                wanted[file] = True
        items = dict(self.items)
        for file in wanted:
            for name in [name for name in items if name.split("::")[0] == file]:
                del items[name]
            self.errors = [error for error in self.errors if error["id"].split("::")[0] != file]
            try:
                collected = session.perform_collect([os.path.join(self.root, *file.split("/"))], genitems=True)
            except Exception as error:
                kind = twincell_observe.dotted(type(error))
                self.errors.append({"id": file, "exception": kind, "message": self.said(text_of(error))})
                continue
            items.update((readable(item.nodeid), item) for item in collected)
        for name in request["tests"]:
            if name not in items:
                items[name] = nearest(items, name)
        return items


class Requests:
    """The loop that reads requests, forks, and looks after the children."""

    def __init__(self, serving, session, forks):
        self.serving = serving
        self.session = session
        self.forks = forks
        self.children = {}
        self.buffer = b""

    def serve(self):
        control = self.serving.control
        if self.forks:
            import gc

            gc.collect()
            gc.freeze()
        while True:
            watched = [control, *[handle for _, _, handle in self.children.values() if handle is not None]]
            # Where the system has no handles for processes, children are asked often.
            timeout = None if len(watched) == len(self.children) + 1 else 0.01
            ready, _, _ = select.select(watched, [], [], timeout)
            self.reap()
            if control not in ready:
                continue
            piece = control.recv(PIECE)
            if not piece:
                break
            self.buffer += piece
            *lines, self.buffer = self.buffer.split(b"\n")
            for line in lines:
                self.obey(json.loads(line))
        for pid, _, _ in list(self.children.values()):
            end(pid)
        end_leftovers()

    def obey(self, message):
        if "kill" in message:
            child = self.children.get(message["kill"])
            if child:
                end(child[0])
            return
        request = message["run"]
        pipe = os.open(request["pipe"], os.O_WRONLY | os.O_CLOEXEC)
        if not self.forks:
            self.serving.pipe = pipe
            self.serving.run(self.session, request)
            write_all(pipe, b'{"exit": 0}\n')
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            self.child(pipe, request)
        try:
            os.setpgid(pid, pid)
        except OSError:
            pass
        handle = None
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError):
            pass
        self.children[request["number"]] = (pid, pipe, handle)

    def child(self, pipe, request):
        try:
            os.setpgid(0, 0)
            self.serving.control.close()
            for _, other, handle in self.children.values():
                os.close(other)
                if handle is not None:
                    os.close(handle)
            self.serving.pipe = pipe
            self.serving.run(self.session, request)
        except BaseException as error:
            try:
                self.serving.tell({"broken": cut(f"{twincell_observe.dotted(type(error))}: {text_of(error)}")})
            except BaseException:
                pass
        finally:
            os._exit(0)

    def reap(self):
        for number, (pid, pipe, handle) in list(self.children.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done:
                continue
            # What it has started does not outlive it.
            kill_group(pid)
            del self.children[number]
            if not self.children:
                end_leftovers()
            try:
                os.set_blocking(pipe, False)
                os.write(pipe, written({"exit": status}))
            except OSError:
                pass
            os.close(pipe)
            if handle is not None:
                os.close(handle)


def outcome_of(reports):
    worst = "passed"
    for report in reports:
        expected = hasattr(report, "wasxfail")
        if report.failed:
            outcome = "failed" if report.when == "call" else "error"
        elif report.skipped:
            outcome = "xfailed" if expected else "skipped"
        elif report.when == "call" and expected:
            outcome = "xpassed"
        else:
            outcome = "passed"
        # A failure of the test itself counts before one of its teardown.
        order = ["passed", "xpassed", "xfailed", "skipped", "error", "failed"]
        worst = max(worst, outcome, key=order.index)
    return {"xfailed": "x_failed", "xpassed": "x_passed"}.get(worst, worst)


def said_of_skip(reports):
    for report in reports:
        place = report.longrepr
        if report.skipped and isinstance(place, tuple) and len(place) == 3:
            return {
                "exception": "Skipped",
                "message": cut(str(place[2])),
                "file": readable(str(place[0])),
                "line": int(place[1] or 0),
                "test_line": None,
                "assertion": False,
            }
    return None


def group(items, name, all_cases):
    """The item of a test, or those of all its cases."""
    item = items.get(name)
    if item is None or not all_cases:
        return [] if item is None else [item]
    base = readable(item.nodeid).partition("[")[0]
    # A case may also be there under the name by which it was looked for.
    cases = {id(item): item for other, item in items.items() if other.partition("[")[0] == base and item is not None}
    return list(cases.values())


def nearest(items, name):
    """The first case of a test whose id has all parts of a wanted one: fixtures and classes add parts of theirs.

    The only case of a test is the nearest to any.
    """
    base, _, case = name.partition("[")
    wanted = case[:-1].split("-") if case else []
    cases = {other: item for other, item in items.items() if other.partition("[")[0] == base and item is not None}
    if len(cases) == 1:
        return next(iter(cases.values()))
    for other, item in cases.items():
        parts = iter(other.partition("[")[2][:-1].split("-"))
        if all(part in parts for part in wanted):
            return item
    return None


def renew_capture(config):
    """Gives this child files of its own for captured output, which it would share with others."""
    manager = config.pluginmanager.getplugin("capturemanager")
    if manager is not None:
        try:
            manager.stop_global_capturing()
            manager.start_global_capturing()
        except Exception:
            pass


def threads():
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def text_of(error):
    try:
        return str(error)
    except Exception:
        return ""


def readable(text):
    """A text of the project without what no UTF-8 has. Names of files that are none have it too."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def cut(text):
    text = readable(text)
    return text if len(text) <= MESSAGE else text[:MESSAGE] + "…"


def written(message):
    """A message as a line. Names of classes may still have a lone surrogate, which is in no JSON that all read."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data[:PIECE]) :]


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass


def end(pid):
    kill_group(pid)
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def end_leftovers():
    """Ends what tests have left running: it became a child of this process when its parent ended."""
    for _ in range(100):
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                left = [int(pid) for pid in file.read().split()]
        except (OSError, ValueError):
            return
        if not left:
            return
        for pid in left:
            end(pid)
            try:
                os.waitpid(pid, 0)
            except OSError:
                pass
