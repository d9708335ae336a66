"""Definitions of classes whose metaclass or one of whose bases is a stand-in."""

import abc
import builtins

from .standin import Standin


def lacks(base):
    """A stand-in, or a class that was defined with one."""
    bases = [base, *(one for own in getattr(base, "__mro__", ()) for one in vars(own).get("__orig_bases__", ()))]
    return any(isinstance(one, Standin) for one in bases)


def build_class(body, name, *bases, **keywords):
    """`class name(*bases, **keywords)`. `type` takes the place of a stand-in, and keywords are for stand-ins if nothing
    else takes them.
    """
    missing = any(map(lacks, bases))
    if isinstance(keywords.get("metaclass"), Standin):
        del keywords["metaclass"]
        missing = True
    real = [base for base in bases if not isinstance(base, Standin)]
    metaclasses = {keywords.get("metaclass", type), *map(type, real)}
    own = [one for base in real for one in getattr(base, "__mro__", (object,))[:-1]]
    if missing and metaclasses <= {type, abc.ABCMeta} and not any("__init_subclass__" in vars(one) for one in own):
        keywords = {name: given for name, given in keywords.items() if name == "metaclass"}
    return builtins.__build_class__(body, name, *bases, **keywords)
