"""Turns for device sessions: how many a node holds, in all and at one site, and how fast bulk work begins.

Key exchange, login and the end of a capture take the event loop a few milliseconds each. A hundred that begin
in the same instant stay in step, and every other task of the loop waits for all of them: 0.1 to 0.4 s.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from netautod.core.work.context import Work

INTERACTIVE_RESERVE = 4  # sessions of a node that bulk work never takes
BETWEEN_SECONDS = 0.004  # from one beginning to the next
# The processor time that the loop may have used meanwhile for one session more to begin. Not the elapsed
# time: on a machine that is busy with something else the loop is late, too, and fewer sessions would not
# help.
QUICK_SECONDS = 0.02
MOST_AT_ONCE = 3  # that a late turn of the loop makes up for
MOST_SECONDS = 0.25  # for one that waits for that: a busy loop slows bulk work, and never stops it


class Turns:
    """The turns on one node; interactive work goes before bulk work."""

    def __init__(self, *, total: int, per_site: int) -> None:
        self._slots = Slots(total=total)
        self._sites = SiteSlots(per_site=per_site)
        self._pace = BulkPace()

    @asynccontextmanager
    async def at_site(self, work: Work, site: Hashable | None) -> AsyncIterator[None]:
        """Hold a place at the site before anything else; None: a device without a site, which is not
        limited."""
        async with self._sites.hold(site if work.bulk else None):
            yield

    @asynccontextmanager
    async def session(self, work: Work) -> AsyncIterator[None]:
        """Hold a slot of the node while the session lasts."""
        async with self._slots.hold(bulk=work.bulk):
            if work.bulk:
                await self._pace.begin()
            yield


class Slots:
    """The sessions that one node may hold; interactive work goes first and always has some to itself."""

    def __init__(self, *, total: int, reserved: int = INTERACTIVE_RESERVE) -> None:
        self._free = total
        self._free_for_bulk = max(1, total - reserved)
        self._interactive: deque[asyncio.Future[None]] = deque()
        self._bulk: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def hold(self, *, bulk: bool) -> AsyncIterator[None]:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._bulk if bulk else self._interactive).append(turn)
        self._hand_out()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():  # else it was still waiting
                self._free += 1
                self._free_for_bulk += bulk
                self._hand_out()

    def _hand_out(self) -> None:
        for queue, bulk in ((self._interactive, False), (self._bulk, True)):
            while queue and self._free and (self._free_for_bulk or not bulk):
                turn = queue.popleft()
                if not turn.done():
                    self._free -= 1
                    self._free_for_bulk -= bulk
                    turn.set_result(None)


class SiteSlots:
    """The bulk sessions that this node may hold at one site, whose link may be slow; 0: no limit.

    It is asked first, before anything else is held, so a full site delays its own devices only.
    """

    def __init__(self, *, per_site: int) -> None:
        self._per_site = per_site
        self._sites: dict[Hashable, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def hold(self, site: Hashable | None) -> AsyncIterator[None]:
        """Hold a slot of the site; None: a device without a site, which is not limited."""
        if not self._per_site or site is None:
            yield
            return
        semaphore, users = self._sites.get(site, (asyncio.Semaphore(self._per_site), 0))
        self._sites[site] = (semaphore, users + 1)
        try:
            async with semaphore:
                yield
        finally:
            semaphore, users = self._sites.pop(site)
            if users > 1:
                self._sites[site] = (semaphore, users - 1)


class BulkPace:
    """A pace that lets one after the other begin, each at a moment when the loop turns quickly."""

    def __init__(
        self,
        *,
        between: float = BETWEEN_SECONDS,
        quick: float = QUICK_SECONDS,
        most: float = MOST_SECONDS,
    ) -> None:
        self._between = between
        self._quick = quick
        self._most = most
        self._turns = asyncio.Lock()  # first come, first served
        self._immediate = 0  # that may begin at once, because the loop came back late

    async def begin(self) -> None:
        """Wait until a session may begin."""
        async with self._turns:
            if self._immediate:
                self._immediate -= 1
                return
            latest = time.monotonic() + self._most
            while True:
                worked, slept = time.thread_time(), time.monotonic()
                await asyncio.sleep(self._between)
                now = time.monotonic()
                if time.thread_time() - worked <= self._quick or now >= latest:
                    self._immediate = max(0, min(MOST_AT_ONCE, int((now - slept) / self._between)) - 1)
                    return
