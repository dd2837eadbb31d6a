"""How long the event loop is held up while something goes on."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

TICK = 0.001


@dataclass(kw_only=True)
class Watch:
    """All in milliseconds: what the block took, and the longest `stall` of the loop in it.

    A stall also grows when other programs want the processors. `busy` is the longest time that the thread of
    the loop computed without a pause, which only our code causes.
    """

    took: float = 0.0
    stall: float = 0.0
    busy: float = 0.0


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    """How long the block took, and how long a task that wants to run every ms had to wait at most."""
    watch = Watch()

    async def tick() -> None:
        before, spent_before = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(TICK)
            now, spent = time.perf_counter(), time.thread_time()
            watch.stall = max(watch.stall, (now - before - TICK) * 1000)
            watch.busy = max(watch.busy, (spent - spent_before) * 1000)
            before, spent_before = now, spent

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    began = time.perf_counter()
    try:
        yield watch
    finally:
        watch.took = (time.perf_counter() - began) * 1000
        await asyncio.sleep(2 * TICK)  # the wait that is under way counts
        ticking.cancel()
