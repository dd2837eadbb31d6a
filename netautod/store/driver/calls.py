"""One call to the database: in whose threads it waits, for how long, and what is tried again."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from copy import copy
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import pymongo
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from netautod.core.errors import Unavailable, UnknownOutcome
from netautod.core.metrics import Metrics
from netautod.core.work.deadlines import LEASE_SECONDS, REQUEST_SECONDS, Lane, Patience, current_patience
from netautod.store.driver.failures import UNAVAILABLE, raise_translated, translated
from netautod.store.driver.lanes import LaneThreads

T = TypeVar("T")
LEASE_THREADS, BULK_THREADS, FEWEST_THREADS = 8, 4, 8
# One waits for changes all the time; another one while the first is given up.
AWAITING_THREADS = 2
# The driver's own error comes before ours: it knows whether a write was sent at all.
DRIVERS_PART = 0.97
LEAST_SECONDS = 0.001
# The server counts the time of all parts of a cursor together.
CURSOR_SECONDS = 20.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5

_threads: ContextVar[LaneThreads | None] = ContextVar("threads", default=None)


def in_lane(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Run blocking work of the driver in a thread that the current call of `Calls` may take.

    Motor's own way to a thread takes as long as the driver itself, and for a cursor it goes there twice.
    """
    threads = _threads.get()
    assert threads is not None, "only within a call of Calls"
    return threads.run(work)


class LaneFramework:
    """A layer of motor for asyncio in which a call takes a thread of its lane.

    Motor itself has five threads a core for all calls together: as many requests that wait for a server that
    hangs would keep every heartbeat from being sent.
    """

    def __init__(self, base: Any) -> None:
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def run_on_executor(
        self, loop: asyncio.AbstractEventLoop, work: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        threads = _threads.get()
        if threads is None:  # a call of the driver's own, such as the end of a session
            return self._base.run_on_executor(loop, work, *args, **kwargs)
        return threads.run(partial(work, *args, **kwargs))


class _Terms(NamedTuple):
    """The terms of one call: its deadline, the threads in which it waits, and for how many seconds."""

    patience: Patience
    lane: Lane
    seconds: float


class Calls:
    """The calls to one database. `pool` is how many connections requests, runs and bulk work may take; leases
    have their own.

    There are no more threads than connections: a call that waits for its turn waits for a thread.

    `metrics` count each call that the database refused or did not answer, also where the driver had no server
    to send it to. A unique index that refuses a write is an answer.
    """

    def __init__(
        self, *, seconds: float = REQUEST_SECONDS, pool: int = 100, metrics: Metrics | None = None
    ) -> None:
        self._ordinary = Patience(seconds=seconds)
        self._metrics = metrics
        self._leases = False
        bulk = min(BULK_THREADS, pool // 2)
        ordinary = min(max(FEWEST_THREADS, 5 * (os.cpu_count() or 1)), pool - bulk)
        sizes: Mapping[Lane, int] = {"ordinary": ordinary, "bulk": bulk, "leases": LEASE_THREADS}
        self._threads = {lane: _threads_of(lane, size, metrics) for lane, size in sizes.items()}
        self._awaiting = _threads_of("changes", AWAITING_THREADS, metrics)

    def for_leases(self) -> "Calls":
        """Return the calls for claims, heartbeats and fences to the same database."""
        other = copy(self)
        other._leases = True
        return other

    async def read(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Read, and retry after a failure that passes while there is time: reading twice does no harm."""
        terms, pause, clock = self._terms(), FIRST_PAUSE, asyncio.get_running_loop().time
        end = clock() + terms.seconds
        terms.patience.begin_wait()
        try:
            while True:
                try:
                    return await self._once(ask, terms, writing=False, seconds=end - clock())
                except Unavailable:
                    if end - clock() <= pause + LEAST_SECONDS:
                        raise
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
        finally:
            terms.patience.end_wait()

    async def read_once(self, ask: Callable[[], Awaitable[T]]) -> T:
        terms = self._terms()
        with terms.patience.spent():
            return await self._once(ask, terms, writing=False)

    async def part(self, ask: Callable[[], Awaitable[T]], *, first: bool) -> T:
        """Read a part of a long answer, whose cursor cannot be read again; only the first part counts for its
        request.
        """
        terms = self._terms(own=not first)
        with terms.patience.spent():
            return await self._once(ask, terms, writing=False, driver=CURSOR_SECONDS)

    async def write(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Write without a retry of ours; the driver repeats what it can tell from the first time."""
        terms = self._terms()
        with terms.patience.spent():
            return await self._once(ask, terms, writing=True)

    async def awaiting(self, ask: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Wait for what the server answers when something happens, without holding up other calls.

        It runs without the driver's limit, which would become the time that the server waits.
        """
        token = _threads.set(self._awaiting)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                with translated(writing=False):
                    return await ask()
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._count_failure()
            raise Unavailable(UNAVAILABLE) from error
        except (Unavailable, OperationFailure):
            self._count_failure()
            raise
        finally:
            _threads.reset(token)

    def close(self) -> None:
        """End the threads without waiting: a thread that hangs comes back when its time is over."""
        for threads in (*self._threads.values(), self._awaiting):
            threads.close()

    def _count_failure(self) -> None:
        if self._metrics is not None:
            self._metrics.add("database_failures")

    def _terms(self, *, own: bool = False) -> _Terms:
        """Return the terms of a call. With `own` it does not count for the request."""
        patience = current_patience() or self._ordinary
        if patience.in_all and own:
            patience = self._ordinary
        lane, seconds = patience.lane, patience.left()
        if patience.in_all:
            seconds = min(seconds, self._ordinary.seconds)
        if self._leases:
            lane, seconds = "leases", min(seconds, LEASE_SECONDS)
        return _Terms(patience=patience, lane=lane, seconds=seconds)

    async def _once(
        self,
        ask: Callable[[], Awaitable[T]],
        terms: _Terms,
        *,
        writing: bool,
        seconds: float | None = None,
        driver: float | None = None,
    ) -> T:
        """Call the driver once. `seconds`: the time that is left (None: all of the terms'); `driver`: the
        limit of the driver itself, where it covers more than this call.
        """
        seconds = terms.seconds if seconds is None else seconds
        if seconds <= LEAST_SECONDS:
            raise Unavailable(UNAVAILABLE)
        token = _threads.set(self._threads[terms.lane])
        try:
            try:
                with pymongo.timeout(driver or seconds * DRIVERS_PART):
                    return await _in_time(ask(), seconds)
            except PyMongoError as error:
                raise_translated(error, writing=writing)
            except _CutOff as error:
                raise (UnknownOutcome if writing else Unavailable)(UNAVAILABLE) from error
        except BulkWriteError:  # duplicates, but for what is no fault of the database
            raise
        except (Unavailable, OperationFailure):
            self._count_failure()
            raise
        finally:
            _threads.reset(token)


def _threads_of(lane: str, size: int, metrics: Metrics | None) -> LaneThreads:
    def waited(seconds: float) -> None:
        assert metrics is not None
        metrics.observe("database_thread_wait_seconds", seconds, lane)

    return LaneThreads(size, f"mongo {lane}", waited=None if metrics is None else waited)


class _CutOff(Exception):
    """The time of a call is over."""


async def _in_time(answer: Awaitable[T], seconds: float) -> T:
    """Await the answer. Raises _CutOff after so many seconds."""
    if type(answer) is not asyncio.Future:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await answer
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise _CutOff from error
    # The answer of a lane, as nearly always: asyncio.timeout takes four times as long.
    future = cast("asyncio.Future[T]", answer)
    timer = asyncio.get_running_loop().call_later(seconds, _cut_off, future)
    try:
        return await future
    finally:
        timer.cancel()


def _cut_off(answer: "asyncio.Future[Any]") -> None:
    if not answer.done():
        answer.set_exception(_CutOff())
