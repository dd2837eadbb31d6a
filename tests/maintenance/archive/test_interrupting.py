"""Work in a thread ends when nobody waits for it any more, and whoever waited is let go after that."""

import asyncio
import threading

import pytest

from netautod.maintenance.archive.interrupting import InterruptedWork, Stop, in_thread


async def test_what_the_work_answers_or_raises_comes_back() -> None:
    def fail(stop: Stop) -> None:
        raise LookupError("gone")

    assert await in_thread(lambda stop: 7) == 7
    with pytest.raises(LookupError, match="gone"):
        await in_thread(fail)


async def test_a_cancelled_wait_ends_the_work_first() -> None:
    began, ended = threading.Event(), threading.Event()

    def work(stop: Stop) -> None:
        began.set()
        try:
            while True:
                stop.check()
        except InterruptedWork:
            ended.set()
            raise

    waiting = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(began.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
