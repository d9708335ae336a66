"""Arithmetic operators of stand-ins."""

from .answers import may_fail
from .paths import bounded, short
from .standin import Standin


def combined(one, sign, other, reverse):
    if type(other) is int and sign == "*" and other == 1:
        return Standin(one._path_)
    if type(other) is int and (sign == "+" or sign == "-" and not reverse):
        return summed(one, other if sign == "+" else -other)
    commutes = sign in "*&|^" and sign != "**" or sign == "+" and isinstance(other, (int, float))
    swap = short(other) < one._path_ if commutes else reverse
    parts = (short(other), sign, one._path_) if swap else (one._path_, sign, short(other))
    path = "({} {} {})".format(*parts)
    may_fail(path)
    return Standin(bounded(path))


def summed(one, more):
    """The sum of an object and an integer, which has one path however it is written."""
    of, before = one._sum_
    more += before
    if not more:
        return Standin(of)
    path = f"({of} {'-' if more < 0 else '+'} {abs(more)})"
    may_fail(path)
    made = Standin(bounded(path))
    vars(made)["_sum_"] = of, more
    return made


SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
SIGNS |= {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}
for name, sign in SIGNS.items():
    setattr(Standin, f"__{name}__", lambda self, other, *_, sign=sign: combined(self, sign, other, False))
    setattr(Standin, f"__r{name}__", lambda self, other, *_, sign=sign: combined(self, sign, other, True))
for name, sign in {"neg": "(-{})", "pos": "(+{})", "invert": "(~{})", "abs": "abs({})"}.items():
    setattr(Standin, f"__{name}__", lambda self, sign=sign: Standin(bounded(sign.format(self._path_))))
