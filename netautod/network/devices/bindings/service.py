"""Changes of devices by synchronisations: create, change, remove and revive many of them, all of it audited.

The rules of single devices hold here too: names are unique, a device in use is not removed, the followers of
deletions are notified, and what a device that comes back points at must exist.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.json.values import to_text
from netautod.core.loop.each import in_batches
from netautod.network.devices.bindings.models import (
    BATCH,
    RELEASE,
    BoundDevice,
    DeviceWrite,
    KnownDevice,
    NewDevice,
)
from netautod.network.devices.bindings.revival import Revival
from netautod.network.devices.bindings.store import NAMES, BindingStore, taken_word
from netautod.network.devices.service import DeviceService
from netautod.network.devices.store import DeviceStore

MEANWHILE = "the device is being changed by others at this moment"


class SyncedDevices:
    def __init__(
        self,
        *,
        bindings: BindingStore,
        store: DeviceStore,
        devices: DeviceService,
        revival: Revival,
        clock: Clock,
        audit: AuditLog,
    ) -> None:
        self._store = bindings
        self._plain_store = store
        self._devices = devices
        self._revival = revival
        self._clock = clock
        self._audit = audit

    async def bound(self, org_id: OrgId, key: str) -> dict[str, BoundDevice]:
        """Return all live devices that are bound under the key, by external id."""
        return {device.external_id: device async for device in self._store.bound(org_id, key)}

    async def known(
        self, org_id: OrgId, key: str, names: Mapping[str, str], *, ids: Sequence[str], kept: Collection[str]
    ) -> list[KnownDevice]:
        """Return the devices that a plan reads.

        `ids` are those of the bound devices that may have to be changed, `names` the wanted names by external
        id, of which those in `kept` belong to bound ones that stay as they are.
        """
        found: list[KnownDevice] = []
        for batch in in_batches(ids, BATCH):
            found += await self._store.with_ids(org_id, batch)
        return await self._with_the_others(org_id, key, names, found, kept)

    async def with_ids(self, org_id: OrgId, ids: Sequence[str]) -> list[KnownDevice]:
        """Return the devices with these ids, deleted ones too."""
        return [
            device for batch in in_batches(ids, BATCH) for device in await self._store.with_ids(org_id, batch)
        ]

    async def held(self, org_id: OrgId, devices: Sequence[KnownDevice]) -> list[tuple[KnownDevice, str]]:
        """Return the devices that must stay although all of these are to be removed, and why."""
        going = {device.id: device for device in devices}
        users = await self._plain_store.jumping(org_id, list(going))
        held = {jump for user, jump in users.items() if user not in going}
        waiting = [*held]
        while waiting:  # what a device that stays goes through stays as well
            jump = users.get(waiting.pop())
            if jump is not None and jump not in held:
                held.add(jump)
                waiting.append(jump)
        return [(going[each], await self._use_of(org_id, each)) for each in going if each in held]

    async def _use_of(self, org_id: OrgId, device_id: str) -> str:
        try:
            await self._devices.references.refuse_if_used(org_id, device_id)
        except Conflict as error:
            return error.text
        return MEANWHILE

    async def known_again(self, org_id: OrgId, key: str, names: Mapping[str, str]) -> list[KnownDevice]:
        """Return the devices as `known` does, without the bound devices of other external ids."""
        found: list[KnownDevice] = []
        for batch in in_batches(names, BATCH):
            found += await self._store.bound_to(org_id, key, batch)
        return await self._with_the_others(org_id, key, names, found, ())

    async def _with_the_others(
        self,
        org_id: OrgId,
        key: str,
        names: Mapping[str, str],
        found: list[KnownDevice],
        kept: Collection[str],
    ) -> list[KnownDevice]:
        here = {*kept, *(device.name for device in found if device.live)}
        unknown = (name for name in dict.fromkeys(names.values()) if name not in here)
        for batch in in_batches(unknown, NAMES):
            found += await self._store.named(org_id, batch)
        if await self._store.any_deleted(org_id, key):
            bound = {binding.external_id for d in found if (binding := d.binding(key)) is not None}
            for batch in in_batches((wanted for wanted in names if wanted not in bound), NAMES):
                found += await self._store.deleted(org_id, key, batch)
        return found

    async def make(self, caller: Caller, devices: Sequence[NewDevice]) -> set[str]:
        """Create devices and return the external ids that were not created: the name or the id is taken by
        now.

        One audit event covers all of them: they are the devices of this `created_at`.
        """
        now = self._clock.now()
        refused = await self._store.insert(caller.org_id, devices, at=now)
        if len(refused) < len(devices):
            created = {"count": len(devices) - len(refused), "created_at": to_text(now)}
            details = {"source": "inventory", **created}
            await self._audit.record(caller, "device.create", "device", None, details)
        return {devices[position].binding.external_id for position in refused}

    async def write(self, caller: Caller, writes: Sequence[DeviceWrite]) -> set[str]:
        """Write devices and return the ids that were not written, because of an edit or a taken name."""
        refused = await self._store.write(caller.org_id, writes, at=self._clock.now())
        written = [write for write in writes if write.before.id not in refused]
        details = [
            (
                write.before.id,
                {**_audit_details(write), "fields": write.fields, "sync": write.action},
            )
            for write in written
            if write.values or write.action == RELEASE
        ]
        await self._audit.record_many(caller, "device.update", "device", details)
        return refused

    async def revive(self, caller: Caller, writes: Sequence[DeviceWrite]) -> set[str]:
        """Bring deleted devices back, without the links that have gone meanwhile; return as `write` does."""
        org_id = caller.org_id
        for write in writes:
            if write.before.cleaning:  # the deletion is not over: what it cleans up must not be new
                await self._clean_up(org_id, write.before.id)
        whole = await self._revival.without_dead_links(org_id, writes)
        refused = await self._store.write(org_id, whole, at=self._clock.now())
        back = [write for write in whole if write.before.id not in refused]
        await self._revival.confirm_links(org_id, back)
        details = [(write.before.id, {**_audit_details(write), "source": "inventory"}) for write in back]
        await self._audit.record_many(caller, "device.revive", "device", details)
        return refused

    async def remove(self, caller: Caller, device: KnownDevice) -> str | None:
        """Delete a device as by hand. Return why it was not removed, None if it was.

        MEANWHILE: its bindings are not those of `device` any more, or it is gone.
        """
        try:
            await self._devices.references.refuse_if_used(caller.org_id, device.id)
        except Conflict as error:
            return error.text
        if not await self._store.bury(caller.org_id, device, at=self._clock.now()):
            return MEANWHILE
        # If we die here, the tombstone says that the followers are still to be notified
        # (DeviceService.resume).
        await self._clean_up(caller.org_id, device.id)
        details = {"name": device.name, "source": "inventory"}
        await self._audit.record(caller, "device.delete", "device", device.id, details)
        return None

    async def unbind(self, org_id: OrgId, key: str) -> None:
        """Remove all bindings under the key; the devices stay."""
        await self._store.unbind(org_id, key)

    async def _clean_up(self, org_id: OrgId, device_id: str) -> None:
        await self._devices.deleted.notify(org_id, device_id)
        await self._plain_store.cleaned_up(org_id, device_id)


def _audit_details(write: DeviceWrite) -> dict[str, str | bool]:
    return {"name": write.name, **taken_word(write)}


def parked(write: DeviceWrite, name: str) -> DeviceWrite:
    """Return the write that gives the device of `write` another name for a while."""
    return DeviceWrite(action=write.action, before=write.before, values={"name": name})


def after_parking(write: DeviceWrite, name: str) -> DeviceWrite:
    """Return `write` for a device that has been parked under that name."""
    before = replace(write.before, values={**write.before.values, "name": name}, digest=None)
    return replace(write, before=before)
