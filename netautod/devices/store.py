"""Devices as documents: live ones and the tombstones of deleted ones, whose names are free again.

`metadata` is kept as JSON text: as BSON, keys such as `$ref` would come back as something else.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from netautod.devices.models import Device, DeviceFilter, DeviceItem
from netautod.devices.queries import COLLECTION, live, where
from netautod.store.client import Database, Document, OrgId
from netautod.store.paging import Page, PageOf

BATCH = 500
ITEM_FIELDS = {field.name: 1 for field in fields(DeviceItem) if field.name != "id"}
SPECIAL = frozenset({"id", "tags", "connect_commands", "metadata"})
ITEM_PLAIN = tuple(field.name for field in fields(DeviceItem) if field.name not in SPECIAL)
PLAIN = tuple(field.name for field in fields(Device) if field.name not in SPECIAL)


class DeviceStore:
    """Every call sees live devices only, unless it says otherwise."""

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._devices = database.scoped(COLLECTION)

    async def insert(self, org_id: OrgId, device: Device) -> None:
        """Raises Duplicate if a live device has the name."""
        await self._devices.insert(org_id, document_of(device))

    async def discard(self, org_id: OrgId, device_id: str) -> None:
        """Takes back an insert that was never answered."""
        await self._devices.delete(org_id, {"_id": device_id})

    async def get(self, org_id: OrgId, device_id: str) -> Device | None:
        found = await self._devices.find_one(org_id, live(_id=device_id))
        return None if found is None else _device(found)

    async def page(self, org_id: OrgId, narrowed: DeviceFilter, page: Page) -> PageOf[DeviceItem]:
        """Sorted by name, which is unique among the live devices of an organization."""
        wanted = where(narrowed)
        found = await self._devices.find(
            org_id, wanted, fields=ITEM_FIELDS, sort=[("name", 1)], limit=page.limit, offset=page.offset
        )
        total = await self._devices.count(org_id, wanted)
        return PageOf(items=[_item(document) for document in found], total=total, page=page)

    async def batches(self, org_id: OrgId, wanted: Mapping[str, Any]) -> AsyncIterator[list[Device]]:
        """All that match, sorted by id. Each batch is a query of its own: no cursor stays open meanwhile."""
        after = ""
        while True:
            found = await self._devices.find(
                org_id, {**wanted, "_id": {"$gt": after}}, sort=[("_id", 1)], limit=BATCH
            )
            if found:
                yield [_device(document) for document in found]
            if len(found) < BATCH:
                return
            after = found[-1]["_id"]

    async def names(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, str]:
        """Names by id, deleted devices included: they label history."""
        found = await self._devices.find(org_id, {"_id": {"$in": list(ids)}}, fields={"name": 1})
        return {document["_id"]: document["name"] for document in found}

    async def using(
        self, org_id: OrgId, link_fields: Sequence[str], value: str, limit: int
    ) -> tuple[list[str], int]:
        """The first names and the number of the devices of which one of the fields has the value."""
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
        expected: Mapping[str, Any] | None = None,
    ) -> Device | None:
        """One atomic update of these fields; with `expected` only while the device has those values."""
        values = dict(changes)
        if "metadata" in values:
            values["metadata"] = json.dumps(values["metadata"])
        update = {"$set": {**values, "updated_at": at}}
        found = await self._devices.find_and_update(org_id, live(**(expected or {}), _id=device_id), update)
        return None if found is None else _device(found)

    async def rename_site(self, org_id: OrgId, site_id: str, name: str, *, at: datetime) -> None:
        stale = live(site_id=site_id, site={"$ne": name})
        await self._devices.update_many(org_id, stale, {"$set": {"site": name, "updated_at": at}})

    async def pin_host_key(self, org_id: OrgId, device_id: str, fingerprint: str) -> str | None:
        """The fingerprint that the device has afterwards: the first pin wins. None without such a device."""
        unpinned = live(_id=device_id, host_key_fingerprint=None)
        pin = {"$set": {"host_key_fingerprint": fingerprint}}
        if await self._devices.update(org_id, unpinned, pin):
            return fingerprint
        found = await self.get(org_id, device_id)
        return None if found is None else found.host_key_fingerprint

    async def bury(self, org_id: OrgId, device_id: str, *, at: datetime) -> Device | None:
        """Deletes by one write, which also notes that the followers have to be told."""
        change = {"$set": {"live": False, "deleted_at": at, "cleanup": True}}
        found = await self._devices.find_and_update(org_id, live(_id=device_id), change)
        return None if found is None else _device(found)

    async def cleaned_up(self, org_id: OrgId, device_id: str) -> None:
        await self._devices.update(org_id, {"_id": device_id, "live": False}, {"$unset": {"cleanup": ""}})

    async def tombstones_to_clean(self) -> list[tuple[OrgId, str]]:
        found = await self._all.find({"cleanup": True}, fields={"org_id": 1})
        return [(OrgId(document["org_id"]), str(document["_id"])) for document in found]


def document_of(device: Device) -> Document:
    """The whole document of a live device, without `org_id`."""
    return {
        "_id": device.id,
        **{name: getattr(device, name) for name in PLAIN},
        "tags": list(device.tags),
        "connect_commands": list(device.connect_commands),
        "metadata": json.dumps(dict(device.metadata)),
        "live": True,
    }


def _item(document: Document) -> DeviceItem:
    return DeviceItem(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        **{name: document[name] for name in ITEM_PLAIN},
    )


def _device(document: Document) -> Device:
    return Device(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        metadata=json.loads(document["metadata"]),
        **{name: document[name] for name in PLAIN},
    )
