"""The database server's clock, followed from this node: due times are judged by one clock for all nodes."""

import logging
import time
from datetime import UTC, datetime, timedelta

from netautod.core.clock import whole_milliseconds
from netautod.core.errors import Unavailable
from netautod.core.loop.repeating import Repeating
from netautod.store.client import Database

logger = logging.getLogger(__name__)
NOTEWORTHY = timedelta(seconds=2)


class ServerClock:
    """A clock of the database server: `now()` is its last answer plus what the monotonic clock counted since.

    A node whose own clock is minutes off, or is set while the service runs, computes the same times as the
    others.
    """

    def __init__(self, database: Database, *, refresh_seconds: float = 30.0) -> None:
        self._database = database
        self._server_at = datetime.now(UTC)
        self._mono_at = time.monotonic()
        self._loop = Repeating(self._follow, name="the look at the server's clock", seconds=refresh_seconds)

    async def __aenter__(self) -> "ServerClock":
        await self.refresh()
        difference = self._server_at - datetime.now(UTC)
        if abs(difference) > NOTEWORTHY:
            logger.warning("this machine's clock differs from the database server's by %s", difference)
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.stop()

    def now(self) -> datetime:
        return whole_milliseconds(self._server_at + timedelta(seconds=self.monotonic() - self._mono_at))

    def monotonic(self) -> float:
        return time.monotonic()

    async def refresh(self) -> None:
        sent_at = time.monotonic()
        server_at = await self._database.now()
        self._mono_at = (sent_at + time.monotonic()) / 2  # the answer was true half-way
        self._server_at = server_at

    async def _follow(self) -> None:
        try:
            await self.refresh()
        except Unavailable:
            logger.debug("the server's time could not be read; the old offset stays")
