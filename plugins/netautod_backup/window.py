"""Visits many things, a bounded number at a time, without ever holding them all."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def visit_all(things: AsyncIterable[T], visit: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Ends when every visit has ended. If one raises, or we are cancelled, all others are cancelled first."""
    running: set[asyncio.Task[None]] = set()

    async def one(thing: T) -> None:
        await visit(thing)

    async def until(most: int) -> None:
        nonlocal running
        while len(running) > most:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            failed = [task for task in done if task.cancelled() or task.exception() is not None]
            for task in failed[:1]:
                task.result()

    try:
        async for thing in things:
            running.add(asyncio.create_task(one(thing)))
            await until(at_once - 1)
        await until(0)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
