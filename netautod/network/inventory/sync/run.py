"""One synchronisation after the walk: plan, write in batches, and plan again what was edited meanwhile.

Every write stands for itself and the plan is made of what is in the database, so a run that ends in the
middle, however it does, is continued by the next one.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from netautod.core.identity.caller import Caller
from netautod.core.loop.each import in_batches
from netautod.core.work.guard import Guard
from netautod.network.devices.bindings.models import BATCH, BoundDevice, DeviceWrite, KnownDevice, NewDevice
from netautod.network.devices.bindings.service import MEANWHILE, SyncedDevices, after_parking, parked
from netautod.network.inventory.sync.desired import DesiredDevice
from netautod.network.inventory.sync.models import Progress, SyncError, SyncResult, Walk, not_removed
from netautod.network.inventory.sync.names import Step, waves
from netautod.network.inventory.sync.plan import Facts, Plan, make_plan, partings

ROUNDS = 4
AT_ONCE, NEW = 3, 500  # batches of new devices, and how many of them are one
BUSY = "the device is being changed by others at this moment"


@dataclass(kw_only=True)
class SyncTally:
    """A tally of what has been done so far."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    removed: int = 0
    unconfirmed: int | None = 0
    errors: list[SyncError] = field(default_factory=list)

    def fail(self, inventory_id: int | None, name: str | None, error: str) -> None:
        self.failed += 1
        self.errors.append(SyncError(inventory_id=inventory_id, name=name, error=error))

    def fail_removal(self, device: KnownDevice, reason: str) -> None:
        self.failed += 1
        self.errors.append(not_removed(device, reason))

    def result(self, duration_ms: int) -> SyncResult:
        return SyncResult(
            added=self.added,
            updated=self.updated,
            unchanged=self.unchanged,
            failed=self.failed,
            removed=self.removed,
            unconfirmed=self.unconfirmed,
            errors=tuple(self.errors),
            duration_ms=duration_ms,
        )

    def note(self, error: str) -> None:
        self.errors.append(SyncError(inventory_id=None, name=None, error=error))


@dataclass(kw_only=True, eq=False)
class SyncRun:
    """A synchronisation after the walk. `guard` raises once the right to it may be lost.

    `bound`: what was bound under the key when the walk began, by external id.
    """

    caller: Caller
    devices: SyncedDevices
    facts: Facts
    bound: Mapping[str, BoundDevice]
    walk: Walk
    guard: Guard
    progress: Progress
    tally: SyncTally = field(default_factory=SyncTally)
    _done: int = 0

    async def plan(self) -> Plan:
        """Return what would be done now."""
        names, ids, kept = await asyncio.to_thread(self._sought)
        known = await self.devices.known(self.caller.org_id, self.facts.key, names, ids=ids, kept=kept)
        return await asyncio.to_thread(make_plan, known, self.walk.desired, self.facts)

    def _sought(self) -> tuple[dict[str, str], list[str], set[str]]:
        """Return the wanted names, the bound devices that are to be read whole, and the names of the
        others.
        """
        names = {one.external_id: one.name for one in self.walk.desired}
        unchanged = {device.external_id for device in self.walk.unchanged}
        ids = [device.id for external_id, device in self.bound.items() if external_id not in unchanged]
        return names, ids, {device.name for device in self.walk.unchanged}

    async def apply(self) -> SyncTally:
        self.tally.failed += len(self.walk.problems)
        self.tally.errors += self.walk.problems
        if self.walk.missing is not None:
            self.tally.note(f"{self.walk.missing}; nothing was removed")
        self.tally.unchanged += len(self.walk.unchanged)
        self._advance(len(self.walk.unchanged))
        plan = await self.plan()
        self.tally.unconfirmed = plan.unconfirmed if self.facts.complete else None
        await self._part(plan)
        left = await self._apply(plan, self.walk.desired)
        for _ in range(ROUNDS - 1):
            if not left:
                return self.tally
            left = await self._apply(await self._plan_again(left), left)
        for one in left:
            self.tally.fail(one.inventory_id, one.name, BUSY)
        return self.tally

    async def _plan_again(self, left: Sequence[DesiredDevice]) -> Plan:
        names = {one.external_id: one.name for one in left}
        known = await self.devices.known_again(self.caller.org_id, self.facts.key, names)
        facts = replace(self.facts, complete=False, removes=False, confirm_removals=False, unchanged=())
        return await asyncio.to_thread(make_plan, known, left, facts)

    async def _apply(self, plan: Plan, desired: Sequence[DesiredDevice]) -> list[DesiredDevice]:
        """Apply the plan; return the devices that were edited between the plan and the write."""
        for refused in plan.refused:
            one = refused.desired
            if one is None:
                self.tally.note(refused.error)
            else:
                self.tally.fail(one.inventory_id, one.name, refused.error)
        self.tally.unchanged += len(plan.unchanged)
        self._advance(len(plan.unchanged) + len(plan.refused))
        renamed = [write for write in plan.updates if "name" in write.values]
        again = await self._rename(renamed)
        self.tally.updated += len(renamed) - len(again)
        simple = [write for write in plan.updates if "name" not in write.values]
        refused_ids = await self._write([*simple, *plan.adopts])
        self.tally.updated += len(simple) + len(plan.adopts) - len(refused_ids)
        again |= refused_ids
        rebound = await self._write(plan.rebound)
        self.tally.unchanged += len(plan.rebound) - len(rebound)
        revived = await self._revive(plan.revives)
        made = await self._make(plan)
        self.tally.added += len(plan.revives) - len(revived)
        again |= rebound | revived | made
        return [one for one in desired if one.external_id in again]

    async def _part(self, plan: Plan) -> None:
        """Remove and release devices; one that others changed after the plan is decided about again.

        Two sources that lose a device at the same moment would otherwise each leave it to the other one.
        """
        removals, released = plan.removals, plan.released
        edited: list[KnownDevice] = []
        for _ in range(ROUNDS):
            edited = await self._remove(removals)
            again = await self._write(released, counted=False)
            edited += [write.before for write in released if write.external_id(self.facts.key) in again]
            if not edited:
                return
            now = await self.devices.with_ids(self.caller.org_id, [device.id for device in edited])
            removals, released = partings(now, self.facts)
        for device in edited:
            self.tally.fail_removal(device, MEANWHILE)

    async def _remove(self, devices: Iterable[KnownDevice]) -> list[KnownDevice]:
        """Remove devices again and again while it helps: one may be in use by another that is removed after
        it.

        Returns those that were edited meanwhile.
        """
        waiting, edited = list(devices), []
        while waiting:
            refused: list[tuple[KnownDevice, str]] = []
            for device in waiting:
                self.guard()
                reason = await self.devices.remove(self.caller, device)
                if reason == MEANWHILE:
                    edited.append(device)
                elif reason is not None:
                    refused.append((device, reason))
                else:
                    self.tally.removed += 1
            if len(refused) == len(waiting):
                for device, reason in refused:
                    self.tally.fail_removal(device, reason)
                break
            waiting = [device for device, _ in refused]
        return edited

    async def _rename(self, writes: Sequence[DeviceWrite]) -> set[str]:
        """Rename devices; return the external ids of those that were not written."""
        by_id = {write.before.id: write for write in writes}
        again: set[str] = set()
        moves = {device_id: (write.before.name, write.name) for device_id, write in by_id.items()}
        for wave in await asyncio.to_thread(waves, moves):
            for batch in in_batches(wave, BATCH):
                steps = [_step(by_id, step) for step in batch]
                again |= await self._write(steps, counted=not batch[0].parked)
        return again

    async def _write(self, writes: Sequence[DeviceWrite], *, counted: bool = True) -> set[str]:
        again: set[str] = set()
        for batch in in_batches(writes, BATCH):
            self.guard()
            refused = await self.devices.write(self.caller, batch)
            again |= {write.external_id(self.facts.key) for write in batch if write.before.id in refused}
            self._advance(len(batch) if counted else 0)
        return again

    async def _revive(self, writes: Sequence[DeviceWrite]) -> set[str]:
        again: set[str] = set()
        for batch in in_batches(writes, BATCH):
            self.guard()
            refused = await self.devices.revive(self.caller, batch)
            again |= {write.external_id(self.facts.key) for write in batch if write.before.id in refused}
            self._advance(len(batch))
        return again

    async def _make(self, plan: Plan) -> set[str]:
        """Create devices, some batches at a time: while the database writes one, the next one is prepared."""
        again: set[str] = set()
        running: deque[asyncio.Task[set[str]]] = deque()
        try:
            for batch in in_batches(plan.creates, NEW):
                if len(running) == AT_ONCE:
                    again |= await _first(running)
                self.guard()
                running.append(asyncio.create_task(self._make_batch(batch), name="sync batch"))
            while running:
                again |= await _first(running)
        finally:  # however this ends, the batches that were started are counted and audited
            await asyncio.gather(*running, return_exceptions=True)
        return again

    async def _make_batch(self, batch: Sequence[NewDevice]) -> set[str]:
        refused = await self.devices.make(self.caller, batch)
        self.tally.added += len(batch) - len(refused)
        self._advance(len(batch))
        return refused

    def _advance(self, count: int) -> None:
        total = len(self.walk.desired) + len(self.walk.unchanged)
        self._done = min(self._done + count, total)
        self.progress("apply", self._done, total)


async def _first(running: deque[asyncio.Task[set[str]]]) -> set[str]:
    """Return the outcome of the batch that was started first. Cancelling this wait does not cancel
    the batch.
    """
    await asyncio.wait([running[0]])
    return running.popleft().result()


def _step(by_id: dict[str, DeviceWrite], step: Step) -> DeviceWrite:
    """Return the write of one step; it records a parking, for the device's own step that follows."""
    write = by_id[step.device_id]
    if not step.parked:
        return write
    by_id[step.device_id] = after_parking(write, step.name)
    return parked(write, step.name)
