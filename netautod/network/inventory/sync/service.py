"""Synchronisations and tests of inventories, saved or named in the request; one at a time of each.

Every synchronisation is an entry of the history, also one that failed or whose node died. A dry run reads
the inventory and changes nothing; it is in the audit log only.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, NetautodError, Unavailable, UpstreamFailed
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.deadlines import unhurried, waits
from netautod.core.work.guard import LeaseLostError, no_guard
from netautod.core.work.pauses import Pauses
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.devices.records.vouched import may_vouch
from netautod.network.inventory.models import RemoteInventory
from netautod.network.inventory.service import RUNNING, SourceService, binding_key, lease_name
from netautod.network.inventory.settings import InventorySettings
from netautod.network.inventory.sync.digests import BoundDevices
from netautod.network.inventory.sync.models import (
    Progress,
    SourceTest,
    SyncEntry,
    SyncJob,
    SyncOptions,
    SyncResult,
    Walk,
)
from netautod.network.inventory.sync.plan import Facts
from netautod.network.inventory.sync.preview import preview
from netautod.network.inventory.sync.reader import InventoryReader
from netautod.network.inventory.sync.recorder import SyncRecorder
from netautod.network.inventory.sync.run import SyncRun, SyncTally
from netautod.store.leases.lease import Lease
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.urls import origin_of

STOPPED = "it was stopped before it was done; what was changed by then stays"
END_SECONDS = 60.0  # at most, from the end of its time to its entry in the history
LOST = "the right to this synchronisation was lost meanwhile; what was changed by then stays"


def no_progress(phase: str, done: int, total: int | None) -> None:
    """Ignore the progress, which is the default."""


class SyncService:
    def __init__(
        self,
        *,
        sources: SourceService,
        recorder: SyncRecorder,
        reader: InventoryReader,
        devices: SyncedDevices,
        leases: NamedLeases,
        clock: Clock,
        settings: InventorySettings,
        pauses: Pauses,
    ) -> None:
        """Create the service. The synchronisations of a paused organization are refused."""
        self._sources = sources
        self._recorder = recorder
        self._reader = reader
        self._devices = devices
        self._leases = leases
        self._clock = clock
        self._seconds = settings.sync_seconds
        self._pauses = pauses

    async def history(self, org_id: OrgId, page: Page, source_id: str | None) -> PageOf[SyncEntry]:
        """Return one page of the history, newest first."""
        return await self._recorder.history.page(org_id, page, source_id)

    def may_be_running(self, entry: SyncEntry) -> bool:
        """Return whether an entry without an end can still come to one; otherwise its node must have died."""
        age = (self._clock.now() - entry.started_at).total_seconds()
        return entry.completed_at is None and age < self._seconds + END_SECONDS

    @waits(unhurried)
    async def sync(
        self, caller: Caller, remote: RemoteInventory, options: SyncOptions, progress: Progress = no_progress
    ) -> SyncResult:
        """Synchronise with an inventory that the caller names. Never removes a device.

        Raises AddressRefused, UpstreamFailed, or Conflict while another one of this server is running.
        """
        job = SyncJob(
            caller=caller,
            key=f"origin:{origin_of(remote.url)}",
            remote=remote,
            source=None,
            vouched=may_vouch(caller),
            options=options,
            progress=progress,
        )
        if options.dry_run:
            return await self._preview(job)
        async with self._alone(job.org_id, job.key) as held:
            return await self._recorded(job, held)

    @waits(unhurried)
    async def sync_source(
        self, caller: Caller, source_id: str, options: SyncOptions, progress: Progress = no_progress
    ) -> SyncResult:
        """Synchronise with a saved source. Raises as `sync` does, and NotFound; a refused address is
        UpstreamFailed.
        """
        await self._sources.get(caller.org_id, source_id)
        if options.dry_run:
            return await self._preview(await self._job(caller, source_id, options, progress))
        async with self._alone(caller.org_id, binding_key(source_id)) as held:
            # Read again: before we had the lease, the source may have been changed or removed.
            return await self._recorded(await self._job(caller, source_id, options, progress), held)

    async def test(self, caller: Caller, remote: RemoteInventory) -> SourceTest:
        """Test whether the inventory answers, and how many devices match. Raises AddressRefused only."""
        return await self._test(caller, remote, None)

    async def test_source(self, caller: Caller, source_id: str) -> SourceTest:
        """Test a saved source as `test` does; NotFound."""
        source = await self._sources.get(caller.org_id, source_id)
        return await self._test(caller, await self._sources.remote(source), source_id)

    async def _test(self, caller: Caller, remote: RemoteInventory, source_id: str | None) -> SourceTest:
        began = self._clock.monotonic()
        version, count = None, None
        try:
            probe = await self._reader.probe(remote)
        except UpstreamFailed as error:
            message = error.text
        else:
            version, count = f"{probe.system} {probe.version}", probe.device_count
            message = f"{version} answers; {count} devices match"
        await self._recorder.record_test(caller, remote.url, source_id, success=version is not None)
        return SourceTest(
            success=version is not None,
            message=message,
            version=version,
            device_count=count,
            duration_ms=self._since(began),
        )

    async def _job(self, caller: Caller, source_id: str, options: SyncOptions, progress: Progress) -> SyncJob:
        source = await self._sources.get(caller.org_id, source_id)
        return SyncJob(
            caller=caller,
            key=binding_key(source_id),
            remote=await self._sources.remote(source),
            source=source,
            vouched=source.vouched,
            options=options,
            progress=progress,
        )

    @asynccontextmanager
    async def _alone(self, org_id: OrgId, key: str) -> AsyncIterator[Lease]:
        if org_id in self._pauses.paused():
            raise Conflict("Automation is paused; POST /api/system/resume ends the pause")
        held = await self._leases.acquire(lease_name(org_id, key))
        if held is None:
            raise Conflict(RUNNING)
        try:
            yield held
        finally:
            await self._leases.release(held)

    async def _preview(self, job: SyncJob) -> SyncResult:
        began = self._clock.monotonic()
        async with self._bounded():
            bound, walk = await self._walk(job)
            plan = await self._run(job, bound, walk, SyncTally()).plan()
            held = await self._devices.held(job.org_id, plan.removals)
        result = preview(plan, held, walk, self._since(began))
        await self._recorder.record_preview(job, result)
        return result

    async def _recorded(self, job: SyncJob, held: Lease) -> SyncResult:
        """Run the synchronisation between the two writes of its entry in the history."""
        entry = await self._recorder.begin(job)
        began, tally = self._clock.monotonic(), SyncTally()
        try:
            async with self._bounded():
                bound, walk = await self._walk(job)
                await self._run(job, bound, walk, tally, held).apply()
        except LeaseLostError as error:
            await self._recorder.end(job, entry, tally.result(self._since(began)), LOST)
            raise Unavailable(LOST) from error
        except NetautodError as error:
            await self._recorder.end(job, entry, tally.result(self._since(began)), error.text)
            raise
        except asyncio.CancelledError:
            await self._recorder.end(job, entry, tally.result(self._since(began)), STOPPED)
            raise
        result = tally.result(self._since(began))
        await self._recorder.end(job, entry, result, None)
        return result

    async def _walk(self, job: SyncJob) -> tuple[BoundDevices, Walk]:
        bound = BoundDevices(job.key, await self._devices.bound(job.org_id, job.key))
        return bound, await self._reader.walk(job.remote, bound, job.progress)

    def _run(
        self, job: SyncJob, bound: BoundDevices, walk: Walk, tally: SyncTally, held: Lease | None = None
    ) -> SyncRun:
        facts = Facts(
            key=job.key,
            seen=frozenset(walk.seen),
            complete=walk.missing is None,
            removes=job.source is not None,
            confirm_removals=job.options.confirm_removals,
            unchanged=walk.unchanged,
            vouched=job.vouched,
        )
        return SyncRun(
            caller=job.caller,
            devices=self._devices,
            facts=facts,
            bound=bound.by_id,
            walk=walk,
            guard=no_guard if held is None else held.guard,
            progress=job.progress,
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

    def _since(self, began: float) -> int:
        return int((self._clock.monotonic() - began) * 1000)
