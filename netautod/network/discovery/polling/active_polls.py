"""The devices that this node polls at the moment: each one once, and no more than there are places."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from netautod.core.metrics import Metrics


class Places:
    """The polls that run on this node. `free` is how many more may begin."""

    def __init__(self, total: int, *, metrics: Metrics) -> None:
        self._total = total
        self._metrics = metrics
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def free(self) -> int:
        return self._total - len(self._tasks)

    @property
    def taken(self) -> Mapping[str, asyncio.Task[None]]:
        """Return the running polls by the id of the device."""
        return self._tasks

    def begin(self, device_id: str, polling: Coroutine[Any, Any, None]) -> None:
        """Start a poll. The device must not be polled here yet, and a place must be free."""
        task = asyncio.create_task(polling, name=f"poll of {device_id}")
        self._tasks[device_id] = task
        task.add_done_callback(lambda _: self._ended(device_id))
        self._metrics.set("polls_running", len(self._tasks))

    def _ended(self, device_id: str) -> None:
        del self._tasks[device_id]
        self._metrics.set("polls_running", len(self._tasks))

    async def idle(self, seconds: float) -> None:
        """Wait until all have ended, or until the time is over."""
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=seconds)

    async def clear(self) -> None:
        """Cancel all."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
