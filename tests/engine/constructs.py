"""One triple for each construct of the language: code, an equivalent refactoring, and a real change in the construct.

Names are made up; what a snippet does not define is injected. Nothing here runs by itself.
"""

import textwrap


def triple(old, same, changed):
    return tuple(textwrap.dedent(text).strip() + "\n" for text in (old, same, changed))


CONSTRUCTS = {
    "list_comprehension": triple(
        """
        def f(rows):
            return [row * 2 for row in rows]
        """,
        """
        def f(rows):
            found = []
            for row in rows:
                found.append(row * 2)
            return found
        """,
        """
        def f(rows):
            return [row * 3 for row in rows]
        """,
    ),
    "filtered_comprehension": triple(
        """
        def f(rows):
            return [row for row in rows if row]
        """,
        """
        def f(rows):
            found = []
            for row in rows:
                if row:
                    found.append(row)
            return found
        """,
        """
        def f(rows):
            return [row for row in rows if not row]
        """,
    ),
    "nested_comprehension": triple(
        """
        def f(limit):
            return [[a * b for a in range(3)] for b in range(2 if limit else 3)]
        """,
        """
        def f(limit):
            count = 2 if limit else 3
            return [[b * a for a in range(3)] for b in range(count)]
        """,
        """
        def f(limit):
            return [[a + b for a in range(3)] for b in range(2 if limit else 3)]
        """,
    ),
    "dict_and_set_comprehension": triple(
        """
        def f(flag):
            return {key: {part for part in key} for key in ("ab", "cd" if flag else "ef")}
        """,
        """
        def f(flag):
            found = {}
            for key in ("ab", "cd" if flag else "ef"):
                found[key] = set(key)
            return found
        """,
        """
        def f(flag):
            return {key: {part for part in key[1:]} for key in ("ab", "cd" if flag else "ef")}
        """,
    ),
    "generator_expression": triple(
        """
        def f(rows):
            return sum(1 for row in rows)
        """,
        """
        def f(rows):
            count = 0
            for _ in rows:
                count += 1
            return count
        """,
        """
        def f(rows):
            return sum(2 for row in rows)
        """,
    ),
    "lambda": triple(
        """
        def f(x):
            return (lambda value, more=1: (value, more))(x)
        """,
        """
        def f(x):
            def both(value, more=1):
                return value, more
            return both(x)
        """,
        """
        def f(x):
            return (lambda value, more=2: (value, more))(x)
        """,
    ),
    "lambda_bound_to_a_name": triple(
        "f = lambda x: [x, 1]\n",
        "f = lambda x: [x] + [1]\n",
        "f = lambda x: [x, 2]\n",
    ),
    "f_string": triple(
        """
        def f(name, width):
            return f"{name!r:>{4}} {'a' if width else 'b'}"
        """,
        """
        def f(name, width):
            end = "a" if width else "b"
            return "{!r:>4} {}".format(name, end)
        """,
        """
        def f(name, width):
            return f"{name!s:>{4}} {'a' if width else 'b'}!"
        """,
    ),
    "f_string_that_names_its_expression": triple(
        """
        def f(name):
            return f"{name=}"
        """,
        """
        def f(name):
            return "name=" + repr(name)
        """,
        """
        def f(name):
            return f"{name =}"
        """,
    ),
    "walrus": triple(
        """
        def f(rows):
            if (count := len(rows)) > 1:
                return count
            return 0
        """,
        """
        def f(rows):
            count = len(rows)
            if count > 1:
                return count
            return 0
        """,
        """
        def f(rows):
            if (count := len(rows)) > 2:
                return count
            return 0
        """,
    ),
    "decorator_on_a_nested_function": triple(
        """
        def f(x):
            def twice(function):
                def inner(value):
                    return [function(value), function(value)]
                return inner
            @twice
            def own(value):
                return value
            return own(x)
        """,
        """
        def f(x):
            def twice(function):
                return lambda value: [function(value)] * 2
            def own(value):
                return value
            own = twice(own)
            return own(x)
        """,
        """
        def f(x):
            def twice(function):
                def inner(value):
                    return [function(value)]
                return inner
            @twice
            def own(value):
                return value
            return own(x)
        """,
    ),
    "missing_decorator_on_a_nested_function": triple(
        """
        def f(x):
            @app.route("/a")
            def view():
                return x
            return view()
        """,
        """
        def f(x):
            route = app.route("/a")
            @route
            def view():
                return x
            return view()
        """,
        """
        def f(x):
            @app.route("/b")
            def view():
                return [x]
            return view()
        """,
    ),
    "default": triple(
        """
        def f(x, retries=3):
            return retries
        """,
        """
        def f(x, retries=2 + 1):
            return retries
        """,
        """
        def f(x, retries=4):
            return retries
        """,
    ),
    "mutable_default": triple(
        """
        def f(x, seen=[]):
            seen.append(x)
            return len(seen)
        """,
        """
        def f(x, seen=[]):
            seen.append(x)
            count = len(seen)
            return count
        """,
        """
        def f(x, seen=[0]):
            seen.append(x)
            return len(seen)
        """,
    ),
    "missing_name_in_a_default": triple(
        """
        def f(x, limit=settings.LIMIT):
            return [x, limit]
        """,
        """
        def f(x, limit=settings.LIMIT):
            found = [x]
            found.append(limit)
            return found
        """,
        """
        def f(x, limit=settings.LIMIT):
            return [limit, x]
        """,
    ),
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
    "async_with": triple(
        """
        async def f(session):
            async with session.get("/a") as answer:
                return answer.status
        """,
        """
        async def f(session):
            async with session.get("/a") as answer:
                status = answer.status
            return status
        """,
        """
        async def f(session):
            async with session.get("/b") as answer:
                return [answer.status]
        """,
    ),
    "async_for": triple(
        """
        async def f(rows):
            found = []
            async for row in rows:
                found.append(row)
            return found
        """,
        """
        async def f(rows):
            return [row async for row in rows]
        """,
        """
        async def f(rows):
            found = [0]
            async for row in rows:
                found.append(row)
            return found
        """,
    ),
    "await": triple(
        """
        async def f(client):
            return await client.fetch("a")
        """,
        """
        async def f(client):
            answer = client.fetch("a")
            return await answer
        """,
        """
        async def f(client):
            return [await client.fetch("a")]
        """,
    ),
    "yield": triple(
        """
        def f(rows):
            for row in rows:
                yield row
            yield 7
        """,
        """
        def f(rows):
            yield from rows
            yield 7
        """,
        """
        def f(rows):
            for row in rows:
                yield row
            yield 8
        """,
    ),
    "value_of_a_generator": triple(
        """
        def f(x):
            yield x
            return 1
        """,
        """
        def f(x):
            yield from [x]
            return 2 - 1
        """,
        """
        def f(x):
            yield x
            return 2
        """,
    ),
    "async_generator": triple(
        """
        async def f(rows):
            async for row in rows:
                yield row
            yield 7
        """,
        """
        async def f(rows):
            async for row in rows:
                value = row
                yield value
            yield 3 + 4
        """,
        """
        async def f(rows):
            async for row in rows:
                yield row
            yield 8
        """,
    ),
    "generator_with_send": triple(
        """
        def f(x):
            def total():
                got = 0
                while got is not None:
                    got = yield got
            running = total()
            next(running)
            return [running.send(1), running.send(x and 2)]
        """,
        """
        def f(x):
            def total():
                got = yield 0
                while got is not None:
                    got = yield got
            running = total()
            next(running)
            first = running.send(1)
            return [first, running.send(x and 2)]
        """,
        """
        def f(x):
            def total():
                got = 0
                while got is not None:
                    got = yield got
            running = total()
            next(running)
            return [running.send(2), running.send(x and 2)]
        """,
    ),
    "star_arguments": triple(
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(*(1, 2), rows, **{"a": 3})
        """,
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(1, 2, rows, a=3)
        """,
        """
        def f(rows):
            def join(*values, **named):
                return [values, named]
            return join(*(1, 2), rows, **{"a": 4})
        """,
    ),
    "slices": triple(
        """
        def f(text):
            return [text[1:], text[:2], text[::-1]]
        """,
        """
        def f(text):
            start, end = 1, 2
            return [text[start:], text[:end], text[::-1]]
        """,
        """
        def f(text):
            return [text[2:], text[:2], text[::-1]]
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
    "nested_class_with_private_names": triple(
        """
        def f(x):
            class Box:
                __limit = 3
                def __init__(self):
                    self.__items = [x]
                def get(self):
                    return [self.__items, self.__limit]
            return Box().get()
        """,
        """
        def f(x):
            class Box:
                __limit = 2 + 1
                def __init__(self):
                    self.__items = list([x])
                def get(self):
                    return [self._Box__items, self.__limit]
            return Box().get()
        """,
        """
        def f(x):
            class Box:
                __limit = 4
                def __init__(self):
                    self.__items = [x]
                def get(self):
                    return [self.__items, self.__limit]
            return Box().get()
        """,
    ),
    "class_body_with_missing_names_and_bases": triple(
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    return [x, 1]
            return Model().value()
        """,
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    found = [x]
                    found.append(1)
                    return found
            return Model().value()
        """,
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    return [x, 2]
            return Model().value()
        """,
    ),
    "super_without_arguments": triple(
        """
        class A(Base):
            def f(self, x):
                super().f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                parent = super()
                parent.f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super().f(x, 2)
                return 1
        """,
    ),
    "super_with_arguments": triple(
        """
        class A(Base):
            def f(self, x):
                super(A, self).f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super().f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super(A, self).f(x)
                return 1
        """,
    ),
    "super_in_a_nested_class": triple(
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return [super().name(), 1]
            return isinstance(B().name(), list)
        """,
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return [super(B, self).name(), 1]
            return isinstance(B().name(), list)
        """,
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return (super().name(), 1)
            return isinstance(B().name(), list)
        """,
    ),
    "try_except_else_finally": triple(
        """
        def f(text):
            log = []
            try:
                value = int(text)
            except (ValueError, TypeError) as error:
                log.append("bad")
            else:
                log.append(value)
            finally:
                log.append("end")
            return log
        """,
        """
        def f(text):
            log = []
            try:
                value = int(text)
                log.append(value)
            except (TypeError, ValueError):
                log.append("bad")
            log.append("end")
            return log
        """,
        """
        def f(text):
            log = []
            try:
                value = int(text)
            except (ValueError, TypeError) as error:
                log.append("bad")
            else:
                log.append(value)
            finally:
                log.append("done")
            return log
        """,
    ),
    "bare_raise": triple(
        """
        def f(x):
            try:
                if x:
                    raise ValueError("a")
            except ValueError:
                raise
        """,
        """
        def f(x):
            if x:
                raise ValueError("a")
        """,
        """
        def f(x):
            try:
                if x:
                    raise ValueError("a")
            except ValueError:
                return 1
        """,
    ),
    "raise_from": triple(
        """
        def f(x):
            try:
                if x:
                    raise KeyError("a")
            except KeyError as error:
                raise ValueError("b") from error
        """,
        """
        def f(x):
            if x:
                raise ValueError("b") from None
        """,
        """
        def f(x):
            try:
                if x:
                    raise KeyError("a")
            except KeyError as error:
                raise ValueError("c") from error
        """,
    ),
    "raise_of_a_missing_class": triple(
        """
        def f(x):
            if not x:
                raise errors.Missing("a", code=1)
            return 1
        """,
        """
        def f(x):
            if x:
                return 1
            raise errors.Missing("a", code=1)
        """,
        """
        def f(x):
            if not x:
                raise errors.Missing("b", code=1)
            return 1
        """,
    ),
    "assert": triple(
        """
        def f(x):
            assert x, "no x"
            return 1
        """,
        """
        def f(x):
            if not x:
                raise AssertionError("no x")
            return 1
        """,
        """
        def f(x):
            assert x, "nothing"
            return 1
        """,
    ),
    "return_in_finally": triple(
        """
        def f(x):
            try:
                if x:
                    raise ValueError(1)
                return 1
            finally:
                return 2
        """,
        """
        def f(x):
            if x:
                pass
            return 2
        """,
        """
        def f(x):
            try:
                if x:
                    raise ValueError(1)
                return 1
            finally:
                return 3
        """,
    ),
    "recursion": triple(
        """
        def f(n):
            def count(k):
                return 0 if k <= 0 else 1 + count(k - 1)
            return count(5 if n else 6)
        """,
        """
        def f(n):
            def count(k):
                if k > 0:
                    return count(k - 1) + 1
                return 0
            return count(5 if n else 6)
        """,
        """
        def f(n):
            def count(k):
                return 0 if k <= 1 else 1 + count(k - 1)
            return count(5 if n else 6)
        """,
    ),
    "recursion_of_the_function_itself": triple(
        """
        def f(n):
            if not isinstance(n, int) or n <= 0 or n > 20:
                return 0
            return 1 + f(n - 1)
        """,
        """
        def f(n):
            if isinstance(n, int) and 0 < n <= 20:
                return f(n - 1) + 1
            return 0
        """,
        """
        def f(n):
            if not isinstance(n, int) or n <= 0 or n > 20:
                return 0
            return 2 + f(n - 1)
        """,
    ),
    "returned_closure": triple(
        """
        def f(x):
            def inner(y):
                return [x, y, 1]
            return inner
        """,
        """
        def f(x):
            return lambda y: [x, y, 1]
        """,
        """
        def f(x):
            def inner(y):
                return [x, y, 2]
            return inner
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
    "property_static_and_class_method_of_a_nested_class": triple(
        """
        def f(x):
            class Box:
                size = 3
                @property
                def double(self):
                    return self.size * 2
                @staticmethod
                def fixed(value):
                    return [value]
                @classmethod
                def made(cls):
                    return cls()
            return [Box.made().double, Box.fixed(x)]
        """,
        """
        def f(x):
            class Box:
                size = 3
                double = property(lambda self: self.size + self.size)
                fixed = staticmethod(lambda value: [value])
                made = classmethod(lambda cls: cls())
            return [Box.made().double, Box.fixed(x)]
        """,
        """
        def f(x):
            class Box:
                size = 4
                @property
                def double(self):
                    return self.size * 2
                @staticmethod
                def fixed(value):
                    return [value]
                @classmethod
                def made(cls):
                    return cls()
            return [Box.made().double, Box.fixed(x)]
        """,
    ),
    "property": triple(
        """
        class A:
            @property
            def f(self):
                return [self.size, 1]
        """,
        """
        class A:
            @property
            def f(self):
                size = self.size
                return [size, 1]
        """,
        """
        class A:
            @property
            def f(self):
                return [self.size, 2]
        """,
    ),
    "static_method": triple(
        """
        class A:
            @staticmethod
            def f(x):
                return [x, 1]
        """,
        """
        class A:
            @staticmethod
            def f(x):
                return [x] + [1]
        """,
        """
        class A:
            @staticmethod
            def f(x):
                return [x, 2]
        """,
    ),
    "class_method": triple(
        """
        class A:
            @classmethod
            def f(cls, x):
                return [cls.kind, x, 1]
        """,
        """
        class A:
            @classmethod
            def f(cls, x):
                kind = cls.kind
                return [kind, x, 1]
        """,
        """
        class A:
            @classmethod
            def f(cls, x):
                return [cls.kind, x, 2]
        """,
    ),
    "private_names_of_the_class_around": triple(
        """
        class A:
            def f(self, x):
                self.__value = x
                return [self.__value, 1]
        """,
        """
        class A:
            def f(self, x):
                self._A__value = x
                return [self.__value, 1]
        """,
        """
        class A:
            def f(self, x):
                self.__value = x
                return [self.__value, 2]
        """,
    ),
    "keyword_only_parameters": triple(
        """
        def f(*, a, b=1):
            return [a, b]
        """,
        """
        def f(*, b=1, a):
            found = [a]
            found.append(b)
            return found
        """,
        """
        def f(*, a, b=2):
            return [a, b]
        """,
    ),
    "positional_only_parameters": triple(
        """
        def f(a, b=1, /, c=2):
            return [a, c]
        """,
        """
        def f(a, b=1, /, c=2):
            return list((a, c))
        """,
        """
        def f(a, b=1, /, c=3):
            return [a, c]
        """,
    ),
    "variable_arguments": triple(
        """
        def f(*args, **kwargs):
            return [len(args), kwargs.get("mode", 1)]
        """,
        """
        def f(*args, **kwargs):
            mode = kwargs["mode"] if "mode" in kwargs else 1
            return [len(args), mode]
        """,
        """
        def f(*args, **kwargs):
            return [len(args), kwargs.get("mode", 2)]
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
    "class_cell": triple(
        """
        class A:
            def f(self, x):
                return [__class__.__name__, x]
        """,
        """
        class A:
            def f(self, x):
                name = __class__.__name__
                return [name, x]
        """,
        """
        class A:
            def f(self, x):
                return [x, __class__.__name__]
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
    "chained_comparison_and_booleans": triple(
        """
        def f(a, b):
            return 0 < len(a) <= 2 and not b or 7
        """,
        """
        def f(a, b):
            size = len(a)
            return (size > 0 and size <= 2 and not b) or 7
        """,
        """
        def f(a, b):
            return 0 < len(a) <= 2 and not b or 8
        """,
    ),
    "unpacking": triple(
        """
        def f(pair):
            first, (second, *rest) = 1, (pair, 2, 3)
            return [first, second, rest]
        """,
        """
        def f(pair):
            first, second = 1, pair
            rest = [2, 3]
            return [first, second, rest]
        """,
        """
        def f(pair):
            first, (*rest, second) = 1, (pair, 2, 3)
            return [first, second, rest]
        """,
    ),
    "unpacking_of_what_is_injected": triple(
        """
        def f(pair):
            first, second = pair
            return [first, second]
        """,
        """
        def f(pair):
            (first, second) = pair
            found = [first]
            found.append(second)
            return found
        """,
        """
        def f(pair):
            first, second = pair
            return [second, first]
        """,
    ),
    "non_ascii_names": triple(
        """
        def f(größe):
            return ["é", größe]
        """,
        """
        def f(größe):
            return ["\\u00e9", größe]
        """,
        """
        def f(größe):
            return ["e", größe]
        """,
    ),
    "dataclass_in_a_function": triple(
        """
        def f(x):
            from dataclasses import dataclass, field
            return [x, 1]
        """,
        """
        def f(x):
            import dataclasses
            return [x] + [1]
        """,
        """
        def f(x):
            from dataclasses import dataclass, field
            return [x, 2]
        """,
    ),
}

# Syntax that the oldest supported Python does not read.
NEWER_CONSTRUCTS = {
    "except_star": (
        (3, 11),
        triple(
            """
            def f(x):
                found = 2
                try:
                    if x:
                        raise ExceptionGroup("g", [ValueError(1)])
                except* ValueError as group:
                    found = 1
                return found
            """,
            """
            def f(x):
                if x:
                    return 1
                return 2
            """,
            """
            def f(x):
                found = 2
                try:
                    if x:
                        raise ExceptionGroup("g", [ValueError(1)])
                except* ValueError as group:
                    found = 3
                return found
            """,
        ),
    ),
}
