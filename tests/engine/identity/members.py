"""Members that only the new version of a class has."""

from ..snippets import code

BOX = code(
    """
    class Box:
        def __init__(self, items: list[int]):
            self.items = items

        def total(self):
            return sum(self.items)
    """
)


def with_method(text, *lines):
    return text + "\n" + "".join(f"    {line}\n" for line in lines)


MEMBERS = {
    "equality": ["def __eq__(self, other):", "    return self.items == other.items"],
    "truth": ["def __bool__(self):", "    return False"],
    "a length": ["def __len__(self):", "    return 0"],
    "iteration": ["def __iter__(self):", "    return iter(self.items)"],
    "a hash": ["def __hash__(self):", "    return 1", "", "def __eq__(self, other):", "    return True"],
    "a context manager": [
        "def __enter__(self):",
        "    return self",
        "",
        "def __exit__(self, *error):",
        "    return True",
    ],
    "pickling": ["def __reduce__(self):", "    return Box, ([],)"],
    "the state of a copy": ["def __getstate__(self):", "    return {'items': []}"],
    "a call": ["def __call__(self, by: int):", "    return by"],
    "missing attributes": ["def __getattr__(self, name):", "    return None"],
    "an order": ["def __lt__(self, other):", "    return len(self.items) < len(other.items)"],
    "items": ["def __getitem__(self, index):", "    return self.items[index]"],
    "membership": ["def __contains__(self, item):", "    return item in self.items"],
    "a text": ["def __str__(self):", "    return 'box'"],
    "a sum": ["def __add__(self, other):", "    return Box(self.items + other.items)"],
}

MEMBERS_THAT_DO_NO_HARM = {
    "a method": ["def count(self):", "    return len(self.items)"],
    "a property": ["@property", "def first(self):", "    return self.items[0]"],
    "a private method": ["def _count(self):", "    return len(self.items)"],
    "a static method": ["@staticmethod", "def empty():", "    return Box([])"],
}
