"""Runs a prefix and then a snippet, as one file would, and says which lines of the snippet completed."""

import __future__

import ast
import os
import shutil
import signal
import sys

PREFIX = "<prefix>"
SNIPPET = "<snippet>"
# The processor time after which a run ends whatever it does. Steps end those that count them long before.
SECONDS = 5
# Files of the user that are larger are not copied for each run: code can read them, and not change them.
COPIED = 1 << 18
# What `inspect` calls CO_COROUTINE.
COROUTINE = 0x80
# Names that cannot be written in Python, so no code can meet these hooks.
COMPLETED, ITERATED, RAISED = ".completed", ".iterated", ".raised"


class Stopped(BaseException):
    """The snippet went on for too long: `steps` or `time`."""


class Marks:
    """Calls the hook with the number of each line as soon as what stands there has completed.

    A statement completes when control passes on from it: to the next one, or by its own `return`, `raise`, `break`,
    `continue` or `exit`. Lines with nothing but `try`, `except`, `else` and `finally` have no statement of their own.
    """

    def __init__(self):
        self.lines = set()

    def hooked(self, line, *values):
        self.lines.add(line)
        return called(COMPLETED, ast.Constant(line), *values)

    def mark(self, line):
        return ast.Expr(self.hooked(line))

    def body(self, statements):
        out = []
        for statement in statements:
            out.extend(self.statement(statement))
        return out

    def statement(self, node):
        line = node.lineno
        kind = type(node)
        body = getattr(node, "body", None)
        # What stands on the line of its head completes it: `for row in rows: show(row)`.
        is_flat = isinstance(body, list) and body[0].lineno == line and not is_idle(body[0])
        if kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            node.body = self.body(body)
            return [node] if is_flat else [node, self.mark(line)]
        if kind in (ast.If, ast.While):
            if not is_flat:
                node.test = self.hooked(line, node.test)
        elif kind is ast.For:
            node.iter = called(ITERATED, node.iter)
            if not is_flat:
                node.iter = self.hooked(line, node.iter)
        elif kind.__name__ == "Match":
            node.subject = self.hooked(line, node.subject)
            for case in node.cases:
                case.body = self.body(case.body)
            return [node]
        elif not isinstance(getattr(node, "body", None), list):
            return self.simple(node, kind, line)
        for name in ("body", "orelse", "finalbody"):
            if hasattr(node, name):
                setattr(node, name, self.body(getattr(node, name)))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.body(handler.body)
        if kind in (ast.AsyncFor, ast.With, ast.AsyncWith) and not is_flat:
            node.body.insert(0, self.mark(line))
        return [node]

    def simple(self, node, kind, line):
        if kind is ast.Expr and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return [node]
        if kind is ast.Return and node.value is not None:
            node.value = self.hooked(line, node.value)
        elif kind is ast.Raise and node.exc is not None:
            last = "exc" if node.cause is None else "cause"
            setattr(node, last, self.hooked(line, getattr(node, last)))
            node.exc = called(RAISED, node.exc)
        elif kind in (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Pass, ast.Global, ast.Nonlocal):
            return [self.mark(line), node]
        elif kind is ast.Expr and is_exit(node.value):
            arguments = node.value.args
            if not arguments or isinstance(arguments[-1], ast.Starred):
                return [self.mark(line), node]
            arguments[-1] = self.hooked(line, arguments[-1])
        else:
            return [node, self.mark(line)]
        return [node]


def called(name, *values):
    return ast.Call(ast.Name(name, ast.Load()), list(values), [])


def is_idle(node):
    """`pass` and `...`"""
    return isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_exit(call):
    if not isinstance(call, ast.Call):
        return False
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return (function.value.id, function.attr) in (("sys", "exit"), ("os", "_exit"))
    return isinstance(function, ast.Name) and function.id in ("exit", "quit")


def without_future(tree):
    """Takes the imports from `__future__` out, and gives what they ask the compiler for."""
    flags = 0
    rest = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(getattr(__future__, alias.name, None), "compiler_flag", 0)
        else:
            rest.append(node)
    tree.body = rest
    return flags


def place(error):
    """(whether it is in the snippet, line, columns on it) of the innermost place where an exception passed.

    Places in the snippet come first."""
    found = {}
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name in (PREFIX, SNIPPET):
            found[name] = (name == SNIPPET, trace.tb_lineno, columns(trace))
        trace = trace.tb_next
    return found.get(SNIPPET) or found.get(PREFIX) or (False, getattr(error, "lineno", 0) or 0, None)


def columns(trace):
    """Where the expression that failed begins and ends in its line, in bytes, if Python knows it."""
    code = trace.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return None
    for index, (line, end_line, start, end) in enumerate(code.co_positions()):
        if index == trace.tb_lasti // 2:
            known = start is not None and end is not None and line == end_line == trace.tb_lineno
            return (start, end) if known else None
    return None


def is_refused(exited):
    """Whether a program ends as those do that fail: with a number other than 0, or a message."""
    code = BaseException.args.__get__(exited)[:1]
    return bool(code) and type(code[0]) in (int, str) and code[0] != 0


def is_own_exit(exited):
    """Whether the snippet itself called `exit`, and not what it uses."""
    last = None
    trace = exited.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.endswith("_sitebuiltins.py"):
            last = name
        trace = trace.tb_next
    return last == SNIPPET


def text(value):
    try:
        return str(value)[:1000]
    except BaseException:
        return ""


def lay_beside(folder, search, begin, files):
    """Lets a snippet find the modules and the files that lie beside it, in a copy that it cannot change."""
    sys.path[:0] = [os.path.join(folder, part) if part else folder for part in search]
    for file in files:
        source = os.path.join(folder, begin, file)
        inner = os.path.dirname(file)
        if inner:
            os.makedirs(inner, exist_ok=True)
        if os.path.getsize(source) <= COPIED:
            shutil.copyfile(source, file)
        else:
            os.symlink(source, file)


def run(prefix, snippet, steps):
    """(lines that can complete, lines that did, how it ended)."""
    import twincell_clock

    module = type(sys)("__main__")
    names = vars(module)
    try:
        tree = ast.parse(snippet, SNIPPET)
        flags = without_future(tree)
        marks = Marks()
        tree.body = marks.body(tree.body)
        ast.fix_missing_locations(tree)
        try:
            code = compile(tree, SNIPPET, "exec", flags, True)
        except SyntaxError:
            # Notebooks let cells await.
            code = compile(tree, SNIPPET, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return [], [], ("unreadable", getattr(error, "lineno", 0) or 0, text(getattr(error, "msg", error)))
    completed = set()
    left = steps
    raised = None

    def hook(line, value=None):
        nonlocal left
        left -= 1
        if left < 0:
            raise Stopped("steps")
        completed.add(line)
        return value

    def over(*_):
        raise Stopped("time")

    def note(value):
        nonlocal raised
        raised = value
        return value

    names[COMPLETED], names[ITERATED], names[RAISED] = hook, iter, note
    known = sys.modules.get("__main__")
    sys.modules["__main__"] = module
    begun = False
    signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, 0.1)
    try:
        exec(compile(prefix, PREFIX, "exec", flags, True), names)
        begun = True
        if code.co_flags & COROUTINE:
            import asyncio

            asyncio.run(eval(code, names))
        else:
            exec(code, names)
        ended = ("whole",)
    except Stopped as stopped:
        ended = stopped.args
    except BaseException as error:
        if begun and isinstance(error, SystemExit) and not is_refused(error):
            ended = ("whole",)
        elif error is twincell_clock.standstill:
            ended = ("waits",)
        else:
            name = getattr(error, "name", None) or getattr(error, "filename", None)
            if isinstance(error, KeyError):
                name = next(iter(BaseException.args.__get__(error)), None)
            name = name if isinstance(name, str) else None
            bases = [base.__name__ for base in type(error).__mro__[1:9]]
            intended = raised is not None and (error is raised or type(error) is raised)
            intended = intended or isinstance(error, SystemExit) and is_own_exit(error)
            ended = ("raised", begun, type(error).__name__, bases, text(error), name, intended, *place(error))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.modules["__main__"] = known
    return sorted(marks.lines), sorted(completed), ended
