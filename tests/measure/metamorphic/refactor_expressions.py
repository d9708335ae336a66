"""Refactorings of expressions. Each gives what the old one gave, whatever the values are.

"Whatever" means values that keep Python's own conventions: `==` asks for nothing but the operands, and formatting a
value does not change another one.
"""

import ast
from collections.abc import Iterator

from .rewriting import (
    SCOPES,
    Edit,
    Site,
    call,
    has,
    is_call_of,
    is_local,
    is_simple,
    load,
    names,
    negated,
    slots,
    suspends,
)


def not_in(site: Site) -> Iterator[Edit]:
    """`not a in b` -> `a not in b`, and back."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.NotIn, ast.IsNot)):
            opposite = ast.In() if isinstance(node.ops[0], ast.NotIn) else ast.Is()
            new = ast.UnaryOp(ast.Not(), ast.Compare(node.left, [opposite], node.comparators))
            yield lambda slot=slot, new=new: slot.put(new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Compare):
            if len(node.operand.ops) == 1 and isinstance(node.operand.ops[0], (ast.In, ast.Is)):
                yield lambda slot=slot, node=node: slot.put(negated(node.operand))


def de_morgan(site: Site) -> Iterator[Edit]:
    """`not (a and b)` -> `not a or not b`, and back, where only truth matters."""
    for slot in slots(site.function):
        node = slot.node
        if not slot.truth:
            continue
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.BoolOp):
            own = node.operand
            operator = ast.Or() if isinstance(own.op, ast.And) else ast.And()
            new = ast.BoolOp(operator, [negated(value) for value in own.values])
            yield lambda slot=slot, new=new: slot.put(new)
        elif isinstance(node, ast.BoolOp):
            operator = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            new = ast.UnaryOp(ast.Not(), ast.BoolOp(operator, [negated(value) for value in node.values]))
            yield lambda slot=slot, new=new: slot.put(new)


def constructor_literal(site: Site) -> Iterator[Edit]:
    """`dict()`, `list()`, `dict(a=1)` <-> literals."""
    bound = names(site.module, ast.Store) | names(site.function, ast.Store)
    for slot in slots(site.function):
        node, new = slot.node, None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            kind, keywords = node.func.id, node.keywords
            if kind == "dict" and all(keyword.arg for keyword in keywords):
                keys = [ast.Constant(keyword.arg) for keyword in keywords]
                new = ast.Dict(keys, [keyword.value for keyword in keywords])
            elif kind == "list" and not keywords:
                new = ast.List([], ast.Load())
            elif kind == "tuple" and not keywords:
                new = ast.Tuple([], ast.Load())
        elif isinstance(node, ast.Dict) and not node.keys:
            new = call("dict")
        elif isinstance(node, ast.List) and not node.elts and isinstance(node.ctx, ast.Load):
            new = call("list")
        if new is not None and not bound & {"dict", "list", "tuple"}:
            yield lambda slot=slot, new=new: slot.put(new)


def chained_comparison(site: Site) -> Iterator[Edit]:
    """`a < b and b < c` <-> `a < b < c` where b is a name or a constant."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Compare) and len(node.ops) == 2 and is_simple(node.comparators[0]):
            first, second = node.comparators
            halves = [ast.Compare(node.left, node.ops[:1], [first]), ast.Compare(first, node.ops[1:], [second])]
            yield lambda slot=slot, halves=halves: slot.put(ast.BoolOp(ast.And(), halves))
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and len(node.values) == 2:
            one, other = node.values
            if isinstance(one, ast.Compare) and isinstance(other, ast.Compare) and is_simple(other.left):
                if ast.dump(one.comparators[-1]) == ast.dump(other.left):
                    new = ast.Compare(one.left, one.ops + other.ops, one.comparators + other.comparators)
                    yield lambda slot=slot, new=new: slot.put(new)


def percent_format(site: Site) -> Iterator[Edit]:
    """`'%s: %s' % (a, b)` <-> an f-string <-> `'{!s}: {!s}'.format(a, b)`; the operands are names or attributes."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            text, right = node.left.value, node.right
            if isinstance(text, str) and isinstance(right, ast.Tuple):
                parts = text.split("%s")
                plain = all(_is_reading(value) for value in right.elts)
                if plain and len(parts) == len(right.elts) + 1 > 1 and "%" not in "".join(parts):
                    yield lambda slot=slot, parts=parts, right=right: slot.put(_formatted(parts, right.elts, "f"))
                    yield lambda slot=slot, parts=parts, right=right: slot.put(_formatted(parts, right.elts, "format"))
        elif isinstance(node, ast.JoinedStr):
            values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
            texts = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            plain = all(_is_reading(part.value) and part.format_spec is None for part in values)
            if values and plain and not set(texts) & set("{}"):
                yield lambda slot=slot, node=node: slot.put(_as_format(node))


def _is_reading(node: ast.expr) -> bool:
    return is_simple(node) or isinstance(node, ast.Attribute) and _is_reading(node.value)


def _formatted(parts: list[str], values: list[ast.expr], kind: str) -> ast.expr:
    if kind == "format" and not set("".join(parts)) & set("{}"):
        return ast.Call(ast.Attribute(ast.Constant("{!s}".join(parts)), "format", ast.Load()), values, [])
    pieces: list[ast.expr] = [ast.Constant(parts[0])]
    for value, part in zip(values, parts[1:], strict=True):
        pieces += [ast.FormattedValue(value, ord("s"), None), ast.Constant(part)]
    return ast.JoinedStr([piece for piece in pieces if getattr(piece, "value", None) != ""])


def _as_format(node: ast.JoinedStr) -> ast.expr:
    pattern, values = "", []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pattern += part.value
        else:
            pattern += "{" + ("" if part.conversion == -1 else f"!{chr(part.conversion)}") + "}"
            values.append(part.value)
    return ast.Call(ast.Attribute(ast.Constant(pattern), "format", ast.Load()), values, [])


def default_by_or(site: Site) -> Iterator[Edit]:
    """`a if a else b` <-> `a or b`, where a is a name."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Name) and isinstance(node.body, ast.Name):
            if node.test.id == node.body.id:
                yield lambda slot=slot, node=node: slot.put(ast.BoolOp(ast.Or(), [node.test, node.orelse]))
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
            first, second = node.values
            if isinstance(first, ast.Name):
                yield lambda slot=slot, first=first, second=second: slot.put(ast.IfExp(first, first, second))


def isinstance_tuple(site: Site) -> Iterator[Edit]:
    """`isinstance(x, A) or isinstance(x, B)` <-> `isinstance(x, (A, B))`, where x is a name."""
    for slot in slots(site.function):
        node = slot.node
        if (
            is_call_of(node, "isinstance")
            and isinstance(node.args[0], ast.Name)
            and isinstance(node.args[1], ast.Tuple)
        ):
            kinds = node.args[1].elts
            if len(kinds) > 1 and all(isinstance(kind, ast.Name) for kind in kinds):
                tests = [call("isinstance", node.args[0], kind) for kind in kinds]
                yield lambda slot=slot, tests=tests: slot.put(ast.BoolOp(ast.Or(), tests))
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            if all(is_call_of(value, "isinstance") and isinstance(value.args[1], ast.Name) for value in node.values):
                subjects = {ast.dump(value.args[0]) for value in node.values}
                if len(subjects) == 1 and isinstance(node.values[0].args[0], ast.Name):
                    kinds = ast.Tuple([value.args[1] for value in node.values], ast.Load())
                    new = call("isinstance", node.values[0].args[0], kinds)
                    yield lambda slot=slot, new=new: slot.put(new)


def membership_container(site: Site) -> Iterator[Edit]:
    """`x in (1, 2)` <-> `x in [1, 2]`."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            right = node.comparators[0]
            if isinstance(right, (ast.Tuple, ast.List)) and right.elts:
                kind = ast.List if isinstance(right, ast.Tuple) else ast.Tuple
                new = ast.Compare(node.left, node.ops, [kind(right.elts, ast.Load())])
                yield lambda slot=slot, new=new: slot.put(new)


def constant_folding(site: Site) -> Iterator[Edit]:
    """A text in two parts, a whole number as a sum; and back."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Constant) and isinstance(slot.parent, (ast.Call, ast.Assign, ast.Compare, ast.Return)):
            if type(node.value) is str and len(node.value) > 3:
                middle = len(node.value) // 2
                halves = [ast.Constant(node.value[:middle]), ast.Constant(node.value[middle:])]
                yield lambda slot=slot, halves=halves: slot.put(ast.BinOp(halves[0], ast.Add(), halves[1]))
            elif type(node.value) is int and node.value > 1:
                parts = [ast.Constant(node.value - 1), ast.Constant(1)]
                yield lambda slot=slot, parts=parts: slot.put(ast.BinOp(parts[0], ast.Add(), parts[1]))


def keyword_argument(site: Site) -> Iterator[Edit]:
    """Last positional argument -> keyword, and first keyword -> positional, for plain functions of the same module."""
    own = {
        node.name: node
        for node in site.module.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.args.vararg is None
    }
    bound = [node.name for node in ast.walk(site.module) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    stored = names(site.module, ast.Store) | names(site.function, ast.Store)
    for slot in slots(site.function):
        node = slot.node
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own):
            continue
        if bound.count(node.func.id) > 1 or node.func.id in stored or has(node.args, ast.Starred):
            continue
        signature = own[node.func.id].args
        if signature.posonlyargs or len(node.args) > len(signature.args):
            continue
        given = [parameter.arg for parameter in signature.args]
        if node.args:
            keyword = ast.keyword(given[len(node.args) - 1], node.args[-1])
            new = ast.Call(node.func, node.args[:-1], [keyword, *node.keywords])
            yield lambda slot=slot, new=new: slot.put(new)
        if node.keywords and len(node.args) < len(given) and node.keywords[0].arg == given[len(node.args)]:
            new = ast.Call(node.func, [*node.args, node.keywords[0].value], node.keywords[1:])
            yield lambda slot=slot, new=new: slot.put(new)


def super_arguments(site: Site) -> Iterator[Edit]:
    """`super().m()` <-> `super(C, self).m()` in a method of a class of the module."""
    function = site.function
    if site.owner is None or not function.args.args or function.decorator_list:
        return
    first = function.args.args[0].arg
    if first in names(function, ast.Store) or "." in site.owner:
        return
    for slot in slots(function):
        node = slot.node
        if is_call_of(node, "super") and not node.args:
            yield lambda slot=slot: slot.put(call("super", load(site.owner), load(first)))
        elif is_call_of(node, "super") and [ast.unparse(argument) for argument in node.args] == [site.owner, first]:
            yield lambda slot=slot: slot.put(call("super"))


def wrapped_comprehension(site: Site) -> Iterator[Edit]:
    """`list(... for ...)` -> `[... for ...]`, `set(...)` likewise, and back; also a list inside of `join`."""
    bound = names(site.module, ast.Store) | names(site.function, ast.Store)
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            inner = node.args[0]
            for name, kind in (("list", ast.ListComp), ("set", ast.SetComp)):
                if is_call_of(node, name) and isinstance(inner, ast.GeneratorExp) and name not in bound:
                    yield lambda slot=slot, kind=kind, inner=inner: slot.put(kind(inner.elt, inner.generators))
            if isinstance(node.func, ast.Attribute) and node.func.attr == "join":
                if isinstance(node.func.value, ast.Constant) and isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
                    if not suspends(inner):
                        other = ast.GeneratorExp if isinstance(inner, ast.ListComp) else ast.ListComp
                        new = ast.Call(node.func, [other(inner.elt, inner.generators)], [])
                        yield lambda slot=slot, new=new: slot.put(new)
        elif isinstance(node, (ast.ListComp, ast.SetComp)) and not suspends(node):
            name = "list" if isinstance(node, ast.ListComp) else "set"
            if name not in bound:
                new = call(name, ast.GeneratorExp(node.elt, node.generators))
                yield lambda slot=slot, new=new: slot.put(new)


def comparisons_as_membership(site: Site) -> Iterator[Edit]:
    """`x == 'a' or x == 'b'` <-> `x in ('a', 'b')`, where only truth matters and x is a name."""
    for slot in slots(site.function):
        node = slot.node
        if not slot.truth:
            continue
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            tests = node.values
            if all(_is_equality(test) for test in tests) and len({test.left.id for test in tests}) == 1:
                options = ast.Tuple([test.comparators[0] for test in tests], ast.Load())
                new = ast.Compare(tests[0].left, [ast.In()], [options])
                yield lambda slot=slot, new=new: slot.put(new)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
            right = node.comparators[0]
            if isinstance(node.left, ast.Name) and isinstance(right, (ast.Tuple, ast.List)) and len(right.elts) > 1:
                if all(isinstance(option, ast.Constant) for option in right.elts):
                    tests = [ast.Compare(node.left, [ast.Eq()], [option]) for option in right.elts]
                    yield lambda slot=slot, tests=tests: slot.put(ast.BoolOp(ast.Or(), tests))


def _is_equality(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.left, ast.Name)
        and isinstance(node.comparators[0], ast.Constant)
    )


def emptiness(site: Site) -> Iterator[Edit]:
    """`if xs` <-> `if len(xs) > 0`, `if not xs` <-> `if len(xs) == 0`, where xs is a list of the function's own."""
    own = _own(site, ast.List, ast.ListComp)
    for slot in slots(site.function):
        node = slot.node
        if not slot.truth:
            continue
        if isinstance(node, ast.Name) and node.id in own:
            new = ast.Compare(call("len", node), [ast.Gt()], [ast.Constant(0)])
        elif isinstance(node, ast.Compare) and is_call_of(node.left, "len") and len(node.ops) == 1:
            subject, zero = node.left.args[0], node.comparators[0]
            if not isinstance(subject, ast.Name) or subject.id not in own or getattr(zero, "value", None) != 0:
                continue
            if isinstance(node.ops[0], ast.Eq):
                new = ast.UnaryOp(ast.Not(), subject)
            elif isinstance(node.ops[0], (ast.Gt, ast.NotEq)):
                new = subject
            else:
                continue
        else:
            continue
        yield lambda slot=slot, new=new: slot.put(new)


def dictionary_default(site: Site) -> Iterator[Edit]:
    """`d[k] if k in d else v` <-> `d.get(k, v)`, where d is a dictionary of the function's own and k, v are simple."""
    own = _own(site, ast.Dict, ast.DictComp)
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            subject = node.func.value
            if isinstance(subject, ast.Name) and subject.id in own and 1 <= len(node.args) <= 2 and not node.keywords:
                key, value = [*node.args, ast.Constant(None)][:2]
                if is_simple(key) and is_simple(value):
                    item = ast.Subscript(subject, key, ast.Load())
                    new = ast.IfExp(ast.Compare(key, [ast.In()], [subject]), item, value)
                    yield lambda slot=slot, new=new: slot.put(new)
        elif isinstance(node, ast.IfExp) and isinstance(node.body, ast.Subscript) and is_simple(node.orelse):
            test, item = node.test, node.body
            wanted = ast.dump(ast.Compare(item.slice, [ast.In()], [item.value]))
            if ast.dump(test) == wanted and is_simple(item.slice) and names(item.value) <= own:
                new = ast.Call(ast.Attribute(item.value, "get", ast.Load()), [item.slice, node.orelse], [])
                yield lambda slot=slot, new=new: slot.put(new)


def _own(site: Site, *kinds: type) -> set[str]:
    """Locals that are only ever bound to displays or comprehensions of these kinds."""
    own = set()
    for name in names(site.function, ast.Store):
        values = [
            node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            for node in ast.walk(site.function)
            if isinstance(node, (ast.stmt, ast.withitem, ast.comprehension, ast.NamedExpr))
            and not isinstance(node, SCOPES)
            and any(name in _bound(part) for part in ast.iter_child_nodes(node))
        ]
        if values and all(isinstance(value, kinds) for value in values) and is_local(site.function, name):
            own.add(name)
    return own


def _bound(node: ast.AST) -> set[str]:
    return names(node, ast.Store) if isinstance(node, ast.expr) else set()


REFACTORINGS = [
    not_in,
    de_morgan,
    constructor_literal,
    chained_comparison,
    percent_format,
    default_by_or,
    isinstance_tuple,
    membership_container,
    constant_folding,
    keyword_argument,
    super_arguments,
    wrapped_comprehension,
    comparisons_as_membership,
    emptiness,
    dictionary_default,
]
