"""Calls of missing code, and of functions whose results were recorded."""

import contextlib
import itertools
import types

from .answers import Raises, answer
from .log import is_logger, log, write
from .paths import arguments_text, bounded, last, short
from .recorded import ANSWERS, CONVERSIONS, METHODS, STOPPED
from .standin import Standin
from .state import asked, handed_over, loading, made, record
from .text import text


def handed(value):
    """An argument as a callee sees it: of an iterator the items."""
    is_builtin = type(value).__module__ in ("builtins", "itertools", "collections")
    return list(itertools.islice(value, 20)) if is_builtin and hasattr(value, "__next__") else value


def listed(base, part):
    """The keys, values or items of a mapping: its keys are what iterating it gives."""
    holder = answer(base)

    def value(key):
        if not isinstance(holder, Standin):
            with contextlib.suppress(Exception):
                return holder[key]
        return answer(bounded(f"{base}[{short(key)}]"))

    return [key if part == "keys" else value(key) if part == "values" else (key, value(key)) for key in holder]


def converted(kind, value, encoding="utf-8", errors=None, *_, **__):
    """What a missing conversion between text and bytes gives, as its name promises."""
    value = value._path_ if isinstance(value, Standin) else value
    value = value if type(value) in (str, bytes) else str(value)
    if type(value).__name__ == kind:
        return value
    encoding = encoding if type(encoding) is str else "utf-8"
    errors = errors if errors in ("replace", "ignore", "surrogateescape") else "backslashreplace"
    if kind == "str":
        with contextlib.suppress(LookupError):
            return value.decode(encoding, errors)
        return value.decode("utf-8", errors)

    def encoded(text):
        with contextlib.suppress(LookupError, UnicodeError):
            return text.encode(encoding)
        return text.encode("utf-8", "backslashreplace")

    return b"".join(map(encoded, value))


def called(callee, args, kwargs):
    """Records a call and returns its answer, by callee and arguments."""
    args, kwargs = [handed(arg) for arg in args], {name: handed(value) for name, value in kwargs.items()}
    key = bounded(f"{callee}({arguments_text((*args, *kwargs.values()))})")
    plain = len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType))
    if plain and (loading or key not in ANSWERS):
        return args[0]  # a decorator
    if loading:
        return Standin(key)
    base, _, method = callee.rpartition(".")
    if method == "get" and args and not kwargs and key not in ANSWERS:
        present = ANSWERS.get(f"{short(args[0])} in {base}")
        if present is not None:
            return answer(bounded(f"{base}[{short(args[0])}]")) if present else (*args, None)[1]
    if method in ("items", "keys", "values") and not args and not kwargs and key not in ANSWERS:
        return listed(base, method)
    if method == "readlines" and not args and not kwargs and key not in ANSWERS:
        return list(answer(base))
    if method == "copy" and not args and not kwargs and base in made and key not in ANSWERS:
        if any(path.startswith(f"len({base}.keys()") or path == f"{base}.keys()" for path in ANSWERS):
            return dict(made[base])
        if f"len({base})" in ANSWERS:
            return list(made[base])
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
    record(callee, f"{callee}({', '.join(texts)})", (*args, *kwargs.values()))
    handed_over.extend(value for value in (*args, *kwargs.values()) if type(value) is types.FunctionType)
    if last(callee) in CONVERSIONS and key not in ANSWERS and args:
        return converted(CONVERSIONS[last(callee)], *args, **kwargs)
    count = asked[key] = asked.get(key, 0) + 1
    return answer(f"{key}#{count}" if f"{key}#{count}" in ANSWERS else key)


def patched(real, name):
    """A real function whose result was recorded for some arguments."""

    def call(*args, **kwargs):
        raised = ANSWERS.get(bounded(f"raise {name}({arguments_text(args)})"))
        if isinstance(raised, Raises):
            raise raised.exception(name, None)
        key = bounded(f"{name}({arguments_text((*args, *kwargs.values()))})")
        # No answer was recorded for a call whose value nobody uses.
        if key not in ANSWERS and name not in STOPPED:
            return real(*args, **kwargs)
        if name in METHODS:
            # Its effects before the failure remain.
            with contextlib.suppress(Exception):
                return real(*args, **kwargs)
        return called(name, args, kwargs)

    return call
