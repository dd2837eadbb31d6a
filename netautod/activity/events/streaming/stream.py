"""The stream of one listener: what it has missed, then what is new, and a comment when there is nothing."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from netautod.activity.events.models import OPERATE, Event, Position, Resumed
from netautod.activity.events.streaming import wire
from netautod.activity.events.streaming.listener import SLOW, Listener
from netautod.activity.events.streaming.listeners import Entry, Listeners
from netautod.activity.events.streaming.log_follower import Followed, Line, LogFollower
from netautod.activity.events.streaming.replay import MARGIN, Replay

logger = logging.getLogger(__name__)
COMMENT_SECONDS = 15.0
FRESH_SECONDS = 1.0
PART = 16 * 1024  # bytes of events that are written together


class Place(Protocol):
    """The place of the node in the events: everything up to `settled` has been handed on."""

    @property
    def settled(self) -> Position: ...


class EventStream:
    """A stream of events for one listener.

    `resumed` is where an earlier stream ended; `place` is where this one is, and what ids are made of. It
    does not end before `listener.ended`.
    """

    def __init__(
        self,
        listener: Listener,
        *,
        listeners: Listeners,
        logs: LogFollower,
        replay: Replay,
        node: Place,
        place: Resumed,
        resumed: Resumed | None,
        followed: Followed | None,
    ) -> None:
        self.listener = listener
        self._listeners = listeners
        self._logs = logs
        self._replay = replay
        self._node = node
        self._place = place
        self._resumed = resumed
        self._followed = followed
        self._log_start = 0 if followed is None else followed.seq
        # Events that were replayed and may come again as new.
        self._sent: frozenset[Position] = frozenset()
        self._sent_until = place.position

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """Yield the parts of the stream; the next one is made when the client has taken the one before."""
        yield wire.opening(self._place)
        if self._resumed is not None:
            async for part in self._missed(self._resumed):
                yield part
        if self._followed is not None:
            async for part in self._missed_lines(str(self.listener.execution_id), self._log_start):
                yield part
        while self.listener.ended is None:
            self.listener.wake.clear()
            part = self._new() if self._fresh() else b""
            if self._node.settled > self._sent_until:
                self._sent = frozenset()
            if part:
                yield part
            elif self.listener.ended is None and not await self._woken(COMMENT_SECONDS):
                self._settle()
                yield wire.comment(self._place)
        yield wire.end(self.listener.ended)

    async def _missed(self, resumed: Resumed) -> AsyncIterator[bytes]:
        async with self._replay.of(self.listener.org_id, resumed.position) as replayed:
            if replayed.gap is not None:
                self._place = replace(self._place, position=self._node.settled)
                self._resumed = None
                yield wire.reset(self._place, replayed.gap)
            self._sent = frozenset(event.position for event in replayed.events)
            last = max((event.at for event in replayed.events), default=self.listener.since)
            self._sent_until = Position.before(last + MARGIN)
            async for part in self._joined(self._event(one, None) for one in replayed.events):
                yield part

    async def _missed_lines(self, execution_id: str, last: int) -> AsyncIterator[bytes]:
        """Yield log lines behind the place that other listeners of the log have been sent already."""
        while self._place.seq < last:
            lines = await self._replay.patiently(
                lambda: self._logs.between(self.listener.org_id, execution_id, self._place.seq, last)
            )
            if not lines:
                return
            async for part in self._joined(self._line(line) for line in lines):
                yield part
            self._place = replace(self._place, seq=max(self._place.seq, lines[-1].seq))

    async def _joined(self, pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
        """Yield the pieces in parts, each made when the caller's permissions are known to hold."""
        rest, whole = iter(pieces), False
        while not whole:
            while not self._fresh():
                await self._woken(COMMENT_SECONDS)
                self.listener.wake.clear()
            if self.listener.ended is not None:
                return
            part, whole = _part(rest)
            if part:
                yield part

    def _fresh(self) -> bool:
        """Return whether the permissions are those of the last second, or were read since then."""
        listener, now = self.listener, asyncio.get_running_loop().time()
        if listener.ended is not None or now - listener.checked_at <= FRESH_SECONDS:
            listener.stale_since = None
            return True
        if listener.stale_since is None:
            listener.stale_since = now
        if listener.checked_at >= listener.stale_since:
            listener.stale_since = None
            return True
        return False

    async def _woken(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.listener.wake.wait()
        except TimeoutError:
            return False
        return True

    def _new(self) -> bytes:
        try:
            found, _ = _part(self._pieces())
        except IndexError:
            self.listener.end(SLOW)
        return b"" if self.listener.ended is not None else found

    def _pieces(self) -> Iterator[bytes]:
        listener, journal = self.listener, self._listeners.journal(self.listener.org_id)
        while (entry := journal.at(listener.reading)) is not None:
            listener.reading += 1
            yield self._entry(entry)
        if self._followed is None:
            return
        while (line := self._followed.lines.at(listener.reading_log)) is not None:
            listener.reading_log += 1
            yield self._line(line)

    def _entry(self, entry: Entry) -> bytes:
        if entry.event is None:
            self._settle()
            return wire.reset(self._place, "the database was away for too long")
        return self._event(entry.event, entry.body) if self._is_news(entry.event) else b""

    def _is_news(self, event: Event) -> bool:
        if self._resumed is None:
            return event.at >= self.listener.since
        return event.position > self._resumed.position and event.position not in self._sent

    def _event(self, event: Event, body: bytes | None) -> bytes:
        if event.permission is not None and not self.listener.caller.can(event.permission):
            return b""
        own = replace(self._place, position=event.position)
        self._place = replace(self._place, position=max(self._place.position, event.position))
        return wire.with_id(wire.body_of(event) if body is None else body, own)

    def _line(self, line: Line) -> bytes:
        if line.seq <= self._place.seq or not self.listener.caller.can(OPERATE):
            return b""
        self._place = replace(self._place, seq=line.seq)
        return wire.with_id(line.body, self._place)

    def _settle(self) -> None:
        self._place = replace(self._place, position=max(self._place.position, self._node.settled))


def _part(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """Join some pieces, and return with them whether they were the last."""
    held, size = list[bytes](), 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PART:
            return b"".join(held), False
    return b"".join(held), True
