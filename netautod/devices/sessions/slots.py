"""How many device sessions a node holds at a time, in all and with `sessions_per_site` at one site."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

INTERACTIVE_RESERVE = 4  # sessions of a node that bulk work never takes


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
    """The bulk sessions that this node may hold at one site, whose line may be thin; 0: as many as come.

    Whoever waits here holds nothing else yet, so a full site delays its own devices only.
    """

    def __init__(self, *, per_site: int) -> None:
        self._per_site = per_site
        self._sites: dict[Hashable, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def hold(self, site: Hashable | None) -> AsyncIterator[None]:
        """None: a device without a site, which is not limited."""
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
