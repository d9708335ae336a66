"""Comprehensions and generator expressions."""

from .triple import triple

CONSTRUCTS = {
    "list_comprehension": triple(
        """
        def f(rows):
            return [row * 2 for row in rows]
        """,
        """
        def f(rows):
            found = []
            for row in rows:
                found.append(row * 2)
            return found
        """,
        """
        def f(rows):
            return [row * 3 for row in rows]
        """,
    ),
    "filtered_comprehension": triple(
        """
        def f(rows):
            return [row for row in rows if row]
        """,
        """
        def f(rows):
            found = []
            for row in rows:
                if row:
                    found.append(row)
            return found
        """,
        """
        def f(rows):
            return [row for row in rows if not row]
        """,
    ),
    "nested_comprehension": triple(
        """
        def f(limit):
            return [[a * b for a in range(3)] for b in range(2 if limit else 3)]
        """,
        """
        def f(limit):
            count = 2 if limit else 3
            return [[b * a for a in range(3)] for b in range(count)]
        """,
        """
        def f(limit):
            return [[a + b for a in range(3)] for b in range(2 if limit else 3)]
        """,
    ),
    "dict_and_set_comprehension": triple(
        """
        def f(flag):
            return {key: {part for part in key} for key in ("ab", "cd" if flag else "ef")}
        """,
        """
        def f(flag):
            found = {}
            for key in ("ab", "cd" if flag else "ef"):
                found[key] = set(key)
            return found
        """,
        """
        def f(flag):
            return {key: {part for part in key[1:]} for key in ("ab", "cd" if flag else "ef")}
        """,
    ),
    "generator_expression": triple(
        """
        def f(rows):
            return sum(1 for row in rows)
        """,
        """
        def f(rows):
            count = 0
            for _ in rows:
                count += 1
            return count
        """,
        """
        def f(rows):
            return sum(2 for row in rows)
        """,
    ),
}
