"""The events that a listener has missed since its last stream: read from the records, for a few listeners at
a time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from netautod.activity.events.feed import Feed
from netautod.activity.events.models import RESUMABLE, Event, Position
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.logs.folding import repeats

logger = logging.getLogger(__name__)
T = TypeVar("T")
AT_ONCE = 4
MOST = 5000
# The moment of an event may be a little later than those in its record (clocks of nodes, of the server).
MARGIN = timedelta(seconds=2)
FUTURE = timedelta(minutes=1)
PAUSE_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """A part of the missed events.

    `gap`: a sentence that says why events are missing, if some are.
    """

    events: Sequence[Event]
    gap: str | None = None


class Replay:
    def __init__(self, feeds: Sequence[Feed], *, clock: Clock) -> None:
        self._feeds = feeds
        self._clock = clock
        self._turns = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def of(self, org_id: OrgId, position: Position) -> AsyncIterator[Replayed]:
        """Yield what happened in the organization behind the position, in order; other listeners wait for the
        end.
        """
        now = self._clock.now()
        if not Position.before(now - RESUMABLE) <= position <= Position.before(now + FUTURE):
            yield Replayed(events=(), gap="the last event id is older than five minutes")
            return
        async with self._turns:
            events = await self.patiently(lambda: self._read(org_id, position))
            if len(events) > MOST:
                yield Replayed(events=(), gap=f"more than {MOST:,} events were missed")
            else:
                yield Replayed(events=events)

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read, repeated while the database is away: the stream has begun."""
        while True:
            try:
                return await read()
            except Unavailable as error:
                logger.warning("listeners wait for missed events: %s", error, extra=repeats("missed"))
                await asyncio.sleep(PAUSE_SECONDS)

    async def _read(self, org_id: OrgId, position: Position) -> Sequence[Event]:
        found: dict[Position, Event] = {}
        for feed in self._feeds:
            async for document in feed.since(position.at - MARGIN, [org_id]):
                for event in feed.derive(document):
                    if event.position > position:
                        found[event.position] = event
                if len(found) > MOST:
                    return list(found.values())
        return [found[one] for one in sorted(found)]
