"""Objects that are changed in place, against new ones in their place."""

IN_PLACE_OR_ANEW = {
    "a list that is extended": (
        """
        def f(items: list, more: list):
            items += more
            return items
        """,
        """
        def f(items: list, more: list):
            items = items + more
            return items
        """,
    ),
    "a list that is sorted": (
        """
        def f(names: list[str]):
            names.sort()
            return names
        """,
        """
        def f(names: list[str]):
            names = sorted(names)
            return names
        """,
    ),
    "a list that is reversed": (
        """
        def f(names):
            names.reverse()
            return list(names)
        """,
        """
        def f(names):
            names = names[::-1]
            return list(names)
        """,
    ),
    "a list without its first item": (
        """
        def f(parts: list[str]):
            head = parts[0]
            rest = parts[1:]
            return head, rest
        """,
        """
        def f(parts: list[str]):
            head = parts.pop(0)
            rest = parts
            return head, list(rest)
        """,
    ),
    "a dict that is updated": (
        """
        def f(options: dict, more: dict):
            options.update(more)
            return options
        """,
        """
        def f(options: dict, more: dict):
            options = {**options, **more}
            return options
        """,
    ),
    "a dict that is merged": (
        """
        def f(options: dict, more: dict):
            options |= more
            return options
        """,
        """
        def f(options: dict, more: dict):
            options = options | more
            return options
        """,
    ),
    "a dict that loses a key": (
        """
        def f(options: dict):
            name = options.pop('name', None)
            return name
        """,
        """
        def f(options: dict):
            name = options.get('name', None)
            return name
        """,
    ),
    "a set that is united": (
        """
        def f(seen: set, more: set):
            seen |= more
            return seen
        """,
        """
        def f(seen: set, more: set):
            seen = seen | more
            return seen
        """,
    ),
    "a bytearray that grows": (
        """
        BUFFER = bytearray(b'a')


        def f(data: bytes):
            global BUFFER
            BUFFER += data
        """,
        """
        BUFFER = bytearray(b'a')


        def f(data: bytes):
            global BUFFER
            BUFFER = BUFFER + data
        """,
    ),
    "a deque that grows": (
        """
        from collections import deque

        QUEUE = deque()


        def f(item: int):
            global QUEUE
            QUEUE += [item]
        """,
        """
        from collections import deque

        QUEUE = deque()


        def f(item: int):
            global QUEUE
            QUEUE = QUEUE + deque([item])
        """,
    ),
    "an attribute that another name holds": (
        """
        def f(self, more: list):
            items = self.items
            items += more
            return len(items)
        """,
        """
        def f(self, more: list):
            items = self.items
            items = items + more
            return len(items)
        """,
    ),
    "a global table": (
        """
        TABLE = {}


        def f(key: str, value: int):
            TABLE.update({key: value})
        """,
        """
        TABLE = {}


        def f(key: str, value: int):
            global TABLE
            TABLE = {**TABLE, key: value}
        """,
    ),
    "a global list that is emptied": (
        """
        LOG = [1]


        def f():
            LOG.clear()
        """,
        """
        LOG = [1]


        def f():
            global LOG
            LOG = []
        """,
    ),
}

IN_PLACE_OR_ANEW_UNSEEN = {
    "a number": (
        """
        def f(count: int, step):
            count += step
            return count
        """,
        """
        def f(count: int, step):
            count = count + step
            return count
        """,
    ),
    "a value of no declared type": (
        """
        def f(count, step):
            count += step
            return count
        """,
        """
        def f(count, step):
            count = count + step
            return count
        """,
    ),
    "a text": (
        """
        def f(text: str):
            text += 'x'
            return text
        """,
        """
        def f(text: str):
            text = text + 'x'
            return text
        """,
    ),
    "a number in an attribute": (
        """
        def f(self):
            self.count += 1
            return self.count
        """,
        """
        def f(self):
            self.count = self.count + 1
            return self.count
        """,
    ),
    "a list of its own": (
        """
        def f(items: list):
            found = []
            for item in items:
                found += [item]
            return found
        """,
        """
        def f(items: list):
            found = []
            for item in items:
                found = found + [item]
            return found
        """,
    ),
    "a list of its own that is sorted": (
        """
        def f(names: list[str]):
            found = list(names)
            found.sort()
            return found
        """,
        """
        def f(names: list[str]):
            return sorted(names)
        """,
    ),
    "a dict of its own": (
        """
        def f(one: dict, two: dict):
            both = dict(one)
            both.update(two)
            return both
        """,
        """
        def f(one: dict, two: dict):
            return {**one, **two}
        """,
    ),
    "a global number": (
        """
        COUNT = 0


        def f():
            global COUNT
            COUNT += 1
            return COUNT
        """,
        """
        COUNT = 0


        def f():
            global COUNT
            COUNT = COUNT + 1
            return COUNT
        """,
    ),
}
