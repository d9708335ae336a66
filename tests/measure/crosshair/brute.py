"""Checks the labels of the pairs without any of the compared tools: runs both versions on many typed values.

Small values are gone through exhaustively as far as they fit, then come random ones. A difference is another return
value, another class of exception, or other arguments after the call.
"""

import copy
import inspect
import itertools
import random
import types
import typing
from collections.abc import Callable
from typing import Any

#: Inputs for each pair: all combinations of small values up to the first number, then as many random ones.
EXHAUSTIVE, RANDOM = 60_000, 20_000
LETTERS = ["a", "A", "b", "e", " ", "\t", "1", "=", ".", "#", "h", "t", "p", ":", "/", "²", "ß", "s", "é"]
WORDS = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aa",
    "Aa",
    "a b",
    "a  b",
    "ß",
    "ss",
    "²",
    "1",
    "http://ph",
    "retries",
    "a=b=c",
    "#a",
]


def difference(old: Callable, new: Callable, seed: int = 0) -> tuple | None:
    """The arguments of the first difference, None where none was found."""
    types_ = typing.get_type_hints(old)
    names = list(inspect.signature(old).parameters)
    pools = [_small(types_[name]) for name in names]
    exhaustive = itertools.islice(itertools.product(*pools), EXHAUSTIVE)
    draw = random.Random(seed)
    drawn = (tuple(_draw(types_[name], draw) for name in names) for _ in range(RANDOM))
    for arguments in itertools.chain(exhaustive, drawn):
        if _run(old, arguments) != _run(new, arguments):
            return arguments
    return None


def _run(function: Callable, arguments: tuple) -> tuple:
    own = copy.deepcopy(arguments)
    try:
        result = repr(function(*own))
    except Exception as error:
        result = type(error)
    return result, repr(own)


def _small(kind: Any) -> list:
    if kind is int:
        return [0, 1, -1, 2, -2, 3, 4, 5, 9, 10, 15, 20, 25, 60, 100, 400, 500, 1000, 1900, -10]
    if kind is str:
        return WORDS + LETTERS
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        items = _small(arguments[0])[:9]
        return [list(chosen) for size in range(4) for chosen in itertools.product(items, repeat=size)]
    if origin is dict:
        keys, values = (["retries", "a", "b"] if arguments[0] is str else [0, 1, 2]), _small(arguments[1])[:4]
        return [
            dict(zip(chosen, drawn, strict=True))
            for size in range(3)
            for chosen in itertools.permutations(keys, size)
            for drawn in itertools.product(values, repeat=size)
        ]
    if origin is tuple:
        return list(itertools.product(*(_small(argument)[:4] for argument in arguments)))
    if origin in (typing.Union, types.UnionType):
        return [None, *_small(next(argument for argument in arguments if argument is not type(None)))]
    raise TypeError(f"no small values for {kind}; add them to brute.py")


def _draw(kind: Any, draw: random.Random) -> Any:
    if kind is int:
        return draw.choice([draw.randint(-3, 3), draw.randint(-30, 30), draw.randint(-3000, 3000)])
    if kind is str:
        return draw.choice(WORDS) + "".join(draw.choices(LETTERS, k=draw.randint(0, 6)))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return [_draw(arguments[0], draw) for _ in range(draw.randint(0, 6))]
    if origin is dict:
        return {_draw(arguments[0], draw): _draw(arguments[1], draw) for _ in range(draw.randint(0, 5))}
    if origin is tuple:
        return tuple(_draw(argument, draw) for argument in arguments)
    if origin in (typing.Union, types.UnionType):
        return draw.choice([None, _draw(next(a for a in arguments if a is not type(None)), draw)])
    raise TypeError(f"no random values for {kind}; add them to brute.py")
