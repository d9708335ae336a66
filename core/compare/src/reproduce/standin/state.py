"""What the answers of a test keep while it runs."""

made, calls, asked, loading = {}, [], {}, False
