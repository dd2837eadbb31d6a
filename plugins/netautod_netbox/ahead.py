"""Fetches the next page while the caller works on this one."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Ahead:
    """At its end nothing is under way any more, however the walk ends; an unread failure is forgotten."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.forget()

    async def forget(self) -> None:
        """Ends what was begun last, if it is not done, and drops what came of it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The one before must have been awaited or forgotten."""
        task = asyncio.get_running_loop().create_task(work)
        self._task = task
        return task
