"""Messages to loggers, and warnings."""

import logging
import re
import warnings

from .paths import last, short

log = []
LEVELS = {"warn": "warning", "exception": "error", "fatal": "critical"}
LITERAL = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")
LOGS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")


def is_logger(callee):
    """Whether this is the path of a logger's method."""
    owner, _, name = callee.rpartition(".")
    if owner.endswith(")"):
        # The result of a call is named after the call.
        owner = LITERAL.sub("", owner).split("(")[0]
    owner = last(owner).strip("_").lower()
    return name in LOGS and (owner in ("log", "logging") or owner.endswith(("logger", "_log")))


def write(callee, args, kwargs):
    """Records a message to a logger: level and text."""
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
    """Records messages to real loggers, and warnings, while it is open."""

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
