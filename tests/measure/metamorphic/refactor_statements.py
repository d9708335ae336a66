"""Refactorings of statements. Each does what the old one did, in the same order, whatever the values are."""

import ast
import builtins
import copy
from collections.abc import Iterator

from .rewriting import (
    COMPREHENSIONS,
    SCOPES,
    Edit,
    Site,
    call,
    has,
    in_try,
    is_exit,
    is_local,
    is_simple,
    load,
    names,
    negated,
    parameters,
    spliced,
    statements,
    store,
    suspends,
    uses,
)


def extract_variable(site: Site) -> Iterator[Edit]:
    """The value of a return, the test of an if, or the first argument of a call gets a name first."""
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.Return) and statement.value is not None and not is_simple(statement.value):
            name = site.fresh("result")
            yield spliced(block, index, 1, [_assign(name, statement.value), ast.Return(load(name))])
        elif isinstance(statement, ast.If) and not is_simple(statement.test) and not _is_elif(site, statement):
            name = site.fresh("condition")
            yield spliced(
                block, index, 1, [_assign(name, statement.test), ast.If(load(name), statement.body, statement.orelse)]
            )
        elif isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) and isinstance(statement.value, ast.Call):
            own = statement.value
            if isinstance(own.func, ast.Name) and own.args and not isinstance(own.args[0], (ast.Starred, ast.Constant)):
                if not isinstance(own.args[0], (ast.Name, ast.GeneratorExp)) and own.func.id != "super":
                    name = site.fresh("value")
                    changed = copy.deepcopy(statement)
                    changed.value.args[0] = load(name)
                    yield spliced(block, index, 1, [_assign(name, own.args[0]), changed])


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([store(name)], value)


def _is_elif(site: Site, statement: ast.If) -> bool:
    return any(
        isinstance(node, ast.If) and len(node.orelse) == 1 and node.orelse[0] is statement
        for node in ast.walk(site.function)
    )


def inline_variable(site: Site) -> Iterator[Edit]:
    """`x = E; return x` -> `return E`, and the same before an if or an assignment whose value is x alone."""
    for block, index, statement in statements(site.function):
        if index + 1 == len(block) or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, following = statement.targets[0], block[index + 1]
        if not isinstance(target, ast.Name) or not is_local(site.function, target.id):
            continue
        if uses(site.function, target.id) != 1:
            continue
        field = "test" if isinstance(following, ast.If) else "value"
        held = getattr(following, field, None)
        if (
            isinstance(following, (ast.Return, ast.If, ast.Assign))
            and isinstance(held, ast.Name)
            and held.id == target.id
        ):
            changed = copy.copy(following)
            setattr(changed, field, statement.value)
            yield spliced(block, index, 2, [changed])


def rename_local(site: Site) -> Iterator[Edit]:
    for name in sorted(names(site.function, ast.Store)):
        if is_local(site.function, name):

            def edit(name: str = name) -> None:
                new = site.fresh(f"{name.strip('_') or 'value'}_now")
                for node in ast.walk(site.function):
                    if isinstance(node, ast.Name) and node.id == name:
                        node.id = new

            yield edit


def invert_if(site: Site) -> Iterator[Edit]:
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.If) and statement.orelse:
            if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
                continue
            new = ast.If(negated(statement.test), statement.orelse, statement.body)
            yield spliced(block, index, 1, [new])


def guard_clause(site: Site) -> Iterator[Edit]:
    """The last `if c: ...` of a function or a loop -> `if not c: return` (or continue) first; in a loop also back."""
    last = site.function.body[-1]
    if isinstance(last, ast.If) and not last.orelse and len(site.function.body) > 1:
        new = [ast.If(negated(last.test), [ast.Return(None)], []), *last.body]
        yield spliced(site.function.body, len(site.function.body) - 1, 1, new)
    for _, _, statement in statements(site.function):
        if isinstance(statement, (ast.For, ast.While)):
            first, rest = statement.body[0], statement.body[1:]
            inner = statement.body[-1]
            if isinstance(first, ast.If) and not first.orelse and len(first.body) == 1 and rest:
                if isinstance(first.body[0], ast.Continue):
                    yield spliced(statement.body, 0, len(statement.body), [ast.If(negated(first.test), rest, [])])
            elif isinstance(inner, ast.If) and not inner.orelse:
                new = [ast.If(negated(inner.test), [ast.Continue()], []), *inner.body]
                yield spliced(statement.body, len(statement.body) - 1, 1, new)


def else_after_exit(site: Site) -> Iterator[Edit]:
    """`if c: return a` and the rest <-> `if c: return a else: the rest`."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.If) or not is_exit(statement.body[-1]):
            continue
        rest = block[index + 1 :]
        if statement.orelse and not _is_elif(site, statement):
            yield spliced(block, index, 1, [ast.If(statement.test, statement.body, []), *statement.orelse])
        elif rest and not statement.orelse and not has(rest, ast.Global, ast.Nonlocal):
            yield spliced(block, index, len(rest) + 1, [ast.If(statement.test, statement.body, rest)])


def loop_to_comprehension(site: Site) -> Iterator[Edit]:
    """`xs = []; for t in it: [if c:] xs.append(e)` -> `xs = [e for t in it if c]`."""
    guarded = in_try(site.function)
    for block, index, statement in statements(site.function):
        if index + 1 == len(block) or id(statement) in guarded:
            continue
        loop = block[index + 1]
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(loop, ast.For)):
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or ast.unparse(statement.value) not in ("[]", "list()", "set()"):
            continue
        body, tests = loop.body, []
        if len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
            tests, body = [body[0].test], body[0].body
        method = "add" if ast.unparse(statement.value) == "set()" else "append"
        if loop.orelse or len(body) != 1 or not _is_call_on(body[0], target.id, method):
            continue
        item = body[0].value.args[0]
        bound = names(loop.target)
        inside = [item, loop.iter, *tests]
        elsewhere = sum(name in bound for name in _all_names(site.function)) - sum(
            name in bound for name in _all_names(loop)
        )
        if target.id in names(inside) or suspends(inside) or has(inside, ast.Lambda, *COMPREHENSIONS) or elsewhere:
            continue
        if not is_local(site.function, target.id) or has(loop.target, ast.Attribute, ast.Subscript):
            continue
        kind = ast.SetComp if method == "add" else ast.ListComp
        comprehension = kind(item, [ast.comprehension(loop.target, loop.iter, tests, 0)])
        yield spliced(block, index, 2, [ast.Assign([target], comprehension)])


def _all_names(node: ast.AST) -> list[str]:
    return [child.id for child in ast.walk(node) if isinstance(child, ast.Name)]


def _is_call_on(statement: ast.stmt, name: str, method: str) -> bool:
    own = getattr(statement, "value", None)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(own, ast.Call)
        and isinstance(own.func, ast.Attribute)
        and own.func.attr == method
        and isinstance(own.func.value, ast.Name)
        and own.func.value.id == name
        and len(own.args) == 1
        and not own.keywords
        and not isinstance(own.args[0], ast.Starred)
    )


def comprehension_to_loop(site: Site) -> Iterator[Edit]:
    """`xs = [e for t in it if c]` or `return [...]` -> a loop that appends."""
    guarded = in_try(site.function)
    for block, index, statement in statements(site.function):
        own = getattr(statement, "value", None)
        if not isinstance(own, ast.ListComp) or len(own.generators) != 1 or suspends(own) or has(own, ast.Lambda):
            continue
        if has([own.elt, *own.generators[0].ifs], *COMPREHENSIONS) or id(statement) in guarded:
            continue
        generator = copy.deepcopy(own.generators[0])
        if isinstance(statement, ast.Return):
            name, ending = site.fresh("result"), [ast.Return(load(site.fresh("result")))]
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if not isinstance(target, ast.Name) or target.id in names(own) or not is_local(site.function, target.id):
                continue
            name, ending = target.id, []
        else:
            continue
        new_names = {bound: site.fresh(f"each_{bound.strip('_')}") for bound in names(generator.target)}
        item = _renamed(own.elt, new_names)
        body: list[ast.stmt] = [
            ast.Expr(ast.Call(ast.Attribute(load(name), "append", ast.Load()), [item], [])),
        ]
        for test in reversed(generator.ifs):
            body = [ast.If(_renamed(test, new_names), body, [])]
        loop = ast.For(_renamed(generator.target, new_names), generator.iter, body, [])
        yield spliced(block, index, 1, [_assign(name, ast.List([], ast.Load())), loop, *ending])


def _renamed(node: ast.expr, new_names: dict[str, str]) -> ast.expr:
    node = copy.deepcopy(node)
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            child.id = new_names.get(child.id, child.id)
    return node


def any_loop(site: Site) -> Iterator[Edit]:
    """`for t in it: if c: return True` and `return False` <-> `return any(c for t in it)`; the same with all."""
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.For) and index + 1 < len(block) and isinstance(block[index + 1], ast.Return):
            inner = statement.body[0]
            if len(statement.body) != 1 or statement.orelse or not isinstance(inner, ast.If) or inner.orelse:
                continue
            truths = [getattr(getattr(s, "value", None), "value", None) for s in (inner.body[0], block[index + 1])]
            if (
                len(inner.body) != 1
                or not isinstance(inner.body[0], ast.Return)
                or sorted(map(repr, truths))
                != [
                    "False",
                    "True",
                ]
            ):
                continue
            if suspends([inner.test, statement.iter]) or has(inner.test, ast.Lambda):
                continue
            test, name = (inner.test, "any") if truths[0] is True else (ast.UnaryOp(ast.Not(), inner.test), "all")
            generator = ast.GeneratorExp(test, [ast.comprehension(statement.target, statement.iter, [], 0)])
            yield spliced(block, index, 2, [ast.Return(call(name, generator))])
        elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.Call):
            own = statement.value
            if not isinstance(own.func, ast.Name) or own.func.id not in ("any", "all") or len(own.args) != 1:
                continue
            inner = own.args[0]
            if not isinstance(inner, ast.GeneratorExp) or len(inner.generators) != 1 or suspends(inner):
                continue
            generator = inner.generators[0]
            if has([inner.elt, *generator.ifs], *COMPREHENSIONS, ast.Lambda):
                continue
            new_names = {bound: site.fresh(f"each_{bound.strip('_')}") for bound in names(generator.target)}
            test = _renamed(inner.elt, new_names)
            wanted = own.func.id == "any"
            body: list[ast.stmt] = [ast.If(test if wanted else negated(test), [ast.Return(ast.Constant(wanted))], [])]
            for condition in reversed(generator.ifs):
                body = [ast.If(_renamed(condition, new_names), body, [])]
            loop = ast.For(_renamed(generator.target, new_names), generator.iter, body, [])
            yield spliced(block, index, 1, [loop, ast.Return(ast.Constant(not wanted))])


def bool_return(site: Site) -> Iterator[Edit]:
    """`if c: return True` and `return False` <-> `return bool(c)`, or `return c` where c is a bool."""
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.If) and len(statement.body) == 1 and isinstance(statement.body[0], ast.Return):
            following = statement.orelse or block[index + 1 : index + 2]
            if len(following) != 1 or not isinstance(following[0], ast.Return):
                continue
            truths = [getattr(own.value, "value", None) for own in (statement.body[0], following[0])]
            if truths == [True, False] and all(isinstance(truth, bool) for truth in truths):
                count = 1 if statement.orelse else 2
                yield spliced(block, index, count, [ast.Return(call("bool", statement.test))])
        elif isinstance(statement, ast.Return) and _is_bool(statement.value):
            new = [ast.If(statement.value, [ast.Return(ast.Constant(True))], []), ast.Return(ast.Constant(False))]
            yield spliced(block, index, 1, new)


def _is_bool(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def merge_ifs(site: Site) -> Iterator[Edit]:
    """`if a: if b: ...` <-> `if a and b: ...`."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.If) or statement.orelse:
            continue
        inner = statement.body[0]
        if len(statement.body) == 1 and isinstance(inner, ast.If) and not inner.orelse:
            test = ast.BoolOp(ast.And(), [statement.test, inner.test])
            yield spliced(block, index, 1, [ast.If(test, inner.body, [])])
        elif isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.And):
            first, *rest = statement.test.values
            test = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
            yield spliced(block, index, 1, [ast.If(first, [ast.If(test, statement.body, [])], [])])


def swap_independent(site: Site) -> Iterator[Edit]:
    """Two assignments of constants, names or empty containers to different locals change places."""
    for block, index, _ in statements(site.function):
        pair = block[index : index + 2]
        if len(pair) < 2 or not all(_is_pure_assignment(site, own) for own in pair):
            continue
        targets = [own.targets[0].id for own in pair]
        reads = [names(own.value) for own in pair]
        if targets[0] != targets[1] and targets[0] not in reads[1] and targets[1] not in reads[0]:
            # Reading a name that may be unbound could fail at another place.
            if all(name in parameters(site.function) for own in reads for name in own):
                yield spliced(block, index, 2, pair[::-1])


def _is_pure_assignment(site: Site, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    value = statement.value
    empty = (
        isinstance(value, (ast.List, ast.Tuple)) and not value.elts or isinstance(value, ast.Dict) and not value.keys
    )
    target = statement.targets[0]
    return (is_simple(value) or empty) and isinstance(target, ast.Name) and is_local(site.function, target.id)


def suppress(site: Site) -> Iterator[Edit]:
    """`try: ... except E: pass` -> `with contextlib.suppress(E): ...`, for the builtin exceptions."""
    for block, index, statement in statements(site.function):
        if (
            not isinstance(statement, ast.Try)
            or len(statement.handlers) != 1
            or statement.orelse
            or statement.finalbody
        ):
            continue
        handler = statement.handlers[0]
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        known = all(isinstance(kind, ast.Name) and hasattr(builtins, kind.id) for kind in kinds)
        if known and handler.name is None and len(handler.body) == 1 and isinstance(handler.body[0], ast.Pass):
            context = ast.Call(ast.Attribute(load("contextlib"), "suppress", ast.Load()), kinds, [])
            new = [ast.Import([ast.alias("contextlib")]), ast.With([ast.withitem(context)], statement.body)]
            yield spliced(block, index, 1, new)


def explicit_none(site: Site) -> Iterator[Edit]:
    """`return` <-> `return None`, and one at the end."""
    for block, index, statement in statements(site.function):
        if isinstance(statement, ast.Return) and statement.value is None and not suspends(site.function):
            yield spliced(block, index, 1, [ast.Return(ast.Constant(None))])
    if not is_exit(site.function.body[-1]):
        yield spliced(site.function.body, len(site.function.body), 0, [ast.Return(None)])


def conditional_expression(site: Site) -> Iterator[Edit]:
    """`x = a if c else b` <-> if and else; the same with return."""
    for block, index, statement in statements(site.function):
        own = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.Return)) and isinstance(own, ast.IfExp):
            if isinstance(statement, ast.Assign) and not all(isinstance(t, ast.Name) for t in statement.targets):
                continue
            yes, no = copy.copy(statement), copy.copy(statement)
            yes.value, no.value = own.body, own.orelse
            yield spliced(block, index, 1, [ast.If(own.test, [yes], [no])])
        elif isinstance(statement, ast.If) and len(statement.body) == len(statement.orelse) == 1:
            yes, no = statement.body[0], statement.orelse[0]
            if isinstance(yes, ast.Return) and isinstance(no, ast.Return) and yes.value and no.value:
                yield spliced(block, index, 1, [ast.Return(ast.IfExp(statement.test, yes.value, no.value))])
            elif isinstance(yes, ast.Assign) and isinstance(no, ast.Assign) and len(yes.targets) == 1:
                if isinstance(yes.targets[0], ast.Name) and ast.dump(yes.targets[0]) == ast.dump(no.targets[0]):
                    value = ast.IfExp(statement.test, yes.value, no.value)
                    yield spliced(block, index, 1, [ast.Assign(yes.targets, value)])


def split_assignment(site: Site) -> Iterator[Edit]:
    """`a, b = x, y` -> two assignments; `x = y = e` -> `x = e; y = x`."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if len(statement.targets) == 2 and all(isinstance(own, ast.Name) for own in statement.targets):
            second = ast.Assign([statement.targets[1]], load(target.id))
            yield spliced(block, index, 1, [ast.Assign([target], statement.value), second])
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple) and len(statement.targets) == 1:
            pairs = list(zip(target.elts, statement.value.elts, strict=False))
            if len(target.elts) != len(statement.value.elts) or id(statement) in in_try(site.function):
                continue
            if not all(isinstance(one, ast.Name) and is_local(site.function, one.id) for one, _ in pairs):
                continue
            if names(target) & names(statement.value) or has(statement.value, ast.Starred, *SCOPES):
                continue
            yield spliced(block, index, 1, [ast.Assign([one], value) for one, value in pairs])


def with_statements(site: Site) -> Iterator[Edit]:
    """`with a, b: ...` <-> `with a: with b: ...`."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.With):
            continue
        if len(statement.items) > 1:
            inner = ast.With(statement.items[1:], statement.body)
            yield spliced(block, index, 1, [ast.With(statement.items[:1], [inner])])
        elif len(statement.body) == 1 and isinstance(statement.body[0], ast.With):
            inner = statement.body[0]
            yield spliced(block, index, 1, [ast.With(statement.items + inner.items, inner.body)])


def split_handler(site: Site) -> Iterator[Edit]:
    """`except (A, B): ...` -> two handlers that do the same."""
    for _, _, statement in statements(site.function):
        if not isinstance(statement, ast.Try):
            continue
        for index, handler in enumerate(statement.handlers):
            if isinstance(handler.type, ast.Tuple) and len(handler.type.elts) == 2:
                new = [ast.ExceptHandler(kind, handler.name, copy.deepcopy(handler.body)) for kind in handler.type.elts]

                def edit(statement: ast.Try = statement, index: int = index, new: list = new) -> None:
                    statement.handlers[index : index + 1] = new

                yield edit


def raise_instance(site: Site) -> Iterator[Edit]:
    """`raise E` <-> `raise E()`, for the builtin exceptions."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.Raise) or statement.exc is None:
            continue
        own = statement.exc
        if isinstance(own, ast.Name) and isinstance(getattr(builtins, own.id, None), type):
            yield spliced(block, index, 1, [ast.Raise(ast.Call(own, [], []), statement.cause)])
        elif isinstance(own, ast.Call) and isinstance(own.func, ast.Name) and not own.args and not own.keywords:
            if isinstance(getattr(builtins, own.func.id, None), type):
                yield spliced(block, index, 1, [ast.Raise(own.func, statement.cause)])


def augmented_number(site: Site) -> Iterator[Edit]:
    """`n += k` <-> `n = n + k`, where n is a whole number from its first value on."""
    for name in sorted(names(site.function, ast.Store)):
        own = [
            node
            for node in ast.walk(site.function)
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.For, ast.AnnAssign, ast.withitem, ast.ExceptHandler))
            and any(name in names(part, ast.Store) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        ]
        first = [node for node in own if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
        changes = [node for node in own if isinstance(node, ast.AugAssign)]
        if len(first) + len(changes) != len(own) or not first or not is_local(site.function, name):
            continue
        if any(type(node.value.value) is not int or len(node.targets) != 1 for node in first):
            continue
        for block, index, statement in statements(site.function):
            if statement in changes and isinstance(statement.op, (ast.Add, ast.Sub)) and not suspends(statement):
                new = ast.Assign([store(name)], ast.BinOp(load(name), statement.op, statement.value))
                yield spliced(block, index, 1, [new])


def while_condition(site: Site) -> Iterator[Edit]:
    """`while c: ...` <-> `while True: if not c: break`."""
    for block, index, statement in statements(site.function):
        if not isinstance(statement, ast.While) or statement.orelse:
            continue
        first = statement.body[0]
        if isinstance(statement.test, ast.Constant) and statement.test.value is True:
            if isinstance(first, ast.If) and not first.orelse and len(first.body) == 1 and len(statement.body) > 1:
                if isinstance(first.body[0], ast.Break):
                    yield spliced(block, index, 1, [ast.While(negated(first.test), statement.body[1:], [])])
        else:
            guard = ast.If(negated(statement.test), [ast.Break()], [])
            yield spliced(block, index, 1, [ast.While(ast.Constant(True), [guard, *statement.body], [])])


REFACTORINGS = [
    extract_variable,
    inline_variable,
    rename_local,
    invert_if,
    guard_clause,
    else_after_exit,
    loop_to_comprehension,
    comprehension_to_loop,
    any_loop,
    bool_return,
    merge_ifs,
    swap_independent,
    suppress,
    explicit_none,
    conditional_expression,
    split_assignment,
    with_statements,
    split_handler,
    raise_instance,
    augmented_number,
    while_condition,
]
