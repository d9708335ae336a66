"""What the code of covered files compares: the operands of its comparisons while a test runs.

Functions that exist get the code of the same file with calls in place of `a == b`, `a in b`, `a.startswith(b)` and the
like. Only a child that runs tests does this; nothing that it changes outlives it.
"""

import ast
import builtins
import gc
import itertools
import operator
import os
import sys
import types

COMPARE, ASK = "__twincell_compare__", "__twincell_ask__"
MOST = 400
CHARACTERS = 200
DIGITS = 30
# How many items of a container count as what a value was looked for in, and which: looking takes nothing from these.
ITEMS = 8
CONTAINERS = (list, tuple, set, frozenset, dict)

OPERATIONS = {
    ast.Eq: ("equal", operator.eq),
    ast.NotEq: ("equal", operator.ne),
    ast.Lt: ("order", operator.lt),
    ast.LtE: ("order", operator.le),
    ast.Gt: ("order", operator.gt),
    ast.GtE: ("order", operator.ge),
    ast.In: ("member", lambda item, container: item in container),
    ast.NotIn: ("member", lambda item, container: item not in container),
}
NUMBERS = {kind: number for number, kind in enumerate(OPERATIONS)}
COMPARISONS = list(OPERATIONS.values())
QUESTIONS = {"startswith": "start", "endswith": "end"}


class Operands:
    """Collects what one test after another compares."""

    def __init__(self, root, covered):
        self.seen = []
        self.known = set()
        setattr(builtins, COMPARE, self.compare)
        setattr(builtins, ASK, self.ask)
        changed = {}
        for name in covered:
            path = os.path.join(root, *name.split("/"))
            for key, code in codes_of(path).items():
                changed[(path, *key)] = (name, code)
        self.names = {path: name for (path, *_), (name, _) in changed.items()}
        if changed:
            exchange(changed)

    def renew(self):
        self.seen = []
        self.known = set()

    def compare(self, number, left, right):
        relation, operation = COMPARISONS[number]
        place = sys._getframe(1)
        if relation != "member":
            self.note(place, relation, left, right)
        elif type(right) is str:
            self.note(place, relation, right, left)
        elif type(right) in CONTAINERS:
            for one in itertools.islice(right, ITEMS):
                self.note(place, relation, left, one)
        return operation(left, right)

    def ask(self, method, text, *arguments):
        if type(text) in (str, bytes) and type(arguments[0]) is type(text):
            self.note(sys._getframe(1), QUESTIONS[method], text, arguments[0])
        return getattr(text, method)(*arguments)

    def note(self, place, relation, left, right):
        left, right = plain(left), plain(right)
        file = self.names.get(place.f_code.co_filename)
        if left is None or right is None or left == right or file is None or len(self.seen) == MOST:
            return
        seen = {"file": file, "line": place.f_lineno, "relation": relation, "left": left, "right": right}
        key = repr(seen)
        if key not in self.known:
            self.known.add(key)
            self.seen.append(seen)


def plain(value):
    """A number or a text in the form of `Observed` in Rust."""
    kind = type(value)
    if kind is int:
        text = str(value) if value.bit_length() < 3 * DIGITS else ""
        return {"int": text} if text else None
    if kind is float:
        return {"float": repr(value)}
    if kind is str:
        # A lone surrogate is in no literal of a test.
        return {"str": value} if len(value) <= CHARACTERS and is_text(value) else None
    if kind is bytes:
        return {"bytes": list(value)} if len(value) <= CHARACTERS else None
    return None


def is_text(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Asking(ast.NodeTransformer):
    """Puts calls in the place of comparisons."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in OPERATIONS:
            return node
        number = ast.Constant(NUMBERS[type(node.ops[0])])
        return called(COMPARE, node, [number, node.left, node.comparators[0]])

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        is_asked = isinstance(function, ast.Attribute) and function.attr in QUESTIONS
        if not is_asked or node.keywords or not node.args or isinstance(node.args[0], ast.Starred):
            return node
        return called(ASK, node, [ast.Constant(function.attr), function.value, *node.args])


def called(name, place, arguments):
    call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(call, place))


def codes_of(path):
    """The functions of a file as they are exchanged, by name and first line; without those that share both."""
    try:
        with open(path, "rb") as file:
            tree = Asking().visit(ast.parse(file.read(), path))
        whole = compile(tree, path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found, twice = {}, set()
    left = [whole]
    while left:
        for code in left.pop().co_consts:
            if isinstance(code, types.CodeType):
                left.append(code)
                key = (code.co_name, code.co_firstlineno)
                twice.update({key} & found.keys())
                found[key] = code
    return {key: code for key, code in found.items() if key not in twice}


def exchange(changed):
    """Gives the functions that exist their other code."""
    # What is frozen is in no list of objects.
    gc.unfreeze()
    for one in gc.get_objects():
        if type(one) is types.FunctionType:
            own = one.__code__
            entry = changed.get((os.path.abspath(own.co_filename), own.co_name, own.co_firstlineno))
            if entry and entry[1].co_freevars == own.co_freevars:
                one.__code__ = entry[1]
    gc.freeze()
