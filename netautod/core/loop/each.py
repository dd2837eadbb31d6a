"""Works on many things a few at a time, without having all of them in memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def for_each(
    things: AsyncIterator[T], work: Callable[[int, T], Awaitable[None]], *, at_once: int
) -> None:
    """`work(number, thing)` for each, `at_once` of them at a time; the first error ends all and is raised."""
    numbered = _numbered(things)
    asking = asyncio.Lock()

    async def worker() -> None:
        while True:
            async with asking:  # a generator cannot be asked by two at a time
                found = await anext(numbered, None)
            if found is None:
                return
            await work(*found)

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(at_once):
                workers.create_task(worker())
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


async def _numbered(things: AsyncIterator[T]) -> AsyncIterator[tuple[int, T]]:
    number = 0
    async for thing in things:
        yield number, thing
        number += 1
