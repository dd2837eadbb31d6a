"""The clock of Tornado's loop: a PeriodicCallback that the machine's clock cannot hold up."""

import asyncio
import time

import pytest
from tornado.ioloop import IOLoop, PeriodicCallback

from netautod.core.loop.ioloop import use_monotonic_time


async def test_the_loop_counts_as_asyncio_does() -> None:
    use_monotonic_time()
    before = asyncio.get_running_loop().time()
    assert before <= IOLoop.current().time() <= asyncio.get_running_loop().time()


@pytest.mark.parametrize("seconds", [-600, 600], ids=["back", "forward"])
async def test_a_periodic_callback_goes_on_when_the_machines_clock_is_set(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_monotonic_time()
    called, real = asyncio.Event(), time.time

    def called_once() -> None:
        called.set()

    periodic = PeriodicCallback(called_once, 20)
    periodic.start()
    try:
        async with asyncio.timeout(20):
            await called.wait()
            monkeypatch.setattr(time, "time", lambda: real() + seconds)
            for _ in range(3):
                called.clear()
                await called.wait()
    finally:
        periodic.stop()
