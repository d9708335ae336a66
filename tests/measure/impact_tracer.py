"""Runs tests and notes what each line of a folder reads: `python impact_tracer.py FOLDER OUT TESTS`.

A line's sequence is kept as its length and a hash. Values are numbers, texts and containers of them. Of other objects
only the type is noted, since their texts may hold addresses and asking for them may run code.
"""

import ast
import collections
import hashlib
import json
import os
import sys

MOST_EVENTS = 3_000_000
root, out, *tests = sys.argv[1:]
root = os.path.realpath(root)
sys.path.insert(0, root)
if os.path.isdir(os.path.join(root, "src")):
    sys.path.insert(0, os.path.join(root, "src"))
sys.dont_write_bytecode = True


#: Functions without statements: a call of one counts as its head.
bare = set()


def reads(path):
    """The names and attributes of names that each line loads."""
    found = collections.defaultdict(set)
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, UnicodeDecodeError, OSError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node) and len(node.body) == 1:
            bare.add((path, node.lineno, node.name))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.lineno].add((node.id, None))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            found[node.lineno].add((node.value.id, node.attr))
    return {line: sorted(names, key=str) for line, names in found.items()}


def shown(value, depth=2):
    """A text of a value that asks no code of a project."""
    kind = type(value)
    if kind in (int, float, complex, bool, bytes, str, type(None)):
        return repr(value)[:200]
    if depth and kind in (list, tuple):
        return f"{kind.__name__}({','.join(shown(one, depth - 1) for one in value[:20])},{len(value)})"
    if depth and kind is dict:
        pairs = list(value.items())[:20]
        return f"dict({','.join(shown(key, 0) + ':' + shown(one, depth - 1) for key, one in pairs)},{len(value)})"
    if depth and kind in (set, frozenset):
        return f"set({','.join(sorted(shown(one, 0) for one in list(value)[:20]))},{len(value)})"
    return kind.__qualname__


lines = {}
count = 0
hashes = {}
lengths = collections.Counter()
first = collections.defaultdict(list)
files = {}


def tracer(frame, event, _):
    code = frame.f_code
    if code not in files:
        path = os.path.realpath(code.co_filename)
        is_own = path.startswith(root + os.sep) and path.endswith(".py")
        files[code] = path if is_own else None
        if is_own and path not in lines:
            lines[path] = reads(path)
    path = files[code]
    if path is None:
        return None
    names, relative = lines[path], path[len(root) + 1 :]

    def local(frame, event, _):
        global count
        if event != "line" or (path, frame.f_lineno, code.co_name) in bare:
            return local
        count += 1
        if count > MOST_EVENTS:
            sys.settrace(None)
            return None
        line = frame.f_lineno
        values = []
        for name, attribute in names.get(line, ()):
            if name not in frame.f_locals:
                continue
            value = frame.f_locals[name]
            if attribute is not None:
                try:
                    held = object.__getattribute__(value, "__dict__")
                except (AttributeError, TypeError):
                    continue
                if type(held) is not dict or attribute not in held:
                    continue
                value = held[attribute]
            values.append(f"{name}.{attribute}={shown(value)}")
        key = f"{relative}:{line}"
        text = ";".join(values)
        hashes.setdefault(key, hashlib.sha1()).update(text.encode("utf-8", "replace") + b"\n")
        lengths[key] += 1
        if len(first[key]) < 3:
            first[key].append(text[:120])
        return local

    return local


def run():
    if len(tests) == 1 and tests[0].endswith("examples.py"):
        namespace = {}
        path = os.path.join(root, tests[0])
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        sys.settrace(tracer)
        exec(code, namespace)
        namespace["test_all"]()
        return
    import pytest

    class Tracing:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item):
            sys.settrace(tracer)
            yield
            sys.settrace(None)

    pytest.main(["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", *tests], plugins=[Tracing()])


try:
    run()
finally:
    sys.settrace(None)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({key: [lengths[key], hashes[key].hexdigest(), first[key]] for key in hashes}, file)
