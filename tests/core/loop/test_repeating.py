"""Repeated work: a pass that fails is logged and the next one comes; kicks, ends and graceful stops."""

import asyncio
import logging

import pytest

from netautod.core.errors import Unavailable
from netautod.core.loop.repeating import Repeating

LONG = 3600.0  # no test waits for it: a kick brings the next pass


class Passes:
    """Passes that can be awaited; the first ones raise the given failures."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.done = 0
        self._news = asyncio.Condition()

    async def __call__(self) -> None:
        async with self._news:
            self.done += 1
            self._news.notify_all()
        if self._failures:
            raise self._failures.pop(0)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(lambda: self.done >= count)


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        pytest.param(Unavailable("no database"), "sweeping failed: no database", id="an outage"),
        pytest.param(RuntimeError("a mistake"), "sweeping failed", id="anything else"),
    ],
)
async def test_a_pass_that_fails_is_logged_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture, failure: Exception, text: str
) -> None:
    passes = Passes(failure)
    with caplog.at_level(logging.WARNING):
        async with Repeating(passes, name="sweeping", seconds=0.01):
            await passes.until(3)
    first, over = [record.getMessage() for record in caplog.records]
    assert first == text
    assert over.startswith("sweeping failed: it works again (failed 1 time in ")


async def test_the_stop_cancels_a_pass_that_is_under_way() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Repeating(endless, name="endless", seconds=LONG, at_once=True), asyncio.timeout(10):
        await started.wait()
    assert ended.is_set()


async def test_the_stop_gives_a_pass_its_grace() -> None:
    started, may_end, ends = asyncio.Event(), asyncio.Event(), list[str]()

    async def slow() -> None:
        started.set()
        await may_end.wait()
        ends.append("whole")

    loop = Repeating(slow, name="slow", seconds=0.0, at_once=True)
    loop.start()
    async with asyncio.timeout(10):
        await started.wait()
        stopping = asyncio.create_task(loop.stop(grace=LONG))
        await asyncio.sleep(0)
        may_end.set()
        await stopping
    assert ends == ["whole"]  # and no further pass


async def test_a_kick_brings_the_next_pass_now() -> None:
    passes = Passes()
    async with Repeating(passes, name="kicked", seconds=LONG) as loop:
        for count in (1, 2, 3):
            loop.kick()
            await passes.until(count)


async def test_a_kick_during_a_pass_brings_another_one() -> None:
    counts: list[int] = []
    loop: Repeating
    twice = asyncio.Event()

    async def kicks_once() -> None:
        counts.append(len(counts))
        if len(counts) == 1:
            loop.kick()
        else:
            twice.set()

    loop = Repeating(kicks_once, name="kicked", seconds=LONG, at_once=True)
    async with loop, asyncio.timeout(10):
        await twice.wait()
    assert counts == [0, 1]


async def test_a_loop_that_is_not_needed_ends_and_can_start_again() -> None:
    passes, needed = Passes(), [True]
    loop = Repeating(passes, name="needed", seconds=LONG, at_once=True, needed=lambda: needed[0])
    async with loop:
        loop.start()  # it runs already: not a second one
        await passes.until(1)
        needed[0] = False
        loop.kick()
        task = loop._task
        assert task is not None
        async with asyncio.timeout(10):
            await task
        needed[0] = True
        loop.start()
        await passes.until(2)
    assert passes.done == 2


async def test_a_pass_changes_the_pause_before_the_next_one() -> None:
    passes = Passes()
    loop: Repeating

    async def shortens() -> None:
        loop.seconds = 0.0
        await passes()

    loop = Repeating(shortens, name="shortened", seconds=LONG, at_once=True)
    async with loop:
        await passes.until(3)
