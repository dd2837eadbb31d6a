"""Says for devices that their secrets may go to the address that they have now; needs credentials.manage."""

from collections.abc import Sequence

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import NotFound
from netautod.core.identity.caller import Caller
from netautod.core.loop.each import in_batches
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.devices.models import Device
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.service import NOT_FOUND
from netautod.network.devices.store import DeviceStore
from netautod.network.devices.vouching.models import Vouched, VouchError

BATCH = 250


class Vouching:
    def __init__(self, *, store: DeviceStore, clock: Clock, audit: AuditLog) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit

    async def one(self, caller: Caller, device_id: str) -> Device:
        """Return the device as it is then. Raises NotFound."""
        result = await self.many(caller, [device_id])
        found = None if result.errors else await self._store.get(caller.org_id, device_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found

    @waits(call_by_call)
    async def many(self, caller: Caller, device_ids: Sequence[str]) -> Vouched:
        """Vouch for each device by a write of its own: if we die on the way, the ones before stay vouched
        for.

        The event holds the address that was vouched for, as it stood in that write.
        """
        caller.require(MANAGE_CREDENTIALS)
        wanted = list(dict.fromkeys(device_ids))
        absent: set[str] = set()
        for batch in in_batches(wanted, BATCH):
            waiting, known = await self._store.not_vouched(caller.org_id, batch)
            absent.update(device_id for device_id in batch if device_id not in known)
            # One that is gone by now is not vouched for, and is in no list.
            taken = await self._store.vouch(caller.org_id, waiting, at=self._clock.now())
            events = [(device.id, _event_details(device)) for device in taken]
            if events:
                await self._audit.record_many(caller, "device.vouch", "device", events)
        errors = [VouchError(device_id=each, error=NOT_FOUND) for each in wanted if each in absent]
        return Vouched(count=len(wanted) - len(errors), errors=errors)


def _event_details(device: Device) -> dict[str, str | int | None]:
    return {
        "name": device.name,
        "host": device.host,
        "port": device.port,
        "jump_device_id": device.jump_device_id,
    }
