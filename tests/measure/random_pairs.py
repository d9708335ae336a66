"""Random small functions and random changes of them, for attacks on the prover. Most changes alter what they do."""

import ast
import copy
import random
from typing import Any

NAMES = ("n", "m", "xs", "s", "o", "g", "a", "b")


class Writer:
    """Writes a function over whole numbers, a list, a text, and two parameters that may be anything."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.left = draw.randrange(3, 9)

    def function(self) -> str:
        head = "def f(n: int, m: int, xs: list[int], s: str, o, g):"
        return "\n".join([head, *self.block(1), f"    return {self.expression(2)}"]) + "\n"

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw.randrange(1, 4)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        self.left -= 1
        pad = "    " * depth
        kind = self.draw.randrange(16)
        inner = depth < 3 and self.left > 0
        if kind < 5 or not inner:
            return [pad + self.simple()]
        if kind < 9:
            lines = [f"{pad}if {self.test()}:", *self.block(depth + 1)]
            if self.draw.random() < 0.5:
                lines += [f"{pad}else:", *self.block(depth + 1)]
            return lines
        if kind < 12:
            over = self.draw.choice(("xs", "range(n)", "range(len(xs))", "o", "(1, 2)", "s", "a", "range(m, n)"))
            lines = [f"{pad}for {self.draw.choice('abn')} in {over}:", *self.block(depth + 1)]
            if self.draw.random() < 0.3:
                exit_ = self.draw.choice(("break", "continue"))
                lines += [f"{pad}    if {self.test()}:", f"{pad}        {exit_}", *self.block(depth + 1)]
            return lines
        if kind < 14:
            return [
                f"{pad}while {self.test()}:",
                *self.block(depth + 1),
                f"{pad}    {self.draw.choice(('n -= 1', 'm += 1', 'n, m = m, n - 1'))}",
            ]
        if kind == 14:
            lines = [
                f"{pad}try:",
                *self.block(depth + 1),
                f"{pad}except {self.draw.choice(('ValueError', 'IndexError', '(KeyError, TypeError)', 'Exception'))}:",
                *self.block(depth + 1),
            ]
            if self.draw.random() < 0.3:
                lines += [f"{pad}finally:", *self.block(depth + 1)]
            return lines
        return [
            f"{pad}a = [{self.expression(1)} for b in {self.draw.choice(('xs', 'o', 'range(3)'))} if {self.test()}]"
        ]

    def simple(self) -> str:
        return self.filled(self.draw.choice(SIMPLE), 2)

    def test(self, depth: int = 1) -> str:
        return self.filled(self.draw.choice(TESTS), depth)

    def expression(self, depth: int) -> str:
        return self.filled(self.draw.choice(ATOMS if depth <= 0 else ATOMS + DEEPER), depth)

    def filled(self, template: str, depth: int) -> str:
        """The template with something in the place of each `E`, and a test in that of each `T`."""
        made = []
        for letter in template:
            if letter == "E":
                made.append(self.expression(depth - 1))
            elif letter == "T":
                made.append(self.test(depth - 1) if depth > 0 else "o")
            elif letter == "@":
                made.append(self.draw.choice(("<", "<=", "==", "!=", ">", ">=")))
            elif letter == "#":
                made.append(self.draw.choice(("+", "-", "*", "//", "%", "&", "|")))
            else:
                made.append(letter)
        return "".join(made)


ATOMS = (*NAMES, "n", "m", "xs", "s", "0", "1", "2", "None", "'a'", "''")
DEEPER = (
    *(
        "E + E",
        "n # E",
        "m - E",
        "len(E)",
        "xs[E]",
        "g(E)",
        "o.x",
        "[E]",
        "(E, E)",
        "E if T else E",
        "max(n, m)",
        "abs(n)",
    ),
    *(
        "str(n)",
        "f'{n}-{E}'",
        "s.upper()",
        "s[0]",
        "sorted(xs)",
        "sum(xs)",
        "n == E",
        "not o",
        "n < m",
        "s * 2",
        "xs[:]",
    ),
    *(
        "xs + [m]",
        "list(xs)",
        "n ** 2",
        "-n",
        "s.strip() + 'a'",
        "(a := E)",
        "E and E",
        "(n # m) # n",
        "n # (m # n)",
        "s + s + s",
    ),
)
SIMPLE = (
    *(
        "a = E",
        "b = E",
        "n = E",
        "n += E",
        "a = []",
        "b = a",
        "g(E)",
        "o.x = a",
        "xs.append(E)",
        "a.append(E)",
        "xs[E] = E",
    ),
    *(
        "a, b = E, E",
        "a = {}",
        "a[n] = E",
        "a[s] = E",
        "a[o] = E",
        "return E",
        "raise ValueError(n)",
        "del a",
        "a = b = [n]",
    ),
    *("b += E", "s = s + 'x'", "xs = xs + [n]", "a = xs[1:]", "a = lambda: n", "b = (a, n)", "n = n # m", "m = m # 2"),
)
TESTS = (
    *(
        "E @ E",
        "o",
        "xs",
        "s",
        "not E",
        "o is None",
        "n < 2",
        "n > 0",
        "n > 0 and E",
        "E or m",
        "n in (1, 2)",
        "s in 'abc'",
    ),
    *("len(xs) > 1", "a is b", "isinstance(o, (int, str))", "n % 2 == 0", "0 < n < m", "n in xs", "g(n)", "a", "n @ m"),
)


def _changed(tree: ast.Module, draw: random.Random) -> None:
    function = tree.body[0]
    blocks = [
        (node, field)
        for node in ast.walk(function)
        for field in ("body", "orelse", "finalbody")
        if isinstance(getattr(node, field, None), list) and getattr(node, field)
    ]
    expressions = [node for node in ast.walk(function) if isinstance(node, ast.expr)]
    node, field = draw.choice(blocks)
    body = getattr(node, field)
    at = draw.randrange(len(body))
    match draw.randrange(14):
        case 0 if len(body) > 1:
            other = draw.randrange(len(body))
            body[at], body[other] = body[other], body[at]
        case 1 if len(body) > 1:
            del body[at]
        case 2:
            body.insert(at, copy.deepcopy(draw.choice(body)))
        case 3:
            old, new = draw.choice("ab"), draw.choice(("c", "c", "a", "b"))
            for one in ast.walk(function):
                if isinstance(one, ast.Name) and one.id == old:
                    one.id = new
        case 4:
            for one in draw.sample(expressions, len(expressions)):
                if isinstance(one, ast.BinOp):
                    one.left, one.right = one.right, one.left
                    break
        case 5:
            for one in draw.sample(expressions, len(expressions)):
                if isinstance(one, ast.Constant) and type(one.value) is int:
                    one.value += draw.choice((1, -1))
                    break
        case 6:
            for one in draw.sample(list(ast.walk(function)), len(list(ast.walk(function)))):
                if isinstance(one, (ast.If, ast.While, ast.IfExp)):
                    one.test = ast.UnaryOp(ast.Not(), one.test)
                    if draw.random() < 0.7 and isinstance(one, ast.If):
                        one.body, one.orelse = one.orelse or [ast.Pass()], one.body
                    break
        case 7:
            for one in draw.sample(expressions, len(expressions)):
                if isinstance(one, ast.Compare):
                    swapped = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Lt, ast.GtE: ast.Gt, ast.Eq: ast.NotEq}
                    one.ops[0] = swapped.get(type(one.ops[0]), type(one.ops[0]))()
                    break
        case 8:
            for one in draw.sample(expressions, len(expressions)):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                    one.id = draw.choice(NAMES)
                    break
        case 9:
            # An extracted variable.
            statement = body[at]
            if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) and statement.value is not None:
                name = ast.Name("t", ast.Load())
                body.insert(at, ast.Assign([ast.Name("t", ast.Store())], statement.value))
                statement.value = name
        case 10:
            # What follows an `if` moves into its branches.
            statement = body[at]
            if isinstance(statement, ast.If) and at + 1 < len(body):
                rest = body[at + 1 :]
                del body[at + 1 :]
                statement.body += copy.deepcopy(rest)
                statement.orelse += rest
        case 11:
            # What stands first in a branch moves out of it.
            statement = body[at]
            if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)) and len(statement.body) > 1:
                body.insert(at, statement.body.pop(0))
        case 12:
            for one in draw.sample(expressions, len(expressions)):
                if isinstance(one, ast.BoolOp):
                    one.values.reverse()
                    break
        case _:
            for one in draw.sample(list(ast.walk(function)), len(list(ast.walk(function)))):
                if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
                    for parent, name in blocks:
                        if one in getattr(parent, name):
                            place = getattr(parent, name).index(one)
                            value = ast.BinOp(ast.Name(one.target.id, ast.Load()), one.op, one.value)
                            getattr(parent, name)[place] = ast.Assign([one.target], value)
                    break


def pairs(count: int, seed: int) -> list[dict[str, Any]]:
    """So many random pairs. Their labels are not known."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        old = Writer(draw).function()
        try:
            tree = ast.parse(old)
            for _ in range(draw.choice((1, 1, 1, 2, 3))):
                _changed(tree, draw)
            new = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            compile(new, "new", "exec")
            compile(old, "old", "exec")
        except (SyntaxError, ValueError):
            continue
        if new != ast.unparse(ast.parse(old)) + "\n":
            found.append({"id": f"random {number}", "function": "f", "label": "unknown", "old": old, "new": new})
    return found
