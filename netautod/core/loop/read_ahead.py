"""Reads a batch while the one before it is worked on."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

T = TypeVar("T")


async def read_ahead(batches: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The same in the same order, each asked for when the one before is handed out; closes `batches`."""

    async def read() -> T | None:
        return await anext(batches, None)

    reading = asyncio.create_task(read())
    try:
        while (batch := await reading) is not None:
            reading = asyncio.create_task(read())
            yield batch
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        await batches.aclose()
