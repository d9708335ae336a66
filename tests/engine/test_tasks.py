"""Code around `asyncio`: tasks, queues and locks are real, and what runs in them is injected."""

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING, expect

# name: (old, new)
PRESERVED = {
    "a time limit by name or by position": (
        """
        import asyncio

        async def f(probe, host, default='unknown', seconds=0.05):
            try:
                status = await asyncio.wait_for(probe(host), timeout=seconds)
                return f'{host}: {status}'
            except Exception:
                return f'{host}: {default}'
        """,
        """
        import asyncio

        async def f(probe, host, default='unknown', seconds=0.05):
            try:
                status = await asyncio.wait_for(probe(host), seconds)
            except Exception:
                status = default
            return f'{host}: {status}'
        """,
    ),
    "a queue that is asked or tried": (
        """
        import asyncio

        async def f(items: list, handle):
            queue = asyncio.Queue()
            for item in items:
                queue.put_nowait(item)
            results = []
            while not queue.empty():
                item = queue.get_nowait()
                results.append(await handle(item))
            return results
        """,
        """
        import asyncio

        async def f(items: list, handle):
            queue = asyncio.Queue()
            for item in items:
                queue.put_nowait(item)
            results = []
            while True:
                try:
                    item = queue.get_nowait()
                except asyncio.QueueEmpty:
                    return results
                results.append(await handle(item))
        """,
    ),
    "callbacks of tasks": (
        """
        import asyncio

        async def f(upload, files: list, finished: list):
            tasks = []
            for name in files:
                task = asyncio.create_task(upload(name))
                task.add_done_callback(lambda done, name=name: finished.append((name, done.exception() is None)))
                tasks.append(task)
            if tasks:
                await asyncio.wait(tasks)
            await asyncio.sleep(0)
            return sum(1 for task in tasks if task.exception() is None)
        """,
        """
        import asyncio

        async def f(upload, files: list, finished: list):
            tasks = []
            for name in files:
                task = asyncio.create_task(upload(name))

                def note(done, name=name):
                    finished.append((name, done.exception() is None))

                task.add_done_callback(note)
                tasks.append(task)
            if tasks:
                await asyncio.wait(tasks)
            await asyncio.sleep(0)
            return len([task for task in tasks if task.exception() is None])
        """,
    ),
    "failures among the results, counted in other ways": (
        """
        import asyncio

        async def f(client, urls: list):
            found = await asyncio.gather(*[client.get(url) for url in urls], return_exceptions=True)
            return len([one for one in found if isinstance(one, Exception)])
        """,
        """
        import asyncio

        async def f(client, urls: list):
            failed = 0
            for one in await asyncio.gather(*[client.get(url) for url in urls], return_exceptions=True):
                if isinstance(one, Exception):
                    failed += 1
            return failed
        """,
    ),
}
DIFFERENT = {
    "a rollback where an error was committed": (
        """
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def transaction(db):
            await db.begin()
            try:
                yield db
            finally:
                await db.commit()

        async def f(db, rows: list[dict]):
            async with transaction(db):
                for row in rows:
                    await db.insert(row)
            return len(rows)
        """,
        """
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def transaction(db):
            await db.begin()
            try:
                yield db
            except Exception:
                await db.rollback()
                raise
            else:
                await db.commit()

        async def f(db, rows: list[dict]):
            async with transaction(db):
                for row in rows:
                    await db.insert(row)
            return len(rows)
        """,
    ),
    "failures among the results": (
        """
        import asyncio

        async def f(client, urls: list):
            tasks = [client.get(url) for url in urls]
            return await asyncio.gather(*tasks, return_exceptions=True)
        """,
        """
        import asyncio

        async def f(client, urls: list):
            tasks = [client.get(url) for url in urls]
            return await asyncio.gather(*tasks)
        """,
    ),
    "a task that nobody waits for": (
        """
        import asyncio

        async def f(fetch, names: list):
            tasks = [asyncio.create_task(fetch(name)) for name in names]
            return [await task for task in tasks]
        """,
        """
        import asyncio

        async def f(fetch, names: list):
            tasks = [asyncio.create_task(fetch(name)) for name in names[:2]]
            return [await task for task in tasks]
        """,
    ),
}


@over(PRESERVED, seed=range(2))
def test_the_same_tasks_are_the_same(name, runs):
    expect_in(runs, PRESERVING, *PRESERVED[name], context="module", function="f")


@over(DIFFERENT, ["a rollback where an error was committed", "failures among the results"], seed=range(2))
def test_what_tasks_do_otherwise_is_found(name, runs):
    expect_in(runs, CHANGING, *DIFFERENT[name], context="module", function="f")


def test_making_an_object_of_the_code_itself_does_not_fail():
    module = (
        "from dataclasses import dataclass, replace\n\n\n@dataclass\nclass Job:\n    name: str\n    tries: int = 0\n"
    )
    old = module + (
        "def f(job: Job, log, send):\n    log.begin()\n    try:\n        send(replace(job, tries=job.tries + 1))\n"
        "    finally:\n        log.end()\n"
    )
    new = old.replace("replace(job, tries=job.tries + 1)", "Job(job.name, job.tries + 1)").replace(
        "    finally:\n        log.end()\n", "    finally:\n        log.end()\n        log.flush()\n"
    )
    comparison = expect(CHANGING, old, new, context="module", function="f")
    assert "raise Job(" not in str(comparison.to_dict()["pairs"][0]["witness"])
