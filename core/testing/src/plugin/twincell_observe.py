"""What `__twincell_observe__(point, locals())` sees: Python values as plain data, in the form of `Observed` in Rust.

A value is asked what its users could ask it: attributes, properties, getters without arguments, `len`, `str`, `repr`,
items. Nothing that may use it up is asked: iterators, files. Of mocks, only their calls are looked at. Texts that
differ from machine to machine are cut. What was printed, logged and warned since the last point is told with the
variables.
"""

import builtins
import enum
import inspect
import io
import re
import types

import twincell_listen

NAME = "__twincell_observe__"
DEPTH = 3
ITEMS = 24
CHARACTERS = 1000
DIGITS = 100
FIELDS = 40
CALLS = 12
VALUES_A_POINT = 400
VALUES_A_TEST = 20_000

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
GETTER = re.compile(
    r"(get|is|has|as|to|can|count|num|number|size|total)(_[a-z0-9_]+)?$|[a-z0-9_]+_(count|size|length)$"
)
# They only compute, although their names do not say so.
PLAIN_GETTERS = {"keys", "values", "items", "isoformat", "total_seconds", "hexdigest", "copy"}
# Modules whose objects are tools of tests, or belong to the system. They are named and not asked.
UNASKED = (
    "_pytest",
    "pytest",
    "unittest",
    "threading",
    "_thread",
    "multiprocessing",
    "concurrent",
    "asyncio",
    "_asyncio",
    "subprocess",
    "socket",
    "_socket",
    "ssl",
    "_io",
    "io",
    "tempfile",
    "logging",
    "weakref",
    "contextvars",
    "_contextvars",
    "sqlite3",
    "mock",
    "types",
    "inspect",
    "traceback",
)
# Their `str` and `repr` say all.
WRITTEN = ("datetime", "decimal", "fractions", "uuid", "pathlib", "ipaddress", "zoneinfo", "re")
BUILTIN = {int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, object}


def dotted(kind):
    module, name = kind.__module__, getattr(kind, "__qualname__", kind.__name__)
    return name if module == "builtins" else f"{module}.{name}"


class Observer:
    """Collects the observations of one test after another."""

    def __init__(self, places, observes, quietly):
        self.places = [place for place in places if place]
        self.quietly = quietly
        self.seen = []
        self.left = VALUES_A_TEST
        self.busy = False
        self.listener = twincell_listen.Listener() if observes else None
        setattr(builtins, NAME, self.observe if observes else ignore)

    def renew(self):
        self.seen = []
        self.left = VALUES_A_TEST

    def listen(self):
        if self.listener:
            self.listener.begin()

    def rest(self):
        if self.listener:
            self.listener.end()

    def observe(self, point, variables):
        # Getters may be in the test itself, and observe.
        if self.busy:
            return
        self.busy = True
        try:
            for channel, said in self.listener.taken().items():
                bound = Bound(self.places, self.quietly, VALUES_A_POINT)
                if channel == "warnings":
                    said = [(dotted(kind), text) for kind, text in said]
                self.seen.append({"point": point, "seen": channel, "value": bound.value(said, DEPTH)})
            for name, value in list(variables.items()):
                # Assertion rewriting has variables that no program can name.
                if name.isidentifier() and not name.startswith("__"):
                    bound = Bound(self.places, self.quietly, min(VALUES_A_POINT, self.left))
                    seen = bound.value(value, DEPTH)
                    self.left -= min(VALUES_A_POINT, self.left) - bound.left
                    self.seen.append({"point": point, "seen": {"local": name}, "value": seen})
        finally:
            # What the questions said is not the test's.
            self.listener.taken()
            self.busy = False


def ignore(point, variables):
    pass


class Bound:
    """One value, with a bound for all that is in it."""

    def __init__(self, places, quietly, left):
        self.places = places
        self.quietly = quietly
        self.left = left
        self.above = set()

    def value(self, value, depth):
        self.left -= 1
        if self.left < 0:
            return "cut"
        try:
            return self.unguarded(value, depth)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            # It does not even tell its class or its attributes. The test must not notice that somebody asked.
            return "cut"

    def unguarded(self, value, depth):
        kind = type(value)
        if value is None:
            return "none"
        if kind is bool:
            return {"bool": value}
        if kind is int:
            return {"int": str(value)} if value.bit_length() < DIGITS * 3 else "cut"
        if kind is float:
            return {"float": repr(value)}
        if kind is complex:
            return {"complex": repr(value)}
        if kind is str:
            return self.text(value)
        if kind is bytes:
            return {"bytes": list(value)} if len(value) <= CHARACTERS else "cut"
        if isinstance(value, enum.Enum) and isinstance(getattr(value, "name", None), str):
            return {"member": {"class": dotted(kind), "name": value.name}}
        if isinstance(value, type):
            return {"named": {"kind": "class", "name": dotted(value)}}
        if isinstance(value, types.ModuleType):
            return {"named": {"kind": "module", "name": f"{value.__name__}"}}
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            return {"named": {"kind": "function", "name": f"{value.__module__}.{value.__qualname__}"}}
        if depth <= 0 or id(value) in self.above:
            return "cut"
        self.above.add(id(value))
        try:
            return self.composed(value, kind, depth)
        finally:
            self.above.discard(id(value))

    def text(self, value):
        if len(value) > CHARACTERS or any(place in value for place in self.places) or ADDRESS.search(value):
            return "cut"
        try:
            value.encode()
        except UnicodeEncodeError:
            # A lone surrogate is in no JSON that everybody reads.
            return "cut"
        return {"str": value}

    def items(self, values, depth):
        seen = []
        for at, value in enumerate(values):
            if at >= ITEMS:
                seen.append("cut")
                break
            seen.append(self.value(value, depth))
        return seen

    def unordered(self, values, depth):
        if len(values) > ITEMS:
            return ["cut"]
        return sorted((self.value(value, depth) for value in values), key=repr)

    def pairs(self, value, depth):
        seen = []
        for at, (key, item) in enumerate(list(dict.items(value))):
            if at >= ITEMS:
                seen.append(["cut", "cut"])
                break
            seen.append([self.value(key, depth), self.value(item, depth)])
        return seen

    def composed(self, value, kind, depth):
        if kind is list:
            return {"list": self.items(value, depth - 1)}
        if kind is tuple:
            return {"tuple": self.items(value, depth - 1)}
        if kind is dict:
            return {"dict": self.pairs(value, depth - 1)}
        if kind is set:
            return {"set": self.unordered(value, depth - 1)}
        if kind is frozenset:
            return {"frozen_set": self.unordered(value, depth - 1)}
        return {"object": {"class": dotted(kind), "fields": self.fields(value, kind, depth - 1)}}

    def fields(self, value, kind, depth):
        """What an object answers, by the question."""
        module = (kind.__module__ or "").split(".")[0]
        is_exception = isinstance(value, BaseException)
        # What was written to a text in memory is what tests look at. Asking for it moves no position.
        if isinstance(value, (io.StringIO, io.BytesIO)):
            return [[".getvalue()", self.answer(value.getvalue, depth)]]
        if is_mock(kind):
            return self.calls(value, depth)
        if module in UNASKED and not is_exception:
            return []
        # Asking an iterator, a file or a stand-in changes it, or invents an answer.
        if hasattr(kind, "__next__") or hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
            return []
        fields = []

        def ask(access, question):
            if len(fields) < FIELDS and self.left > 0:
                fields.append([access, self.answer(question, depth)])

        if isinstance(value, dict):
            ask("dict()", lambda: dict(dict.items(value)))
        elif isinstance(value, (list, tuple, set, frozenset)) and not hasattr(kind, "_fields"):
            base = next(base for base in (list, tuple, set, frozenset) if isinstance(value, base))
            ask(f"{base.__name__}()", lambda: base(base.__iter__(value)))
        elif isinstance(value, (bytes, bytearray)):
            ask("bytes()", lambda: bytes(value))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            base = int if isinstance(value, int) else float
            ask(f"{base.__name__}()", lambda: base(value))
        if module in WRITTEN:
            ask("str()", lambda: str(value))
            ask("repr()", lambda: repr(value))
            return fields
        if is_exception:
            ask(".args", lambda: value.args)
        for name in attributes(value, kind):
            ask("." + name, lambda name=name: getattr(value, name))
        # Some tests count what runs, or give each call an answer of its own.
        if not self.quietly:
            self.questions(value, kind, ask)
        # No assertion is about what is private, but a search can tell by it that it came near.
        for name in attributes(value, kind, private=True):
            ask("." + name, lambda name=name: getattr(value, name))
        return fields

    def questions(self, value, kind, ask):
        """Asks an object what runs its own code."""
        for name in properties(kind):
            ask("." + name, lambda name=name: getattr(value, name))
        for name in getters(kind):
            ask(f".{name}()", lambda name=name: getattr(value, name)())
        if own(kind, "__len__"):
            ask("len()", lambda: len(value))
            if own(kind, "__iter__") and not isinstance(value, (dict, list, tuple, set, frozenset)):
                ask("list()", lambda: list(self.first(value)))
        if own(kind, "__bool__"):
            ask("bool()", lambda: bool(value))
        for name, function in (("__int__", int), ("__float__", float)):
            if own(kind, name):
                ask(f"{function.__name__}()", lambda function=function: function(value))
        if own(kind, "__str__") or isinstance(value, (str, BaseException)):
            ask("str()", lambda: str(value))
        if own(kind, "__repr__"):
            ask("repr()", lambda: repr(value))

    def calls(self, mock, depth):
        """What a mock was called with. Any other question would be one more call, or make another mock."""
        fields = [[".call_count", self.value(mock.call_count, depth)]]
        for at, call in enumerate(mock.mock_calls[:CALLS]):
            if self.left <= 0:
                break
            _, given, named = call
            if given:
                fields.append([f".mock_calls[{at}].args", self.value(tuple(given), depth)])
            if named:
                fields.append([f".mock_calls[{at}].kwargs", self.value(dict(named), depth)])
        return fields

    def first(self, value):
        found = []
        for item in value:
            found.append(item)
            if len(found) > ITEMS:
                break
        return found

    def answer(self, question, depth):
        try:
            answer = question()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            said = self.text(safe_text(error))
            return {"raised": {"class": dotted(type(error)), "message": said["str"] if isinstance(said, dict) else ""}}
        return self.value(answer, depth)


def is_mock(kind):
    """Whether a class is of mocks, those of Python or of the package `mock`."""
    return any(
        base.__name__ == "NonCallableMock" and base.__module__ in ("unittest.mock", "mock", "mock.mock")
        for base in kind.__mro__
    )


def safe_text(error):
    try:
        return str(error)
    except Exception:
        return ""


def own(kind, name):
    """Whether a class or one of its bases in Python code defines a method."""
    return any(
        name in vars(base) for base in kind.__mro__ if base not in BUILTIN and base.__module__ not in ("abc", "typing")
    )


def attributes(value, kind, private=False):
    """The names of public attributes of the object itself, or of those that begin with one underscore."""
    names = {}
    inner = getattr(value, "__dict__", None)
    if isinstance(inner, dict):
        names.update((name, True) for name in list(inner) if isinstance(name, str))
    for base in reversed(kind.__mro__):
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            names[name] = True
        fields = vars(base).get("_fields")
        if isinstance(fields, tuple):
            names.update((name, True) for name in fields if isinstance(name, str))
    wanted = (lambda name: name[0] == "_" and name[1:2] != "_") if private else (lambda name: name[0] != "_")
    return [name for name in names if name.isidentifier() and wanted(name)]


def properties(kind):
    names = {}
    for base in reversed(kind.__mro__):
        for name, member in list(vars(base).items()):
            if name.startswith("_"):
                continue
            if isinstance(member, property) or type(member).__name__ in ("cached_property", "CachedProperty"):
                names[name] = True
            elif name in names:
                del names[name]
    return list(names)


def getters(kind):
    """Methods that take nothing and, by their names, only tell."""
    names = {}
    for base in reversed(kind.__mro__):
        for name, member in list(vars(base).items()):
            if not isinstance(member, types.FunctionType):
                names.pop(name, None)
            elif (GETTER.match(name) or name in PLAIN_GETTERS) and takes_nothing(member):
                names[name] = True
    return list(names)


def takes_nothing(function):
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    needed = code.co_argcount - len(function.__defaults__ or ())
    given = function.__kwdefaults__ or {}
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return needed == 1 and all(name in given for name in keywords)
