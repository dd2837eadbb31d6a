"""For how long the event loop is held up: a task sleeps a millisecond again and again, and is late."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.app.server import NEW_OBJECTS


def collect_as_the_service() -> None:
    """What is there by now is never looked at again by the garbage collector, and it comes less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


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
