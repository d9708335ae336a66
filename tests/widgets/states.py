"""States as the kernel sends them, made up: of any number of executions, or with hostile text in every string."""

from __future__ import annotations

import difflib
import math

CLASSES = "none bool int float str list tuple dict set callable resource object".split()

OLD = '''\
def next_request(self, request, reason, spider):
    """The request once more, or None after too many."""
    retries = request.meta.get("retry_times", 0) + 1
    limit = self.max_retry_times
    if "max_retry_times" in request.meta:
        limit = request.meta["max_retry_times"]
    stats = spider.crawler.stats
    if retries <= limit:
        logger.debug("Retrying %s (failed %d times): %s", request, retries, reason)
        again = request.copy()
        again.meta["retry_times"] = retries
        again.dont_filter = True
        again.priority = request.priority + self.priority_adjust
        stats.inc_value("retry/count")
        return again
    stats.inc_value("retry/max_reached")
    if self.strict:
        raise IgnoreRequest(reason)
    logger.error("Gave up retrying %s", request)
    return None
'''

NEW = '''\
def next_request(self, request, reason, spider):
    """The request once more, or None after too many."""
    retries = request.meta.get("retry_times", 0) + 1
    limit = request.meta.get("max_retry_times") or self.max_retry_times
    stats = spider.crawler.stats
    if retries <= limit:
        logger.debug("Retrying %s (failed %d times): %s", request, retries, reason)
        again = request.copy()
        again.meta["retry_times"] = retries
        again.dont_filter = True
        again.priority = request.priority + self.priority_adjust
        if isinstance(reason, Exception):
            reason = type(reason).__name__
        stats.inc_value("retry/count")
        stats.inc_value("retry/reason_count/%s" % reason)
        return again
    stats.inc_value("retry/max_reached")
    if self.strict:
        raise IgnoreRequest(reason)
    logger.error("Gave up retrying %s", request)
    return None
'''

SENTENCE = "RetryMiddleware._retry(): None -> a request, where request.meta = {'max_retry_times': 0}"


#: The sign and the word of each verdict, in the order in which pairs are shown.
MARKS = {
    "changing": ["≠", "changing"],
    "inconclusive": ["?", "inconclusive"],
    "likely_preserving": ["≈", "likely preserving"],
    "covered": ["~", "covered by others"],
    "identical": ["=", "identical"],
}


def draw(seed: int):
    """Numbers below 1 that look random and are the same every time."""
    value = seed * 2 + 1
    while True:
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (value >> 33) / 2**31


def sides(old: list[str], new: list[str]) -> tuple[list[dict], set[int], set[int]]:
    """Old and new line by line, and which lines are changed."""
    rows, gone, come = [], set(), set()
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(b - a, d - c)):
            left = a + step if a + step < b else None
            right = c + step if c + step < d else None
            rows.append({"old": left, "new": right})
            if tag != "equal":
                gone |= {left} - {None}
                come |= {right} - {None}
    return rows, gone, come


def version(
    name: str, text: str, changed: set[int], executions: int, unreached: set[int], hits: dict[int, int]
) -> dict:
    lines = []
    for index, line in enumerate(text.splitlines()):
        executable = index > 1 and bool(line.strip())
        ran = 0 if index in unreached else max(1, int(executions * (0.95**index)))
        lines.append(
            {
                "number": index + 1,
                "text": line,
                "changed": index in changed,
                "executable": executable,
                "executions": ran if executable else 0,
                "hits": hits.get(index + 1, 0),
            }
        )
    able = [line for line in lines if line["executable"]]
    reached = [line for line in lines if line["changed"] and line["executions"]]
    return {
        "qualname": name,
        "lines": lines,
        "coverage": sum(1 for line in able if line["executions"]) / max(1, len(able)),
        "first_line": 1,
        "parts": [],
        "changed_lines": len(changed),
        "changed_lines_reached": len(reached),
        "branches": [
            {"line": index + 1, "taken": 0 if index + 1 in unreached else executions, "not_taken": executions // 2}
            for index, line in enumerate(text.splitlines())
            if line.strip().startswith("if ")
        ],
    }


def values() -> list[dict]:
    def one(path, value, kind, probability, line, decisive=False, version=0, editable=True):
        return {
            "path": path,
            "value": value,
            "class": kind,
            "probability": probability,
            "version": version,
            "line": line,
            "decisive": decisive,
            "literal": value if editable else None,
            "is_object": not editable,
            "changed": False,
        }

    return [
        one("request.meta", "{'max_retry_times': 0}", "dict", 0.61, 3, decisive=True),
        one("self.max_retry_times", "2", "int", 0.83, 4),
        one("reason", "'timeout'", "str", 0.44, 1),
        one("spider.crawler.stats", "<stats>", "object", 0.93, 7, editable=False),
        one("request.priority", "0", "int", 0.71, 11, version=1),
        one("self.strict", "False", "bool", 0.66, 17),
    ]


def version_run(outcome: str, hits: list[tuple[int, int]], printed: str = "") -> dict:
    return {
        "outcome": outcome,
        "valid": True,
        "stdout": printed,
        "stderr": "",
        "log": ["DEBUG: Retrying <request> (failed 1 times): timeout"] if "Request" in outcome else [],
        "hits": hits,
    }


def evidence(execution: int = 3) -> list[dict]:
    def one(channel, place, old, new, strength="observable", edge_case=False, score=1.0):
        return {
            "channel": channel,
            "place": place,
            "old": old,
            "new": new,
            "strength": strength,
            "probability": 0.012 if edge_case else 0.61,
            "edge_case": edge_case,
            "score": score,
            "execution": execution,
        }

    return [
        one("return", "return value", "None", "Request(priority=0, meta={'retry_times': 1})"),
        one("log", "log", "ERROR: Gave up retrying <request>", "DEBUG: Retrying <request> (failed 1 times): timeout"),
        one("calls", "call 4", "stats.inc_value('retry/max_reached')", "request.copy()", "call_pattern", True, 0.4),
    ]


def detail(execution: int | None = 3, differs: bool = True) -> dict:
    calls = [("request.meta.get('retry_times', 0)",) * 2]
    calls += [("spider.crawler.stats.open(1)",) * 2] * 12
    calls += [
        ("stats.inc_value('retry/max_reached', spider=spider)", "stats.inc_value('retry/count', spider=spider)"),
        ("logger.error('Gave up retrying %s', <request>)", None),
        (None, "request.copy()"),
        (None, "stats.inc_value('retry/reason_count/timeout')"),
    ]
    old = [(3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (16, 1), (17, 1), (19, 1), (20, 1)]
    new = [(3, 1), (4, 1), (5, 1), *((line, 1) for line in range(6, 17) if line != 13)]
    return {
        "execution": execution,
        "differs": differs,
        "valid": True,
        "evidence": evidence(execution or 0) if differs else [],
        "old": version_run("returns None", old),
        "new": version_run("returns Request(priority=0, meta={'retry_times': 1})" if differs else "returns None", new),
        "final_values": [
            {"name": "request afterwards", "differs": False, "old": "<request>", "new": "unchanged"},
            {"name": "use 1, total", "differs": False, "old": "2", "new": "2"},
        ],
        "values": values(),
        "calls": [{"old": a, "new": b, "equal": a == b} for a, b in calls],
        "parting": {"old_line": 8, "new_line": 6, "old_hits": 0, "new_hits": 1} if differs else None,
    }


def executions(count: int) -> list[dict]:
    numbers = draw(7)
    made = []
    for index in range(count):
        differs = index == 2 or next(numbers) < 0.06
        examined = differs or index % 50 != 40
        valid = next(numbers) > 0.12
        coverage = 1 - math.exp(-(index + 2) / (3 + 9 * next(numbers)))
        ran = f"returns Request(priority={int(next(numbers) * 40)}, meta={{'retry_times': {index % 7}}})"
        made.append(
            {
                "number": index + 1,
                "old": "returns None" if differs else ran if valid else "raises TypeError: unsupported operand type(s)",
                "new": ran if valid or differs else "raises TypeError: unsupported operand type(s)",
                "old_valid": valid or differs,
                "new_valid": valid or differs,
                "differs": differs,
                "examined": examined,
                "new_lines": 4 if index == 0 else int(next(numbers) * 3) if index < 12 else 0,
                "coverage_so_far": min(0.94, max(coverage, made[-1]["coverage_so_far"] if made else 0)),
                "microseconds": int(60 + 400 * next(numbers) ** 3 + (3000 if index % 97 == 0 else 0)),
                "lines": 0 if differs else 1 if valid else 2,
            }
        )
    return made


def paths() -> list[dict]:
    def one(path, kind, line, likely, injected, version=0, more=0):
        predicted = [0.01] * len(CLASSES)
        for name, share in likely.items():
            predicted[CLASSES.index(name)] = share
        names = ("value", "class", "count", "differing", "invalid")
        rows = [dict(zip(names, row, strict=True)) for row in injected]
        return {
            "path": path,
            "kind": kind,
            "version": version,
            "line": line,
            "predicted": predicted,
            "injected": rows,
            "more": more,
        }

    return [
        one(
            "request.meta",
            "attribute",
            3,
            {"dict": 0.61, "object": 0.22, "none": 0.06},
            [
                ("{}", "dict", 96, 0, 3),
                ("{'max_retry_times': 0}", "dict", 31, 19, 0),
                ("{'retry_times': 5}", "dict", 22, 0, 2),
                ("None", "none", 14, 0, 14),
                ("<object>", "object", 61, 1, 9),
            ],
            more=17,
        ),
        one(
            "self.max_retry_times",
            "attribute",
            4,
            {"int": 0.83, "none": 0.07},
            [("0", "int", 120, 4, 0), ("2", "int", 90, 12, 1), ("-1", "int", 41, 0, 0), ("None", "none", 30, 0, 28)],
        ),
        one(
            "reason", None, 1, {"str": 0.44, "object": 0.4}, [("'timeout'", "str", 160, 8, 0), ("''", "str", 51, 2, 0)]
        ),
        one("self.strict", "attribute", 17, {"bool": 0.66}, [("False", "bool", 180, 9, 0), ("True", "bool", 95, 2, 0)]),
        one("request.priority", "attribute", 11, {"int": 0.71}, [("0", "int", 140, 9, 0), ("1", "int", 98, 2, 0)], 1),
    ]


REPRODUCER = '''\
"""Old and new differ for these inputs. Needs neither twincell nor the project."""

import pytest


class Request:
    def __init__(self):
        self.meta = {"max_retry_times": 0}
        self.priority = 0


@pytest.mark.parametrize("version", ["old", "new"])
def test_next_request_returns_none_after_too_many(version):
    assert load(version).next_request(Middleware(), Request(), "timeout", Spider()) is None
'''


def varied() -> list[dict]:
    """Where old and new part, by one input."""

    def value(number: int, outcome: str) -> dict:
        return {"value": str(number), "outcome": outcome, "old": "returned 3", "new": "returned 0"}

    values = [value(-1, "same"), value(0, "differs"), value(1, "differs"), value(10, "nothing")]
    texts = [{**value(0, "differs"), "value": "'timeout'"}, {**value(0, "same"), "value": "''"}]
    return [
        {
            "path": "retries",
            "sentence": "differs for retries = 0 to 1, not for -1, all else the same",
            "is_numeric": True,
            "values": values,
        },
        {
            "path": "reason",
            "sentence": "differs for reason = 'timeout', not for '', all else the same",
            "is_numeric": False,
            "values": texts,
        },
    ]


def together() -> dict:
    """Where old and new part, by two numbers at the same time."""
    numbers = [-1, 0, 1, 2, 10]
    outcomes = [["differs" if one < other else "same" for other in numbers] for one in numbers]
    outcomes[0][0] = "nothing"
    texts = [str(number) for number in numbers]
    return {"paths": ["retries", "self.max_retry_times"], "values": [texts, texts], "outcomes": outcomes}


def weights() -> list[dict]:
    return [
        {"path": "request.meta", "tried": 6, "gone": 6},
        {"path": "self.max_retry_times", "tried": 15, "gone": 7},
        {"path": "self.strict", "tried": 1, "gone": 0},
    ]


def pair(count: int = 300, verdict: str = "changing", name: str = "RetryMiddleware.next_request") -> dict:
    rows, gone, come = sides(OLD.splitlines(), NEW.splitlines())
    shown = detail()
    changed = verdict == "changing"
    all_lines = list(range(3, 23))
    ran = executions(count) if verdict != "identical" else []
    if not changed:
        ran = [{**one, "differs": False, "old": one["new"]} for one in ran]
        shown = detail(differs=False) if ran else None
    return {
        "name": name,
        "verdict": verdict,
        "mark": MARKS[verdict],
        "rank": list(MARKS).index(verdict),
        "sentence": SENTENCE if changed else f"{verdict.replace('_', ' ').capitalize()}: no difference was seen.",
        "reason": None if changed else "Every changed line was reached.",
        "facts": [["Executions", f"{len(ran)} of at most {count}"], ["Time", "412 ms"]],
        "notes": ["The module's constants were taken from the new version.", "2 executions ran into the time limit."],
        "decided_by": [],
        "executed": len(ran),
        "old": version(name, OLD, gone, count, {17}, dict(shown["old"]["hits"]) if shown else {}),
        "new": version(name, NEW, come, count, {12, 18}, dict(shown["new"]["hits"]) if shown else {}),
        "rows": rows,
        "executions": ran,
        "line_sets": [
            [[3, 4, 5, 6, 7, 8, 16, 17, 19, 20], list(range(3, 17))],
            [all_lines[:13], all_lines[:14]],
            [[3], [3]],
        ],
        "paths": paths() if ran else [],
        "evidence": evidence() if changed else [],
        "accepted": None,
        "varied": varied() if changed else [],
        "varied_together": together() if changed else None,
        "input_weights": weights() if changed else [],
        "shown": shown,
        "role": "Inputs that show it" if changed else "Inputs of the execution that covered most",
        "reproducer": {"source": REPRODUCER, "holds": True, "reason": None} if changed else None,
    }


def covered(one: dict, names: list[str]) -> dict:
    return {**one, "mark": ["~", "covered by others"], "rank": list(MARKS).index("covered"), "decided_by": names}


def comparison(count: int = 300, several: bool = False) -> dict:
    pairs = [pair(count)]
    if several:
        pairs += [
            pair(120, "likely_preserving", "RetryMiddleware.process_response"),
            pair(60, "inconclusive", "RetryMiddleware.process_exception"),
            covered(pair(40, name="_limit"), ["RetryMiddleware.next_request"]),
            pair(0, "identical", "RetryMiddleware.__init__"),
        ]
    return {
        "format": 6,
        "twincell": "0.1.0",
        "verdict": "changing",
        "sentence": SENTENCE,
        "predictor": "neural",
        "seed": "18446744073709551615",
        "budget": count,
        "milliseconds": 431.0,
        "added": ["retry_reason"] if several else [],
        "removed": [],
        "pairs": pairs,
        "classes": CLASSES,
    }


def study(count: int = 120) -> dict:
    numbers = draw(3)
    rows = []
    for index in range(count):
        chance, label = next(numbers), ("changing", "preserving", "unclear", None)[int(next(numbers) * 3.3)]
        verdict = "likely_preserving" if chance < 0.4 else "changing" if chance < 0.8 else "inconclusive"
        if label == "preserving" and verdict == "changing" and next(numbers) < 0.8:
            verdict = "likely_preserving"
        if chance > 0.95:
            verdict = "identical"
        ran = verdict != "identical"
        rows.append(
            {
                "id": f"project-{index % 9}/{index:04x}:module.function_{index}",
                "project": f"project-{index % 9}",
                "commit": f"{index * 2654435761 % 2**32:08x}" * 5,
                "file": f"src/shop/{('orders', 'cart', 'api/views')[index % 3]}.py",
                "function": f"{('Order.', '', 'View.')[index % 3]}function_{index}",
                "date": f"2025-{1 + index % 12:02d}-17T09:30:00Z",
                "kind": ("condition", "result", "loop", "call", "several")[index * index % 5],
                "verdict": verdict,
                "label": label,
                "reason": {
                    "changing": f"function_{index}(limit=0): {index} -> None, where request.limit = 0",
                    "likely_preserving": "every changed line was reached",
                    "inconclusive": "a changed line was never reached",
                    "identical": "only comments differ",
                }[verdict],
                "executions": (3 + int(next(numbers) ** 3 * 297) if verdict == "changing" else 300) if ran else 0,
                "first_difference": 1 + index % 17 if ran and verdict == "changing" else None,
                "complexity": 1 + index % 8 if ran else None,
                "coverage": 0.3 + 0.7 * next(numbers) ** 0.4 if ran else 0.0,
                "milliseconds": 20 + 900 * next(numbers) ** 2 if ran else 0.4,
                "evidence": evidence() if verdict == "changing" else [],
                "reproducer": "holds" if verdict == "changing" else None,
                "kept": index == 0,
            }
        )
    rows[0]["verdict"] = "changing"
    title = "Changes of nine projects"
    notices = [{"is_trust": True, "title": "Policy changed", "sentence": "twincell.toml: changed"}]
    marks = {"unfinished": None, "without_sandbox": None, "notices": notices}
    return {"format": 6, "title": title, "rows": rows} | marks


HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>"
    "\u202egnp.exe\u2066\x00\x1b[31m\u2028&lt;b&gt;{{7*7}}${window.hacked=3}\"'`\ud83d\ude00"
)


#: Names that every plain object of JavaScript answers to.
INHERITED = ("__proto__", "constructor", "toString")


SNIPPET = """\
total = 0
for order in fetch_orders(session):
    if order.amount > threshold:
        total += order.amount
    else:
        requeue(order)
"""


def prefixes() -> dict:
    """Prefixes of a snippet: a tree of three levels, the best one, and another one of P."""

    def node(number: int, parent: int | None, depth: int, step: int, text: str, completed: list[int], **more) -> dict:
        return {
            "number": number,
            "parent": parent,
            "depth": depth,
            "step": step,
            "from": "from what the code leaves undefined",
            "text": text,
            "completed": completed,
            "coverage": len(completed) / 5,
            "ended": None,
            "ended_at": None,
            "makes": [["int", 1], ["list", 1]] if text else [],
            "best": False,
            "chosen": False,
            "test": f"\n\ndef test_prefix_{number}():\n    run(CODE)\n" if text else None,
            **more,
        }

    failed = {"ended": "ends at line 2 with NameError: name 'fetch_orders' is not defined", "ended_at": 2}
    lines = ["threshold = 0", "session = None", "fetch_orders = lambda session: [Order(1)]", "requeue = print"]
    high = "\n".join(["threshold = 5", *lines[1:]]) + "\n"
    nodes = [
        node(0, None, 0, 1, "", [1], **failed),
        node(1, 0, 1, 2, "\n".join(lines[:2]) + "\n", [1], **failed),
        node(2, 1, 2, 2, "\n".join(lines) + "\n", [1, 2, 3, 4], best=True, chosen=True),
        node(3, 2, 3, 3, high, [1, 2, 3, 6], chosen=True),
    ]
    code = [
        {"number": number, "text": text, "statement": text.strip() != "else:"}
        for number, text in enumerate(SNIPPET.splitlines(), 1)
    ]
    return {
        "format": 6,
        "sentence": "5 of 5 lines run, with 2 prefixes of 4 tried",
        "whole": True,
        "undefined": ["fetch_orders", "requeue", "session", "threshold"],
        "facts": [["Note", "the search was stopped before it was done"]],
        "code": code,
        "statements": 5,
        "nodes": nodes,
        "more": 3,
        "kept": [2, 3],
        "around": ["", SNIPPET],
        "test_beginning": '"""Runs the code below."""\n',
    }


def amplification() -> dict:
    """Two amplified tests, one of which has no form that passes after the change, and one with injected values."""
    origin = "def test_total():\n    cart = Cart([1, 2])\n    assert cart.total() == 3\n"

    def form(name: str, line: str) -> dict:
        text = f"def {name}():\n    cart = Cart([1, 2])\n    {line}\n"
        return {"name": name, "text": text, "patch": f"--- a/test_cart.py\n+++ b/test_cart.py\n+{text}"}

    def test(sentence: str, name: str, old: str, new: str | None, **more) -> dict:
        return {
            "sentence": sentence,
            "origin": "tests/test_cart.py::test_total",
            "origin_text": origin,
            "file": "tests/test_cart.py",
            "by": "assertions on its own inputs",
            "old": form(name, old),
            "new": form(name, new) if new else None,
            **more,
        }

    tests = [
        test("cart.total() gave 3, gives 4", "test_total_more", "assert cart.total() == 3", "assert cart.total() == 4"),
        test("cart.tax printed '1', prints nothing", "test_total_output", "assert cart.tax == 1", None),
        test("parse('1e5') gave 100000.0, gives 1", "test_parse", "assert a == 1", "assert a == 2", origin=None)
        | {"origin_text": "", "by": "injected values", "file": "tests/test_cart_change.py"},
    ]
    return {
        "format": 6,
        "sentence": "no test of the project shows the change; 3 new tests do",
        "shown": True,
        "facts": ["shop/cart.py: tests run 2 of 3 changed statements"],
        "tests": tests,
        "selected": [["tests/test_cart.py::test_total", 2]],
        "patches": ["--- a/old\n", "--- a/new\n"],
    }


def sliced(count: int = 60) -> dict:
    """A slice of a history: every sixth commit stays, and needs text and names of earlier ones."""

    def unit(number: int) -> dict:
        stays = number % 6 == 5
        diff = f"""\
diff --git a/shop/part_{number}.py b/shop/part_{number}.py
index 257cc56..5716ca5 100644
--- a/shop/part_{number}.py
+++ b/shop/part_{number}.py
@@ -1,3 +1,4 @@ def price(order):
 def price(order):
-    return order.amount
+    tax = rate(order)
+    return order.amount * (1 + tax)
diff --git a/docs/tax.rst b/docs/tax.rst
new file mode 100644
--- /dev/null
+++ b/docs/tax.rst
@@ -0,0 +1 @@
+Prices for part {number} hold a tax.
"""
        failed = {"test": "tests/test_shop.py::test_price", "exception": "AssertionError", "message": "assert 2 == 4"}
        return {
            "commit": f"{number * 2654435761 % 2**32:08x}" * 5,
            "subject": f"Give orders of kind {number} a tax" if stays else f"Fix a typo in part {number}",
            "part": None,
            "paths": [f"shop/part_{number}.py", "docs/tax.rst"],
            "more_paths": 0,
            "score": 3 if stays else -(number % 3),
            "stays": stays,
            "why": "tests_fail" if stays else ("not_run", "tests_pass")[number % 2],
            "reason": "without it, tests/test_shop.py::test_price and 4 more fail (AssertionError: assert 2 == 4)"
            if stays
            else "it goes: no test runs what it changes, and the tests pass without it (run 2)",
            "by": [],
            "step": None if stays else 1,
            "failed": [failed, {**failed, "test": "tests/test_shop.py::test_total"}] if stays else [],
            "failed_count": 5 if stays else 0,
            "diff": diff,
            "diff_lacks": f"{number} more lines not shown." if number % 7 == 3 else None,
        }

    units = [unit(number) for number in range(count)]
    staying = [number for number, one in enumerate(units) if one["stays"]]
    steps = [{"rule": "INIT", "tried": count, "kept": count, "passed": True}]
    while steps[-1]["kept"] > len(staying) or len(steps) < 8:
        kept, passed = steps[-1]["kept"], len(steps) % 3 != 2
        tried = max(len(staying), kept // 2) if passed else kept // 3
        rule = ("PAR-SIG", "PAR-RAND")[len(steps) % 2]
        steps.append({"rule": rule, "tried": tried, "kept": tried if passed else kept, "passed": passed})
    need = {"names": ["shop.tax.rate", "shop.tax.round_up"], "more": 0, "is_only": True}
    return {
        "format": 6,
        "range": "v1.0..v1.1",
        "base": "0" * 40,
        "goal": "pass",
        "outcomes": ["tests pass", "tests fail"],
        "sentence": f"{len(staying)} of {count} commits in v1.0..v1.1 keep the tests passing",
        "facts": [["Stay", f"{len(staying)} of {count}"], ["Runs of the tests", str(len(steps))], ["Time", "25.0 s"]],
        "remarks": ["without any single one of them, and what needs its text, the tests fail"],
        "size": len(staying),
        "is_split": False,
        "units": units,
        "text_needs": [[later, later - 6] for later in staying[1:]]
        + [[number, number - 2] for number in range(4, count, 9)],
        "name_needs": [{"user": later, "provider": later - 4, **need} for later in staying],
        "steps": steps,
        "tests": ["tests/test_shop.py::test_price", "tests/test_shop.py::test_total"],
        "more_tests": 3,
        "left_out": [["tests/test_shop.py::test_clock", "flaky: its runs differ"]],
        "ended": "minimal",
        "is_minimal": True,
        "seconds": 25.0,
    }


def impact(count: int = 40) -> dict:
    """An impact on several files: the first statement changed, and each further one reads the one before."""
    links, files = [], []
    for number in range(4):
        path = f"shop/a_long_name_of_a_module/part_{number}.py"
        statements = []
        for line in range(2, count):
            changed = number == 0 and line == 2
            text = "changed" if changed else f"uses the variable value_{line - 1}"
            code = f"value_{line} = value_{line - 1} + a_function_with_a_long_name({line})"
            before = len(links) - 1 if links else None
            links.append({"from": before, "place": f"{path}:{line}", "old": False, "text": text, "code": code})
            heat = 0 if changed else max(1, 4 - line // 4)
            link = None if changed else len(links) - 1
            one = {"lines": [line, line], "changed": changed, "heat": heat, "distance": len(links), "link": link}
            # The levels take away what is furthest: all of the last file, and half of the one before.
            left = 0 if changed else 1 if number == 3 else 2 if number == 2 and line > count // 2 else 3
            because = f"k={left - 1} pruned it: what function_{number} returns is the same, as a proof shows"
            pruned = {"because": because, "cut": max(0, len(links) - 3)} if 0 < left < 3 else None
            statements.append(one | {"function": 0, "levels": left, "pruned": pruned})
        kept = sum(one["levels"] == 3 for one in statements)
        counts = {"changed": int(number == 0), "impacted": kept, "not_impacted": 7 + len(statements) - kept}
        counts["not_impacted"] -= int(number == 0)
        code = [f"    {link['code']}" for link in links[-len(statements) :]]
        lines = [f"def function_{number}(value_1):", *code]
        files.append(
            {
                "path": path,
                **counts,
                "functions": [{"name": f"function_{number}", "line": 2, **counts, "reached": number != 3}],
                "statements": statements,
                "lines": [{"number": at, "text": text} for at, text in enumerate(lines, 1)],
            }
        )
    sizes = [sum(one["levels"] > level for file in files for one in file["statements"]) for level in range(3)]
    levels = [
        {"name": name, "impacted": size, "compared": 2 * level, "milliseconds": 120.0 + 340 * level}
        for level, (name, size) in enumerate(zip(("DCIA", "k=0", "k=1"), sizes, strict=True))
    ]
    return {
        "format": 6,
        "sentence": f"1 statement changed, and {sizes[-1]} others may see other values, in 3 functions of 3 files",
        "facts": [["Changed", "1"], ["Impacted", str(sizes[-1])], ["Not impacted", "28"]],
        "levels": levels,
        "remarks": ["not followed: texts that run as code: shop/part_0.py:3"],
        "reached": files,
        "others": 5,
        "links": links,
    }


#: How far the search for a slice is.
SLICING = {
    "stage": "refining",
    "done": 7,
    "total": 19,
    "points": [{"runs": runs, "kept": kept} for runs, kept in [(1, 60), (2, 31), (4, 18), (7, 18)]],
    "of": 60,
    "seconds_left": 31.0,
    "text": "18 of 60 are left after 7 runs; about 12 more to go, 31 s",
}


def hostile(state):
    """The same with hostile text in every string that code under comparison can make, and with hostile parameters."""
    kept = {"verdict", "channel", "strength", "kind", "class", "label", "classes", "version", "seed"}
    kept |= {"why", "rule", "goal", "outcomes", "ended"}

    def poison(value, key=None, kept=kept):
        if key in kept:
            return value
        if key in ("varied", "varied_together"):
            # What a value shows is a word of twincell's own.
            kept = kept | {"outcome", "outcomes"}
        if isinstance(value, str):
            return f"{HOSTILE}{value}"
        if isinstance(value, list):
            return [poison(one, key, kept) for one in value]
        if isinstance(value, dict):
            return {name: poison(one, name, kept) for name, one in value.items()}
        return value

    poisoned = poison(state)
    for unit, known in zip(poisoned.get("units", ()), state.get("units", ()), strict=True):
        # A diff begins as git begins it.
        unit["diff"] = known["diff"].replace("shop", HOSTILE).replace("tax", HOSTILE)
    for pair in poisoned.get("pairs", ()):
        for path, value in zip(INHERITED, pair["shown"]["values"] if pair["shown"] else (), strict=False):
            value["path"] = path
    return poisoned
