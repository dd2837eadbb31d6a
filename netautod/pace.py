"""The pace of long work on the event loop: after each slice of it everything else has its turn."""

import asyncio
import time

SLICE_SECONDS = 0.002


class Pace:
    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def breathe(self) -> None:
        """To be awaited after each small step; costs a microsecond as long as the slice lasts."""
        if time.perf_counter() - self._began > SLICE_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
