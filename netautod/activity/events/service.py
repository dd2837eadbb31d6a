"""Streams of events: who may open one, and the background work while there are listeners."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Self

from netautod.activity.events.feed import Logs
from netautod.activity.events.models import Position, Resumed, log_name
from netautod.activity.events.streaming.listener import GONE, Listener
from netautod.activity.events.streaming.listeners import Listeners
from netautod.activity.events.streaming.log_follower import LogFollower
from netautod.activity.events.streaming.replay import Replay
from netautod.activity.events.streaming.stream import FRESH_SECONDS, EventStream
from netautod.activity.events.tailer import OVERLAP, Tailer
from netautod.core.clock import Clock
from netautod.core.errors import NotFound
from netautod.core.identity.caller import Caller
from netautod.core.work.deadlines import within_patience

logger = logging.getLogger(__name__)
# A client that comes back at once finds the tailer running.
LINGER_SECONDS = 10.0
# Events that became visible just before a stream began may be sent at its beginning.
BEGINNING = timedelta(seconds=1)


class EventService:
    """A service that opens streams. It stops its background work at the end of `async with`."""

    def __init__(
        self,
        *,
        listeners: Listeners,
        tailer: Tailer,
        follower: LogFollower,
        replay: Replay,
        logs: Logs,
        clock: Clock,
    ) -> None:
        self._listeners = listeners
        self._tailer = tailer
        self._follower = follower
        self._replay = replay
        self._logs = logs
        self._clock = clock
        self._leaving: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drain(0)
        if self._leaving is not None:
            self._leaving.cancel()
        await asyncio.gather(self._tailer.stop(), self._listeners.stop(), self._follower.stop())

    @property
    def listening(self) -> int:
        return len(self._listeners)

    @property
    def settled(self) -> Position:
        """Return the position up to which all visible events have been handed on."""
        place = self._tailer.place or self._clock.now()
        return Position.before(place - OVERLAP)

    async def drain(self, seconds: float) -> None:
        """End all streams at once, whatever time others have."""
        await self._listeners.drain(seconds)

    @asynccontextmanager
    async def stream(
        self, caller: Caller, token: str, execution_id: str | None, resumed: Resumed | None
    ) -> AsyncIterator[EventStream]:
        """Open a stream until the end of the block.

        Raises NotFound for an execution that the organization does not have, Overloaded, Unavailable.
        """
        listener = Listener(
            caller=caller,
            token=token,
            since=self._clock.now() - BEGINNING,
            # The request's permissions may come from a cache: nothing is sent before a check.
            checked_at=asyncio.get_running_loop().time() - FRESH_SECONDS,
            execution_id=execution_id,
        )
        self._listeners.enter(listener)
        try:
            seq = await self._last_seq(caller, execution_id)
            await self._follow()
            yield self._stream(listener, resumed, seq)
        finally:
            listener.ended = listener.ended or GONE
            self._listeners.leave(listener)
            if execution_id is not None:
                self._follower.leave(listener, execution_id)
            self._linger()

    def _stream(self, listener: Listener, resumed: Resumed | None, seq: int) -> EventStream:
        position = Position.before(listener.since) if resumed is None else resumed.position
        place, followed = Resumed(position=position), None
        if listener.execution_id is not None:
            name = log_name(listener.execution_id)
            known = min(seq, resumed.seq) if resumed is not None and resumed.log == name else seq
            place = Resumed(position=position, log=name, seq=known)
            followed = self._follower.enter(listener, listener.execution_id, known)
        return EventStream(
            listener,
            listeners=self._listeners,
            logs=self._follower,
            replay=self._replay,
            node=self,
            place=place,
            resumed=resumed,
            followed=followed,
        )

    async def _last_seq(self, caller: Caller, execution_id: str | None) -> int:
        if execution_id is None:
            return 0
        found = await self._logs.last_seq(caller.org_id, execution_id)
        if found is None:
            raise NotFound("Execution not found")
        return found

    async def _follow(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        if self._stopping is not None:
            await asyncio.shield(self._stopping)
        await within_patience(self._tailer.start())

    def _linger(self) -> None:
        if not len(self._listeners) and self._leaving is None:
            loop = asyncio.get_running_loop()
            self._leaving = loop.call_later(LINGER_SECONDS, self._rest)

    def _rest(self) -> None:
        self._leaving = None
        if not len(self._listeners):
            self._stopping = asyncio.create_task(self._tailer.stop(), name="the end of following events")
