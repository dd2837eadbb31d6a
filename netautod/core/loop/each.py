"""Many things: worked on a bounded number at a time, or divided into batches."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def for_each(
    things: AsyncIterable[T] | Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int
) -> None:
    """Await `work(thing)` for each thing, `at_once` of them at a time. A thing is read when a place is free.

    Ends when all work has ended. If one raises, or the caller is cancelled, all others are cancelled first;
    the first error is raised as it is.
    """
    source = aiter(things if isinstance(things, AsyncIterable) else _one_by_one(things))
    reading = asyncio.Lock()  # a generator cannot be asked by two at a time

    async def worker() -> None:
        while True:
            async with reading:
                try:
                    thing = await anext(source)
                except StopAsyncIteration:
                    return
            await work(thing)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            if not task.cancelling():  # a second cancellation would cut its cleaning up short
                task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _one_by_one(things: Iterable[T]) -> AsyncIterator[T]:
    for thing in things:
        yield thing


def in_batches(values: Iterable[T], size: int) -> list[list[T]]:
    """Divide the values, in order, into lists of `size`; the last one may be shorter."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]
