"""Functions that remember a call, and functions that others get to call."""

THE_SECOND_CALL = {
    "a default that remembers": (
        """
        def f(item: int, seen=None):
            seen = set() if seen is None else seen
            if item in seen:
                return 'again'
            seen.add(item)
            return 'new'
        """,
        """
        def f(item: int, seen=set()):
            if item in seen:
                return 'again'
            seen.add(item)
            return 'new'
        """,
    ),
    "a default that is a call": (
        """
        import time


        def f(name: str, now=None):
            now = now or time.time()
            return f'{name} {now}'
        """,
        """
        import time


        def f(name: str, now=time.time()):
            return f'{name} {now}'
        """,
    ),
    "a cache in front of an effect": (
        """
        from functools import lru_cache


        def f(name: str):
            print('loading', name)
            return len(name)
        """,
        """
        from functools import lru_cache


        @lru_cache(maxsize=None)
        def f(name: str):
            print('loading', name)
            return len(name)
        """,
    ),
    "a closure that counts": (
        """
        def f(start: int):
            count = start

            def step():
                nonlocal count
                count += 1
                return count

            return step
        """,
        """
        def f(start: int):
            def step():
                count = start
                count += 1
                return count

            return step
        """,
    ),
    "a closure with a list": (
        """
        def f():
            found = []

            def add(item: int):
                found.append(item)
                return sum(found)

            return add
        """,
        """
        def f():
            def add(item: int):
                found = [item]
                return sum(found)

            return add
        """,
    ),
}

THE_SECOND_CALL_TELLS_NOTHING = {
    "a memo of numbers": (
        """
        def f(n: int, memo=None):
            memo = {} if memo is None else memo
            if n not in memo:
                memo[n] = n * n
            return memo[n]
        """,
        """
        def f(n: int, memo=None):
            if memo is None:
                memo = {}
            if n in memo:
                return memo[n]
            memo[n] = n * n
            return memo[n]
        """,
    ),
    "a closure with a name": (
        """
        def f(start: int):
            def step(by: int):
                return start + by

            return step
        """,
        """
        def f(start: int):
            return lambda by: start + by
        """,
    ),
    "a counter in a list": (
        """
        def f(start: int):
            count = start

            def step():
                nonlocal count
                count += 1
                return count

            return step
        """,
        """
        def f(start: int):
            count = [start]

            def step():
                count[0] += 1
                return count[0]

            return step
        """,
    ),
}

CALLBACKS = {
    "an attribute": (
        """
        def f(request, name: str):
            def done(value):
                return value, name

            request.callback = done
            return request
        """,
        """
        def f(request, name: str):
            def done(value):
                return name, value

            request.callback = done
            return request
        """,
    ),
    "an item of a dict": (
        """
        def f(handlers: dict, limit: int):
            handlers['stop'] = lambda count: count > limit
        """,
        """
        def f(handlers: dict, limit: int):
            handlers['stop'] = lambda count: count >= limit
        """,
    ),
    "an item of an object": (
        """
        def f(registry, limit: int):
            registry['stop'] = lambda count: count > limit
        """,
        """
        def f(registry, limit: int):
            registry['stop'] = lambda count: count >= limit
        """,
    ),
    "a tuple that is returned": (
        """
        def f(limit: int):
            return (lambda count: count > limit), 'name'
        """,
        """
        def f(limit: int):
            return (lambda count: count >= limit), 'name'
        """,
    ),
    "a dict that is returned": (
        """
        def f(limit: int):
            def stop(count):
                return count > limit

            return {'stop': stop}
        """,
        """
        def f(limit: int):
            def stop(count):
                return count >= limit

            return {'stop': stop}
        """,
    ),
    "a list that is passed": (
        """
        def f(app, limit: int):
            app.register([lambda count: count > limit])
        """,
        """
        def f(app, limit: int):
            app.register([lambda count: count >= limit])
        """,
    ),
    "a decorator that registers": (
        """
        def f(app, limit: int):
            @app.route('/')
            def stop(count: int):
                return count > limit
        """,
        """
        def f(app, limit: int):
            @app.route('/')
            def stop(count: int):
                return count >= limit
        """,
    ),
    "a decorator without arguments": (
        """
        def f(app, limit: int):
            @app.task
            def stop(count: int):
                return count > limit
        """,
        """
        def f(app, limit: int):
            @app.task
            def stop(count: int):
                return count >= limit
        """,
    ),
    "a partial": (
        """
        from functools import partial


        def f(app, limit: int):
            def stop(most, count):
                return count > most

            app.register(partial(stop, limit))
        """,
        """
        from functools import partial


        def f(app, limit: int):
            def stop(most, count):
                return count >= most

            app.register(partial(stop, limit))
        """,
    ),
}

THE_SAME_CALLBACKS = {
    "a lambda for a function": (
        """
        def f(request, limit: int):
            def stop(count):
                return count > limit

            request.callback = stop
        """,
        """
        def f(request, limit: int):
            request.callback = lambda count: count > limit
        """,
    ),
    "a dict that is written at once": (
        """
        def f(limit: int):
            found = {}
            found['stop'] = lambda count: count > limit
            return found
        """,
        """
        def f(limit: int):
            return {'stop': lambda count: not count <= limit}
        """,
    ),
    "a condition turned round in a decorated function": (
        """
        def f(app, limit: int):
            @app.route('/')
            def stop(count: int):
                return count > limit
        """,
        """
        def f(app, limit: int):
            @app.route('/')
            def stop(count: int):
                return limit < count
        """,
    ),
}
