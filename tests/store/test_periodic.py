"""Background loops with a lease: one node at a time works."""

import asyncio

from netautod.core.clock import SystemClock
from netautod.store.client import Database
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease, LeaseTimes
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic

TIMES = LeaseTimes(lease=30, heartbeat=10, abandon=20)


class Work:
    """Passes that can be awaited and counted."""

    def __init__(self) -> None:
        self.done = 0
        self.under_way = 0
        self.most_under_way = 0
        self.news = asyncio.Condition()

    async def __call__(self) -> None:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(0)
            async with self.news:
                self.done += 1
                self.news.notify_all()
        finally:
            self.under_way -= 1

    async def until(self, count: int) -> None:
        async with asyncio.timeout(10), self.news:
            await self.news.wait_for(lambda: self.done >= count)


def node(database: Database, name: str) -> NamedLeases:
    collection, clock = database.collection("leases"), SystemClock()
    return NamedLeases(LeaseKeeper(collection=collection, node_id=name, clock=clock, times=TIMES))


async def test_with_a_lease_one_node_at_a_time_works(database: Database) -> None:
    work = Work()
    loops = [
        Periodic(work, name=name, seconds=0.01, lease="sweep", leases=node(database, name)) for name in "abc"
    ]
    async with loops[0], loops[1], loops[2]:
        await work.until(10)
    assert work.most_under_way == 1


async def test_a_node_that_finds_the_lease_taken_waits_for_the_next_time(database: Database) -> None:
    work, holder, waiting = Work(), node(database, "holder"), node(database, "waiting")
    held = await holder.acquire("sweep")
    assert held is not None
    tried = asyncio.Event()
    acquire = waiting.acquire

    async def acquired(name: str) -> Lease | None:
        found = await acquire(name)
        tried.set()
        return found

    waiting.acquire = acquired  # type: ignore[method-assign]
    async with Periodic(work, name="sweeping", seconds=0.01, lease="sweep", leases=waiting):
        async with asyncio.timeout(10):
            await tried.wait()
        assert work.done == 0
        await holder.release(held)
        await work.until(1)
