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

    async def work(number: int, thing: int) -> None:
        assert number == thing
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


async def test_the_first_error_ends_it_and_is_raised_as_it_is() -> None:
    stopped = asyncio.Event()

    async def work(number: int, thing: int) -> None:
        if thing == 1:
            raise Unavailable("the database does not answer")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with pytest.raises(Unavailable):
        await for_each(numbers([], 10), work, at_once=2)
    assert stopped.is_set()
