"""The values of named functions when they begin and end, as bounded plain data in the form of `PointValues` in Rust.

Nothing of a value's class runs: exact built-in types are looked into, of others only the name of the class is told.
"""

import itertools
import math
import os
import sys
import threading
import types

VALUES = 20
POINTS = 400
CHARACTERS = 60
SIZED = {str, bytes, bytearray, list, tuple, dict, set, frozenset, range}
GETTERS = types.GetSetDescriptorType
NAME = type.__dict__["__name__"].__get__
BASES = type.__dict__["__mro__"].__get__
INNER = type.__dict__["__dict__"].__get__


class Values:
    """Collects what one test after another passes to the functions, and what these return."""

    def __init__(self, root, functions):
        self.root = root
        self.wanted = {(one["file"], one["function"]) for one in functions}
        # Before Python 3.11 a code does not know its qualified name.
        self.last = {}
        for file, name in self.wanted:
            key = (file, name.rpartition(".")[2])
            self.last[key] = None if key in self.last else name
        self.codes = {}
        self.seen = {}

    def start(self):
        self.seen = {}
        threading.setprofile(self.event)
        sys.setprofile(self.event)

    def stop(self):
        sys.setprofile(None)
        threading.setprofile(None)
        seen, self.seen = self.seen, {}
        return [
            {"point": {"file": file, "function": name, "variable": variable(kind, inner)}, "values": values}
            for (file, name, kind, inner), values in seen.items()
        ]

    def place(self, code):
        """The file and the name of a wanted function, or None."""
        try:
            return self.codes[code]
        except KeyError:
            pass
        found = None
        path = os.path.normpath(os.path.join(self.root, code.co_filename))
        if path.startswith(self.root + os.sep):
            file = path[len(self.root) + 1 :].replace(os.sep, "/")
            name = getattr(code, "co_qualname", None) or self.last.get((file, code.co_name))
            found = (file, name) if (file, name) in self.wanted else None
        self.codes[code] = found
        return found

    def event(self, frame, event, argument):
        if event != "call" and event != "return":
            return
        place = self.place(frame.f_code)
        if place is None:
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[:count]
        if event == "call":
            # A generator that goes on is no beginning.
            if frame.f_lasti <= 0 or not code.co_flags & 0x20:
                values = frame.f_locals
                for name in names:
                    if name in values:
                        self.note((*place, "parameter", name), values[name])
            return
        self.note((*place, "returned", ""), argument)
        if names and names[0] == "self" and "self" in frame.f_locals:
            for name, value in attributes(frame.f_locals["self"]):
                if type(name) is str:
                    self.note((*place, "attribute", name), value)

    def note(self, key, value):
        values = self.seen.get(key)
        if values is None:
            if len(self.seen) == POINTS:
                return
            values = self.seen[key] = []
        if len(values) < VALUES:
            plain = glimpse(value)
            if plain not in values:
                values.append(plain)


def variable(kind, name):
    return "returned" if kind == "returned" else {kind: name}


def attributes(value):
    """The first attributes in an object's dictionary, unless its class has put something else in its place."""
    for base in BASES(type(value)):
        getter = INNER(base).get("__dict__")
        if getter is not None:
            inner = getter.__get__(value) if type(getter) is GETTERS else None
            return list(itertools.islice(inner.items(), VALUES)) if type(inner) is dict else []
    return []


def glimpse(value):
    kind = type(value)
    if value is None:
        return "none"
    if kind is bool:
        return {"bool": value}
    if kind is int and -(1 << 62) < value < 1 << 62:
        return {"int": value}
    if kind is float and math.isfinite(value):
        return {"float": value}
    if kind is str and len(value) <= CHARACTERS and value.isprintable():
        return {"text": value}
    if kind in SIZED:
        return {"sized": {"class": kind.__name__, "length": len(value)}}
    return {"object": {"class": NAME(kind)}}
