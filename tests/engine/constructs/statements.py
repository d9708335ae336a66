"""Statements: branching, loops, assignments in place, names of other scopes, imports."""

from .triple import triple

CONSTRUCTS = {
    "match": triple(
        """
        def f(command):
            match command:
                case 0 | 1:
                    return "small"
                case [first, *rest] if rest:
                    return "many"
                case {"kind": kind}:
                    return "kind"
                case str():
                    return "text"
                case _:
                    return "other"
        """,
        """
        def f(command):
            match command:
                case 1 | 0:
                    result = "small"
                case [first, *rest] if rest:
                    result = "many"
                case {"kind": kind}:
                    result = "kind"
                case str():
                    result = "text"
                case _:
                    result = "other"
            return result
        """,
        """
        def f(command):
            match command:
                case 0:
                    return "small"
                case [first, *rest] if rest:
                    return "many"
                case {"kind": kind}:
                    return "kind"
                case str():
                    return "text"
                case _:
                    return "other"
        """,
    ),
    "with": triple(
        """
        def f(lock, store):
            with lock:
                store.save(1)
            return True
        """,
        """
        def f(lock, store):
            with lock as held:
                store.save(1)
            return True
        """,
        """
        def f(lock, store):
            store.save(1)
            return True
        """,
    ),
    "several_with_items": triple(
        """
        def f(a, b):
            with a.enter() as x, b.enter() as y:
                return [x, y]
        """,
        """
        def f(a, b):
            with a.enter() as x:
                with b.enter() as y:
                    return [x, y]
        """,
        """
        def f(a, b):
            with a.enter() as x, b.enter() as y:
                return [y, x]
        """,
    ),
    "augmented_assignment": triple(
        """
        def f(x):
            count = 1
            count += 4 if x else 5
            count <<= 1
            return count
        """,
        """
        def f(x):
            count = 1
            count = count + (4 if x else 5)
            return count * 2
        """,
        """
        def f(x):
            count = 1
            count -= 4 if x else 5
            count <<= 1
            return count
        """,
    ),
    "augmented_attribute_and_item": triple(
        """
        def f(stats, x):
            stats.count = 1
            stats.count += 2
            table = {"a": 1}
            table["a"] |= 4
            return [stats.count, table]
        """,
        """
        def f(stats, x):
            stats.count = 1
            stats.count = stats.count + 2
            return [stats.count, {"a": 5}]
        """,
        """
        def f(stats, x):
            stats.count = 1
            stats.count += 3
            table = {"a": 1}
            table["a"] |= 4
            return [stats.count, table]
        """,
    ),
    "del": triple(
        """
        def f(x):
            table = {"a": x, "b": 1}
            del table["a"]
            return table
        """,
        """
        def f(x):
            table = {"a": x, "b": 1}
            table.pop("a")
            return table
        """,
        """
        def f(x):
            table = {"a": x, "b": 1}
            del table["b"]
            return table
        """,
    ),
    "global": triple(
        """
        def f(x):
            global state
            state = [x, 1]
        """,
        """
        def f(x):
            global state
            state = [x] + [1]
        """,
        """
        def f(x):
            global state
            state = [x, 2]
        """,
    ),
    "nonlocal": triple(
        """
        def f(x):
            count = 0
            def step():
                nonlocal count
                count += 1
            step()
            step()
            return [x, count]
        """,
        """
        def f(x):
            count = 0
            def step():
                nonlocal count
                count = count + 1
            for _ in range(2):
                step()
            return [x, count]
        """,
        """
        def f(x):
            count = 0
            def step():
                nonlocal count
                count += 1
            step()
            return [x, count]
        """,
    ),
    "import_of_what_is_there": triple(
        """
        def f(x):
            import json
            return json.dumps([1, 2])
        """,
        """
        def f(x):
            from json import dumps
            return dumps([1, 2])
        """,
        """
        def f(x):
            import json
            return [json.dumps([1, 3])]
        """,
    ),
    "import_of_what_is_missing": triple(
        """
        def f(x):
            from no.such.package import thing as other
            import no.such.module as module
            return [other(x), module.value]
        """,
        """
        def f(x):
            import no.such.module as module
            from no.such.package import thing
            return [thing(x), module.value]
        """,
        """
        def f(x):
            from no.such.package import thing as other
            import no.such.module as module
            return [other(x), module.worth]
        """,
    ),
    "relative_import": triple(
        """
        def f(x):
            from . import helpers
            from .more import name
            return [helpers.clean(x), name]
        """,
        """
        def f(x):
            from .more import name
            from . import helpers
            cleaned = helpers.clean(x)
            return [cleaned, name]
        """,
        """
        def f(x):
            from . import helpers
            from .more import name
            return [helpers.clean(x, 1), name]
        """,
    ),
    "locals": triple(
        """
        def f(a):
            b = 1
            return sorted(locals())
        """,
        """
        def f(a):
            b = 1
            names = list(locals())
            names.sort()
            return names
        """,
        """
        def f(a):
            c = 1
            d = c
            return sorted(locals())
        """,
    ),
    "eval": triple(
        """
        def f(x):
            return eval("[x, 1]")
        """,
        """
        def f(x):
            return [x, 1]
        """,
        """
        def f(x):
            return eval("[x, 2]")
        """,
    ),
    "exec": triple(
        """
        def f(x):
            space = {"x": x}
            exec("y = [x, 1]", space)
            return space["y"]
        """,
        """
        def f(x):
            return [x, 1]
        """,
        """
        def f(x):
            space = {"x": x}
            exec("y = [x, 2]", space)
            return space["y"]
        """,
    ),
    "while_with_else_break_and_continue": triple(
        """
        def f(x):
            n = 0
            while n < 5:
                n += 1
                if n == 2:
                    continue
                if n == 4 and x:
                    break
            else:
                return "all"
            return n
        """,
        """
        def f(x):
            for n in range(1, 6):
                if n == 4 and x:
                    return n
            return "all"
        """,
        """
        def f(x):
            n = 0
            while n < 5:
                n += 1
                if n == 2:
                    continue
                if n == 3 and x:
                    break
            else:
                return "all"
            return n
        """,
    ),
}
