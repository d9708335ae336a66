"""Causes and messages of exceptions, equal keys and elements, and globals that one version binds."""

EXCEPTIONS = {
    "a cause": (
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError as error:
                raise KeyError(text) from error
        """,
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError as error:
                raise KeyError(text)
        """,
    ),
    "no cause": (
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError as error:
                raise KeyError(text) from error
        """,
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError:
                raise KeyError(text) from None
        """,
    ),
    "a message that is not filled in": (
        """
        def f(name: str):
            raise ValueError('bad name %s' % name)
        """,
        """
        def f(name: str):
            raise ValueError('bad name %s', name)
        """,
    ),
    "a message that is cut": (
        """
        def f(name: str):
            raise ValueError('bad name {:.2}'.format(name))
        """,
        """
        def f(name: str):
            raise ValueError('bad name {}'.format(name))
        """,
    ),
}

THE_SAME_EXCEPTIONS = {
    "a cause under another name": (
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError as error:
                raise KeyError(text) from error
        """,
        """
        def f(text: str):
            try:
                return int(text)
            except ValueError as reason:
                raise KeyError(text) from reason
        """,
    ),
    "another way to fill in": (
        """
        def f(name: str, count: int):
            raise ValueError('bad name %s, %d' % (name, count))
        """,
        """
        def f(name: str, count: int):
            raise ValueError(f'bad name {name}, {count}')
        """,
    ),
    "a log that fills in": (
        """
        import logging


        def f(name: str):
            logging.warning('bad name %s', name)
        """,
        """
        import logging


        def f(name: str):
            logging.warning(f'bad name {name}')
        """,
    ),
}

EQUAL_KEYS = {
    "two mappings that are merged": (
        """
        def f(one: dict, two: dict):
            return {**one, **two}
        """,
        """
        def f(one: dict, two: dict):
            return {**two, **one}
        """,
    ),
    "a default and keywords": (
        """
        def f(connect, **options):
            return {'timeout': 5, **options}
        """,
        """
        def f(connect, **options):
            return {**options, 'timeout': 5}
        """,
    ),
    "keywords that repeat a key": (
        """
        def f(options: dict):
            return dict(options, timeout=5)
        """,
        """
        def f(options: dict):
            return {'timeout': 5, **options}
        """,
    ),
    "the first or the last of equal keys": (
        """
        def f(rows: list[tuple[str, int]]):
            found = {}
            for key, value in rows:
                found[key] = value
            return found
        """,
        """
        def f(rows: list[tuple[str, int]]):
            found = {}
            for key, value in rows:
                found.setdefault(key, value)
            return found
        """,
    ),
    "duplicates": (
        """
        def f(names: list[str]):
            return list(names)
        """,
        """
        def f(names: list[str]):
            return list(dict.fromkeys(names))
        """,
    ),
    "duplicates that are removed": (
        """
        def f(names: list[str], name: str):
            if name in names:
                names.remove(name)
            return names
        """,
        """
        def f(names: list[str], name: str):
            names[:] = [other for other in names if other != name]
            return names
        """,
    ),
    "equal ones that are not the same": (
        """
        def f(rows: list[list[int]], row: list[int]):
            return any(one == row for one in rows)
        """,
        """
        def f(rows: list[list[int]], row: list[int]):
            return any(one is row for one in rows)
        """,
    ),
    "a key that both have": (
        """
        def f(one: dict[str, int], two: dict[str, int]):
            for key, value in two.items():
                one[key] = one.get(key, 0) + value
        """,
        """
        def f(one: dict[str, int], two: dict[str, int]):
            for key, value in two.items():
                one[key] = value
        """,
    ),
}

GLOBALS = {
    "one that only one version binds": (
        """
        STATE = None


        def f(name: str):
            return name
        """,
        """
        STATE = None


        def f(name: str):
            global STATE
            STATE = name
            return name
        """,
    ),
    "one that only one version has": (
        """
        def f(name: str):
            return name
        """,
        """
        def f(name: str):
            global LAST
            LAST = name
            return name
        """,
    ),
}
