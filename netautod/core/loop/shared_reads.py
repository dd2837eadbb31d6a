"""Database reads that all requests with the same key share for a short time."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from netautod.core.clock import Clock
from netautod.core.work.deadlines import context_for_many, within_patience

V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class _Entry(Generic[V]):
    """A reading, under way or done."""

    started: float
    reading: "asyncio.Task[V | None]"


class SharedReads(Generic[V]):
    """A cache of reads. A value is kept for `seconds`, counted from the moment when the read began.

    So a change that is acknowledged anywhere is seen here that soon after. At most `size` keys are kept;
    reads that failed or found nothing are not.
    """

    def __init__(self, *, clock: Clock, seconds: float, size: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._size = size
        self._entries: OrderedDict[str, _Entry[V]] = OrderedDict()

    async def get(self, key: str, read: Callable[[], Awaitable[V | None]]) -> V | None:
        entry = self._fresh(key) or self._start(key, read)
        if entry.reading.done():
            return entry.reading.result()
        # Shielded: the request that began the reading may go away while others wait for it.
        return await within_patience(asyncio.shield(entry.reading))

    def forget(self, key: str) -> None:
        """Drop a key after this node changed it: the next request reads anew, also past a read in flight."""
        self._entries.pop(key, None)

    def forget_all(self) -> None:
        self._entries.clear()

    def _fresh(self, key: str) -> _Entry[V] | None:
        entry = self._entries.get(key)
        if entry is None or self._clock.monotonic() - entry.started >= self._seconds:
            return None
        self._entries.move_to_end(key)
        return entry

    def _start(self, key: str, read: Callable[[], Awaitable[V | None]]) -> _Entry[V]:
        async def reading() -> V | None:
            return await read()

        task = asyncio.create_task(reading(), name="standing", context=context_for_many())
        entry = _Entry(started=self._clock.monotonic(), reading=task)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)  # the key that was used longest ago
        task.add_done_callback(lambda done: self._drop_useless(key, entry))
        return entry

    def _drop_useless(self, key: str, entry: _Entry[V]) -> None:
        task = entry.reading
        useless = task.cancelled() or task.exception() is not None or task.result() is None
        if useless and self._entries.get(key) is entry:
            del self._entries[key]
