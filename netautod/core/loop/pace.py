"""Keeps long work from blocking the event loop: done in slices, or in a thread."""

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# The driver's threads hold the interpreter for some 5 ms more between two turns of the loop.
SLICE_SECONDS = 0.001
# Normalising or redacting costs some 100 ms per MB, so this much takes the loop about 3 ms.
THREAD_CHARACTERS = 32 * 1024


class Pace:
    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def breathe(self) -> None:
        """Let the event loop run when a slice is over. Await it after each small step."""
        if time.perf_counter() - self._began > SLICE_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()


async def in_thread_if_large(characters: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `work`, in a thread if it handles over 32 Ki characters."""
    if characters <= THREAD_CHARACTERS:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
