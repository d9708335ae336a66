"""Exceptions: raised, caught, asserted, and what runs in any case."""

from .triple import triple

CONSTRUCTS = {
    "try_except_else_finally": triple(
        """
        def f(text):
            log = []
            try:
                value = int(text)
            except (ValueError, TypeError) as error:
                log.append("bad")
            else:
                log.append(value)
            finally:
                log.append("end")
            return log
        """,
        """
        def f(text):
            log = []
            try:
                value = int(text)
                log.append(value)
            except (TypeError, ValueError):
                log.append("bad")
            log.append("end")
            return log
        """,
        """
        def f(text):
            log = []
            try:
                value = int(text)
            except (ValueError, TypeError) as error:
                log.append("bad")
            else:
                log.append(value)
            finally:
                log.append("done")
            return log
        """,
    ),
    "bare_raise": triple(
        """
        def f(x):
            try:
                if x:
                    raise ValueError("a")
            except ValueError:
                raise
        """,
        """
        def f(x):
            if x:
                raise ValueError("a")
        """,
        """
        def f(x):
            try:
                if x:
                    raise ValueError("a")
            except ValueError:
                return 1
        """,
    ),
    "raise_from": triple(
        """
        def f(x):
            try:
                if x:
                    raise KeyError("a")
            except KeyError as error:
                raise ValueError("b") from error
        """,
        """
        def f(x):
            if x:
                try:
                    raise KeyError("a")
                except KeyError as cause:
                    raise ValueError("b") from cause
        """,
        """
        def f(x):
            try:
                if x:
                    raise KeyError("a")
            except KeyError as error:
                raise ValueError("c") from error
        """,
    ),
    "raise_of_a_missing_class": triple(
        """
        def f(x):
            if not x:
                raise errors.Missing("a", code=1)
            return 1
        """,
        """
        def f(x):
            if x:
                return 1
            raise errors.Missing("a", code=1)
        """,
        """
        def f(x):
            if not x:
                raise errors.Missing("b", code=1)
            return 1
        """,
    ),
    "assert": triple(
        """
        def f(x):
            assert x, "no x"
            return 1
        """,
        """
        def f(x):
            if not x:
                raise AssertionError("no x")
            return 1
        """,
        """
        def f(x):
            assert x, "nothing"
            return 1
        """,
    ),
    "return_in_finally": triple(
        """
        def f(x):
            try:
                if x:
                    raise ValueError(1)
                return 1
            finally:
                return 2
        """,
        """
        def f(x):
            if x:
                pass
            return 2
        """,
        """
        def f(x):
            try:
                if x:
                    raise ValueError(1)
                return 1
            finally:
                return 3
        """,
    ),
}

# Syntax that the oldest supported Python does not read, with the first that does.
NEWER_CONSTRUCTS = {
    "except_star": (
        (3, 11),
        triple(
            """
            def f(x):
                found = 2
                try:
                    if x:
                        raise ExceptionGroup("g", [ValueError(1)])
                except* ValueError as group:
                    found = 1
                return found
            """,
            """
            def f(x):
                if x:
                    return 1
                return 2
            """,
            """
            def f(x):
                found = 2
                try:
                    if x:
                        raise ExceptionGroup("g", [ValueError(1)])
                except* ValueError as group:
                    found = 3
                return found
            """,
        ),
    ),
}
