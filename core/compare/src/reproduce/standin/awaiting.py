"""Stand-ins in `await`, `async for` and `async with`."""

from .answers import answer
from .paths import bounded
from .standin import Standin
from .state import calls


def ready(value):
    yield from ()
    return value


class Ready:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return ready(self.value)


def awaited(self):
    calls.append(f"{self._path_}.__await__()")
    return ready(answer(bounded(f"await {self._path_}")))


class Items:
    def __init__(self, items):
        self.items = iter(items)

    def __aiter__(self):
        return self

    async def __anext__(self):
        for item in self.items:
            return item
        raise StopAsyncIteration


async def following(self):
    """The next item, for `anext`."""
    try:
        return next(self)
    except StopIteration:
        raise StopAsyncIteration from None


def note_async(method, result):
    def noted(self, *_):
        calls.append(f"{self._path_}.{method}()")
        return Ready(self if result else None)

    return noted


Standin.__await__ = awaited
Standin.__aiter__ = lambda self: Items(self)
Standin.__anext__ = following
Standin.__aenter__, Standin.__aexit__ = note_async("__aenter__", True), note_async("__aexit__", False)
