"""The pace of long work on the event loop: after each slice of it everything else has its turn."""

import asyncio
import time

# The driver's threads hold the interpreter for some 5 ms more between two turns of the loop.
SLICE_SECONDS = 0.001


class Pace:
    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def breathe(self) -> None:
        """To be awaited after each small step; costs a microsecond as long as the slice lasts."""
        if time.perf_counter() - self._began > SLICE_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
