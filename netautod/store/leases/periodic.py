"""Work that is repeated in the background at an interval, by one node at a time if it has a lease."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Self

from netautod.core.errors import Unavailable
from netautod.core.logs.folding import Failing
from netautod.core.work.deadlines import unhurried
from netautod.store.leases.named import NamedLeases

logger = logging.getLogger(__name__)


class Periodic:
    """A background loop, started and stopped with `async with`; the stop cancels a pass that is under way.

    `name` is what the work is called in the log. With `lease` a node that finds it taken does nothing until
    the next time. With `at_once` the first pass comes at the start. No failure of a pass keeps the next one
    from coming.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[Any]],
        *,
        name: str,
        seconds: float,
        at_once: bool = False,
        lease: str | None = None,
        leases: NamedLeases | None = None,
    ) -> None:
        self._work = work
        self._name = name
        self._failing = Failing(logger, f"{name} failed")
        self._seconds = seconds
        self._at_once = at_once
        self._lease = lease
        self._leases = leases
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._forever(), name=self._name)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forever(self) -> None:
        if not self._at_once:
            await asyncio.sleep(self._seconds)
        while True:
            try:
                await self._pass()
                self._failing.over()
            except Unavailable as error:
                self._failing.failed(error)
            except Exception:  # the next pass must come, whatever went wrong with this one
                logger.exception("%s failed", self._name, extra=self._failing.again())
            await asyncio.sleep(self._seconds)

    async def _pass(self) -> None:
        if self._lease is None or self._leases is None:
            await self._work()
            return
        held = await self._leases.acquire(self._lease)
        if held is None:
            return
        try:
            with unhurried():  # one node for all of them: it sweeps
                await self._work()
        finally:
            await self._leases.release(held)
