"""Work in a thread that ends when the task that waits for it is cancelled, such as by Control-C."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class InterruptedWork(Exception):
    """Raised when no one waits for the work any more."""


class Stop:
    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def check(self) -> None:
        """Raise InterruptedWork once the work has to end."""
        if self._event.is_set():
            raise InterruptedWork


async def in_thread(work: Callable[[Stop], T]) -> T:
    """Run the work in a thread; returns, or is cancelled, when it has ended; `work` calls `Stop.check` now
    and then.
    """
    stop = Stop()
    running = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(running, return_exceptions=True)
        raise
