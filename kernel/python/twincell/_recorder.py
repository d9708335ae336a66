"""What functions receive while a program runs, as JSON lines of plain data.

`twincell record` starts this in each Python of a command. It runs in the user's own processes and stands alone: it
imports nothing of twincell and works where twincell is not installed. A value is looked at through its exact class, so
no code of the program runs for it. What cannot be written as data is left out. Counts, sizes and time are bounded.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FrameType
from typing import Any, TextIO

FOLDER, ROOT, MOST = "TWINCELL_RECORD_FOLDER", "TWINCELL_RECORD_ROOT", "TWINCELL_RECORD_CALLS"

# For each function, how many calls are looked at for each one that is kept.
LOOKED_AT = 20
# For each process: lines, bytes, and seconds of our own work.
MOST_LINES = 50_000
MOST_BYTES = 32 << 20
MOST_SECONDS = 60.0
LONGEST_LINE = 50_000
# Parts of paths of code that is not the program's own.
FOREIGN = {"site-packages", "dist-packages", "node_modules", ".tox", ".nox", ".venv", "venv", ".git"}
TESTS = {"tests", "test", "testing"}

# Words of names whose values are secrets: `api_key`, `dbPassword`, `TOKEN_2`.
SECRETS = frozenset(
    "secret secrets password passwords passwd passphrase passcode pass pw pwd pin token tokens key keys apikey "
    "credential credentials cred creds auth authorization cookie cookies session sessionid otp totp salt jwt bearer "
    "dsn private pem csrf ssn cvv cvc iban".split()
)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What may stand between other letters in a name without words: `dbpassword`, `authtoken`.
WITHIN = ("password", "passwd", "passphrase", "secret", "token", "apikey", "credential")
# An address with a name and a password, and a key as text.
SECRET_TEXT = re.compile(r"://[^/\s:@]*:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY-----")

FUNCTION = 0x3  # CO_OPTIMIZED | CO_NEWLOCALS
VARIABLE, KEYWORDS = 0x4, 0x8


class Opaque(Exception):
    """A value that cannot be written as data, or that is a secret by its name."""


def is_secret(name: Any) -> bool:
    """Whether a name says that its value is a secret, by its words."""
    if type(name) is not str:
        return False
    words = [word.lower() for word in WORDS.findall(name)]
    return not SECRETS.isdisjoint(words) or any(part in word for word in words for part in WITHIN)


class Limits:
    """How large a value may be."""

    def __init__(self, depth: int = 8, parts: int = 1000, text: int = 4000, items: int = 200) -> None:
        self.depth, self.parts, self.text, self.items = depth, parts, text, items


def encode(value: Any, limits: Limits) -> Any:
    """A value as JSON; see core/values/src/reading/examples/json.rs for the form."""
    return _Encoder(limits).encode(value, limits.depth)


class _Encoder:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.parts

    def encode(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if depth <= 0 or self.left < 0:
            raise Opaque
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            if -(2**63) <= value < 2**63:
                return value
            raise Opaque
        if kind is float:
            if value != value or value in (float("inf"), float("-inf")):
                return {"$float": repr(value)}
            return value
        if kind is str:
            return self.text(value)
        if kind in (bytes, bytearray):
            if len(value) > self.limits.text:
                raise Opaque
            written = {"$bytes": bytes(value).decode("latin-1")}
            return written if kind is bytes else {"$call": "builtins.bytearray", "args": [written]}
        if kind is list:
            return self.items(value, depth)
        if kind is tuple:
            return {"$tuple": self.items(value, depth)}
        if kind is set or kind is frozenset:
            items = sorted(self.items(list(value), depth), key=lambda item: json.dumps(item, sort_keys=True))
            return {"$set": items} if kind is set else {"$call": "builtins.frozenset", "args": [items]}
        if kind is dict:
            return self.mapping(value, depth)
        return self.object(value, kind, depth)

    def text(self, value: str) -> str:
        if len(value) > self.limits.text or any("\ud800" <= one <= "\udfff" for one in value):
            raise Opaque
        if SECRET_TEXT.search(value):
            raise Opaque
        return value

    def items(self, value: Sequence[Any], depth: int) -> list[Any]:
        if len(value) > self.limits.items:
            raise Opaque
        return [self.encode(item, depth - 1) for item in value]

    def mapping(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        if len(value) > self.limits.items or any(is_secret(key) for key in value):
            raise Opaque
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {self.text(key): self.encode(item, depth - 1) for key, item in value.items()}
        return {"$dict": [[self.encode(key, depth - 1), self.encode(item, depth - 1)] for key, item in value.items()]}

    def call(
        self, name: str, depth: int, arguments: Iterable[Any] = (), keywords: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        written: dict[str, Any] = {"$call": name, "args": [self.encode(one, depth - 1) for one in arguments]}
        if keywords:
            if any(is_secret(key) for key in keywords):
                raise Opaque
            written["kwargs"] = {key: self.encode(one, depth - 1) for key, one in keywords.items()}
        return written

    def object(self, value: Any, kind: type, depth: int) -> dict[str, Any]:
        module, name = kind.__module__, kind.__qualname__
        maker = LIBRARY.get((module, name))
        if maker is not None:
            return maker(self, value, depth)
        if module in ("numpy", "pandas") or module.startswith(("numpy.", "pandas.")):
            return self.data(value, kind, depth)
        if module == "builtins" and isinstance(value, BaseException):
            return self.call(f"builtins.{name}", depth, value.args)
        if "." in name or module in ("builtins", "typing") or module.split(".")[0] in sys.stdlib_module_names:
            raise Opaque
        members = kind.__dict__.get("_member_map_")
        if type(members) is dict:
            found = [key for key, member in members.items() if member is value]
            if found:
                return {"$name": f"{name}.{found[0]}"}
            raise Opaque
        return self.call(name, depth, (), fields(value, kind))

    def data(self, value: Any, kind: type, depth: int) -> dict[str, Any]:
        """Tables and arrays of pandas and numpy, if their values and their dtypes say all."""
        name = kind.__name__
        if name == "DataFrame":
            plain = type(value.index).__name__ == "RangeIndex" and len(value) <= self.limits.items
            columns = list(value.columns)
            if not plain or len(columns) > 50 or any(type(column) is not str for column in columns):
                raise Opaque
            return self.call("pandas.DataFrame", depth, [{column: self.cells(value[column]) for column in columns}])
        if name == "Series":
            if type(value.index).__name__ != "RangeIndex" or len(value) > self.limits.items:
                raise Opaque
            return self.call("pandas.Series", depth, [self.cells(value)], {"name": value.name})
        if name == "Timestamp" and value.tzinfo is None:
            return self.call("pandas.Timestamp", depth, [str(value)])
        if name == "ndarray" and value.dtype.kind in "biuf" and value.size <= self.limits.items:
            return self.call("numpy.array", depth, [value.tolist()], {"dtype": str(value.dtype)})
        if kind.__module__ == "numpy" and hasattr(value, "item") and value.dtype.kind in "biuf":
            return self.call(f"numpy.{name}", depth, [value.item()])
        raise Opaque

    def cells(self, column: Any) -> list[Any]:
        if str(column.dtype) not in ("int64", "float64", "bool", "object", "str", "datetime64[ns]"):
            raise Opaque
        cells: list[Any] = column.tolist()
        return cells


def fields(value: Any, kind: type) -> dict[str, Any]:
    """The arguments with which a class makes an equal object, as far as its fields tell."""
    if issubclass(kind, tuple):
        names = kind.__dict__.get("_fields")
        if type(names) is tuple:
            return dict(zip(names, tuple(value), strict=False))
        raise Opaque
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    own = own if type(own) is dict else {}

    def read(name: str) -> Any:
        if name in own:
            return own[name]
        for base in kind.__mro__:
            slot = base.__dict__.get(name)
            if slot is not None and type(slot).__name__ == "member_descriptor":
                try:
                    return slot.__get__(value)
                except AttributeError:
                    break
        raise Opaque

    declared = getattr(kind, "__dataclass_fields__", None)
    if type(declared) is dict:
        return {
            name: read(name) for name, field in declared.items() if field.init and field._field_type is not _CLASS_VAR
        }
    attributes = getattr(kind, "__attrs_attrs__", None)
    if attributes is not None:
        return {one.name.lstrip("_"): read(one.name) for one in attributes if one.init}
    models = getattr(kind, "model_fields", None) if "__pydantic_fields__" in kind.__dict__ else None
    if type(models) is dict:
        return {name: read(name) for name in models}
    init = next((base.__dict__["__init__"] for base in kind.__mro__ if "__init__" in base.__dict__), None)
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & (VARIABLE | KEYWORDS):
        raise Opaque
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    # Objects that keep other things than they are given are made in a way that the fields do not tell.
    if set(names) != set(own):
        raise Opaque
    return {name: own[name] for name in names}


# A detail of the standard library: how dataclasses mark what is no field.
_CLASS_VAR = getattr(dataclasses, "_FIELD_CLASSVAR", object())


def _date(encoder: _Encoder, value: Any, depth: int) -> dict[str, Any]:
    return encoder.call("datetime.date", depth, [value.year, value.month, value.day])


def _datetime(encoder: _Encoder, value: Any, depth: int) -> dict[str, Any]:
    parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    more = {key: one for key, one in (("tzinfo", value.tzinfo), ("fold", value.fold)) if one}
    return encoder.call("datetime.datetime", depth, parts, more)


def _time(encoder: _Encoder, value: Any, depth: int) -> dict[str, Any]:
    more = {"tzinfo": value.tzinfo} if value.tzinfo else {}
    return encoder.call("datetime.time", depth, [value.hour, value.minute, value.second, value.microsecond], more)


#: Writes a value as a call.
Maker = Callable[[_Encoder, Any, int], dict[str, Any]]


def _of_text(name: str) -> Maker:
    return lambda encoder, value, depth: encoder.call(name, depth, [str(value)])


#: What writes a value of a class, by its module and name.
LIBRARY: dict[tuple[str, str], Maker] = {
    ("datetime", "date"): _date,
    ("datetime", "datetime"): _datetime,
    ("datetime", "time"): _time,
    ("datetime", "timedelta"): lambda encoder, value, depth: encoder.call(
        "datetime.timedelta", depth, [value.days, value.seconds, value.microseconds]
    ),
    ("datetime", "timezone"): lambda encoder, value, depth: encoder.call(
        "datetime.timezone", depth, [value.utcoffset(None)]
    ),
    ("zoneinfo", "ZoneInfo"): _of_text("zoneinfo.ZoneInfo"),
    ("decimal", "Decimal"): _of_text("decimal.Decimal"),
    ("fractions", "Fraction"): lambda encoder, value, depth: encoder.call(
        "fractions.Fraction", depth, [value.numerator, value.denominator]
    ),
    ("pathlib", "PosixPath"): _of_text("pathlib.Path"),
    ("pathlib._local", "PosixPath"): _of_text("pathlib.Path"),
    ("pathlib", "PurePosixPath"): _of_text("pathlib.PurePosixPath"),
    ("uuid", "UUID"): _of_text("uuid.UUID"),
    ("collections", "OrderedDict"): lambda encoder, value, depth: encoder.call(
        "collections.OrderedDict", depth, [list(value.items())]
    ),
    ("collections", "Counter"): lambda encoder, value, depth: encoder.call("collections.Counter", depth, [dict(value)]),
    ("collections", "deque"): lambda encoder, value, depth: encoder.call("collections.deque", depth, [list(value)]),
    ("builtins", "range"): lambda encoder, value, depth: encoder.call(
        "builtins.range", depth, [value.start, value.stop, value.step]
    ),
    ("builtins", "complex"): lambda encoder, value, depth: encoder.call(
        "builtins.complex", depth, [value.real, value.imag]
    ),
}


class _Function:
    """A function of the program, with the calls that are known."""

    __slots__ = ("code", "file", "first", "kept", "looked", "qualname")

    def __init__(self, code: CodeType, file: str) -> None:
        self.code, self.file = code, file
        self.qualname: str | None = getattr(code, "co_qualname", None)
        self.kept: set[str] = set()
        self.looked = 0
        # Where a generator begins, and does not go on.
        self.first: int | None = None


class Recorder:
    """Writes the calls of one process."""

    def __init__(self, folder: str, root: str, most: int) -> None:
        self.root, self.most = root, most
        self.folder = folder
        self.file: TextIO | None = None
        self.functions: dict[CodeType, _Function | None] = {}
        self.limits = Limits()
        self.lines, self.bytes, self.seconds = 0, 0, 0.0
        self.over = False
        self.lock = threading.Lock()

    def function(self, code: CodeType) -> _Function | None:
        """The function of some code, if it is one that counts."""
        name = code.co_name
        if name.startswith("<") or code.co_flags & FUNCTION != FUNCTION:
            return None
        if "<locals>" in getattr(code, "co_qualname", ""):
            return None
        # `<string>` and `<frozen os>` are no files.
        path = os.path.abspath(code.co_filename)
        if code.co_filename.startswith("<") or not path.startswith(self.root + os.sep):
            return None
        file = os.path.relpath(path, self.root)
        parts = file.split(os.sep)
        base = parts[-1]
        is_test = base == "conftest.py" or base.startswith("test_") or base.endswith("_test.py")
        if is_test or FOREIGN.intersection(parts) or TESTS.intersection(parts[:-1]):
            return None
        return _Function(code, file)

    def call(self, frame: FrameType) -> bool:
        """Takes in a call. Whether the function's further calls count."""
        code = frame.f_code
        if code not in self.functions:
            self.functions[code] = self.function(code)
        function = self.functions[code]
        if function is None or self.over:
            return False
        if function.first is None:
            function.first = frame.f_lasti
        elif frame.f_lasti != function.first:
            return True
        began = time.perf_counter()
        with self.lock:
            self.keep(function, frame)
            self.seconds += time.perf_counter() - began
            self.over = self.seconds > MOST_SECONDS or self.lines >= MOST_LINES or self.bytes >= MOST_BYTES
        function.looked += 1
        if len(function.kept) >= self.most or function.looked >= self.most * LOOKED_AT:
            self.functions[code] = None
            return False
        return True

    def keep(self, function: _Function, frame: FrameType) -> None:
        written = self.written(function, frame)
        if written is None:
            return
        key = json.dumps(written, sort_keys=True)
        if key in function.kept or len(key) > LONGEST_LINE:
            return
        function.kept.add(key)
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" (", 1)[0]
        line = json.dumps({**written, "test": test}) + "\n"
        if self.file is None:
            path = os.path.join(self.folder, f"{os.getpid()}.jsonl")
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self.file = open(handle, "a", encoding="utf-8", buffering=1)
        self.file.write(line)
        self.lines += 1
        self.bytes += len(line)

    def written(self, function: _Function, frame: FrameType) -> dict[str, Any] | None:
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount
        names = code.co_varnames
        positional = names[:count]
        is_bound = bool(positional) and positional[0] in ("self", "cls", "mcs")
        qualname = function.qualname or self.named(code, values.get(positional[0]) if is_bound else None)
        end = count + code.co_kwonlyargcount
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        rest_name = names[end] if code.co_flags & VARIABLE else ""
        rest = values.get(rest_name, ()) if rest_name else ()
        more = names[end + bool(code.co_flags & VARIABLE)] if code.co_flags & KEYWORDS else None
        known = 0
        for name in positional[is_bound:]:
            value = self.encoded(values.get(name), name)
            known += "$opaque" not in value if type(value) is dict else 1
            if rest:
                arguments.append(value)
            else:
                keywords[name] = value
        arguments += [self.encoded(value, rest_name) for value in rest]
        given = {name: values.get(name) for name in names[count:end]}
        if more is not None and type(values.get(more)) is dict:
            given.update(values[more])
        for name, value in given.items():
            keywords[name] = self.encoded(value, name)
            known += 1
        if not known and not rest:
            return None
        return {"function": qualname, "file": function.file, "args": arguments, "kwargs": keywords}

    def encoded(self, value: Any, name: str) -> Any:
        if is_secret(name):
            return {"$opaque": "secret"}
        try:
            return encode(value, self.limits)
        except Exception:
            # Whatever is odd about a value, the program must not notice that somebody looked.
            return {"$opaque": type(value).__name__}

    def named(self, code: CodeType, receiver: Any) -> str:
        """The qualified name, where Python does not know it (before 3.11)."""
        kind = receiver if isinstance(receiver, type) else type(receiver)
        for base in kind.__mro__ if receiver is not None else ():
            own = base.__dict__.get(code.co_name)
            if getattr(getattr(own, "__func__", own), "__code__", None) is code:
                return f"{base.__qualname__}.{code.co_name}"
        return code.co_name


def begin() -> None:
    """Records the calls of this process, as the environment says."""
    folder, root = os.environ.get(FOLDER), os.environ.get(ROOT)
    if not folder or not root or not os.path.isdir(folder):
        return
    recorder = Recorder(folder, os.path.abspath(root), int(os.environ.get(MOST) or 20))
    os.register_at_fork(after_in_child=lambda: setattr(recorder, "file", None))
    if hasattr(sys, "monitoring"):
        _monitor(recorder)
    else:
        _profile(recorder)


def _monitor(recorder: Recorder) -> None:
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 since Python 3.12
    tool = next((number for number in (4, 3) if monitoring.get_tool(number) is None), None)
    if tool is None:
        return
    monitoring.use_tool_id(tool, "twincell")

    def start(_code: CodeType, _offset: int) -> Any:
        # Each piece of code is asked for until it is known enough. Then it costs nothing.
        return None if recorder.call(sys._getframe(1)) else monitoring.DISABLE

    monitoring.register_callback(tool, monitoring.events.PY_START, start)
    monitoring.set_events(tool, monitoring.events.PY_START)


def _profile(recorder: Recorder) -> None:
    functions, call = recorder.functions, recorder.call

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and functions.get(frame.f_code, frame) is not None:
            call(frame)

    threading.setprofile(profile)
    sys.setprofile(profile)
