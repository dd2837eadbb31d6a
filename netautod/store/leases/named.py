"""Named leases: "only one node at a time may do this", for things that are no rows of their own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from netautod.core.errors import Duplicate, Unavailable
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.store.batching import Batcher
from netautod.store.client import Database, Filter
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease

COLLECTION = "leases"
FIRST_WAIT, LONGEST_WAIT = 0.1, 2.0


async def held_names(database: Database) -> list[str]:
    """Return all held names, also those of dead nodes until their leases have run out."""
    held = {"$expr": {"$gt": ["$lease_until", "$$NOW"]}}
    return [row["_id"] for row in await database.collection(COLLECTION).find(held, fields={"_id": 1})]


async def drop(database: Database, names: Sequence[str]) -> None:
    """Delete the leases of things that are gone; what a dead node held would stay for ever."""
    await database.collection(COLLECTION).delete_many({"_id": {"$in": list(names)}})


class NamedLeases:
    """A set of leases such as `device:<id>` or `sync:<source id>`; the row exists only while it is held."""

    def __init__(self, keeper: LeaseKeeper) -> None:
        self._keeper = keeper
        self._ends: Batcher[None, Filter, None] = Batcher(self._end)

    async def acquire(self, name: str) -> Lease | None:
        """Return the lease, with most of it left, or None while another holder (of this node or another) has
        it.
        """
        try:
            held = await self._keeper.claim_free(name)
        except Duplicate:
            return None  # two upserts met: the other one made the row
        return None if held is None else await self._fresh(held)

    async def _fresh(self, held: Lease) -> Lease | None:
        """Return the lease, or None if it was lost before its acknowledgement came, too late to start without
        a heartbeat.
        """
        try:
            while held.used_up:
                await self._keeper.renew()
                held.guard()
        except LeaseLostError:
            self._keeper.release(held)
            return None
        except BaseException:
            self._keeper.discard(held)
            raise
        return held

    async def align(self) -> None:
        """Shorten the leases of all nodes after the database's clock was set back."""
        await self._keeper.align()

    async def release(self, held: Lease, work: Work | None = None) -> None:
        """Release a lease; for bulk `work` together with others that end within the next 30 ms.

        What was done under it stays done: a database that is away makes no work fail for the end of a lease.
        """
        self._keeper.release(held)
        # Shielded: a call that is cancelled while its batch waits is dropped, and the lease would stay until
        # it runs out.
        ending = None if work is None else work.unguarded()
        try:
            await asyncio.shield(self._ends.ask(None, held.fence, ending))
        except Unavailable:
            self._keeper.discard(held)

    async def _end(self, key: None, fences: Sequence[Filter]) -> Sequence[None]:
        await self._keeper.delete(fences)
        return [None] * len(fences)

    @asynccontextmanager
    async def hold(
        self, name: str, *, wait_seconds: float, work: Work | None = None, wanting: bool = False
    ) -> AsyncIterator[Lease]:
        """Hold the lease for the block; raises TimeoutError if it is not free within `wait_seconds`.

        `wanting`: the present holder is notified that another one waits (`Lease.on_wanted`).

        `work` as in `release`, for a block that ends well: a cancelled one must not wait for others.
        """
        async with asyncio.timeout(wait_seconds):
            held = await self._wait(name, wanting=wanting)
        try:
            yield held
        except BaseException:
            await self.release(held)
            raise
        await self.release(held, work)

    async def _wait(self, name: str, *, wanting: bool) -> Lease:
        pause = FIRST_WAIT
        while (held := await self.acquire(name)) is None:
            if wanting:
                await self._keeper.want(name)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_WAIT)
        return held
