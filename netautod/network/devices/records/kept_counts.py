"""Counts that a node keeps with the revision that the organization had before they were made.

A count serves while there is no newer revision, and for `SECONDS` at most: a writer that dies before it moves
the revision leaves an old count for no longer than that.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

SECONDS = 30.0
MOST = 1000

Key = TypeVar("Key", bound=Hashable)
Count = TypeVar("Count")
Revision = tuple[int, ...]
"""Of each kind of write that changes the count; each part only grows."""


@dataclass(frozen=True, kw_only=True)
class _Kept(Generic[Count]):
    """A count made no earlier than `counted_at` (monotonic), when the organization had the revision."""

    count: Count
    revision: Revision
    counted_at: float


class KeptCounts(Generic[Key, Count]):
    """The `MOST` counts that were used last, by key; one object per node and kind of count."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._kept: OrderedDict[Key, _Kept[Count]] = OrderedDict()
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self,
        key: Key,
        *,
        revision: Callable[[], Awaitable[Revision]],
        count: Callable[[], Awaitable[Count]],
        is_usable: Callable[[Count], bool] = lambda _: True,
    ) -> Count:
        """Return the kept count, or count anew where the organization has a newer revision by now."""
        now = await revision()
        if (kept := self._find(key, now, is_usable)) is not None:
            return kept.count
        # One count at a time per key. A caller that waited takes the other's count if that is new enough.
        # The newest revision is read again, so that no caller waits for more than two counts.
        async with self._locks.setdefault(key, asyncio.Lock()):
            if (kept := self._find(key, now, is_usable)) is not None:
                return kept.count
            now, began = await revision(), self._monotonic()
            kept = _Kept(count=await count(), revision=now, counted_at=began)
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept.count

    def _find(self, key: Key, revision: Revision, is_usable: Callable[[Count], bool]) -> _Kept[Count] | None:
        kept = self._kept.get(key)
        if kept is None or any(old < new for old, new in zip(kept.revision, revision, strict=True)):
            return None
        if self._monotonic() - kept.counted_at > SECONDS or not is_usable(kept.count):
            return None
        self._kept.move_to_end(key)
        return kept
