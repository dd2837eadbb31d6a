"""For how long the event loop is held up: a task sleeps a millisecond again and again, and is late."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.core.loop.garbage import LOOK_SECONDS, frozen_heap
from netautod.store.leases.periodic import Periodic


@asynccontextmanager
async def collecting_as_the_service() -> AsyncIterator[None]:
    """What is there by now is never looked at by the garbage collector, and the rest when there is little."""
    with frozen_heap() as garbage:
        async with Periodic(garbage.look, name="the look for garbage", seconds=LOOK_SECONDS):
            yield


@asynccontextmanager
async def watched(late: list[float]) -> AsyncIterator[None]:
    """Adds, for each time of the block, by how many seconds the task came late."""

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append(time.perf_counter() - began - 0.001)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
