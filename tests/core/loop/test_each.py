"""Working on many things a few at a time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from netautod.core.errors import Unavailable
from netautod.core.loop.each import for_each


async def numbers(read: list[int], count: int) -> AsyncIterator[int]:
    for number in range(count):
        read.append(number)
        yield number


async def test_nothing_is_read_before_somebody_has_time_for_it() -> None:
    read: list[int] = []
    begun: list[int] = []
    go_on = asyncio.Semaphore(0)

    async def work(thing: int) -> None:
        begun.append(thing)
        await go_on.acquire()

    working = asyncio.create_task(for_each(numbers(read, 100), work, at_once=3))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (read, begun) == ([0, 1, 2], [0, 1, 2])
    go_on.release()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (read, begun) == ([0, 1, 2, 3], [0, 1, 2, 3])
    for _ in range(99):
        go_on.release()
    await working
    assert begun == list(range(100))


@pytest.mark.parametrize("count", [0, 1, 7, 500])
async def test_each_is_worked_on_once_and_no_more_than_wanted_at_a_time(count: int) -> None:
    running = most = 0
    done: list[int] = []

    async def work(thing: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        done.append(thing)

    await for_each(range(count), work, at_once=7)
    assert (running, most, sorted(done)) == (0, min(count, 7), list(range(count)))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Unavailable("the database does not answer"), id="an error"),
        pytest.param(asyncio.CancelledError(), id="a cancellation from inside"),
    ],
)
async def test_the_first_error_ends_the_others_and_is_raised_as_it_is(error: BaseException) -> None:
    ended: list[int] = []

    async def work(thing: int) -> None:
        if thing == 3:
            raise error
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(thing)

    with pytest.raises(type(error)):
        await for_each(numbers([], 10), work, at_once=4)
    assert sorted(ended) == [0, 1, 2]


async def test_who_cancels_it_ends_all_work() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work(thing: int) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    working = asyncio.create_task(for_each([1], work, at_once=2))
    await begun.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended.is_set()


async def test_what_is_cancelled_can_clean_up() -> None:
    begun = asyncio.Semaphore(0)
    cleaned: list[int] = []

    async def work(thing: int) -> None:
        begun.release()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(thing):  # the first one has ended long before the last one
                await asyncio.sleep(0)
            cleaned.append(thing)

    working = asyncio.create_task(for_each([0, 1, 10], work, at_once=3))
    for _ in range(3):
        await begun.acquire()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert cleaned == [0, 1, 10]
