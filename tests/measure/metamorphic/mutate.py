"""Mutations: one small edit each that a test should notice. A few leave behavior as it was; nobody sorts them out."""

import ast
from collections.abc import Iterator

from .rewriting import Edit, Site, is_exit, slots, statements

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}


def comparison(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            new = ast.Compare(node.left, [COMPARISONS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
            yield lambda slot=slot, new=new: slot.put(new)


def number(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        if isinstance(slot.node, ast.Constant) and type(slot.node.value) is int:
            yield lambda slot=slot: slot.put(ast.Constant(slot.node.value + 1))


def text(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        if isinstance(slot.node, ast.Constant) and type(slot.node.value) is str:
            if not isinstance(slot.parent, ast.Expr):
                yield lambda slot=slot: slot.put(ast.Constant(slot.node.value + "x" if slot.node.value else "x"))


def boolean_operator(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        if isinstance(slot.node, ast.BoolOp):
            other = ast.Or() if isinstance(slot.node.op, ast.And) else ast.And()
            yield lambda slot=slot, other=other: slot.put(ast.BoolOp(other, slot.node.values))


def negated_test(site: Site) -> Iterator[Edit]:
    for _, _, statement in statements(site.function):
        if isinstance(statement, (ast.If, ast.While)) and not isinstance(statement.test, ast.Constant):

            def edit(statement: ast.If = statement) -> None:
                test = statement.test
                bare = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
                statement.test = test.operand if bare else ast.UnaryOp(ast.Not(), test)

            yield edit


def arithmetic(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            if isinstance(node.left, (ast.Constant, ast.JoinedStr)) and isinstance(node.op, (ast.Mod, ast.Add)):
                continue
            yield lambda slot=slot, node=node: slot.put(ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))


def _removed(block: list[ast.stmt], index: int) -> Edit:
    def edit() -> None:
        block[index : index + 1] = [] if len(block) > 1 else [ast.Pass()]

    return edit


def removed_call(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield _removed(block, index)


def removed_assignment(site: Site) -> Iterator[Edit]:
    """Of an attribute or an item: without that of a name, the code would only fail."""
    for block, index, statement in statements(site.function):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            if isinstance(target, (ast.Attribute, ast.Subscript)) or isinstance(statement, ast.AugAssign):
                yield _removed(block, index)


def removed_guard(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1:
            if is_exit(statement.body[0]):
                yield _removed(block, index)


def removed_handler(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.Try) and not statement.finalbody:

            def edit(block: list = block, index: int = index, statement: ast.Try = statement) -> None:
                if len(statement.handlers) > 1:
                    del statement.handlers[0]
                else:
                    block[index : index + 1] = [*statement.body, *statement.orelse]

            yield edit


def removed_else(site: Site) -> Iterator[Edit]:
    for _, _, statement in statements(site.function):
        if isinstance(statement, ast.If) and statement.orelse:

            def edit(statement: ast.If = statement) -> None:
                statement.orelse = []

            yield edit


def default(site: Site) -> Iterator[Edit]:
    own = site.function.args.defaults
    for index, value in enumerate(own):
        new = None
        if isinstance(value, ast.Constant):
            if value.value is None or value.value is True or value.value is False:
                new = ast.Constant(value.value is not True)
            elif isinstance(value.value, int):
                new = ast.Constant(value.value + 1)
            elif isinstance(value.value, str):
                new = ast.Constant(value.value + "x")
        if new is not None:
            yield lambda index=index, new=new: own.__setitem__(index, new)


def swapped_arguments(site: Site) -> Iterator[Edit]:
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Call) and len(node.args) >= 2 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
            if not isinstance(node.func, ast.Name) or node.func.id not in ("isinstance", "issubclass", "super"):
                new = ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
                yield lambda slot=slot, new=new: slot.put(new)


def returned(site: Site) -> Iterator[Edit]:
    for _, _, statement in statements(site.function):
        if isinstance(statement, ast.Return) and statement.value is not None:
            own = statement.value
            plain = isinstance(own, ast.Constant)
            if plain and isinstance(own.value, bool):
                new: ast.expr = ast.Constant(not own.value)
            elif plain and own.value is None:
                new = ast.Constant(0)
            else:
                new = ast.Constant(None)
            yield lambda statement=statement, new=new: setattr(statement, "value", new)


def loop_exit(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, (ast.Break, ast.Continue)):
            other = ast.Continue() if isinstance(statement, ast.Break) else ast.Break()
            yield lambda block=block, index=index, other=other: block.__setitem__(index, other)


def removed_argument(site: Site) -> Iterator[Edit]:
    """The last keyword of a call."""
    for slot in slots(site.function):
        node = slot.node
        if isinstance(node, ast.Call) and node.keywords and node.keywords[-1].arg:
            yield lambda slot=slot, node=node: slot.put(ast.Call(node.func, node.args, node.keywords[:-1]))


def raised(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call):
            new = ast.Raise(ast.Call(ast.Name("RuntimeError", ast.Load()), statement.exc.args, []), statement.cause)
            yield lambda block=block, index=index, new=new: block.__setitem__(index, new)


MUTATIONS = [
    comparison,
    number,
    text,
    boolean_operator,
    negated_test,
    arithmetic,
    removed_call,
    removed_assignment,
    removed_guard,
    removed_handler,
    removed_else,
    default,
    swapped_arguments,
    returned,
    loop_exit,
    removed_argument,
    raised,
]
