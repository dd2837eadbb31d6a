"""Synchronisations and tests of inventories, saved or named in the request; one at a time of each.

Every synchronisation is an entry of the history, also one that failed or whose node died. A dry run reads
the far end and changes nothing; it is in the audit log only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

from netautod.app.settings import Settings
from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, NetautodError, Unavailable, UpstreamFailed
from netautod.core.identity import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.devices.bindings.service import SyncedDevices
from netautod.inventory.models import SourceTest, SyncEntry, SyncResult
from netautod.inventory.sources import RUNNING, SourceService, key_of, lease_of
from netautod.inventory.sync.log import Job, Options, SyncLog
from netautod.inventory.sync.plan import Facts
from netautod.inventory.sync.preview import preview
from netautod.inventory.sync.reader import FarEnds, Place, Progress, Walk
from netautod.inventory.sync.run import SyncRun, Tally
from netautod.inventory.sync.unchanged import Settled
from netautod.outbound.urls import origin_of
from netautod.store.client import Database
from netautod.store.leases.keeper import Held, LeaseLostError
from netautod.store.leases.named import NamedLeases

STOPPED = "it was stopped before it was done; what was changed by then stays"
LOST = "the right to this synchronisation was lost meanwhile; what was changed by then stays"


def no_progress(phase: str, done: int, total: int | None) -> None:
    """For callers that show none."""


class SyncService:
    def __init__(
        self,
        database: Database,
        *,
        sources: SourceService,
        far_ends: FarEnds,
        devices: SyncedDevices,
        leases: NamedLeases,
        clock: Clock,
        audit: AuditLog,
        settings: Settings,
        paused: Callable[[], Collection[OrgId]] = tuple,
    ) -> None:
        """While `paused` names an organization, its synchronisations are refused."""
        keep = settings.retention.sync_history
        self._log = SyncLog(database, sources=sources.store, clock=clock, audit=audit, keep=keep)
        self._sources = sources
        self._far_ends = far_ends
        self._devices = devices
        self._leases = leases
        self._clock = clock
        self._audit = audit
        self._seconds = settings.inventory.sync_seconds
        self._paused = paused

    async def history(self, org_id: OrgId, page: Page, source_id: str | None) -> PageOf[SyncEntry]:
        """Newest first."""
        return await self._log.page(org_id, page, source_id)

    async def sync(
        self, caller: Caller, place: Place, options: Options, progress: Progress = no_progress
    ) -> SyncResult:
        """Of an inventory that the caller names. Never removes a device.

        Raises AddressRefused, UpstreamFailed, or Conflict while another one of this server is running.
        """
        job = Job(key=f"origin:{origin_of(place.url)}", place=place, source=None, options=options)
        if options.dry_run:
            return await self._preview(caller, job, progress)
        async with self._alone(caller.org_id, job.key) as held:
            return await self._recorded(caller, job, held, progress)

    async def sync_source(
        self, caller: Caller, source_id: str, options: Options, progress: Progress = no_progress
    ) -> SyncResult:
        """Of a saved source. Raises as `sync` does, and NotFound; a refused address is UpstreamFailed."""
        await self._sources.get(caller.org_id, source_id)
        if options.dry_run:
            job = await self._job(caller.org_id, source_id, options)
            return await self._preview(caller, job, progress)
        async with self._alone(caller.org_id, key_of(source_id)) as held:
            # Read again: before we had the lease, the source may have been changed or removed.
            job = await self._job(caller.org_id, source_id, options)
            return await self._recorded(caller, job, held, progress)

    async def test(self, caller: Caller, place: Place) -> SourceTest:
        """Whether the far end answers and how many devices match. Raises AddressRefused only."""
        return await self._test(caller, place, None)

    async def test_source(self, caller: Caller, source_id: str) -> SourceTest:
        source = await self._sources.get(caller.org_id, source_id)
        return await self._test(caller, await self._sources.place(source), source_id)

    async def _test(self, caller: Caller, place: Place, source_id: str | None) -> SourceTest:
        begun = self._clock.monotonic()
        version, count = None, None
        try:
            probe = await self._far_ends.probe(place)
        except UpstreamFailed as error:
            message = error.text
        else:
            version, count = f"{probe.system} {probe.version}", probe.device_count
            message = f"{version} answers; {count} devices match"
        details = {"inventory_url": place.url, "success": version is not None}
        await self._audit.record(caller, "inventory.test", "inventory_source", source_id, details)
        return SourceTest(
            success=version is not None,
            message=message,
            version=version,
            device_count=count,
            duration_ms=self._since(begun),
        )

    async def _job(self, org_id: OrgId, source_id: str, options: Options) -> Job:
        source = await self._sources.get(org_id, source_id)
        place = await self._sources.place(source)
        return Job(key=key_of(source_id), place=place, source=source, options=options)

    @asynccontextmanager
    async def _alone(self, org_id: OrgId, key: str) -> AsyncIterator[Held]:
        if org_id in self._paused():
            raise Conflict("Automation is paused; POST /api/system/resume ends the pause")
        held = await self._leases.acquire(lease_of(org_id, key))
        if held is None:
            raise Conflict(RUNNING)
        try:
            yield held
        finally:
            await self._leases.release(held)

    async def _preview(self, caller: Caller, job: Job, progress: Progress) -> SyncResult:
        begun = self._clock.monotonic()
        async with self._bounded():
            settled, walk = await self._walk(caller.org_id, job, progress)
            plan = await self._run(caller, job, settled, walk, progress, Tally()).plan()
        result = preview(plan, walk, self._since(begun))
        await self._log.tried(caller, job, result)
        return result

    async def _recorded(self, caller: Caller, job: Job, held: Held, progress: Progress) -> SyncResult:
        """The synchronisation between the two writes of its entry in the history."""
        entry = await self._log.begin(caller.org_id, job)
        begun, tally = self._clock.monotonic(), Tally()
        try:
            async with self._bounded():
                settled, walk = await self._walk(caller.org_id, job, progress)
                await self._run(caller, job, settled, walk, progress, tally, held).apply()
        except LeaseLostError as error:
            await self._log.end(caller, job, entry, tally.result(self._since(begun)), LOST)
            raise Unavailable(LOST) from error
        except NetautodError as error:
            await self._log.end(caller, job, entry, tally.result(self._since(begun)), error.text)
            raise
        except asyncio.CancelledError:
            await self._log.end(caller, job, entry, tally.result(self._since(begun)), STOPPED)
            raise
        result = tally.result(self._since(begun))
        await self._log.end(caller, job, entry, result, None)
        return result

    async def _walk(self, org_id: OrgId, job: Job, progress: Progress) -> tuple[Settled, Walk]:
        settled = Settled(job.key, await self._devices.bound(org_id, job.key))
        return settled, await self._far_ends.walk(job.place, settled, progress)

    def _run(
        self,
        caller: Caller,
        job: Job,
        settled: Settled,
        walk: Walk,
        progress: Progress,
        tally: Tally,
        held: Held | None = None,
    ) -> SyncRun:
        facts = Facts(
            key=job.key,
            seen=frozenset(walk.seen),
            complete=walk.missing is None,
            removes=job.source is not None,
            confirm_removals=job.options.confirm_removals,
            settled=walk.settled,
        )
        return SyncRun(
            caller=caller,
            devices=self._devices,
            facts=facts,
            bound=settled.bound,
            walk=walk,
            check=_unleased if held is None else held.check,
            progress=progress,
            tally=tally,
        )

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except TimeoutError as error:
            text = f"the synchronisation took longer than {self._seconds:g} seconds; what was changed stays"
            raise UpstreamFailed(text) from error

    def _since(self, begun: float) -> int:
        return int((self._clock.monotonic() - begun) * 1000)


def _unleased() -> None:
    """A dry run writes nothing, so it needs no right to."""
