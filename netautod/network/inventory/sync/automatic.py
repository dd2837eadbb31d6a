"""Synchronises saved sources that are due, each on one node; a failure of one does not stop the others.

A source is due when it is saved with, or switched to, automatic synchronisation, and then at its interval.

A node claims a source by moving its time a little into the future: longer than a synchronisation may take.
If the node dies, the source is due again then. The end, also a failure, moves it by the source's interval.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Self

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, NetautodError, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.logs.folding import repeats
from netautod.core.work.pauses import Pauses
from netautod.network.inventory.models import SavedSource
from netautod.network.inventory.settings import InventorySettings
from netautod.network.inventory.store import SourceStore
from netautod.network.inventory.sync.models import SyncOptions
from netautod.network.inventory.sync.service import SyncService
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
CLAIM_MARGIN_SECONDS = 120.0
UNCONFIRMED = "%s devices of inventory source %s are missing in its inventory: confirm that they are removed"


class AutoSync:
    """The automatic synchronisations, started with `async with`; the stop ends what is running, and the
    history says so.

    `caller_of` makes the actor of an organization; nothing starts for one that is paused.
    """

    def __init__(
        self,
        *,
        sync: SyncService,
        sources: SourceStore,
        clock: Clock,
        settings: InventorySettings,
        caller_of: Callable[[OrgId], Caller],
        pauses: Pauses,
    ) -> None:
        self._sync = sync
        self._sources = sources
        self._clock = clock
        self._slots = settings.concurrent_syncs
        self._claim = timedelta(seconds=settings.sync_seconds + CLAIM_MARGIN_SECONDS)
        self._caller_of = caller_of
        self._pauses = pauses
        self._running: set[asyncio.Task[None]] = set()
        self._loop = Periodic(self.scan, name="automatic synchronisation", seconds=settings.scan_seconds)

    async def __aenter__(self) -> Self:
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()
        for task in self._running:
            task.cancel()
        await self.wait()

    def kick(self) -> None:
        """Look for due sources now, instead of at the next time."""
        self._loop.kick()

    async def scan(self) -> int:
        """Start due synchronisations while there are free slots; return how many were started.

        Raises DiskFull: what is due waits for room instead of failing until its next time.
        """
        self._sources.require_room()
        free = self._slots - len(self._running)
        if free <= 0:
            return 0
        started_at = 0
        for source in await self._sources.due(self._clock.now(), free, without=self._pauses.paused()):
            until = self._clock.now() + self._claim
            if await self._sources.postpone(source, until):
                task = asyncio.create_task(self._one(source, until), name=f"sync of {source.id}")
                self._running.add(task)
                task.add_done_callback(self._running.discard)
                started_at += 1
        return started_at

    async def wait(self) -> None:
        """Wait for what is running now."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _one(self, source: SavedSource, claimed_until: datetime) -> None:
        started_at = self._clock.now()
        caller = self._caller_of(OrgId(source.org_id))
        try:
            result = await self._sync.sync_source(caller, source.id, SyncOptions(triggered_by="schedule"))
            if result.unconfirmed:
                logger.warning(UNCONFIRMED, result.unconfirmed, source.id)
        except Conflict:
            logger.info("inventory source %s is being synchronised already", source.id)
        except NetautodError as error:  # the history and the source tell it, the next interval tries again
            logger.warning("the synchronisation of inventory source %s failed: %s", source.id, error)
        except Exception:  # nothing awaits this task
            logger.exception("the synchronisation of inventory source %s failed", source.id)
        try:
            await self._put_off(source, claimed_until, started_at)
        except Unavailable as error:  # it is due again when the claim is over
            text = "inventory source %s could not be put off: %s"
            logger.warning(text, source.id, error, extra=repeats("off"))

    async def _put_off(self, source: SavedSource, claimed_until: datetime, started_at: datetime) -> None:
        """Set the next time by compare-and-set: if a user has changed the rule meanwhile, its time stays."""
        now = await self._sources.get(OrgId(source.org_id), source.id)
        if now is not None and now.next_sync_at == claimed_until:
            following = started_at + timedelta(hours=now.sync_interval_hours)
            await self._sources.postpone(now, max(following, self._clock.now()))
