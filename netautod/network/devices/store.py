"""Devices as documents: live ones and the tombstones of deleted ones, whose names are free again.

Every write of many devices ends with `counts.changed`, and writes `search` together with name and host.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.loop.each import in_batches
from netautod.core.pages import Page, PageOf, in_turns
from netautod.core.work.context import Work
from netautod.core.work.guard import Guard, Persist, ask_once
from netautod.network.devices.models import (
    Called,
    Creation,
    Device,
    DeviceFilter,
    DeviceItem,
    DeviceName,
    JumpDevice,
)
from netautod.network.devices.polls.store import reset
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.documents import (
    ITEM_FIELDS,
    PORT_KEYS,
    PROMPT,
    device_of,
    document_of,
    edited,
    item_of,
    unchanged,
)
from netautod.network.devices.records.queries import (
    COLLECTION,
    FILTERED,
    SEARCH,
    SEARCH_TEXT,
    best_index,
    live,
    order,
    where,
)
from netautod.network.devices.records.vouched import DESTINATION, VOUCHED, vouching_stage
from netautod.store.batching import Batcher
from netautod.store.client import Change, Database, Document
from netautod.store.expressions import literal
from netautod.store.migrations.model import in_pages
from netautod.store.scoped import scoped

BATCH = 500
PLACE = ("host", "port", "protocol", "jump_device_id")  # where a device was visited


class DeviceStore:
    """A store of devices. Every call sees live devices only, unless stated otherwise."""

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._devices = scoped(database, COLLECTION)
        self._reads: Batcher[OrgId, str, Device | None] = Batcher(self._by_id)
        self.counts = DeviceCounts(database)

    async def insert(self, org_id: OrgId, device: Device) -> None:
        """Insert a device. Raises Duplicate if a live device has the name."""
        await self._devices.insert(org_id, document_of(device))
        await self.counts.changed(org_id)

    async def insert_many(self, org_id: OrgId, devices: Sequence[Device]) -> tuple[int, ...]:
        """Insert all whose name no live device has; return the positions of the others."""
        result = await self._devices.insert_many(org_id, [document_of(device) for device in devices])
        await self.counts.changed(org_id)
        return result.duplicates

    async def taken(self, org_id: OrgId, names: Sequence[str]) -> set[str]:
        """Return the names that live devices have already."""
        found = await self._devices.find(
            org_id, live(name={"$in": list(names)}), fields={"name": 1, "_id": 0}
        )
        return {document["name"] for document in found}

    async def jumps(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, JumpDevice]:
        """Return the devices with these ids that exist, by id."""
        fields = {"protocol": 1, "jump_device_id": 1}
        found = await self._devices.find(org_id, live(_id={"$in": list(ids)}), fields=fields)
        return {
            document["_id"]: JumpDevice(
                protocol=document["protocol"], jump_device_id=document["jump_device_id"]
            )
            for document in found
        }

    async def jumping(self, org_id: OrgId, jumps: Sequence[str]) -> dict[str, str]:
        """Return the devices that go through one of those, and through which."""
        users: dict[str, str] = {}
        for batch in in_batches(jumps, BATCH):
            wanted = live(jump_device_id={"$in": batch})
            found = await self._devices.find(org_id, wanted, fields={"jump_device_id": 1})
            users.update({document["_id"]: document["jump_device_id"] for document in found})
        return users

    async def discard(self, org_id: OrgId, device_id: str) -> None:
        """Remove a device whose insert was never answered."""
        await self._devices.delete(org_id, {"_id": device_id})
        await self.counts.changed(org_id)

    async def get(self, org_id: OrgId, device_id: str, work: Work | None = None) -> Device | None:
        """Return a device; for bulk `work` it is read together with others requested within the next 30
        ms."""
        if work is not None and work.bulk:
            return await self._reads.ask(org_id, device_id, work)
        found = await self._devices.find_one(org_id, live(_id=device_id))
        return None if found is None else device_of(found)

    async def exists(self, org_id: OrgId, device_id: str) -> bool:
        return await self._devices.find_one(org_id, live(_id=device_id), fields={"_id": 1}) is not None

    async def seen(self, org_id: OrgId, device_id: str) -> tuple[Device, Mapping[str, Any]] | None:
        """Return the device, and the condition that it is still so: `expected` of a change."""
        found = await self._devices.find_one(org_id, live(_id=device_id))
        return None if found is None else (device_of(found), unchanged(found))

    async def live_ones(self, org_id: OrgId, ids: Iterable[str]) -> list[Device]:
        """Return the devices with these ids that exist, sorted by id."""
        found = await self._devices.find(org_id, live(_id={"$in": list(set(ids))}), sort=[("_id", 1)])
        return [device_of(document) for document in found]

    async def _by_id(self, org_id: OrgId, ids: Sequence[str]) -> Sequence[Device | None]:
        devices = {device.id: device for device in await self.live_ones(org_id, ids)}
        return [devices.get(device_id) for device_id in ids]

    async def page(self, org_id: OrgId, narrowed: DeviceFilter, page: Page) -> PageOf[DeviceItem]:
        """Return one page sorted by name, which is unique among the live devices of an organization.

        An offset counts from the beginning as that is at the moment. A device that is made in front of a page
        between two requests pushes one that was seen into the next page, where it is seen again; one that is
        deleted there pulls one back that is then not seen. Writes behind the page move nothing.
        """
        found = await self._devices.find(
            org_id,
            where(narrowed),
            fields=ITEM_FIELDS,
            sort=order(narrowed),
            limit=page.limit,
            offset=page.offset,
            index=best_index(narrowed),
        )
        total = await self._total(org_id, narrowed, page, len(found))
        return PageOf(items=await in_turns(item_of, found), total=total, page=page)

    async def _total(self, org_id: OrgId, narrowed: DeviceFilter, page: Page, found: int) -> int:
        seen = page.offset + found
        is_last = found < page.limit and (found > 0 or page.offset == 0)
        if is_last:
            return seen
        total = await self.counts.total(org_id, narrowed)
        # Both were read at moments of their own; no list is shorter than what it shows.
        return max(total, seen) if found else total

    async def batches(
        self, org_id: OrgId, wanted: Mapping[str, Any], persist: Persist = ask_once
    ) -> AsyncIterator[list[Device]]:
        """Yield all that match, sorted by id. Each batch is a query of its own: no cursor stays open
        meanwhile.
        """
        after = ""
        while True:
            further = {**wanted, "_id": {"$gt": after}}
            found = await persist(
                partial(self._devices.find, org_id, further, sort=[("_id", 1)], limit=BATCH)
            )
            if found:
                yield [device_of(document) for document in found]
            if len(found) < BATCH:
                return
            after = found[-1]["_id"]

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        found = await self._devices.find_one(org_id, live(name=name), fields={"_id": 1})
        return None if found is None else str(found["_id"])

    async def names_in_order(
        self, org_id: OrgId, narrowed: DeviceFilter, *, batch: int
    ) -> AsyncIterator[list[DeviceName]]:
        """Yield all that match, sorted by name; each batch is a query of its own."""
        wanted, after = where(narrowed), ""
        while True:
            found = await self._devices.find(
                org_id,
                {**wanted, "name": {"$gt": after}},
                fields={"name": 1},
                sort=[("name", 1)],
                limit=batch,
            )
            if found:
                yield [DeviceName(id=document["_id"], name=document["name"]) for document in found]
            if len(found) < batch:
                return
            after = found[-1]["name"]

    async def called(self, org_id: OrgId) -> AsyncIterator[list[Called]]:
        """Yield all of them, sorted by name; each batch is a query of its own."""
        after = ""
        fields = dict.fromkeys(("name", "host", "platform", "device_type"), 1)
        while True:
            found = await self._devices.find(
                org_id, live(name={"$gt": after}), fields=fields, sort=[("name", 1)], limit=BATCH
            )
            if found:
                yield [
                    Called(
                        id=document["_id"],
                        name=document["name"],
                        host=document["host"],
                        platform=document["platform"],
                        device_type=document["device_type"],
                    )
                    for document in found
                ]
            if len(found) < BATCH:
                return
            after = found[-1]["name"]

    async def names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        """Return names by id, deleted devices included: they label history."""
        found = await self._devices.find(org_id, {"_id": {"$in": list(ids)}}, fields={"name": 1})
        return {document["_id"]: document["name"] for document in found}

    async def live_names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        """Return names by id of the devices that exist."""
        found = await self._devices.find(org_id, live(_id={"$in": list(ids)}), fields={"name": 1})
        return {document["_id"]: document["name"] for document in found}

    async def created(
        self, after: tuple[datetime, str] | None, *, before: datetime, limit: int
    ) -> list[Creation]:
        """Return devices of all organizations, deleted ones included, by their creation and then their id.

        `after`: those two of the last device that is known already.
        """
        wanted: Document = {"created_at": {"$lt": before}}
        if after is not None:
            moment, device_id = after
            later = {"created_at": {"$gt": moment, "$lt": before}}
            wanted = {"$or": [{"created_at": moment, "_id": {"$gt": device_id}}, later]}
        found = await self._all.find(
            wanted, fields={"org_id": 1, "created_at": 1}, sort=[("created_at", 1), ("_id", 1)], limit=limit
        )
        return [
            Creation(id=document["_id"], org_id=document["org_id"], created_at=document["created_at"])
            for document in found
        ]

    async def using(
        self, org_id: OrgId, link_fields: Sequence[str], value: str, limit: int
    ) -> tuple[list[str], int]:
        """Return the first names and the number of the devices of which one of the fields has the value."""
        names: list[str] = []
        total = 0
        # One query per field: each has its own partial index, which an $or could not use.
        for position, field in enumerate(link_fields):
            counted = {earlier: {"$ne": value} for earlier in link_fields[:position]}
            wanted = live(**{field: value}, **counted)
            found = await self._devices.find(
                org_id, wanted, fields={"name": 1}, sort=[("name", 1)], limit=limit
            )
            names += [document["name"] for document in found]
            total += len(found) if len(found) < limit else await self._devices.count(org_id, wanted)
        return sorted(names)[:limit], total

    async def change(
        self,
        org_id: OrgId,
        device_id: str,
        changes: Mapping[str, Any],
        *,
        at: datetime,
        vouches: bool,
        expected: Mapping[str, Any] | None = None,
    ) -> Device | None:
        """Change these fields by one atomic update; with `expected` only while the device has those values.

        `vouches`: whether the caller vouches for a device that the change moves.
        """
        values = dict(changes)
        if "metadata" in values:
            values["metadata"] = json.dumps(values["metadata"])
        written = {**values, **edited(values.keys()), **reset(values.keys()), "updated_at": at}
        stages: list[Document] = [{"$set": literal(written)}]
        if moves := not DESTINATION.isdisjoint(values):
            stages.insert(0, vouching_stage(values, vouches=vouches))
        if not values.keys().isdisjoint(("name", "host")):
            stages.append({"$set": {SEARCH: SEARCH_TEXT}})
        update: Change = stages if len(stages) > 1 else {"$set": written}
        found = await self._devices.find_and_update(org_id, live(**(expected or {}), _id=device_id), update)
        if found is not None and (moves or not FILTERED.isdisjoint(values)):
            await self.counts.changed(org_id)
        return None if found is None else device_of(found)

    async def fill(
        self, org_id: OrgId, seen: Device, values: Mapping[str, str], *, at: datetime
    ) -> list[str]:
        """Write those of the values whose fields are as they were seen; return their names.

        What lists are narrowed by may be among them; where a device is may not.
        """
        filled: list[str] = []
        for name, value in values.items():
            untouched = live(_id=seen.id, **{name: getattr(seen, name)})
            written = {name: value, **edited([name]), "updated_at": at}
            if await self._devices.update(org_id, untouched, {"$set": written}):
                filled.append(name)
        if not FILTERED.isdisjoint(filled):
            await self.counts.changed(org_id)
        return filled

    async def rename_site(self, org_id: OrgId, site_id: str, name: str, *, at: datetime) -> None:
        stale = live(site_id=site_id, site={"$ne": name})
        named = {"site": name, **edited(["site"]), "updated_at": at}
        await self._devices.update_many(org_id, stale, {"$set": named})
        # Also when nothing was stale: we may be finishing what a crash left half done.
        await self.counts.changed(org_id)

    async def pin_host_key(self, org_id: OrgId, visited: Device, fingerprint: str) -> str | None:
        """Return the fingerprint that the device has afterwards: the first pin wins.

        None where none is pinned, because the device is gone, or is not vouched for (any more) at the address
        that was visited: a pin sends passwords there for good.
        """
        place = {name: getattr(visited, name) for name in PLACE}
        unpinned = live(_id=visited.id, host_key_fingerprint=None, **place, **{VOUCHED: True})
        pin = {"$set": {"host_key_fingerprint": fingerprint}}
        if await self._devices.update(org_id, unpinned, pin):
            return fingerprint
        found = await self.get(org_id, visited.id)
        return None if found is None else found.host_key_fingerprint

    async def pin_port_key(self, org_id: OrgId, visited: Device, fingerprint: str) -> str | None:
        """Pin a key as `pin_host_key`, of the SSH server at the port of `visited`, which need not be the
        device's.
        """
        kept = f"{PORT_KEYS}.{visited.port}"
        place = {name: getattr(visited, name) for name in ("host", "jump_device_id")}
        unpinned = live(_id=visited.id, **{kept: None}, **place, **{VOUCHED: True})
        if await self._devices.update(org_id, unpinned, {"$set": {kept: fingerprint}}):
            return fingerprint
        found = await self.get(org_id, visited.id)
        return None if found is None else found.port_keys.get(visited.port)

    async def not_vouched(self, org_id: OrgId, ids: Sequence[str]) -> tuple[list[str], set[str]]:
        """Return the ids of the devices that are not vouched for, and the ids of all that exist."""
        wanted = live(_id={"$in": list(ids)})
        found = await self._devices.find(org_id, wanted, fields={VOUCHED: 1})
        known = {document["_id"] for document in found}
        return [document["_id"] for document in found if not document.get(VOUCHED)], known

    async def vouch(self, org_id: OrgId, ids: Sequence[str], *, at: datetime) -> list[Device]:
        """Return the devices as they are then: each was vouched for with the address that it has there."""
        change = {"$set": {VOUCHED: True, "updated_at": at}}
        taken = [
            await self._devices.find_and_update(org_id, live(_id=device_id), change) for device_id in ids
        ]
        if ids:
            await self.counts.changed(org_id)
        return [device_of(document) for document in taken if document is not None]

    async def forget_host_key(self, org_id: OrgId, device_id: str, *, at: datetime) -> Device | None:
        """Remove the pins; return the device as it was, None without such a device."""
        unset = {PROMPT: "", PORT_KEYS: ""}
        change = {"$set": {"host_key_fingerprint": None, "updated_at": at}, "$unset": unset}
        found = await self._devices.find_and_update(org_id, live(_id=device_id), change, before=True)
        if found is not None and not found.get(VOUCHED):  # the pin stood for it
            await self.counts.changed(org_id)
        return None if found is None else device_of(found)

    async def bury(
        self, org_id: OrgId, device_id: str, *, at: datetime, expected: Mapping[str, Any] | None = None
    ) -> Device | None:
        """Delete by one write, which also records that the followers are still to be notified.

        With `expected` only while the device has those values.
        """
        change = {"$set": {"live": False, "deleted_at": at, "cleanup": True}, "$unset": {PROMPT: ""}}
        wanted = live(**(expected or {}), _id=device_id)
        found = await self._devices.find_and_update(org_id, wanted, change)
        if found is None:
            return None
        await self.counts.changed(org_id)
        return device_of(found)

    async def cleaned_up(self, org_id: OrgId, device_id: str) -> None:
        await self._devices.update(org_id, {"_id": device_id, "live": False}, {"$unset": {"cleanup": ""}})

    async def buried_before(self, moment: datetime) -> list[tuple[OrgId, str]]:
        """Return tombstones of all organizations, without those whose followers are still to be notified."""
        # Without the type in the query the server does not use the partial index.
        old = {"$type": "date", "$lt": moment}
        found = await self._all.find(
            {"deleted_at": old, "live": {"$ne": True}, "cleanup": None}, fields={"org_id": 1}
        )
        return [(OrgId(document["org_id"]), str(document["_id"])) for document in found]

    async def close(self, org_id: OrgId, device_id: str, *, buried_before: datetime) -> bool:
        """Close a tombstone: nothing can revive it from now on, since `live` is neither true nor that of a
        tombstone.
        """
        old = {"_id": device_id, "live": {"$ne": True}, "deleted_at": {"$lt": buried_before}}
        return await self._devices.update(org_id, old, {"$set": {"live": None}})

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        await self._devices.delete(org_id, {"_id": device_id, "live": None})

    async def make_searchable(self, guard: Guard) -> None:
        """Give devices of earlier releases the text that searches read."""
        missing = {"live": True, SEARCH: None}
        await in_pages(self._all, missing, [{"$set": {SEARCH: SEARCH_TEXT}}], guard=guard)

    async def tombstones_to_clean(self) -> list[tuple[OrgId, str]]:
        found = await self._all.find({"cleanup": True}, fields={"org_id": 1})
        return [(OrgId(document["org_id"]), str(document["_id"])) for document in found]
