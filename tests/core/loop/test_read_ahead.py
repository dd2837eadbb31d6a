"""A batch is read while the one before it is worked on, and not more than that."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from netautod.core.errors import Unavailable
from netautod.core.loop.read_ahead import read_ahead


async def numbers(told: list[str], count: int, *, fails: bool = False) -> AsyncGenerator[int, None]:
    try:
        for number in range(count):
            told.append(f"read {number}")
            yield number
        if fails:
            raise Unavailable("gone")
    finally:
        told.append("closed")


async def test_one_batch_is_read_ahead_and_the_order_stays() -> None:
    told: list[str] = []
    async with aclosing(read_ahead(numbers(told, 3))) as batches:
        async for number in batches:
            await asyncio.sleep(0)
            told.append(f"worked on {number}")
    assert told == ["read 0", "read 1", "worked on 0", "read 2", "worked on 1", "closed", "worked on 2"]


async def test_whoever_stops_in_between_closes_what_is_read() -> None:
    told, before = list[str](), asyncio.all_tasks()
    async with aclosing(read_ahead(numbers(told, 100))) as batches:
        async for _ in batches:
            break
    assert told in (["read 0", "closed"], ["read 0", "read 1", "closed"])
    assert asyncio.all_tasks() <= before


async def test_an_error_of_the_reading_comes_behind_what_was_read_before() -> None:
    batches = read_ahead(numbers([], 2, fails=True))
    assert [await anext(batches), await anext(batches)] == [0, 1]
    with pytest.raises(Unavailable):
        await anext(batches)
