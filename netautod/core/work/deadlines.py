"""Deadlines of database calls: declared where work begins, kept at every call.

Work that declares nothing has as long for each call as the settings say. A request has that long for all of
its calls together; work for which no client waits gets more with `unhurried`. Claims, heartbeats and fences
have less, and threads and connections of their own, whatever work makes them (`Collection.for_leases`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

from netautod.core.errors import UnknownOutcome

P = ParamSpec("P")
T = TypeVar("T")
# Whose threads and connections a call takes: none waits behind another's.
Lane = Literal["ordinary", "leases", "bulk"]
REQUEST_SECONDS = 3.5
BULK_SECONDS = 30.0
LEASE_SECONDS = 2.0
# An index of a large collection, a change of every record: once, before anything is served.
MIGRATION_SECONDS = 3600.0
AWAY = "The database is not available at the moment"


@dataclass(kw_only=True, eq=False)
class Patience:
    """A deadline: `seconds` for each call, or `in_all` for the time in which at least one call is under
    way."""

    seconds: float
    lane: Lane = "ordinary"
    in_all: bool = False
    clock: Callable[[], float] = time.monotonic
    _spent: float = 0.0
    _waiting: int = 0
    _since: float = 0.0

    def left(self) -> float:
        if not self.in_all:
            return self.seconds
        running = self.clock() - self._since if self._waiting else 0.0
        return self.seconds - self._spent - running

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Count a wait; waits that run at the same time count once."""
        self.begin_wait()
        try:
            yield
        finally:
            self.end_wait()

    def begin_wait(self) -> None:
        """Start to count a wait, as `spent` does without the cost of a generator: for each call to the
        database.
        """
        if not self._waiting:
            self._since = self.clock()
        self._waiting += 1

    def end_wait(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._spent += self.clock() - self._since

    def end(self) -> None:
        """End the request: what it left running in the background counts each call by itself."""
        self.in_all = False


_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


def current_patience() -> Patience | None:
    """Return the deadline of the current work, or None if it has declared none."""
    return _current.get()


def begin_request(seconds: float) -> Patience:
    """Start the deadline of a request: its task, and those that it starts, have this long in all."""
    patience = Patience(seconds=seconds, in_all=True)
    _current.set(patience)
    return patience


@contextmanager
def call_by_call(seconds: float = REQUEST_SECONDS) -> Iterator[None]:
    """Count each call by itself: for requests that work on many devices, or write a long answer."""
    with _declared(Patience(seconds=seconds)):
        yield


@contextmanager
def unhurried(seconds: float = BULK_SECONDS) -> Iterator[None]:
    """Give calls more time: for sweeps, imports and syncs, which are better late than cut off."""
    with _declared(Patience(seconds=seconds, lane="bulk")):
        yield


@contextmanager
def migrating() -> Iterator[None]:
    """Give calls the time of migrations: for indexes and changes of old records, at the start."""
    with unhurried(MIGRATION_SECONDS):
        yield


def waits(
    terms: Callable[[], AbstractContextManager[None]],
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Declare a deadline for a whole method: `@waits(unhurried)`."""

    def declare(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(method)
        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            with terms():
                return await method(*args, **kwargs)

        return run

    return declare


@contextmanager
def _declared(patience: Patience) -> Iterator[None]:
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def context_for_many() -> Context:
    """Return a context for a task that works for several requests: one with little time left must not cut it
    off.

    Unhurried work keeps what it declared.
    """
    context, patience = copy_context(), _current.get()
    if patience is not None and patience.lane != "bulk":
        context.run(_current.set, None)
    return context


async def within_patience(answer: Awaitable[T]) -> T:
    """Wait for what another task asks the database; it counts as this request's own waiting."""
    patience = _current.get()
    if patience is None or not patience.in_all:
        return await answer
    with patience.spent():
        limit = asyncio.timeout(patience.left())
        try:
            async with limit:
                return await answer
        except TimeoutError as error:
            if limit.expired():
                raise UnknownOutcome(AWAY) from error
            raise
