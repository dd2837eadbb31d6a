"""Work that is repeated in the background at an interval, whatever becomes of a single pass."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from typing import Any, Self

from netautod.core.errors import Unavailable
from netautod.core.logs.folding import Failing

logger = logging.getLogger(__name__)


class Repeating:
    """A loop that is started and stopped with `async with`; the stop cancels a pass that is under way.

    `name` is what the log calls the work, and `failure` what it says of a pass that fails, in whatever way;
    the next one comes all the same. With `at_once` the first pass comes at the start. The loop ends by itself
    when `needed` returns False, and `start` starts it again. `seconds` is the pause; a pass may change it.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[Any]],
        *,
        name: str,
        seconds: float,
        at_once: bool = False,
        failure: str | None = None,
        needed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._work = work
        self._name = name
        self._failure = failure or f"{name} failed"
        self._failing = Failing(logger, self._failure)
        self.seconds = seconds
        self._at_once = at_once
        self._needed = needed
        self._kicked = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def start(self, *, context: Context | None = None) -> None:
        """Start the loop unless it runs; `context` is that of its passes, None: the caller's."""
        if self._task is None or self._task.done():
            self._stopping = False
            self._task = asyncio.create_task(self._repeat(), name=self._name, context=context)

    def kick(self) -> None:
        """Begin the next pass now instead of after the pause."""
        self._kicked.set()

    async def stop(self, *, grace: float = 0) -> None:
        """Stop the loop; a pass that is under way is cancelled if it has not ended after `grace` seconds."""
        self._stopping = True
        self.kick()
        task, self._task = self._task, None
        if task is None:
            return
        if grace:
            await asyncio.wait({task}, timeout=grace)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _repeat(self) -> None:
        if not self._at_once:
            await self._pause()
        while self._needed() and not self._stopping:
            # Before the pass: a kick that comes during it makes another one.
            self._kicked.clear()
            try:
                await self._pass()
                self._failing.over()
            except Unavailable as error:
                self._failing.failed(error)
            except Exception:  # the next pass must come, whatever went wrong with this one
                logger.exception(self._failure, extra=self._failing.again())
            await self._pause()

    async def _pass(self) -> None:
        await self._work()

    async def _pause(self) -> None:
        # Not wait_for: in Python 3.11 it loses a cancellation that comes with a wake-up.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await self._kicked.wait()
