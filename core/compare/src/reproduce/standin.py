"""What a reproducer holds for values that are not plain; `file.rs` takes the parts that one needs, without this text.

A part begins at a line `# part NAME` and ends at the next one.
"""

# part context
import array
import asyncio
import builtins
import contextlib
import datetime
import decimal
import itertools
import logging
import operator
import re
import types
import warnings

ANSWERS = {}
RENAMED = {}
EXCEPTIONS = set()
EXTENDED = set()
METHODS = set()
STOPPED = set()
PURE = {}
IMPORTED = set()
ONLY_PURE = False
names = {}


# part core
made, calls, asked, loading = {}, [], {}, False


class Standin:
    """Stands for an object that is not here: answers by its access path, and records calls."""

    def __init__(self, path, real=None, bare=False):
        vars(self).update(_path_=path, _real_=real, _bare_=bare, _items_={})

    def __getattr__(self, name):
        for owner in self._real_.__mro__[:-1] if self._real_ else ():
            if name in vars(owner):
                found = vars(owner)[name]
                found = found.__get__(self, self._real_) if hasattr(type(found), "__get__") else found
                path = f"{self._path_}.{name}"
                return patched(found, path) if path in METHODS else found
        if name in ("__name__", "__qualname__"):
            return last(self._path_)
        if name[:2] == name[-2:] == "__" and name not in ("__version__", "__author__", "__file__", "__all__"):
            raise AttributeError(name)
        path = name if self._bare_ else bounded(f"{self._path_}.{name}")
        if not recorded(f"hasattr({path})", True):
            raise AttributeError(path)
        return answer(path, AttributeError)

    def __getitem__(self, key):
        if short(key) in self._items_:
            return self._items_[short(key)]
        if isinstance(key, str) and recorded(f"{short(key)} in {self._path_}", True) is False:
            if bounded(f"{self._path_}[{short(key)}]") not in ANSWERS:
                raise KeyError(key)
        return answer(bounded(f"{self._path_}[{short(key)}]"), KeyError)

    def __setitem__(self, key, value):
        self._items_[short(key)] = value

    def __delitem__(self, key):
        self._items_.pop(short(key), None)

    def __call__(self, *args, **kwargs):
        return called(self._path_, args, kwargs)

    def __bool__(self):
        return bool(recorded(f"bool({self._path_})", recorded(f"len({self._path_})", 1)))

    def __len__(self):
        return recorded(f"len({self._path_})", 0)

    def __iter__(self):
        may_fail(f"iter({self._path_})")
        return iter([answer(bounded(f"{self._path_}[{index}]")) for index in range(len(self))])

    def __next__(self):
        may_fail(f"next({self._path_})")
        index = asked[self, "next"] = asked.get((self, "next"), -1) + 1
        if index >= len(self):
            raise StopIteration
        return answer(bounded(f"{self._path_}[{index}]"))

    def __contains__(self, value):
        may_fail(f"{short(value)} in {self._path_}")
        return short(value) in self._items_ or recorded(f"{short(value)} in {self._path_}", False)

    def __eq__(self, other):
        if isinstance(other, Standin):
            return order(self, other) == 0
        kind = "number" if isinstance(other, (int, float)) else type(other).__name__
        return not other and recorded(f"zero({self._path_})", None) == kind and not self

    def __hash__(self):
        return hash(self._path_)

    def __str__(self):
        may_fail(f"str({self._path_})")
        return recorded(f"str({self._path_})", self._path_)

    def __repr__(self):
        return recorded(f"repr({self._path_})", f"<{self._path_}>")

    def __index__(self):
        may_fail(f"int({self._path_})")
        return recorded(f"int({self._path_})", 1)

    def __float__(self):
        return float(self.__index__())

    def __fspath__(self):
        return self._path_

    def __format__(self, form):
        return format(self.__index__(), form) if form[-1:] in tuple("eEfFgG%dboxX") else str(self)

    def __copy__(self, *_):
        return self

    __int__ = __index__
    __deepcopy__ = __copy__

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, value):
        return is_a(value, self._path_)


def may_fail(operation):
    """Raises what was decided for an operation."""
    failure = recorded(bounded(f"raise {operation}"), None)
    if isinstance(failure, Raises):
        raise failure.exception(operation, None)


def recorded(path, default):
    """What was decided for a path."""
    return default if loading else ANSWERS.get(path, default)


def answer(path, failure=NameError):
    """The value at an access path; `...` in a record, and what is not in it, is one more stand-in."""
    if loading:
        return Standin(path)
    if path in EXCEPTIONS:
        return exception(path)
    if path not in made:
        made[path] = build(ANSWERS.get(path, ...), path, failure)
    return made[path]


def build(value, path, failure=None):
    kind = type(value)
    if value is ...:
        return made.setdefault(path, Standin(path))
    if kind is Same:
        return there(value.path)
    if kind is Raises:
        raise value.exception(path, failure)
    if kind in (list, tuple, set):
        return kind(build(item, f"{path}[{index}]") for index, item in enumerate(value))
    if kind is dict:
        return {key: build(item, f"{path}[{key!r}]") for key, item in value.items()}
    return value


def there(path):
    """What a dotted name stands for, or what stands at a path."""
    first, *rest = path.split(".")
    if first not in names and not hasattr(builtins, first):
        return answer(path)
    found = names[first] if first in names else getattr(builtins, first)
    for name in rest:
        found = getattr(found, name)
    return found


class Same:
    """Recorded in place of a value: what stands at another path is this very object."""

    def __init__(self, path):
        self.path = path


class Raises:
    """Recorded in place of a value: the look-up or call raises this, or fails as it would by itself."""

    def __init__(self, name=None):
        self.name = name

    def exception(self, path, failure):
        if self.name is None:
            return failure(path)
        first, *rest = self.name.split(".")
        found = names[first] if first in names else getattr(builtins, first, None) or answer(first)
        for part in rest:
            found = getattr(found, part)
        found = exception(str(found)) if isinstance(found, Standin) else found
        try:
            return found("injected by twincell")
        except Exception:
            return found.__new__(found)


def exception(path):
    """An exception class that is not here."""
    key = f"class {path}"
    made[key] = made.get(key) or type(path, (Exception,), {"__module__": "builtins"})
    return made[key]


def called(callee, args, kwargs):
    """Records a call and gives its answer, by callee and arguments."""
    args = [list(arg) if isinstance(arg, types.GeneratorType) else arg for arg in args]
    key = bounded(f"{callee}({arguments_text((*args, *kwargs.values()))})")
    plain = len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType))
    if plain and (loading or key not in ANSWERS):
        return args[0]  # a decorator
    if loading:
        return Standin(key)
    base, _, method = callee.rpartition(".")
    if method == "get" and args and not kwargs:
        present = ANSWERS.get(f"{short(args[0])} in {base}")
        if present is not None:
            return answer(bounded(f"{base}[{short(args[0])}]")) if present else (*args, None)[1]
    if method == "copy" and not args and not kwargs and base in made and key not in ANSWERS:
        if any(path.startswith(f"len({base}.keys()") or path == f"{base}.keys()" for path in ANSWERS):
            return dict(made[base])
    if method in ("find", "rfind") and len(args) == 1 and not kwargs:
        part = f"{short(args[0])} in {base}"
        if f"place of {part}" in ANSWERS or ANSWERS.get(part) is False and key not in ANSWERS:
            return ANSWERS.get(f"place of {part}", -1)
    texts = [text(arg) for arg in args] + [f"{name}={text(value)}" for name, value in kwargs.items()]
    if is_logger(callee):
        return write(callee, args, kwargs)
    if callee == "warnings.warn":
        kind = args[1] if len(args) > 1 else kwargs.get("category", UserWarning)
        return log.append((kind.__name__, str(args[0])))
    calls.append(f"{callee}({', '.join(texts)})")
    count = asked[key] = asked.get(key, 0) + 1
    return answer(f"{key}#{count}" if f"{key}#{count}" in ANSWERS else key)


def patched(real, name):
    """A real function whose result was recorded for some arguments."""

    def call(*args, **kwargs):
        raised = ANSWERS.get(bounded(f"raise {name}({arguments_text(args)})"))
        if isinstance(raised, Raises):
            raise raised.exception(name, None)
        key = bounded(f"{name}({arguments_text((*args, *kwargs.values()))})")
        # Of a call whose value nobody uses no answer was recorded.
        if key not in ANSWERS and name not in STOPPED:
            return real(*args, **kwargs)
        if name in METHODS:
            # What it did before it could not go on stays.
            with contextlib.suppress(Exception):
                return real(*args, **kwargs)
        return called(name, args, kwargs)

    return call


def order(one, other):
    """-1, 0 or 1, as recorded for the two."""
    if isinstance(other, Standin) and other._path_ == one._path_:
        return 0
    swapped = isinstance(other, Standin) and other._path_ < one._path_
    key = f"order({short(other)}, {short(one)})" if swapped else f"order({short(one)}, {short(other)})"
    return (1 - recorded(key, 1)) if swapped else recorded(key, 1) - 1


def is_a(value, name):
    """Is a value of a class that is not here?"""
    if not isinstance(value, Standin):
        return type(value).__name__ == name
    return recorded(f"isinstance({value._path_}, {name})", recorded(f"class({value._path_})", None) == name)


def last(path):
    """The last identifier of a path."""
    end = len(path)
    while end and (path[end - 1].isalnum() or path[end - 1] == "_"):
        end -= 1
    return path[end:]


def cut(text, most):
    """Long texts are cut; whoever compares them does not look at what told them apart."""
    head = text.encode()
    return text if len(head) <= most else head[: most - 17].decode(errors="ignore") + "~" + 16 * "0"


def bounded(path):
    return cut(path, 160)


def arguments_text(values):
    """The arguments of a call as they stand in access paths."""
    return cut(", ".join(in_path(value) for value in values), 80)


def in_path(value):
    return value._path_ if isinstance(value, Standin) else text(value)


def short(value):
    """A value as it stands in access paths."""
    if isinstance(value, slice):
        return ":".join("" if part is None else short(part) for part in (value.start, value.stop))
    return bounded(in_path(value))


# part log
log = []
LEVELS = {"warn": "warning", "exception": "error", "fatal": "critical"}
LOGS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")


def is_logger(callee):
    """Is this the path of a logger's method?"""
    owner, _, name = callee.rpartition(".")
    owner = last(owner.split("(")[0] if owner.endswith(")") else owner).strip("_").lower()
    return name in LOGS and (owner in ("log", "logging") or owner.endswith(("logger", "_log")))


def write(callee, args, kwargs):
    """Notes a message to a logger: level and text."""
    name, args = callee.rpartition(".")[2], list(args)
    level = LEVELS.get(name, name)
    if name == "log":
        level = args.pop(0) if args else kwargs.get("level")
        numbers = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}
        level = numbers.get(level, str(level)) if isinstance(level, int) else last(short(level)).lower()
    message, *rest = args or [kwargs.get("msg")]
    message = str(message)
    if rest:
        values = rest[0] if len(rest) == 1 and isinstance(rest[0], dict) and rest[0] else tuple(rest)
        try:
            message = message % values
        except Exception:
            message = f"{message} {short(values)}"
    traced = kwargs["exc_info"] if "exc_info" in kwargs else name == "exception"
    log.append((level, message + " [with traceback]" if traced else message))


class Messages(warnings.catch_warnings):
    """Notes messages to real loggers, and warnings, while it is open."""

    def __enter__(self):
        super().__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *_, **more: log.append((category.__name__, str(message)))
        self.before = {name: getattr(logging.Logger, name) for name in LOGS}
        for name in LOGS:
            setattr(logging.Logger, name, lambda _, *args, name=name, **more: write(f"log.{name}", args, more))

    def __exit__(self, *exception):
        for name, method in self.before.items():
            setattr(logging.Logger, name, method)
        super().__exit__(*exception)


# part text
WRITTEN = (
    *(array.array, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, operator.attrgetter, operator.itemgetter, operator.methodcaller, re.Pattern),
)


def text(value, above=()):
    """A value as text: by structure, stand-ins by access path."""
    kind = getattr(type(value), "plain", type(value))
    if id(value) in above:
        return "..."
    inner = (*above, id(value))
    if isinstance(value, Standin):
        return f"<{value._path_}>"
    if kind in (list, tuple, set, frozenset):
        items = [text(item, inner) for item in value]
        if kind is list:
            return f"[{', '.join(items)}]"
        if kind is tuple:
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        return f"{{{', '.join(sorted(items))}}}" if items else "set()"
    if kind is dict:
        return f"{{{', '.join(f'{text(key, inner)}: {text(item, inner)}' for key, item in value.items())}}}"
    if isinstance(value, BaseException):
        return f"{kind.__name__}({', '.join(text(item, inner) for item in value.args)})"
    if isinstance(value, type):
        return f"<class {value.__name__}>"
    if kind.__name__ in ("dict_keys", "dict_items"):
        return text(set(value), above)
    if kind.__name__ in ("dict_values", "deque", "range"):
        return text(list(value), above)
    if kind.__name__ == "module":
        return f"<module {value.__name__}>"
    if kind.__name__ in ("function", "builtin_function_or_method", "method", "method-wrapper", "method_descriptor"):
        return f"<function {value.__name__}>"
    if kind in (type(None), bool, int, float, str, bytes):
        return repr(value)
    if kind is bytearray:
        return repr(bytes(value))
    if kind is slice:
        return f"slice({short(value)})()"
    if kind in (complex, type(...)):
        return f"{value!r}()"
    if kind in WRITTEN:
        return f"{kind.__name__}({repr(value).split('(', 1)[1]}"
    parts = {"match": ("re", "regs", "string"), "partial": ("args", "func", "keywords")}.get(kind.__name__.lower(), ())
    parts = {name: getattr(value, name) for name in parts if kind.__module__ in ("re", "functools")}
    for base, name in ((dict, "[items]"), (list, "[items]"), (tuple, "[items]"), (str, "[text]"), (int, "[value]")):
        if isinstance(value, base) and not parts:
            parts[name] = base(value)
    for name, item in getattr(value, "__dict__", {}).items():
        if not (name[:2] == name[-2:] == "__"):
            parts[name] = item
    for owner in kind.__mro__:
        for name in vars(owner) if "__slots__" in vars(owner) else ():
            if type(vars(owner)[name]).__name__ == "member_descriptor" and hasattr(value, name):
                parts[name] = getattr(value, name)
    return f"{kind.__name__}({', '.join(f'{name}={text(parts[name], inner)}' for name in sorted(parts))})"


# part assigned
def assigned(value):
    """What was assigned to a stand-in, as text."""
    own = ("_path_", "_real_", "_bare_", "_items_")
    found = {f".{name}": text(item) for name, item in vars(value).items() if name not in own}
    return found | {f"[{key}]": text(item) for key, item in value._items_.items()}


# part compare
for name, holds in (
    ("lt", lambda sign: sign < 0),
    ("le", lambda sign: sign <= 0),
    ("gt", lambda sign: sign > 0),
    ("ge", lambda sign: sign >= 0),
):
    setattr(Standin, f"__{name}__", lambda self, other, holds=holds: holds(order(self, other)))


# part arithmetic
def combined(one, sign, other, reverse):
    commutes = sign in "*&|^" and sign != "**" or sign == "+" and isinstance(other, (int, float))
    swap = short(other) < one._path_ if commutes else reverse
    parts = (short(other), sign, one._path_) if swap else (one._path_, sign, short(other))
    return Standin(bounded("({} {} {})".format(*parts)))


SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
SIGNS |= {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}
for name, sign in SIGNS.items():
    setattr(Standin, f"__{name}__", lambda self, other, sign=sign: combined(self, sign, other, False))
    setattr(Standin, f"__r{name}__", lambda self, other, sign=sign: combined(self, sign, other, True))
for name, sign in {"neg": "(-{})", "pos": "(+{})", "invert": "(~{})", "abs": "abs({})"}.items():
    setattr(Standin, f"__{name}__", lambda self, sign=sign: Standin(bounded(sign.format(self._path_))))


# part context_manager
def note(method, result):
    """A method that is recorded as a call without arguments."""

    def noted(self, *_):
        calls.append(f"{self._path_}.{method}()")
        return result and self

    return noted


Standin.__enter__, Standin.__exit__ = note("__enter__", True), note("__exit__", False)


# part awaiting
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


def note_async(method, result):
    def noted(self, *_):
        calls.append(f"{self._path_}.{method}()")
        return Ready(self if result else None)

    return noted


Standin.__await__ = awaited
Standin.__aiter__ = lambda self: Items(self)
Standin.__aenter__, Standin.__aexit__ = note_async("__aenter__", True), note_async("__aexit__", False)


# part extended
def extended(value, path):
    """A plain value that also has what was looked up in it and is not there."""
    kind = type(value)

    def item(self, key):
        try:
            return kind.__getitem__(self, key)
        except LookupError:
            return answer(bounded(f"{path}[{short(key)}]"), KeyError)

    def call(self, *args, **kwargs):
        return called(path, args, kwargs)

    more = {
        "plain": kind,
        "__call__": call,
        "__getattr__": lambda self, name: answer(bounded(f"{path}.{name}"), AttributeError),
    }
    more |= {"__getitem__": item} if hasattr(kind, "__getitem__") else {}
    return type(kind.__name__, (kind,), more)(value)


build_plain = build


def build(value, path, failure=None):
    value = build_plain(value, path, failure)
    return extended(value, path) if path in EXTENDED and type(value) not in (Standin, type(None), bool) else value


# part mend
def mend():
    """Classes that are raised and are not here, or whose bases are not here, become exceptions."""
    for path in EXCEPTIONS:
        real = names.get(path)
        made_here = isinstance(real, type) and not issubclass(real, BaseException) and "__init__" not in vars(real)
        if made_here or isinstance(real, Standin):
            names[path] = exception(path)


# part names
class Names(dict):
    """Globals of the code under test: what is missing is a stand-in."""

    def __missing__(self, name):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if name in PURE:
            module = __import__(PURE[name] or name)
            return getattr(module, name) if PURE[name] else module
        if name in ("__annotations__", "__classdict__", "__path__"):
            raise KeyError(name)
        return answer(RENAMED.get(name, name))


# part imports
def imported(name, globals=None, locals=None, fromlist=(), level=0):
    """`import` of what may be missing here."""
    try:
        known = not ONLY_PURE or name in IMPORTED or name.partition(".")[0] in IMPORTED
        module = __import__(name, globals, locals, fromlist, level) if known and not level else None
        if module and all(wanted == "*" or hasattr(module, wanted) for wanted in fromlist or ()):
            return module
    except Exception:
        pass
    return Standin(name, bare=True) if fromlist else Standin(name.partition(".")[0])


# part isinstance
def is_instance(value, classes):
    """`isinstance` that knows of which classes stand-ins are."""
    if not isinstance(value, Standin):
        return isinstance(value, classes)
    if isinstance(classes, tuple):
        return any(is_instance(value, one) for one in classes)
    return classes is object or is_a(value, classes._path_ if isinstance(classes, Standin) else classes.__name__)


# part virtual_time
class Soon(asyncio.SelectorEventLoop):
    """An event loop whose clock goes on instead of waiting."""

    late = 0.0

    def time(self):
        return super().time() + self.late

    def _run_once(self):
        if self._scheduled and not self._ready:
            self.late += max(0.0, self._scheduled[0].when() - self.time())
        super()._run_once()


# part follow
def follow(value):
    """What an iterator gives, at most 20 items."""
    kind = type(value).__name__
    items = [text(item) for item in itertools.islice(value, 21)]
    shown = [*items[:20], "..."] if len(items) > 20 else items
    return f"<{'generator' if kind == 'generator' else 'iterator'}: {', '.join(shown) or 'no items'}>"


# part patch
class Around:
    """A real object with some functions of its own."""

    def __init__(self, real):
        vars(self).update(_real_=real)

    def __getattr__(self, name):
        return getattr(self._real_, name)


def patch(place, name):
    """Puts a patched function where the code finds the real one."""
    first, *rest = place.split(".")
    if first not in names and first in PURE:
        names[first] = names[first]
    if first not in names and not hasattr(builtins, first):
        return
    if not rest:
        if callable(names[first]):
            names[first] = patched(names[first], name)
        return
    holder, part = names, first
    for following in rest:
        found = names[first] if holder is names else getattr(holder, part, None)
        if found is None or isinstance(found, Standin):
            return
        if not isinstance(found, Around):
            found = Around(found)
            holder.update({first: found}) if holder is names else setattr(holder, part, found)
        holder, part = found, following
    if callable(getattr(holder, part, None)):
        setattr(holder, part, patched(getattr(holder, part), name))


# part receiver
def receiver(path, owner):
    """The object that a method belongs to: with the real class's methods, where that is here."""
    first, *rest = owner.split(".")
    real = names.get(first)
    for part in rest:
        real = getattr(real, part, None)
    made[path] = Standin(path, real if isinstance(real, type) else None)
    return made[path]
