"""A lease that this node holds, and the two questions about it: may we still act, is it still ours?

The first one is answered by this node's own clock, since another node may have taken over while we heard
nothing: code that acts must know it at once. The second one is answered by the database alone, because what
has been done stays done: it is written as soon as the database says that no node has taken over.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from netautod.core.clock import Clock
from netautod.core.work.guard import LeaseLostError
from netautod.store.client import Document

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
USED_UP = 1 / 3  # of a lease: with less than the rest of it left no work is started


@dataclass(frozen=True, kw_only=True)
class LeaseTimes:
    """The times of leases in seconds: a lease, between heartbeats, and without one until the node gives up by
    itself.
    """

    lease: float
    heartbeat: float
    abandon: float


@dataclass(kw_only=True, eq=False)
class Lease:
    """A lease held by this node. `guard()` is called before anything leaves the node, `writable()` before
    anything is written.

    `acknowledged_at` is when the last claim or heartbeat that got an answer was sent (monotonic, seconds);
    without one for `abandon` seconds the work has to stop, and `on_lost` is called, once. `lost` is the
    database's word, or that of a holder who has ended. `hurry` requests a heartbeat at once. `on_wanted` is
    called whenever another one is seen to wait for the row: the holder may give way.
    """

    row_id: str
    epoch: int
    row: Document
    clock: Clock
    times: LeaseTimes
    acknowledged_at: float
    on_lost: Callable[[], None] = lambda: None
    hurry: Callable[[], None] = lambda: None
    on_wanted: Callable[[], None] = lambda: None
    stopped: bool = False
    lost: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def fence(self) -> Document:
        """The filter of every write to the row: no match means that the lease is gone."""
        return {"_id": self.row_id, "owner": self.row["owner"], "epoch": self.epoch}

    def guard(self) -> None:
        """Raise LeaseLostError if the lease is lost, or was unconfirmed for so long that it might be."""
        if self.expired(self.clock.monotonic()):
            self.stop()
        if self.stopped:
            raise LeaseLostError("this node no longer holds the lease")

    def writable(self) -> None:
        """Raise LeaseLostError unless the lease has been confirmed lately: `confirmed` waits for that."""
        if self.lost or self.expired(self.clock.monotonic()):
            raise LeaseLostError("this node does not know whether it still holds the lease")

    def confirm(self, sent_at: float) -> None:
        self.acknowledged_at = max(self.acknowledged_at, sent_at)
        self._news.set()

    def expired(self, now: float) -> bool:
        return now - self.acknowledged_at > self.times.abandon

    def stop(self) -> None:
        """End the work; what it has done may still be written."""
        if not self.stopped:
            self.stopped = True
            self.on_lost()

    def lose(self) -> None:
        """Mark the lease as lost: nothing more may be written either."""
        self.lost = True
        self._news.set()
        self.stop()

    async def confirmed(self, *, since: float) -> None:
        """Wait until the database has confirmed a claim or heartbeat that was sent at that time or later.

        Raises LeaseLostError if the lease is lost; waits as long as the database does not answer.
        """
        while not self.lost and self.acknowledged_at < since:
            self._news.clear()
            self.hurry()
            await self._news.wait()
        if self.lost:
            raise LeaseLostError("another node holds the lease")

    async def known(self) -> None:
        """Wait until the lease is known to be ours: no wait if it was confirmed lately."""
        await self.confirmed(since=self.clock.monotonic() - self.times.abandon)

    @property
    def used_up(self) -> bool:
        """Return whether too little of the lease is left to start something: the claim's acknowledgement may
        come late.
        """
        return self.acknowledged_at < self._young_since()

    async def fresh(self) -> None:
        """Wait until at least two thirds of the lease are left. Raises LeaseLostError."""
        await self.confirmed(since=self._young_since())
        self.guard()

    def _young_since(self) -> float:
        return self.clock.monotonic() - self.times.lease * USED_UP
