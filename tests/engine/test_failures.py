"""An injected failure belongs to what fails, not to the version: `try` and `suppress` are the same, and having neither
of them is not."""

import pytest

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING, code, compare, expect, reason

SEEDS = range(3)
CONTEXTS = ["function", "module"]

# name: (what stands before both, the version with `try`, the one with `suppress`, the one without either).
GUARDS = {
    "a call of what is not there": (
        "",
        """
        def f(files):
            for file in files:
                try:
                    remove(file)
                except OSError:
                    pass
            return len(files)
        """,
        """
        def f(files):
            import contextlib
            for file in files:
                with contextlib.suppress(OSError):
                    remove(file)
            return len(files)
        """,
        """
        def f(files):
            for file in files:
                remove(file)
            return len(files)
        """,
    ),
    "a call of the standard library": (
        "import os\n\n",
        """
        def f(path):
            try:
                os.remove(path)
            except OSError:
                return False
            return True
        """,
        """
        def f(path):
            import contextlib
            gone = False
            with contextlib.suppress(OSError):
                os.remove(path)
                gone = True
            return gone
        """,
        """
        def f(path):
            os.remove(path)
            return True
        """,
    ),
    "a name that the module imports under another": (
        "from contextlib import suppress as quietly\n\n",
        """
        def f(stream):
            try:
                stream.close()
            except (OSError, ValueError):
                pass
        """,
        """
        def f(stream):
            with quietly(OSError, ValueError):
                stream.close()
        """,
        """
        def f(stream):
            stream.close()
        """,
    ),
    "a missing key": (
        "",
        """
        def f(self, key):
            try:
                return self.active[key]
            except KeyError:
                return None
        """,
        """
        def f(self, key):
            from contextlib import suppress as quietly
            with quietly(KeyError):
                return self.active[key]
            return None
        """,
        """
        def f(self, key):
            return self.active[key]
        """,
    ),
    "a missing attribute": (
        "",
        """
        def f(stream):
            name = ''
            try:
                name = stream.name
            except AttributeError:
                pass
            return name
        """,
        """
        def f(stream):
            name = ''
            with suppress(AttributeError):
                name = stream.name
            return name
        """,
        """
        def f(stream):
            name = ''
            name = stream.name
            return name
        """,
    ),
}


def versions(name, runs):
    """Each context of these runs, with the texts in it and the runs: what a module brings along is nowhere else."""
    before, *texts = GUARDS[name]
    for context in {"module"} if before else {run["context"] for run in runs}:
        head = before
        if context == "module" and "suppress" not in before and "import" not in texts[1]:
            head = "from contextlib import suppress\n\n"
        those = [run | {"context": context} for run in runs if before or run["context"] == context]
        yield [head + code(text) for text in texts], those


@over(GUARDS, context=CONTEXTS, seed=SEEDS)
def test_suppress_in_place_of_a_handler_that_does_nothing_is_no_change(name, runs):
    for (guarded, suppressed, _), those in versions(name, runs):
        expect_in(those, PRESERVING, guarded, suppressed, function="f")


@over(GUARDS, context=CONTEXTS)
def test_without_the_guard_the_same_failure_is_not_caught(name, runs):
    for (guarded, suppressed, bare), those in versions(name, runs):
        expect_in(those, CHANGING, guarded, bare, function="f")
        expect_in(those, CHANGING, suppressed, bare, function="f")


def test_a_failure_reaches_the_version_that_has_moved_the_call_out_of_the_try_body():
    old = code("""
        import os

        def f(path):
            try:
                size = os.path.getsize(path)
            except OSError:
                size = 0
            return size
        """)
    new = code("""
        import os

        def f(path):
            found = os.path.getsize(path)
            try:
                size = found
            except OSError:
                size = 0
            return size
        """)
    comparison = compare(old, new, context="module", function="f")
    assert comparison.verdict == "changing"
    assert "raised" in comparison.to_dict()["pairs"][0]["witness"]["new"]["outcome"], comparison.evidence


NONE = {
    "of a default": (
        "def f(n=None):\n    if n <= 0:\n        return []\n    return [n]\n",
        "def f(n=None):\n    if not n or n <= 0:\n        return []\n    return [n]\n",
    ),
    "of an attribute": (
        "def f(self):\n    return self.name.strip()\n",
        "def f(self):\n    if self.name is None:\n        return 'none'\n    return self.name.strip()\n",
    ),
    "of an answer": (
        "def f(cache, key):\n    found = cache.get(key)\n    return found.value if found is not None else 0\n",
        "def f(cache, key):\n    found = cache.get(key)\n    return found.value\n",
    ),
}


@pytest.mark.parametrize("old, new", NONE.values(), ids=NONE)
def test_a_guard_against_none_is_a_change(old, new):
    expect(CHANGING, old, new)


def test_a_part_of_a_module_that_one_version_expects_to_be_missing_may_be_missing():
    old = "import os\n\ndef f(path):\n    return os.pathconf(path, 'PC_NAME_MAX')\n"
    new = (
        "import os\n\ndef f(path):\n    try:\n        ask = os.pathconf\n    except AttributeError:\n"
        "        return 255\n    return ask(path, 'PC_NAME_MAX')\n"
    )
    expect(CHANGING, old, new, context="module", function="f")


OPERATORS = {
    "addition": ("a + b", "TypeError"),
    "membership": ("a in b", "TypeError"),
    "conversion": ("int(a)", "ValueError"),
}


@over(OPERATORS, added=[False, True])
def test_a_handler_around_an_operator_is_a_change_whether_it_comes_or_goes(name, runs):
    operation, error = OPERATORS[name]
    bare = f"def f(a, b):\n    found = {operation}\n    return found\n"
    attempt = f"    try:\n        found = {operation}\n    except {error}:\n        found = 1\n"
    guarded = f"def f(a, b):\n{attempt}    return found\n"
    for run in runs:
        old, new = (bare, guarded) if run["added"] else (guarded, bare)
        # That an operator fails is one of many things that are drawn: a single campaign may miss it.
        found = [compare(old, new, seed=seed) for seed in range(3)]
        assert sum(comparison.verdict == "changing" for comparison in found) >= 2, [reason(one) for one in found]


@pytest.mark.parametrize("old, new", [("a, b=1", "a, b"), ("a, *, b=1", "a, *, b")])
def test_callers_that_rely_on_a_default_notice_that_it_is_gone(old, new):
    comparison = expect(CHANGING, f"def f({old}):\n    return a\n", f"def f({new}):\n    return a\n")
    assert comparison.to_dict()["pairs"][0]["witness"]["new"]["outcome"].keys() == {"raised"}, comparison.evidence
    expect(PRESERVING, f"def f({new}):\n    return a\n", f"def f({old}):\n    return a\n")


def test_an_exception_without_a_cause_is_the_same_wherever_it_is_raised():
    old = (
        "def f(text: str):\n    try:\n        return int(text)\n    except ValueError:\n"
        "        raise KeyError(text) from None\n"
    )
    new = (
        "def f(text: str):\n    try:\n        return int(text)\n    except ValueError:\n        pass\n"
        "    raise KeyError(text)\n"
    )
    expect(PRESERVING, old, new)
    expect(CHANGING, old, old.replace("ValueError:", "ValueError as error:").replace("from None", "from error"))
