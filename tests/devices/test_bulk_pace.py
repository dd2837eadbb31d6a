import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from netautod.devices.bulk_pace import BulkPace

LONG = 5.0


@asynccontextmanager
async def busy(seconds: float) -> AsyncIterator[None]:
    """The loop works that long in every turn, in processor time."""

    async def work() -> None:
        while True:
            until = time.thread_time() + seconds
            while time.thread_time() < until:
                pass
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_sessions_begin_one_after_the_other_in_order() -> None:
    pace, begun, moments = BulkPace(between=0.002), [], []

    async def begin(number: int) -> None:
        await pace.begin()
        begun.append(number)
        moments.append(time.monotonic())

    await asyncio.gather(*map(begin, range(5)))
    assert begun == [0, 1, 2, 3, 4]
    assert all(later - earlier >= 0.0015 for earlier, later in pairwise(moments))


@pytest.mark.parametrize(
    ("quick", "waits"),
    [
        pytest.param(0.002, True, id="a loop that works 20 ms in a turn is too busy for one more"),
        pytest.param(LONG, False, id="and is not, for who says so"),
    ],
)
async def test_a_session_waits_for_a_quick_turn_but_not_for_ever(quick: float, waits: bool) -> None:
    pace = BulkPace(between=0.001, quick=quick, most=0.3)
    began = time.monotonic()
    async with busy(0.02):
        await pace.begin()
    assert (time.monotonic() - began >= 0.3) is waits
