"""Reads and writes of devices in bulk for synchronisations, and their bindings as documents.

Every write is a compare-and-set on the very fields that it changes: an edit of another field stays, an edit
of the same field makes the write void, and the caller reads again.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import Pace
from netautod.network.devices.bindings.models import (
    SAVED_SOURCE,
    Binding,
    BoundDevice,
    DeviceWrite,
    KnownDevice,
    NewDevice,
    is_brought_by,
)
from netautod.network.devices.creation.single import new_device
from netautod.network.devices.models import TAKEN_OVER
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.documents import DIGEST, PROMPT, document_of
from netautod.network.devices.records.queries import COLLECTION, LINK_FIELDS, SEARCH, live, search_text
from netautod.network.devices.records.vouched import DESTINATION, VOUCHED
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

NAMES = 1000  # names or ids in one query: most names of a first synchronisation are of no device here
FIELDS = dict.fromkeys((*TAKEN_OVER, *LINK_FIELDS, "live", "bindings", "cleanup", DIGEST), 1)
NAMELESS = {"name": "", "host": "", "device_type": ""}
OF_BINDING = ("key", "external_id", "brought", "released")
BRIEF = dict.fromkeys(("name", DIGEST, *(f"bindings.{name}" for name in OF_BINDING)), 1)
PLACE = frozenset({"name", "host"})  # of both together depends whether a device is the one that was meant
PLAIN = tuple(name for name in (*TAKEN_OVER, *LINK_FIELDS) if name not in ("tags", "metadata"))


# The bindings of saved sources, all of them `brought` if one is (see is_brought_by).
IS_SAVED = {"$eq": [{"$indexOfCP": ["$$this.key", SAVED_SOURCE]}, 0]}
WAS_BROUGHT = {
    "$anyElementTrue": [{"$map": {"input": "$bindings", "in": {"$and": [IS_SAVED, "$$this.brought"]}}}]
}
INHERITED = {
    "$let": {
        "vars": {"brought": WAS_BROUGHT},
        "in": {
            "$map": {
                "input": "$bindings",
                "in": {
                    "$cond": [
                        {"$and": [IS_SAVED, "$$brought"]},
                        {"$mergeObjects": ["$$this", {"brought": True}]},
                        "$$this",
                    ]
                },
            }
        },
    }
}


class BindingStore:
    def __init__(self, database: Database, *, counts: DeviceCounts) -> None:
        self._devices = scoped(database, COLLECTION)
        self._counts = counts

    async def bound(self, org_id: OrgId, key: str) -> AsyncIterator[BoundDevice]:
        """Yield all live devices that are bound under the key."""
        pace = Pace()
        async for document in self._devices.stream(org_id, live(**{"bindings.key": key}), fields=BRIEF):
            yield _brief(document, key)
            await pace.breathe()  # what the driver has fetched already comes without a pause

    async def bound_to(self, org_id: OrgId, key: str, external_ids: Sequence[str]) -> list[KnownDevice]:
        return await self._find(org_id, live(**bound_to(key, external_ids)))

    async def named(self, org_id: OrgId, names: Sequence[str]) -> list[KnownDevice]:
        """Return the live devices that have one of the names."""
        return await self._find(org_id, live(name={"$in": list(names)}))

    async def with_ids(self, org_id: OrgId, ids: Sequence[str]) -> list[KnownDevice]:
        """Return the devices with these ids, deleted ones too."""
        return await self._find(org_id, {"_id": {"$in": list(ids)}})

    async def any_deleted(self, org_id: OrgId, key: str) -> bool:
        where = {"live": False, "bindings.key": key}
        return await self._devices.find_one(org_id, where, fields={"_id": 1}) is not None

    async def deleted(self, org_id: OrgId, key: str, external_ids: Sequence[str]) -> list[KnownDevice]:
        """Return deleted devices of these external ids, the newest deletion first."""
        where = {"live": False, **bound_to(key, external_ids)}
        found = await self._devices.find(org_id, where, fields=FIELDS, sort=[("deleted_at", -1), ("_id", 1)])
        shared = _Shared()
        return [_known(document, shared) for document in found]

    async def insert(self, org_id: OrgId, devices: Sequence[NewDevice], *, at: datetime) -> tuple[int, ...]:
        """Insert devices and return the positions that were not inserted: the name or the external id is
        taken by now.
        """
        pace, documents = Pace(), []
        plain = new_device(org_id, "", NAMELESS, site=None, source="inventory", vouched=False, at=at)
        blank = document_of(plain)
        for device in devices:
            documents.append(_new_document(device, blank))
            await pace.breathe()
        result = await self._devices.insert_many(org_id, documents)
        await self._counts.changed(org_id)
        return result.duplicates

    async def write(self, org_id: OrgId, writes: Sequence[DeviceWrite], *, at: datetime) -> set[str]:
        """Write devices and return the ids of those that were not written."""
        changes = [(_expected(write), _update(write, at)) for write in writes]
        result = await self._devices.change_batch(org_id, changes)
        await self._counts.changed(org_id)
        if result.matched == len(writes) and not result.duplicates:
            return set()
        # The server answers only how many matched: the others are found by reading them again.
        now = await self.with_ids(org_id, [write.before.id for write in writes])
        found = {device.id: device for device in now}
        return {write.before.id for write in writes if not _is_written(found.get(write.before.id), write)}

    async def bury(self, org_id: OrgId, device: KnownDevice, *, at: datetime) -> bool:
        """Delete a device as DeviceStore.bury does, but only while it is bound as it was."""
        where = live(_id=device.id, bindings=_same_bindings(device.bindings))
        change = {"$set": {"live": False, "deleted_at": at, "cleanup": True}, "$unset": {PROMPT: ""}}
        buried = await self._devices.update(org_id, where, change)
        await self._counts.changed(org_id)
        return buried

    async def unbind(self, org_id: OrgId, key: str) -> None:
        """Take the key's bindings from all devices, deleted ones too.

        Other saved sources go on answering for what this one has made.
        """
        bound = {"bindings.key": key}
        kept = {"$filter": {"input": INHERITED, "cond": {"$ne": ["$$this.key", {"$literal": key}]}}}
        holding = {"$filter": {"input": "$bindings", "cond": {"$ne": ["$$this.released", True]}}}
        number = {"$cond": [{"$eq": [holding, []]}, None, "$inventory_id"]}
        change: list[Document] = [{"$set": {"bindings": kept}}, {"$set": {"inventory_id": number}}]
        # `live` by itself, so that the two partial indexes can be used.
        for state in (True, False):
            await self._devices.update_many(org_id, {**bound, "live": state}, change)

    async def _find(self, org_id: OrgId, where: Mapping[str, Any]) -> list[KnownDevice]:
        shared = _Shared()
        found = await self._devices.find(org_id, where, fields=FIELDS)
        return [_known(document, shared) for document in found]


def taken_word(write: DeviceWrite) -> dict[str, bool]:
    """Return the end of the vouching, if the write moves a device and no user vouches for it."""
    return {} if write.vouched or DESTINATION.isdisjoint(write.values) else {VOUCHED: False}


def bound_to(key: str, external_ids: Sequence[str]) -> Document:
    """Return the filter of bound devices. It names the key by itself as well: the server does not see in
    `$elemMatch` that a partial index would do.
    """
    one = {"$elemMatch": {"key": key, "external_id": {"$in": list(external_ids)}}}
    return {"bindings.key": key, "bindings": one}


def _expected(write: DeviceWrite) -> Document:
    before = write.before
    where = {"_id": before.id, "live": before.live, DIGEST: before.digest}
    looked_at = {*write.values, *(PLACE if PLACE & write.values.keys() else ())}
    where.update({name: _stored(name, before.values[name]) for name in sorted(looked_at)})
    if write.bindings is not None:
        where["bindings"] = _same_bindings(before.bindings)
    return where


def _update(write: DeviceWrite, at: datetime) -> Document:
    values = {name: _stored(name, value) for name, value in write.values.items()}
    if PLACE & values.keys():  # of which the expected document holds both
        place = {**write.before.values, **write.values}
        values[SEARCH] = search_text(place["name"], place["host"])
    if values or not write.before.live:
        values["updated_at"] = at
    if write.bindings is not None:
        values["bindings"] = [_binding_document(binding) for binding in write.bindings]
    values[DIGEST] = write.digest
    values.update(taken_word(write))
    if write.before.live:
        return {"$set": values}
    return {"$set": {**values, "live": True}, "$unset": {"deleted_at": "", "cleanup": ""}}


def _is_written(now: KnownDevice | None, write: DeviceWrite) -> bool:
    if now is None or not now.live or now.digest != write.digest:
        return False
    same = all(_stored(name, now.values[name]) == _stored(name, new) for name, new in write.values.items())
    return same and (write.bindings is None or now.bindings == write.bindings)


def _stored(name: str, value: Any) -> Any:
    if name == "metadata" and not isinstance(value, str):
        return json.dumps(value)
    return list(value) if name == "tags" else value


def _same_bindings(bindings: Sequence[Binding]) -> Any:
    if not bindings:
        return {"$in": [None, []]}  # a device that was never bound has no such field
    return [_binding_document(binding) for binding in bindings]


def _binding_document(binding: Binding) -> Document:
    # The order counts: the array is compared as a whole. Without `released` where nothing is, as in documents
    # of earlier releases.
    return {
        "key": binding.key,
        "external_id": binding.external_id,
        "brought": binding.brought,
        "gave": list(binding.gave),
        "tags": list(binding.tags),
        "metadata_keys": list(binding.metadata_keys),
        **({"released": True} if binding.released else {}),
    }


def _new_document(device: NewDevice, blank: Document) -> Document:
    values = device.values
    return {
        **blank,
        **values,
        "_id": str(uuid4()),
        "tags": list(values["tags"]),
        "metadata": _stored("metadata", values["metadata"]),
        SEARCH: search_text(values["name"], values["host"]),
        "bindings": [_binding_document(device.binding)],
        DIGEST: device.digest,
        VOUCHED: device.vouched,
    }


class _Shared:
    """A pool that makes equal lists one tuple: most devices of an inventory have the same few."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __call__(self, texts: Sequence[str]) -> tuple[str, ...]:
        found = tuple(texts)
        return self._known.setdefault(found, found)


def _known(document: Document, shared: _Shared) -> KnownDevice:
    values = {name: document[name] for name in PLAIN}
    values["tags"] = shared(document["tags"])
    values["metadata"] = document["metadata"]
    return KnownDevice(
        id=document["_id"],
        live=document["live"],
        cleaning=document.get("cleanup", False),
        site_id=document["site_id"],
        values=values,
        bindings=tuple(_binding(found, shared) for found in document.get("bindings") or ()),
        digest=document.get(DIGEST),
    )


def _brief(document: Document, key: str) -> BoundDevice:
    bindings = [
        Binding(
            key=found["key"],
            external_id=found["external_id"],
            brought=found["brought"],
            released=found.get("released", False),
        )
        for found in document["bindings"]
    ]
    binding = next(binding for binding in bindings if binding.key == key)
    return BoundDevice(
        id=document["_id"],
        name=document["name"],
        external_id=binding.external_id,
        brought=is_brought_by(bindings, key),
        digest=document.get(DIGEST),
    )


def _binding(document: Document, shared: _Shared) -> Binding:
    return Binding(
        key=document["key"],
        external_id=document["external_id"],
        brought=document["brought"],
        gave=shared(document["gave"]),
        tags=shared(document["tags"]),
        metadata_keys=shared(document["metadata_keys"]),
        released=document.get("released", False),
    )
