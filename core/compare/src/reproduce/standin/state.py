"""The state of a test's answers while it runs."""

made, calls, asked, handed_over, loading = {}, [], {}, [], False
DELETED = object()
# What a test looks at whenever some callee is called, and what was there.
watched, seen = {}, []


def record(callee, written, given=()):
    """Records a call, and what the test looks at when it is made."""
    if callee in watched:
        seen.append(watched[callee](*given))
    calls.append(written)
