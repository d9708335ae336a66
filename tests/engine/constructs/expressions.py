"""Expressions: lambdas, texts with values, assignments inside, slices, unpacking."""

from .triple import triple

CONSTRUCTS = {
    "lambda": triple(
        """
        def f(x):
            return (lambda value, more=1: (value, more))(x)
        """,
        """
        def f(x):
            def both(value, more=1):
                return value, more
            return both(x)
        """,
        """
        def f(x):
            return (lambda value, more=2: (value, more))(x)
        """,
    ),
    "lambda_bound_to_a_name": triple(
        "f = lambda x: [x, 1]\n",
        "f = lambda x: [x] + [1]\n",
        "f = lambda x: [x, 2]\n",
    ),
    "f_string": triple(
        """
        def f(name, width):
            return f"{name!r:>{4}} {'a' if width else 'b'}"
        """,
        """
        def f(name, width):
            end = "a" if width else "b"
            return "{!r:>4} {}".format(name, end)
        """,
        """
        def f(name, width):
            return f"{name!s:>{4}} {'a' if width else 'b'}!"
        """,
    ),
    "f_string_that_names_its_expression": triple(
        """
        def f(name):
            return f"{name=}"
        """,
        """
        def f(name):
            return "name=" + repr(name)
        """,
        """
        def f(name):
            return f"{name =}"
        """,
    ),
    "walrus": triple(
        """
        def f(rows):
            if (count := len(rows)) > 1:
                return count
            return 0
        """,
        """
        def f(rows):
            count = len(rows)
            if count > 1:
                return count
            return 0
        """,
        """
        def f(rows):
            if (count := len(rows)) > 2:
                return count
            return 0
        """,
    ),
    "star_arguments": triple(
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(*(1, 2), rows, **{"a": 3})
        """,
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(1, 2, rows, a=3)
        """,
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(*(1, 2), rows, **{"a": 4})
        """,
    ),
    "slices": triple(
        """
        def f(text):
            return [text[1:], text[:2], text[::-1]]
        """,
        """
        def f(text):
            start, end = 1, 2
            return [text[start:], text[:end], text[::-1]]
        """,
        """
        def f(text):
            return [text[2:], text[:2], text[::-1]]
        """,
    ),
    "chained_comparison_and_booleans": triple(
        """
        def f(a, b):
            return 0 < len(a) <= 2 and not b or 7
        """,
        """
        def f(a, b):
            size = len(a)
            return (size > 0 and size <= 2 and not b) or 7
        """,
        """
        def f(a, b):
            return 0 < len(a) <= 2 and not b or 8
        """,
    ),
    "unpacking": triple(
        """
        def f(pair):
            first, (second, *rest) = 1, (pair, 2, 3)
            return [first, second, rest]
        """,
        """
        def f(pair):
            first, second = 1, pair
            rest = [2, 3]
            return [first, second, rest]
        """,
        """
        def f(pair):
            first, (*rest, second) = 1, (pair, 2, 3)
            return [first, second, rest]
        """,
    ),
    "unpacking_of_what_is_injected": triple(
        """
        def f(pair):
            first, second = pair
            return [first, second]
        """,
        """
        def f(pair):
            (first, second) = pair
            found = [first]
            found.append(second)
            return found
        """,
        """
        def f(pair):
            first, second = pair
            return [second, first]
        """,
    ),
    "non_ascii_names": triple(
        """
        def f(größe):
            return ["é", größe]
        """,
        """
        def f(größe):
            return ["\\u00e9", größe]
        """,
        """
        def f(größe):
            return ["e", größe]
        """,
    ),
}
