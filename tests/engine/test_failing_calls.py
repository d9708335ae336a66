"""Calls fail where the versions clean up differently after a failure, whether or not a handler names it."""

from .layers import expect_in, over
from .snippets import CHANGING, PRESERVING, channels, code, expect

# name: (what stands before both, old, new).
CLEANUPS_LOST = {
    "a lock that stays held": (
        "",
        """
        def f(lock, job):
            lock.acquire()
            try:
                job.work()
            finally:
                lock.release()
        """,
        """
        def f(lock, job):
            lock.acquire()
            job.work()
            lock.release()
        """,
    ),
    "a with written out without a finally": (
        "",
        """
        def f(self, job):
            with self.lock:
                self.work(job)
        """,
        """
        def f(self, job):
            self.lock.acquire()
            self.work(job)
            self.lock.release()
        """,
    ),
    "a file that stays open": (
        "",
        """
        def f(path, store):
            with store.open(path) as file:
                return file.read()
        """,
        """
        def f(path, store):
            file = store.open(path)
            found = file.read()
            file.close()
            return found
        """,
    ),
    "a flag that stays set": (
        "",
        """
        def f(self, job):
            self.busy = True
            try:
                self.run(job)
            finally:
                self.busy = False
        """,
        """
        def f(self, job):
            self.busy = True
            self.run(job)
            self.busy = False
        """,
    ),
    "a lock in a coroutine": (
        "",
        """
        async def f(lock, job):
            await lock.acquire()
            try:
                await job.work()
            finally:
                lock.release()
        """,
        """
        async def f(lock, job):
            await lock.acquire()
            await job.work()
            lock.release()
        """,
    ),
    "a second effect that follows a failed first one": (
        "",
        """
        def f(store, bus, item):
            store.save(item)
            bus.notify(item)
        """,
        """
        def f(store, bus, item):
            try:
                store.save(item)
            finally:
                bus.notify(item)
        """,
    ),
    "a handler for any failure": (
        "",
        """
        def f(db, item):
            try:
                db.insert(item)
            except:
                db.rollback()
                raise
            db.commit()
        """,
        """
        def f(db, item):
            db.insert(item)
            db.commit()
        """,
    ),
    "a call of the standard library": (
        "import os\n\n",
        """
        def f(path, job):
            before = os.getcwd()
            os.chdir(path)
            try:
                job.run()
            finally:
                os.chdir(before)
        """,
        """
        def f(path, job):
            before = os.getcwd()
            os.chdir(path)
            job.run()
            os.chdir(before)
        """,
    ),
}

SAME_CLEANUPS = {
    "a with in place of acquire, try and release": (
        """
        def f(self, job):
            self.lock.acquire()
            try:
                return self.work(job)
            finally:
                self.lock.release()
        """,
        """
        def f(self, job):
            with self.lock:
                return self.work(job)
        """,
    ),
    "an async with in place of them": (
        """
        async def f(lock, job):
            await lock.acquire()
            try:
                return await job.work()
            finally:
                lock.release()
        """,
        """
        async def f(lock, job):
            async with lock:
                return await job.work()
        """,
    ),
    "two unrelated effects in the other order": (
        """
        def f(a, b, item):
            a.save(item)
            b.notify(item)
        """,
        """
        def f(a, b, item):
            b.notify(item)
            a.save(item)
        """,
    ),
    "two unrelated effects in the other order within a with": (
        """
        def f(lock, a, b, item):
            with lock:
                a.save(item)
                b.notify(item)
        """,
        """
        def f(lock, a, b, item):
            with lock:
                b.notify(item)
                a.save(item)
        """,
    ),
    "two unrelated effects in the other order before a finally": (
        """
        def f(conn, a, b, item):
            try:
                a.save(item)
                b.notify(item)
            finally:
                conn.close()
        """,
        """
        def f(conn, a, b, item):
            try:
                b.notify(item)
                a.save(item)
            finally:
                conn.close()
        """,
    ),
    "a variable in a with, and another name": (
        """
        def f(self, path):
            with self.fs.open(path) as file:
                return self.parse(file.read())
        """,
        """
        def f(self, path):
            with self.fs.open(path) as stream:
                text = stream.read()
                return self.parse(text)
        """,
    ),
    "work on what was read after the file is closed": (
        """
        def f(self, path):
            with self.fs.open(path) as file:
                text = file.read()
                return self.parse(text)
        """,
        """
        def f(self, path):
            with self.fs.open(path) as file:
                text = file.read()
            return self.parse(text)
        """,
    ),
    "two with statements in one": (
        """
        def f(a, b):
            with a.open() as x:
                with b.open() as y:
                    y.write(x.read())
        """,
        """
        def f(a, b):
            with a.open() as x, b.open() as y:
                y.write(x.read())
        """,
    ),
}


CONTEXTS = ["function", "module"]


@over(CLEANUPS_LOST, context=CONTEXTS)
def test_a_cleanup_that_a_failure_skips_is_a_change(name, runs):
    before, *texts = CLEANUPS_LOST[name]
    old, new = (before + code(text) for text in texts)
    expect_in(runs, CHANGING, old, new, function="f")
    expect_in(runs, CHANGING, new, old, function="f")


@over(SAME_CLEANUPS, seed=[0, 1], context=CONTEXTS)
def test_the_same_cleanup_written_differently_is_no_change(name, runs):
    expect_in(runs, PRESERVING, *SAME_CLEANUPS[name])


def test_the_reproducer_of_a_lost_cleanup_holds():
    _, old, new = CLEANUPS_LOST["a flag that stays set"]
    comparison = expect(CHANGING, old, new)
    assert "arguments" in channels(comparison)
    assert comparison.to_dict()["pairs"][0]["reproducer"]["holds"]


def test_a_lock_of_the_module_that_stays_held_is_seen_and_does_not_block_what_follows():
    before = "import threading\n\nLOCK = threading.Lock()\n\n"
    old = "def f(job):\n    LOCK.acquire()\n    try:\n        job.work()\n    finally:\n        LOCK.release()\n"
    new = "def f(job):\n    LOCK.acquire()\n    job.work()\n    LOCK.release()\n"
    expect(CHANGING, before + old, before + new, context="module", function="f")
    with_lock = "def f(job):\n    with LOCK:\n        job.work()\n"
    expect(PRESERVING, before + old, before + with_lock, context="module", function="f")


PROXY = """
    from unittest import mock

    Proxy = type("Proxy", (), {{"names": mock.PropertyMock(side_effect=RuntimeError("nothing around"))}})
    request = Proxy()


    def f(job):
        {body}
    """


def test_what_a_proxy_stands_for_is_injected():
    def of(body):
        return PROXY.format(body=body)

    old = of("return [name for name in request.names], job")
    expect(PRESERVING, old, of("found = [name for name in request.names]; return found, job"), context="module")
    expect(CHANGING, old, of("return [name for name in request.names][1:], job"), context="module")
    # What the library raises is no missing attribute: the clause runs only where one is decided on.
    guarded = "try:\n            return request.names\n        except AttributeError:\n            return {0}"
    comparison = expect(CHANGING, of(guarded.format("1")), of(guarded.format("2")), context="module")
    choices = comparison.to_dict()["pairs"][0]["witness"]["choices"]
    assert "request.names" in {choice["path"] for choice in choices if choice["decision"] == "fail"}, choices
    # A failure for which some version is prepared is behavior.
    guarded = "try:\n            return request.names\n        except RuntimeError:\n            return {0}"
    expect(CHANGING, of(guarded.format("1")), of(guarded.format("2")), context="module")
