"""The class of stand-ins, which answer Python's protocols by access path."""

from .answers import answer, may_fail, recorded
from .calls import called, patched
from .paths import bounded, last, short
from .questions import is_a, order
from .recorded import ANSWERS, METHODS
from .state import DELETED, asked
from .text import text

# The values that are false, by their text.
ZEROS = {"False": "number", "0": "number", "0.0": "number", "-0.0": "number", "''": "str", "b''": "bytes"}
ZEROS |= {"[]": "list", "()": "tuple", "{}": "dict", "set()": "set"}


class Standin:
    """Stands for a missing object. It answers by its access path and records calls."""

    def __init__(self, path, real=None, bare=False):
        vars(self).update(_path_=path, _real_=real, _bare_=bare, _items_={}, _deleted_=set(), _sum_=(path, 0))

    def __getattr__(self, name):
        path = name if self._bare_ else bounded(f"{self._path_}.{name}")
        if name in self._deleted_:
            raise AttributeError(f"{path} was deleted")
        for owner in self._real_.__mro__[:-1] if self._real_ and path not in ANSWERS else ():
            if name in vars(owner):
                found = vars(owner)[name]
                found = found.__get__(self, self._real_) if hasattr(type(found), "__get__") else found
                return patched(found, path) if path in METHODS else found
        if name[:2] == name[-2:] == "__" and path not in ANSWERS:
            if name in ("__name__", "__qualname__"):
                return last(self._path_)
            if name not in ("__version__", "__author__", "__file__", "__all__"):
                raise AttributeError(name)
        if not recorded(f"hasattr({path})", True):
            raise AttributeError(path)
        return answer(path, AttributeError)

    def __setattr__(self, name, value):
        vars(self)[name] = value
        self._deleted_.discard(name)

    def __delattr__(self, name):
        vars(self).pop(name, None)
        self._deleted_.add(name)

    def __getitem__(self, key):
        if self._items_.get(short(key)) is DELETED:
            raise KeyError(short(key))
        if short(key) in self._items_:
            return self._items_[short(key)]
        if isinstance(key, str) and recorded(f"{short(key)} in {self._path_}", True) is False:
            if bounded(f"{self._path_}[{short(key)}]") not in ANSWERS:
                raise KeyError(key)
        if isinstance(key, slice) and f"len({self._path_})" in ANSWERS and self._at_(key) not in ANSWERS:
            return list(self)[key]
        return answer(self._at_(key), KeyError)

    def _at_(self, key):
        """The path of an item, which may be known by its position from the other end."""
        path, length = bounded(f"{self._path_}[{short(key)}]"), recorded(f"len({self._path_})", None)
        if type(key) is int and length is not None and -length <= key < length:
            other = bounded(f"{self._path_}[{key + length if key < 0 else key - length}]")
            return other if path not in ANSWERS and other in ANSWERS else path
        return path

    def __setitem__(self, key, value):
        self._items_[short(key)] = value

    def __delitem__(self, key):
        self._items_[short(key)] = DELETED

    def __call__(self, *args, **kwargs):
        return called(self._path_, args, kwargs)

    def __bool__(self):
        return bool(recorded(f"bool({self._path_})", recorded(f"len({self._path_})", 1)))

    def __len__(self):
        return recorded(f"len({self._path_})", 0)

    def __iter__(self):
        may_fail(f"iter({self._path_})")
        return iter([self._item_(index) for index in range(len(self))])

    def _item_(self, index):
        return answer(self._at_(index))

    def __reversed__(self):
        return iter(list(self)[::-1])

    def __next__(self):
        may_fail(f"next({self._path_})")
        index = asked[self, "next"] = asked.get((self, "next"), -1) + 1
        if index >= len(self):
            raise StopIteration
        return answer(self._at_(index))

    def __contains__(self, value):
        if short(value) in self._items_:
            return self._items_[short(value)] is not DELETED
        key = f"{short(value)} in {self._path_}"
        may_fail(key)
        if key not in ANSWERS and f"len({self._path_})" in ANSWERS:
            return any(item is value or item == value for item in map(self._item_, range(len(self))))
        return recorded(key, False)

    def __eq__(self, other):
        if isinstance(other, Standin):
            return order(self, other) == 0
        if bounded(f"order({self._path_}, {short(other)})") in ANSWERS:
            return order(self, other) == 0
        kind = ZEROS.get(text(other))
        return kind is not None and recorded(f"zero({self._path_})", None) == kind and not self

    def __hash__(self):
        return hash(self._path_)

    def __str__(self):
        may_fail(f"str({self._path_})")
        return recorded(bounded(f"str({self._path_})"), self._path_)

    def __repr__(self):
        may_fail(f"str({self._path_})")
        return recorded(bounded(f"repr({self._path_})"), f"<{self._path_}>")

    def __index__(self):
        may_fail(f"int({self._path_})")
        return self._number_()

    def _number_(self):
        of, more = self._sum_
        return recorded(f"int({of})", 1) + more

    def __float__(self):
        return float(self.__index__())

    def __fspath__(self):
        return self._path_

    def __format__(self, form):
        if form[-1:] in tuple("eEfFgG%dboxX"):
            return format(self._number_(), form)
        written = recorded(bounded(f"str({self._path_})"), self._path_)
        try:
            return format(written, form)
        except ValueError:
            return written

    def __copy__(self, *_):
        return self

    __int__ = __index__
    __deepcopy__ = __copy__

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, value):
        return is_a(value, self._path_)

    __subclasscheck__ = __instancecheck__
