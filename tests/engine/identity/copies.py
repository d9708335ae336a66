"""One object in two places, against a copy of it."""

THE_SAME_OR_A_COPY = {
    "an argument": (
        """
        def f(items: list, item):
            if item in items:
                return items
            return items + [item]
        """,
        """
        def f(items: list, item):
            if item in items:
                return list(items)
            return items + [item]
        """,
    ),
    "a dict": (
        """
        def f(options: dict):
            return options
        """,
        """
        def f(options: dict):
            return dict(options)
        """,
    ),
    "an attribute": (
        """
        def f(self):
            return self.items
        """,
        """
        def f(self):
            return self.items[:]
        """,
    ),
    "an argument that is kept": (
        """
        def f(self, items: list):
            self.items = items
        """,
        """
        def f(self, items: list):
            self.items = list(items)
        """,
    ),
    "an argument within the result": (
        """
        def f(name: str, items: list):
            return {'name': name, 'items': items}
        """,
        """
        def f(name: str, items: list):
            return {'name': name, 'items': list(items)}
        """,
    ),
    "two attributes with one list": (
        """
        def f(self):
            self.left = []
            self.right = []
        """,
        """
        def f(self):
            self.left = self.right = []
        """,
    ),
    "rows of a table": (
        """
        def f(width: int, height: int):
            return [[0] * width for _ in range(height)]
        """,
        """
        def f(width: int, height: int):
            return [[0] * width] * height
        """,
    ),
    "a default of the module": (
        """
        DEFAULTS = {'debug': False}


        def f(options: dict | None = None):
            return options or dict(DEFAULTS)
        """,
        """
        DEFAULTS = {'debug': False}


        def f(options: dict | None = None):
            return options or DEFAULTS
        """,
    ),
    "a list of the class": (
        """
        class Store:
            rows = ['id']

            def fields(self):
                return list(self.rows)
        """,
        """
        class Store:
            rows = ['id']

            def fields(self):
                return self.rows
        """,
    ),
    "a memo of the module": (
        """
        def f(name: str):
            return name.split(',')
        """,
        """
        MEMO = {}


        def f(name: str):
            if name not in MEMO:
                MEMO[name] = name.split(',')
            return MEMO[name]
        """,
    ),
    "a list that is cached": (
        """
        from functools import lru_cache


        def f(name: str):
            return name.split(',')
        """,
        """
        from functools import lru_cache


        @lru_cache
        def f(name: str):
            return name.split(',')
        """,
    ),
    "a property that is cached": (
        """
        from functools import cached_property


        class A:
            def __init__(self, text: str):
                self.text = text

            @property
            def parts(self):
                return self.text.split(',')
        """,
        """
        from functools import cached_property


        class A:
            def __init__(self, text: str):
                self.text = text

            @cached_property
            def parts(self):
                return self.text.split(',')
        """,
    ),
    "a mutable default": (
        """
        def f(item: int, found=None):
            if found is None:
                found = []
            found.append(item)
            return found
        """,
        """
        def f(item: int, found=[]):
            found.append(item)
            return found
        """,
    ),
}

NO_ONE_CAN_TELL = {
    "a copy of a local list": (
        """
        def f(names: list[str]):
            found = [name.strip() for name in names]
            return found
        """,
        """
        def f(names: list[str]):
            found = [name.strip() for name in names]
            return list(found)
        """,
    ),
    "a copy of a tuple": (
        """
        def f(names: tuple[str, ...]):
            return names
        """,
        """
        def f(names: tuple[str, ...]):
            return tuple(names)
        """,
    ),
    "a text as a text": (
        """
        def f(name: str):
            return name
        """,
        """
        def f(name: str):
            return str(name)
        """,
    ),
    "a copy of what a call gave": (
        """
        def f(client) -> list:
            rows: list = [*client.fetch()]
            return rows
        """,
        """
        def f(client) -> list:
            rows: list = [*client.fetch()]
            return rows[:]
        """,
    ),
    "both give a copy": (
        """
        def f(items: list):
            return items[:]
        """,
        """
        def f(items: list):
            return list(items)
        """,
    ),
    "both give the argument": (
        """
        def f(items: list):
            if not items:
                return items
            return items
        """,
        """
        def f(items: list):
            result = items
            return result
        """,
    ),
    "both keep the argument": (
        """
        def f(self, items: list):
            self.items = items
            self.count = len(items)
        """,
        """
        def f(self, items: list):
            self.count = len(items)
            self.items = items
        """,
    ),
    "a number that is cached": (
        """
        from functools import lru_cache


        def f(name: str):
            return len(name)
        """,
        """
        from functools import lru_cache


        @lru_cache
        def f(name: str):
            return len(name)
        """,
    ),
    "a default that nobody changes": (
        """
        def f(item: int, known: list | tuple = ()):
            return item in known
        """,
        """
        def f(item: int, known: list | tuple = []):
            return item in known
        """,
    ),
    "a table by a comprehension": (
        """
        def f(names: list[str]):
            return [[name] for name in names]
        """,
        """
        def f(names: list[str]):
            rows = []
            for name in names:
                rows.append([name])
            return rows
        """,
    ),
    "a list that two names hold": (
        """
        def f(self, items: list):
            self.items = items
            return self.items
        """,
        """
        def f(self, items: list):
            self.items = items
            return items
        """,
    ),
    "a memo in another place": (
        """
        MEMO = {}


        def f(name: str):
            if name not in MEMO:
                MEMO[name] = name.split(',')
            return MEMO[name]
        """,
        """
        MEMO = {}


        def f(name: str):
            try:
                return MEMO[name]
            except KeyError:
                MEMO[name] = name.split(',')
                return MEMO[name]
        """,
    ),
}
