"""All listeners of a node: each gets what is new, and none stays longer than its token is valid."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from typing import NamedTuple

from netautod.activity.events.models import Event
from netautod.activity.events.streaming import wire
from netautod.activity.events.streaming.journal import Journal
from netautod.activity.events.streaming.listener import DRAINING, SLOW, TOKEN, Listener
from netautod.core.errors import Overloaded, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.loop.repeating import Repeating

logger = logging.getLogger(__name__)
Check = Callable[[Collection[str]], Awaitable[Mapping[str, Caller]]]
"""The callers of the tokens that are still good, with their permissions of now."""
# From the end of one check to the next; longer if a check takes long, as with many different tokens.
CHECK_SECONDS, LONGEST_CHECK_SECONDS = 0.2, 0.6
CHECK_PART = 5
RETRY_AFTER = 5
MOST_UNSENT, MOST_UNSENT_BYTES = 2000, 1024 * 1024
DRAIN_SECONDS = 2.0


class Entry(NamedTuple):
    """An event, or None where some may be missing, and its form in the stream."""

    event: Event | None
    body: bytes


Events = Journal[Entry]


class Listeners:
    """The listeners of a node, `most` at a time. Background work runs only while there is one."""

    def __init__(self, *, most: int, check: Check) -> None:
        self._most = most
        self._check = check
        self._of_org: dict[OrgId, set[Listener]] = defaultdict(set)
        self._journals: dict[OrgId, Events] = {}
        self._count = 0
        self._draining = False
        self._empty = asyncio.Event()
        self._empty.set()
        self._checking = Repeating(
            self._check_and_tidy,
            name="the check of listeners' tokens",
            seconds=CHECK_SECONDS,
            at_once=True,
            needed=lambda: bool(self._count),
        )

    def __len__(self) -> int:
        return self._count

    @property
    def orgs(self) -> Collection[OrgId]:
        """Return the organizations that have listeners."""
        return self._of_org.keys()

    def journal(self, org_id: OrgId) -> Events:
        return self._journals[org_id]

    def enter(self, listener: Listener) -> None:
        """Add a listener, which gets what is added from now on.

        Raises Overloaded if there are too many, Unavailable if the node stops.
        """
        if self._draining:
            raise Unavailable("draining")
        if self._count >= self._most:
            text = f"All {self._most} event streams of this node are in use"
            raise Overloaded(text, retry_after=RETRY_AFTER)
        self._count += 1
        self._empty.clear()
        self._of_org[listener.org_id].add(listener)
        journal = self._journals.setdefault(
            listener.org_id, Journal(most=MOST_UNSENT, most_bytes=MOST_UNSENT_BYTES)
        )
        listener.reading = journal.end
        # Not in the context of the first request: the loop serves all.
        self._checking.start(context=Context())

    def leave(self, listener: Listener) -> None:
        found = self._of_org[listener.org_id]
        found.discard(listener)
        self._count -= 1
        if not self._count:
            self._empty.set()
        if not found:
            del self._of_org[listener.org_id], self._journals[listener.org_id]

    def add(self, events: Sequence[Event]) -> None:
        """Hand events to the listeners of their organizations."""
        reached: set[OrgId] = set()
        for event in events:
            journal = self._journals.get(event.org_id)
            if journal is not None:
                body = wire.body_of(event)
                journal.add(Entry(event, body), len(body))
                reached.add(event.org_id)
        for org_id in reached:
            self._wake(org_id)

    def missed(self) -> None:
        """Tell all listeners that events may be missing."""
        for org_id, journal in self._journals.items():
            journal.add(Entry(None, b""), 0)
            self._wake(org_id)

    async def drain(self, seconds: float) -> None:
        """End all streams within DRAIN_SECONDS, even if the rest of the node may take longer."""
        self._draining = True
        for listener in self._all():
            listener.end(DRAINING)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(DRAIN_SECONDS, seconds)):
                await self._empty.wait()
        for listener in self._all():
            listener.close()

    async def stop(self) -> None:
        await self._checking.stop()

    def _wake(self, org_id: OrgId) -> None:
        for listener in self._of_org.get(org_id, ()):
            listener.wake.set()

    def _all(self) -> list[Listener]:
        return [listener for listeners in self._of_org.values() for listener in listeners]

    async def _check_and_tidy(self) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            # If this raises Unavailable the listeners stay, and get nothing until their tokens could be
            # checked.
            await self._check_all()
        finally:
            self._tidy()
            took = clock() - began
            self._checking.seconds = min(max(CHECK_SECONDS, CHECK_PART * took), LONGEST_CHECK_SECONDS)

    async def _check_all(self) -> None:
        listeners, began = self._all(), asyncio.get_running_loop().time()
        callers = await self._check({listener.token for listener in listeners})
        for listener in listeners:
            caller = callers.get(listener.token)
            if caller is None or caller.blocked is not None:
                listener.end(TOKEN)
                continue
            listener.caller, listener.checked_at = caller, began
            if listener.stale_since is not None:
                listener.wake.set()

    def _tidy(self) -> None:
        """Drop the entries that all have read, and end the listeners that do not read."""
        for org_id, journal in self._journals.items():
            reading = self._of_org[org_id]
            for listener in reading:
                if listener.reading < journal.first:
                    listener.end(SLOW)
            journal.forget(min(listener.reading for listener in reading))
