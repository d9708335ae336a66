"""The state of a test's answers while it runs."""

made, calls, asked, loading = {}, [], {}, False
DELETED = object()
