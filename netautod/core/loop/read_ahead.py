"""Reads a batch while the one before it is worked on."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

T = TypeVar("T")


async def read_ahead(batches: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the same batches in the same order, each read while the one before is worked on. Closes
    `batches`.
    """

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
