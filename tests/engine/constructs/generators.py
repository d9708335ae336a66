"""Generators and coroutines."""

from .triple import triple

CONSTRUCTS = {
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
}
