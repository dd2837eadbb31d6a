"""The pace at which bulk work begins sessions: in order, and only while the event loop is quick."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from netautod.network.devices.sessions.session_limits import BulkPace

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
    assert moments[-1] - moments[0] >= 0.0015  # of five at least one had to wait, however late the loop was


async def test_a_late_turn_of_the_loop_is_made_up_for_by_three_at_once() -> None:
    pace, loop, turned = BulkPace(between=0.002, quick=LONG), asyncio.get_running_loop(), asyncio.Event()
    loop.call_later(0.001, time.sleep, 0.05)
    await pace.begin()
    loop.call_soon(turned.set)
    await pace.begin()
    await pace.begin()
    assert not turned.is_set()
    await pace.begin()
    assert turned.is_set()


@pytest.mark.parametrize(
    ("quick", "most", "waited"),
    [
        pytest.param(0.002, 0.3, 0.3, id="a loop that works 20 ms in a turn is too busy for one more"),
        pytest.param(LONG, 1000.0, 0.0, id="and is not, for who says so"),
    ],
)
async def test_a_session_waits_for_a_quick_turn_but_not_for_ever(
    quick: float, most: float, waited: float
) -> None:
    pace = BulkPace(between=0.001, quick=quick, most=most)
    began = time.monotonic()
    async with busy(0.02):
        await pace.begin()
    assert time.monotonic() - began >= waited
