"""What `super()` gives where the class that it belongs to is missing."""

from .answers import answer
from .standin import Standin
from .state import made


class Parent(Standin):
    """Its `__init__` and `__new__` are those of the missing class."""

    __init__ = property(lambda self: answer(f"{self._path_}.__init__"))
    __new__ = property(lambda self: answer(f"{self._path_}.__new__"))


def parent(*_):
    if "super()" not in made:
        made["super()"] = object.__new__(Parent)
        vars(made["super()"]).update(
            _path_="super()", _real_=None, _bare_=False, _items_={}, _deleted_=set(), _sum_=("super()", 0)
        )
    return made["super()"]
