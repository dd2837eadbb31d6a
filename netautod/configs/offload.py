"""Work on large texts leaves the event loop, work on small ones is not worth a thread."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Normalising costs some 20 ms per MB: this much stays within a few milliseconds.
THREAD_CHARACTERS = 64 * 1024


async def sized(characters: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls `work`, in a thread if it handles over 64 Ki characters."""
    if characters <= THREAD_CHARACTERS:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
