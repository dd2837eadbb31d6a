"""Work on large texts leaves the event loop, work on small ones is not worth a thread."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Normalising or redacting costs some 100 ms per MB, so this much takes the loop about 3 ms.
THREAD_CHARACTERS = 32 * 1024


async def sized(characters: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls `work`, in a thread if it handles over 32 Ki characters."""
    if characters <= THREAD_CHARACTERS:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
