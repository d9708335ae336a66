"""Functions: parameters, defaults, decorators, recursion, closures."""

from .triple import triple

CONSTRUCTS = {
    "decorator_on_a_nested_function": triple(
        """
        def f(x):
            def twice(function):
                def inner(value):
                    return [function(value), function(value)]
                return inner
            @twice
            def own(value):
                return value
            return own(x)
        """,
        """
        def f(x):
            def twice(function):
                return lambda value: [function(value)] * 2
            def own(value):
                return value
            own = twice(own)
            return own(x)
        """,
        """
        def f(x):
            def twice(function):
                def inner(value):
                    return [function(value)]
                return inner
            @twice
            def own(value):
                return value
            return own(x)
        """,
    ),
    "missing_decorator_on_a_nested_function": triple(
        """
        def f(x):
            @app.route("/a")
            def view():
                return x
            return view()
        """,
        """
        def f(x):
            route = app.route("/a")
            @route
            def view():
                return x
            return view()
        """,
        """
        def f(x):
            @app.route("/b")
            def view():
                return [x]
            return view()
        """,
    ),
    "default": triple(
        """
        def f(x, retries=3):
            return retries
        """,
        """
        def f(x, retries=2 + 1):
            return retries
        """,
        """
        def f(x, retries=4):
            return retries
        """,
    ),
    "mutable_default": triple(
        """
        def f(x, seen=[]):
            seen.append(x)
            return len(seen)
        """,
        """
        def f(x, seen=[]):
            seen.append(x)
            count = len(seen)
            return count
        """,
        """
        def f(x, seen=[0]):
            seen.append(x)
            return len(seen)
        """,
    ),
    "missing_name_in_a_default": triple(
        """
        def f(x, limit=settings.LIMIT):
            return [x, limit]
        """,
        """
        def f(x, limit=settings.LIMIT):
            found = [x]
            found.append(limit)
            return found
        """,
        """
        def f(x, limit=settings.LIMIT):
            return [limit, x]
        """,
    ),
    "recursion": triple(
        """
        def f(n):
            def count(k):
                return 0 if k <= 0 else 1 + count(k - 1)
            return count(5 if n else 6)
        """,
        """
        def f(n):
            def count(k):
                if k > 0:
                    return count(k - 1) + 1
                return 0
            return count(5 if n else 6)
        """,
        """
        def f(n):
            def count(k):
                return 0 if k <= 1 else 1 + count(k - 1)
            return count(5 if n else 6)
        """,
    ),
    "recursion_of_the_function_itself": triple(
        """
        def f(n):
            if not isinstance(n, int) or n <= 0 or n > 20:
                return 0
            return 1 + f(n - 1)
        """,
        """
        def f(n):
            if isinstance(n, int) and 0 < n <= 20:
                return f(n - 1) + 1
            return 0
        """,
        """
        def f(n):
            if not isinstance(n, int) or n <= 0 or n > 20:
                return 0
            return 2 + f(n - 1)
        """,
    ),
    "returned_closure": triple(
        """
        def f(x):
            def inner(y):
                return [x, y, 1]
            return inner
        """,
        """
        def f(x):
            return lambda y: [x, y, 1]
        """,
        """
        def f(x):
            def inner(y):
                return [x, y, 2]
            return inner
        """,
    ),
    "keyword_only_parameters": triple(
        """
        def f(*, a, b=1):
            return [a, b]
        """,
        """
        def f(*, b=1, a):
            found = [a]
            found.append(b)
            return found
        """,
        """
        def f(*, a, b=2):
            return [a, b]
        """,
    ),
    "positional_only_parameters": triple(
        """
        def f(a, b=1, /, c=2):
            return [a, c]
        """,
        """
        def f(a, b=1, /, c=2):
            return list((a, c))
        """,
        """
        def f(a, b=1, /, c=3):
            return [a, c]
        """,
    ),
    "variable_arguments": triple(
        """
        def f(*args, **kwargs):
            return [len(args), kwargs.get("mode", 1)]
        """,
        """
        def f(*args, **kwargs):
            mode = kwargs["mode"] if "mode" in kwargs else 1
            return [len(args), mode]
        """,
        """
        def f(*args, **kwargs):
            return [len(args), kwargs.get("mode", 2)]
        """,
    ),
}
