"""Studies on other processes: any executor of PEP 3148, such as `ProcessPoolExecutor`, Dask's and ipyparallel's.

Rust decides which changes are handed out and what happens to lost ones. This module only speaks to executors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import TimeoutError as FutureTimeout
from queue import Empty, SimpleQueue
from typing import Any

from . import _twincell
from ._twincell import TwincellError

#: Seconds until workers must have introduced themselves.
PATIENCE = 120.0
#: Seconds after which the number of workers is looked up again: a cluster grows and shrinks.
RECOUNT = 5.0
#: Errors that every chunk would raise. They are known by name, since some executors send only the name.
USELESS = ("TwincellError", "ImportError", "ModuleNotFoundError", "AttributeError", "PicklingError", "TypeError")


def introduce(options: str) -> str:
    """Runs in a worker. Returns a fingerprint of what its results depend on; equal fingerprints give equal results."""
    return _twincell.study_fingerprint(options, compares=True)


def compare_chunk(chunk: str, options: str, fingerprint: str, ticket: int) -> str:
    """Runs in a worker. The ticket makes each call unique, since some executors cache equal calls."""
    del ticket
    return _twincell.compare_chunk(chunk, options, fingerprint)


class Farm:
    """An executor, with the interface that `study/farm.rs` expects."""

    def __init__(self, executor: Executor | Callable[[], Executor], options: str) -> None:
        """`executor` may be a function that makes one. It is called again when an executor's processes break down."""
        self._make = None if hasattr(executor, "submit") else executor
        if self._make is not None and not callable(self._make):
            raise TwincellError(
                f"executor cannot be {executor!r}: give an executor, such as concurrent.futures.ProcessPoolExecutor(), "
                "or a function that makes one"
            )
        self._options = options
        self._fingerprint = _twincell.study_fingerprint(options)
        self._executor: Executor = executor if self._make is None else self._make()  # type: ignore[assignment]
        self._ended: SimpleQueue[tuple[int, Future[str]]] = SimpleQueue()
        self._out: dict[int, Future[str]] = {}
        self._counted = 0.0
        #: Maximum number of chunks handed out at a time.
        self.chunks = 1
        try:
            self._check_workers()
        except BaseException:
            self.leave()
            raise
        self._count()

    def _check_workers(self) -> None:
        # The first call starts the processes. It is made here, before Rust starts threads, because a process that is
        # forked beside other threads may inherit their locks.
        try:
            future = self._executor.submit(introduce, self._options)
            theirs = wait(future)
        except TwincellError:
            raise
        except Exception as error:
            raise TwincellError(f"the workers of {name(self._executor)} cannot be used: {in_one_line(error)}") from None
        if theirs != self._fingerprint:
            raise TwincellError(
                f"the workers of {name(self._executor)} have another twincell, another Python, or another model at the "
                f"same place: install twincell {_twincell.__version__} where they run, for the Python that runs here"
            )

    def _count(self) -> None:
        if time.monotonic() - self._counted > RECOUNT:
            self._counted = time.monotonic()
            # For each worker, one chunk to work on and one to begin with next.
            self.chunks = 2 * max(1, workers(self._executor))

    def hand_out(self, ticket: int, chunk: str) -> tuple[str, str] | None:
        """Gives a chunk to a worker. Returns the kind of the failure and its reason if that is impossible."""
        try:
            future = self._executor.submit(compare_chunk, chunk, self._options, self._fingerprint, ticket)
        except Exception as error:
            # The executor takes nothing: it is shut down, broken, or without workers.
            kind = "useless" if type(error).__name__ in USELESS else "broken"
            return kind, in_one_line(error)
        self._out[ticket] = future
        future.add_done_callback(lambda future: self._ended.put((ticket, future)))
        return None

    def ended(self, patience: float) -> list[tuple[int, str, str]]:
        """The calls that have ended: ticket, `done` or the kind of the failure, and the answer or the reason."""
        self._count()
        answers = []
        try:
            answers.append(self._answer(*self._ended.get(timeout=patience)))
            while True:
                answers.append(self._answer(*self._ended.get_nowait()))
        except Empty:
            return answers

    def _answer(self, ticket: int, future: Future[str]) -> tuple[int, str, str]:
        self._out.pop(ticket, None)
        try:
            return ticket, "done", future.result(timeout=0)
        except (BrokenExecutor, CancelledError) as error:
            return ticket, "broken", in_one_line(error)
        except Exception as error:
            # ipyparallel sends the name of the error instead of the error.
            kind = getattr(error, "ename", type(error).__name__)
            return ticket, "useless" if kind in USELESS else "lost", in_one_line(error)

    def renew(self) -> None:
        """Replaces an executor that broke."""
        if self._make is None:
            raise TwincellError(
                "run the study again with a new executor, and it goes on where it was; or give a function that makes "
                "executors, such as executor=lambda: ProcessPoolExecutor()"
            )
        self._close()
        self._executor = self._make()
        self._counted = 0.0

    def leave(self) -> None:
        """Cancels the calls that nobody waits for any more."""
        for future in list(self._out.values()):
            future.cancel()
        self._out.clear()
        if self._make is not None:
            self._close()

    def _close(self) -> None:
        try:
            self._executor.shutdown(wait=False)
        except Exception:  # A broken executor may even refuse to shut down.
            pass
        close = getattr(self._executor, "twincell_close", None)
        if close is not None:
            close()


def wait(future: Future[str]) -> str:
    """Waits for the result. Signals are handled meanwhile."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return future.result(timeout=0.1)
        except FutureTimeout as error:
            if future.done():
                raise
            if time.monotonic() > until:
                future.cancel()
                raise TwincellError(
                    f"no worker answered within {PATIENCE:.0f} seconds: see that there are workers, and that they do "
                    "nothing else"
                ) from error


def workers(executor: Any) -> int:
    """How many calls the executor works on at a time, as far as it says."""
    try:
        client = getattr(executor, "_client", None)
        if client is not None:
            return sum(client.nthreads().values())
        view = getattr(executor, "view", None)
        if view is not None:
            return len(view.client.ids)
        return int(executor._max_workers)
    except Exception:  # Each executor has its own way to say this, and may change it.
        return os.cpu_count() or 1


def in_one_line(error: BaseException) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    kind = getattr(error, "ename", type(error).__name__)
    if kind == "TwincellError":
        return str(getattr(error, "evalue", text))
    return f"{kind}: {text[:300]}" if text else kind


def name(executor: Any) -> str:
    return type(executor).__name__


def connect(address: str) -> Callable[[], Executor]:
    """A function that makes executors for an address: `dask://HOST:PORT`."""
    scheme, found, place = address.partition("://")
    if scheme != "dask" or not found or not place:
        raise TwincellError(f"--on cannot be {address!r}: give dask://HOST:PORT, the address of a Dask scheduler")
    try:
        from distributed import Client
    except ImportError as error:
        raise TwincellError(
            f"--on {address} needs Dask, which cannot be imported here ({error}): install it with "
            "`pip install distributed`"
        ) from None

    def make() -> Executor:
        try:
            client = Client(f"tcp://{place}", timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise TwincellError(f"no Dask scheduler answers at {place}: {in_one_line(error)}") from None
        executor: Any = client.get_executor(pure=False)
        executor.twincell_close = client.close
        made: Executor = executor
        return made

    return make
