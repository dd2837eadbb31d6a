"""Delays events for a moment, so that they go out in the order of their positions.

Two events become visible in another order than their moments have if their writes overlap. A stream that
ended between them could not be resumed behind the later one without missing the earlier one.
"""

import asyncio
from collections.abc import Callable, Sequence

from netautod.activity.events.models import Event

HOLD_SECONDS = 0.25


class Ordering:
    """A buffer that holds each event for some seconds and then calls `on` with events in their order."""

    def __init__(self, on: Callable[[Sequence[Event]], None], seconds: float = HOLD_SECONDS) -> None:
        self._on = on
        self._seconds = seconds
        self._held: list[tuple[float, Event]] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, events: Sequence[Event]) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._held += [(now, event) for event in events]
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._release)

    def _release(self) -> None:
        """Hand on the events that were held long enough, and others whose position lies before the last of
        them.
        """
        loop = asyncio.get_running_loop()
        # A timer may be a little early.
        held_since = max(loop.time() - self._seconds, min(since for since, _ in self._held))
        last = max(event.position for since, event in self._held if since <= held_since)
        due = [event for _, event in self._held if event.position <= last]
        self._held = [(since, event) for since, event in self._held if event.position > last]
        self._timer = None
        if self._held:
            next_at = min(since for since, _ in self._held) + self._seconds
            self._timer = loop.call_at(next_at, self._release)
        self._on(sorted(due, key=lambda event: event.position))
