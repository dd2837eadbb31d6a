"""Repeats what an absent database did not answer, while the run belongs to this node."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from netautod.core.errors import Overloaded, Unavailable
from netautod.store.leases.lease import Lease

logger = logging.getLogger(__name__)
T = TypeVar("T")
PAUSE_SECONDS = 0.5


class Persistence:
    """The `Persist` of a run.

    Between two tries a heartbeat must have confirmed that the run still belongs to this node.
    """

    def __init__(self, held: Lease, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._held = held
        self._pause = pause_seconds

    async def __call__(self, act: Callable[[], Awaitable[T]]) -> T:
        """Return the answer; raise LeaseLostError, or end with the cancellation of a run that has to stop."""
        while True:
            started_at = self._held.clock.monotonic()
            try:
                return await act()
            except Overloaded:
                raise  # the database is there, it has no capacity
            except Unavailable as error:
                logger.debug("execution %s waits for the database: %s", self._held.row_id, error)
            await asyncio.sleep(self._pause)
            await self._held.confirmed(since=started_at)
