"""Follows the logs of executions that have listeners: one query three times a second for all."""

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import NamedTuple

from netautod.activity.events.feed import LogLine, Logs
from netautod.activity.events.models import LOG
from netautod.activity.events.streaming import wire
from netautod.activity.events.streaming.journal import Journal
from netautod.activity.events.streaming.listener import SLOW, Listener
from netautod.core.identity.caller import OrgId
from netautod.core.loop.repeating import Repeating

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.3
# Lines of one look, of all logs together.
LINES = 1000
MOST_UNSENT, MOST_UNSENT_BYTES = 4 * LINES, 4 * 1024 * 1024
# Lines are written in batches, whose later ones may be visible first; a number that is still missing after
# so long was never given to a line.
GAP_SECONDS = 3.0


class Line(NamedTuple):
    seq: int
    body: bytes


@dataclass(kw_only=True, eq=False)
class Followed:
    """A log that has listeners.

    `seq`: the last line that is in the journal; `gap_since`: since when the line behind it is missing.
    """

    org_id: OrgId
    seq: int
    listeners: set[Listener] = field(default_factory=set)
    lines: Journal[Line] = field(
        default_factory=lambda: Journal(most=MOST_UNSENT, most_bytes=MOST_UNSENT_BYTES)
    )
    gap_since: float | None = None


class LogFollower:
    """A follower of logs. Its background work runs only while there is a listener at a log."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        self._followed: dict[str, Followed] = {}
        self._loop = Repeating(
            self._look,
            name="the logs that have listeners",
            seconds=LOOK_SECONDS,
            at_once=True,
            failure="following logs failed",
            needed=lambda: bool(self._followed),
        )

    def enter(self, listener: Listener, execution_id: str, after: int) -> Followed:
        """Add a listener, which gets the lines behind `after`.

        If `seq` of the returned value is larger, the listener gets the lines behind that and must read those
        up to there by itself.
        """
        followed = self._followed.setdefault(execution_id, Followed(org_id=listener.org_id, seq=after))
        followed.listeners.add(listener)
        listener.reading_log = followed.lines.end
        # Not in the context of the first request: the loop serves all.
        self._loop.start(context=Context())
        return followed

    def leave(self, listener: Listener, execution_id: str) -> None:
        followed = self._followed.get(execution_id)
        if followed is not None:
            followed.listeners.discard(listener)
            if not followed.listeners:
                del self._followed[execution_id]

    async def between(self, org_id: OrgId, execution_id: str, after: int, last: int) -> list[Line]:
        """Return the first lines behind `after`, up to `last`, as they are sent."""
        found = await self._logs.after({execution_id: (org_id, after)}, LINES)
        return [written(execution_id, line) for line in found.get(execution_id, ()) if line.seq <= last]

    async def stop(self) -> None:
        await self._loop.stop()

    async def _look(self) -> None:
        wanted = {one: (followed.org_id, followed.seq) for one, followed in self._followed.items()}
        for execution_id, lines in (await self._logs.after(wanted, LINES)).items():
            followed = self._followed.get(execution_id)
            if followed is not None and followed.seq == wanted[execution_id][1]:
                self._add(execution_id, followed, lines)
        for followed in self._followed.values():
            self._tidy(followed)

    def _add(self, execution_id: str, followed: Followed, lines: Sequence[LogLine]) -> None:
        now = asyncio.get_running_loop().time()
        for line in lines:
            if line.seq > followed.seq + 1:
                followed.gap_since = followed.gap_since or now
                if now - followed.gap_since < GAP_SECONDS:
                    break
            followed.gap_since = None
            made = written(execution_id, line)
            followed.lines.add(made, len(made.body))
            followed.seq = line.seq
        for listener in followed.listeners:
            listener.wake.set()

    def _tidy(self, followed: Followed) -> None:
        for listener in followed.listeners:
            if listener.reading_log < followed.lines.first:
                listener.end(SLOW)
        followed.lines.forget(min(listener.reading_log for listener in followed.listeners))


def written(execution_id: str, line: LogLine) -> Line:
    return Line(line.seq, wire.written(LOG, {"execution_id": execution_id, **line.to_json()}))
