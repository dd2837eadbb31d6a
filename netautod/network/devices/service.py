"""The rules of devices: unique names, links that hold, who may name a credential, deletion in one step.

A `site` sent without `site_id` takes the device out of its managed site, unless it is that site's name.
A device that others use as their jump device is not deleted (409): they would be cut off.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import (
    Conflict,
    Duplicate,
    InvalidInput,
    NetautodError,
    NotFound,
    PreconditionFailed,
)
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers, References, Uses
from netautod.core.work.context import Work
from netautod.core.work.guard import Persist, ask_once
from netautod.network.devices.creation.links import Links, names_credential
from netautod.network.devices.creation.single import distinct, new_device
from netautod.network.devices.models import Called, Creation, Device, DeviceFilter, DeviceItem, DeviceName
from netautod.network.devices.records.queries import CREDENTIAL_FIELDS, LINK_FIELDS, where
from netautod.network.devices.records.vouched import VOUCHED, may_vouch, vouching_details
from netautod.network.devices.store import DeviceStore
from netautod.network.sites.service import SiteService

NAME_TAKEN = "Device with this name already exists"
NOT_FOUND = "Device not found"
CHANGED = "The device was changed at the same moment; read it again"
OnlyIf = Callable[[Device], None]
"""Asked about the device before it is changed; raises what keeps it from that."""
IDS_AT_ONCE = 500
Synonyms = Callable[[str], tuple[str, ...]]


def alone(device_type: str) -> tuple[str, ...]:
    """Return the device type alone: the default, for what filters by no platform."""
    return (device_type,)


class DeviceService:
    """The service of devices. `references`: what keeps a device from being deleted. `deleted`: what cleans up
    after one.

    `purged`: what keeps history of deleted devices, and drops it when their time is over.
    """

    def __init__(
        self,
        *,
        store: DeviceStore,
        links: Links,
        clock: Clock,
        audit: AuditLog,
        sites: SiteService,
        synonyms: Synonyms = alone,
    ) -> None:
        """Create the service. `synonyms`: all device types of the platform that one of them means."""
        self.references = References("Device")
        self.references.register(self._jumping)
        self.deleted = Followers()
        self.purged = Followers()
        self._store = store
        self._links = links
        self._sites = sites
        self._synonyms = synonyms
        self._clock = clock
        self._audit = audit

    async def resume(self) -> None:
        """Finish what a crash left, at start, when the registries are filled."""
        for org_id, device_id in await self._store.tombstones_to_clean():
            await self._clean_up(org_id, device_id)

    async def get(self, org_id: OrgId, device_id: str, work: Work | None = None) -> Device:
        """Return a device. Raises NotFound. For bulk `work` it is read together with others requested within
        the next 30 ms.
        """
        found = await self._store.get(org_id, device_id, work)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found

    async def require(self, org_id: OrgId, device_id: str) -> None:
        """Raise NotFound unless the device exists."""
        if not await self._store.exists(org_id, device_id):
            raise NotFound(NOT_FOUND)

    async def page(self, org_id: OrgId, narrowed: DeviceFilter, page: Page) -> PageOf[DeviceItem]:
        """Return one page of devices, sorted by name."""
        return await self._store.page(org_id, self.whole(narrowed), page)

    def matching(
        self,
        org_id: OrgId,
        *,
        site: str | None = None,
        device_type: str | None = None,
        persist: Persist = ask_once,
    ) -> AsyncIterator[list[Device]]:
        """Yield batches of all devices that match, sorted by id; without a condition all of the
        organization."""
        return self._store.batches(
            org_id, where(self.whole(DeviceFilter(site=site, device_type=device_type))), persist
        )

    async def of_ids(
        self, org_id: OrgId, ids: Sequence[str], *, persist: Persist = ask_once
    ) -> AsyncIterator[list[Device]]:
        """Yield the devices with these ids that exist, in batches, sorted by id."""
        wanted = sorted(set(ids))
        for start in range(0, len(wanted), IDS_AT_ONCE):
            some = wanted[start : start + IDS_AT_ONCE]
            found = await persist(partial(self._store.live_ones, org_id, some))
            if found:
                yield found

    def names_in_order(
        self, org_id: OrgId, narrowed: DeviceFilter, *, batch: int = 100
    ) -> AsyncIterator[list[DeviceName]]:
        """Yield batches of all devices that match, sorted by name."""
        return self._store.names_in_order(org_id, self.whole(narrowed), batch=batch)

    async def names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        """Return names by id for present and former devices: deleted ones still label history."""
        return await self._store.names(org_id, ids)

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        """Return the id of the device of just this name; None if the organization has none."""
        return await self._store.id_of(org_id, name)

    async def live_names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        """Return names by id for the devices that exist."""
        return await self._store.live_names(org_id, ids)

    async def created(
        self, after: tuple[datetime, str] | None, *, before: datetime, limit: int
    ) -> list[Creation]:
        """Return devices of all organizations in the order of their creation, deleted ones too: for
        background work.

        `after` is the creation and id of the last one that is known already.
        """
        return await self._store.created(after, before=before, limit=limit)

    def called(self, org_id: OrgId) -> AsyncIterator[list[Called]]:
        """Yield all devices in batches, with the names that others may know them by."""
        return self._store.called(org_id)

    async def pin_host_key(self, org_id: OrgId, visited: Device, fingerprint: str) -> str | None:
        """Trust on first use: pins the fingerprint unless one is pinned; returns the pinned one.

        None is pinned for a device that is not vouched for any more where it was visited, or is gone.
        """
        return await self._store.pin_host_key(org_id, visited, fingerprint)

    async def pin_port_key(self, org_id: OrgId, visited: Device, fingerprint: str) -> str | None:
        """Pin a key as `pin_host_key`, for the SSH server at the port of `visited`, the device's own or
        not."""
        now = await self._store.get(org_id, visited.id)
        if now is not None and (now.protocol, now.port) == (visited.protocol, visited.port):
            return await self._store.pin_host_key(org_id, visited, fingerprint)
        return await self._store.pin_port_key(org_id, visited, fingerprint)

    async def reset_host_key(self, caller: Caller, device_id: str) -> None:
        """Forget the pinned key: the next login pins the one that the device shows then."""
        before = await self._store.forget_host_key(caller.org_id, device_id, at=self._clock.now())
        if before is None:
            raise NotFound(NOT_FOUND)
        details = {"name": before.name, "fingerprint": before.host_key_fingerprint}
        await self._audit.record(caller, "device.host_key_reset", "device", device_id, details)

    async def create(
        self, caller: Caller, fields: Mapping[str, Any], *, device_id: str | None = None
    ) -> Device:
        """Create a device of fields as DeviceRequest loads them. Raises InvalidInput, Forbidden or Conflict.

        `device_id`: a device with it was made by this very request.
        """
        self._require_credentials(caller, fields)
        repeated, device_id = device_id is not None, device_id or str(uuid4())
        site_name = await self._links.check(caller.org_id, device_id, fields)
        device = new_device(
            caller.org_id,
            device_id,
            fields,
            site=site_name,
            source="manual",
            vouched=may_vouch(caller),
            at=self._clock.now(),
        )
        try:
            await self._store.insert(caller.org_id, device)
        except Duplicate as error:
            # Or the request is repeated: the node that began it died between this write and the answer.
            before = await self._store.get(caller.org_id, device_id) if repeated else None
            if before is None:
                raise Conflict(NAME_TAKEN) from error
            device = before
        try:
            device = await self._confirm_links(device, fields)
        except InvalidInput:
            await self._store.discard(caller.org_id, device_id)
            raise
        details = {"name": device.name, VOUCHED: device.vouched}
        await self._audit.record(caller, "device.create", "device", device_id, details)
        return device

    async def update(
        self, caller: Caller, device_id: str, fields: Mapping[str, Any], *, only_if: OnlyIf | None = None
    ) -> Device:
        """Change the sent fields by one write; fields that are not sent keep what others write meanwhile."""
        before, seen = await self._seen(caller.org_id, device_id, only_if)
        changes = _really_sent(before, fields)
        self._require_credentials(caller, changes)
        site_name = await self._links.check(caller.org_id, device_id, changes)
        changes.update(_site_change(before, changes, site_name))
        if not changes:
            return before
        device = await self._write(before, changes, vouches=may_vouch(caller), seen=seen)
        details = {"name": device.name, "fields": sorted(changes), **vouching_details(before, device)}
        await self._audit.record(caller, "device.update", "device", device_id, details)
        return device

    async def fill(self, caller: Caller, seen: Device, values: Mapping[str, str], **details: Any) -> None:
        """Write facts that were found on a device into the fields that are still as they were `seen`.

        No field that was set meanwhile is written; `details` stands in the event besides.
        """
        org_id = caller.org_id
        filled = await self._store.fill(org_id, seen, values, at=self._clock.now()) if values else []
        if filled:
            details = {"name": seen.name, "fields": sorted(filled), **details}
            await self._audit.record(caller, "device.update", "device", seen.id, details)

    async def delete(self, caller: Caller, device_id: str, *, only_if: OnlyIf | None = None) -> None:
        """Delete the device: it is gone from every read at once; configs and history stay with their
        owners."""
        seen = None if only_if is None else (await self._seen(caller.org_id, device_id, only_if))[1]
        await self.references.refuse_if_used(caller.org_id, device_id)
        buried = await self._store.bury(caller.org_id, device_id, at=self._clock.now(), expected=seen)
        if buried is None:
            raise await self._missed(caller.org_id, device_id, seen)
        await self._clean_up(caller.org_id, device_id)
        await self._audit.record(caller, "device.delete", "device", device_id, {"name": buried.name})

    async def purge(self, *, buried_before: datetime) -> int:
        """Forget devices that were deleted before then, with their history; return how many.

        First the tombstone is closed, so that no sync revives a device of which half is gone. If we die on
        the way, the tombstone is still there and the next pass goes on.
        """
        purged = 0
        for org_id, device_id in await self._store.buried_before(buried_before):
            if await self._store.close(org_id, device_id, buried_before=buried_before):
                await self.purged.notify(org_id, device_id)
                await self._store.forget(org_id, device_id)
                purged += 1
        return purged

    async def using_credential(self, org_id: OrgId, credential_id: str, limit: int) -> Uses:
        """Return the devices that use a credential: for the references of credentials."""
        return await self._using(org_id, CREDENTIAL_FIELDS, credential_id, limit)

    async def using_site(self, org_id: OrgId, site_id: str, limit: int) -> Uses:
        """Return the devices of a site: for the references of sites."""
        return await self._using(org_id, ("site_id",), site_id, limit)

    async def follow_site(self, org_id: OrgId, site_id: str) -> None:
        """Bring the site's present name to its devices: for the followers of site renames."""
        name = await self._sites.name_of(org_id, site_id)
        if name is not None:
            await self._store.rename_site(org_id, site_id, name, at=self._clock.now())

    def whole(self, narrowed: DeviceFilter) -> DeviceFilter:
        """Return the filter as stores take it. A device keeps the name of its platform that it was given;
        filters match all.
        """
        wanted = narrowed.device_type
        return narrowed if wanted is None else replace(narrowed, synonyms=self._synonyms(wanted))

    async def _jumping(self, org_id: OrgId, device_id: str, limit: int) -> Uses:
        return await self._using(org_id, ("jump_device_id",), device_id, limit)

    async def _using(self, org_id: OrgId, fields: Sequence[str], value: str, limit: int) -> Uses:
        names, count = await self._store.using(org_id, fields, value, limit)
        return Uses(kind="device", names=names, count=count)

    async def _clean_up(self, org_id: OrgId, device_id: str) -> None:
        await self.deleted.notify(org_id, device_id)
        await self._store.cleaned_up(org_id, device_id)

    def _require_credentials(self, caller: Caller, fields: Mapping[str, Any]) -> None:
        if names_credential(fields):
            caller.require("credentials.manage")

    async def _seen(
        self, org_id: OrgId, device_id: str, only_if: OnlyIf | None
    ) -> tuple[Device, Mapping[str, Any] | None]:
        """Return the device, and with a condition that holds what it has to be still when it is written."""
        if only_if is None:
            return await self.get(org_id, device_id), None
        found = await self._store.seen(org_id, device_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        only_if(found[0])
        return found

    async def _missed(self, org_id: OrgId, device_id: str, seen: Mapping[str, Any] | None) -> NetautodError:
        """Return why a write has found no device: it is gone, or differs from what was seen."""
        if seen is None or await self._store.get(org_id, device_id) is None:
            return NotFound(NOT_FOUND)
        return PreconditionFailed(CHANGED)

    async def _write(
        self,
        before: Device,
        changes: Mapping[str, Any],
        *,
        vouches: bool,
        seen: Mapping[str, Any] | None = None,
    ) -> Device:
        org_id, now = OrgId(before.org_id), self._clock.now()
        try:
            device = await self._store.change(
                org_id, before.id, changes, at=now, vouches=vouches, expected=seen
            )
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        if device is None:
            raise await self._missed(org_id, before.id, seen)
        try:
            return await self._confirm_links(device, changes)
        except InvalidInput:
            links = {name: changes[name] for name in (*LINK_FIELDS, "site") if name in changes}
            old = {name: getattr(before, name) for name in links}
            # Takes back a jump or a credential that went at this moment; whether the old one still holds is
            # for a person to say.
            now = self._clock.now()
            await self._store.change(org_id, before.id, old, at=now, vouches=False, expected=links)
            raise

    async def _confirm_links(self, device: Device, fields: Mapping[str, Any]) -> Device:
        """Check after a write whether the links still hold, and whether the site has another name by now."""
        org_id = OrgId(device.org_id)
        site_name = await self._links.check(org_id, device.id, fields)
        if site_name is None or site_name == device.site:
            return device
        expected = {"site_id": fields["site_id"]}
        changed = await self._store.change(
            org_id, device.id, {"site": site_name}, at=self._clock.now(), vouches=False, expected=expected
        )
        return changed or device


def _really_sent(before: Device, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without what a client only sends back.

    An unchanged credential is not named anew, nor a transport whose plugin is gone, and the name of the
    managed site is not a free text.
    """
    kept = {*CREDENTIAL_FIELDS, "automation_transport", *(["site"] if before.site_id is not None else [])}
    changes = {
        name: value for name, value in fields.items() if name not in kept or value != getattr(before, name)
    }
    if "tags" in changes:
        changes["tags"] = distinct(changes["tags"])
    return changes


def _site_change(before: Device, changes: Mapping[str, Any], site_name: str | None) -> dict[str, Any]:
    if changes.get("site_id") is not None:
        return {"site": site_name}
    leaves = "site" in changes and before.site_id is not None
    return {"site_id": None} if leaves else {}
