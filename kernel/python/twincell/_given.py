"""Copies of live values for the sandbox: pickled here, and loaded only there.

Pickling runs what the classes of a value say about it, as any other use of the value does. It is bounded in size and in
time, and whatever it raises is an answer. The value itself is never asked anything: a class may lie.
"""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import re
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

#: How long the pickling of one value may take, in seconds.
SECONDS = 10
#: Of values with more cells, items or bytes most executions get a part.
LARGE_CELLS = 20_000
LARGE_BYTES = 1 << 20
#: From how many items on an array of texts is written with each text once.
REPEATED = 1000
#: The start of each part of a file is a multiple of this.
ALIGNED = 64
#: The maximum length of an error.
LONGEST = 200


class TooLarge(Exception):
    """A value takes more bytes than there are left."""


class TooSlow(BaseException):
    """Pickling a value takes too long."""


class Copied(NamedTuple):
    """What is known of a pickled value."""

    size: int
    #: The value in a few words: `a DataFrame of 1000000 x 5`.
    shown: str
    #: The name of its builtin class, or `object`.
    kind: str
    #: The number of its rows or items; 0 if it cannot be divided.
    length: int
    is_large: bool
    #: The packages of its classes.
    modules: list[str]
    #: What the notebook defines of them.
    own: list[str]


class Buffer:
    """The pickle, and how many bytes it may still take."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.pickle = io.BytesIO()
        self.parts: list[memoryview] = []

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise TooLarge

    def write(self, data: Any) -> int:
        self.take(memoryview(data).nbytes)
        return self.pickle.write(data)

    def add(self, buffer: pickle.PickleBuffer) -> bool:
        """Takes the memory of a table or an array as it is. Where it is in pieces, it goes into the pickle."""
        try:
            part = buffer.raw()
        except BufferError:
            return True
        self.take(part.nbytes)
        self.parts.append(part)
        return False


class Pickler(pickle.Pickler):
    """Notes where the classes of a value come from."""

    def __init__(self, buffer: Buffer) -> None:
        super().__init__(buffer, protocol=5, buffer_callback=buffer.add)
        self.modules: set[str] = set()
        self.own: set[str] = set()

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        # Classes and functions go by their names.
        if issubclass(kind, type):
            self.note(module_of(value), name_of(value))
        elif kind is FunctionType:
            self.note(value.__module__, value.__qualname__)
        else:
            self.note(module_of(kind), "")
            numpy = sys.modules.get("numpy")
            if numpy is not None and kind is numpy.ndarray:
                return compact(value)
        return NotImplemented

    def note(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            return
        if module == "__main__":
            self.own.update([name.split(".")[0]] if name else [])
        elif module in sys.modules:
            self.modules.add(module.split(".")[0])


def compact(array: Any) -> Any:
    """How an array is made whose texts repeat: from each text once. Texts are most of what frames hold."""
    pandas, numpy = sys.modules.get("pandas"), sys.modules["numpy"]
    if pandas is None or array.dtype != object or array.size < REPEATED:
        return NotImplemented
    flat = array.reshape(-1)
    if pandas.api.types.infer_dtype(flat, skipna=False) != "string":
        return NotImplemented
    codes, texts = pandas.factorize(flat)
    if len(texts) * 2 > array.size:
        return NotImplemented
    return numpy.take, (texts, codes.reshape(array.shape).astype("int32"))


def module_of(kind: type) -> Any:
    """The module of a class, without asking its metaclass."""
    return type.__dict__["__module__"].__get__(kind)


def name_of(kind: type) -> Any:
    return type.__dict__["__qualname__"].__get__(kind)


def pickled(value: Any, path: Path, most: int) -> Copied | tuple[str, str]:
    """Pickles a value into a file of at most so many bytes. Otherwise why not: (`large`, `slow` or `error`, text)."""
    buffer = Buffer(most)
    pickler = Pickler(buffer)
    try:
        within(SECONDS, lambda: pickler.dump(value))
        parts = [buffer.pickle.getbuffer(), *buffer.parts]
        size = write(parts, path)
    except TooLarge:
        return "large", ""
    except TooSlow:
        return "slow", str(SECONDS)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return refused(error)
    shown, cells, count = described(value)
    is_large = max(cells, size * LARGE_CELLS // LARGE_BYTES) > LARGE_CELLS
    return Copied(
        size, shown, kind_of(value), count, is_large, sorted(pickler.modules - {"builtins"}), sorted(pickler.own)
    )


def refused(error: BaseException) -> tuple[str, str]:
    """Why a value was not pickled. What the error says of itself is bounded as well."""
    try:
        return "error", within(SECONDS, lambda: one_line(error))
    except TooSlow:
        return "slow", str(SECONDS)


def write(parts: list[memoryview], path: Path) -> int:
    # The value is for nobody else.
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(struct.pack(f"<{1 + len(parts)}Q", len(parts), *(part.nbytes for part in parts)))
        for part in parts:
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(part)
        return file.tell()


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """What some work gives, unless it takes longer. It is stopped between two steps of Python's."""
    thread = ctypes.c_ulong(threading.get_ident())
    lock, is_done = threading.Lock(), threading.Event()

    def stop() -> None:
        # Code that catches everything is stopped again.
        wait = seconds
        while not is_done.wait(wait):
            wait = 0.5
            with lock:
                if not is_done.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TooSlow))

    threading.Thread(target=stop, name="twincell-given", daemon=True).start()
    try:
        return work()
    finally:
        with lock:
            is_done.set()
        # What is on its way arrives here.
        time.sleep(0)


def described(value: Any) -> tuple[str, int, int]:
    """A value in a few words, the number of its cells or items, and into how many rows or items it can be divided."""
    kind = type(value)
    name = name_of(kind)
    name = name if type(name) is str and name.isprintable() else "object"
    article = "an" if name[:1].lower() in "aeiou" or name == "ndarray" else "a"
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    tables = [getattr(pandas, "DataFrame", None), getattr(pandas, "Series", None), getattr(numpy, "ndarray", None)]
    if any(kind is table for table in tables):
        sizes = [int(size) for size in value.shape]
        cells = 1
        for size in sizes:
            cells *= size
        return f"{article} {name} of {' x '.join(map(str, sizes))}", cells, next(iter(sizes), 0)
    if kind in (list, tuple, dict, set, frozenset):
        is_row = kind in (list, tuple)
        return f"{article} {name} of {len(value)}", len(value), len(value) if is_row else 0
    return f"{article} {name[:60]}", 0, 0


def kind_of(value: Any) -> str:
    kinds: dict[type, str] = {
        list: "list",
        tuple: "tuple",
        dict: "dict",
        set: "set",
        str: "str",
        int: "int",
        float: "float",
        FunctionType: "callable",
        BuiltinFunctionType: "callable",
    }
    # The class is asked for by identity, since it may have an `__eq__` or `__hash__` of its own.
    return next((name for kind, name in kinds.items() if kind is type(value)), "object")


def is_code(value: Any) -> bool:
    """Whether it is a module, a function or a class, which the text of cells brings along."""
    return issubclass(type(value), (type, ModuleType, FunctionType, BuiltinFunctionType))


def one_line(error: BaseException) -> str:
    """An exception as `Class: text`. Its class may be hostile."""
    name = name_of(type(error))
    name = name if type(name) is str and name.isprintable() else "an error"
    try:
        text = str(error)
    except (KeyboardInterrupt, TooSlow):
        raise
    except BaseException:
        text = ""
    text = " ".join(str.split(str.__getitem__(text, slice(4 * LONGEST)))) if isinstance(text, str) else ""
    # Where an object lies says nothing.
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)[:LONGEST]
    return f"{name}: {text}" if text else str(name)
