"""The times at which devices are polled next, kept in their own documents.

So no way in which a device comes, changes or goes can be forgotten: what is not live or not `poll_enabled` is
not in the index, and a device without a time (made, imported, brought back) is found there first. An edit of
what polls depend on takes the time away (`reset`), and the poller gives the device a new one.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.network.devices.polls.models import DEFAULT_INTERVAL_MINUTES, DueDevice
from netautod.network.devices.records.queries import COLLECTION, LIVE, live
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

DUE, FAILURES = "poll_due_at", "poll_failures"
POLLED = {"poll_enabled": True}
# A device that did not answer may answer after a change of one of these.
DEPENDED_ON = frozenset(
    {
        *("host", "port", "protocol", "device_type", "jump_device_id", "ssh_profile"),
        *("default_credential_id", "snmp_credential_id"),
        *("automation_transport", "automation_port", "automation_credential_id"),
        *("poll_enabled", "poll_interval_minutes"),
    }
)
FIELDS = {"org_id": 1, "poll_interval_minutes": 1, DUE: 1, FAILURES: 1}
INDEXES = (Index(collection=COLLECTION, keys=((DUE, 1), ("org_id", 1)), partial={**LIVE, **POLLED}),)


def reset(fields: Iterable[str]) -> dict[str, Any]:
    """Return the changes of the poll times that an edit of these fields makes."""
    return {} if DEPENDED_ON.isdisjoint(fields) else {DUE: None, FAILURES: 0}


class DuePolls:
    """The due polls; every call sees only live devices that are to be polled."""

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._devices = scoped(database, COLLECTION)

    async def due(self, now: datetime, *, without: Collection[OrgId], limit: int) -> list[DueDevice]:
        """Return devices of all organizations but some whose time has come, the longest overdue first."""
        wanted = live(**POLLED, **{DUE: {"$lte": now}}, **_but(without))
        return await self._found(wanted, limit)

    async def untimed(self, *, without: Collection[OrgId], limit: int) -> list[DueDevice]:
        """Return devices without a time."""
        return await self._found(live(**POLLED, **{DUE: None}, **_but(without)), limit)

    async def _found(self, wanted: Document, limit: int) -> list[DueDevice]:
        found = await self._all.find(
            wanted, fields=FIELDS, sort=[(DUE, 1)], limit=limit, index=INDEXES[0].name
        )
        return [_device(document) for document in found]

    async def get(self, org_id: OrgId, device_id: str) -> DueDevice | None:
        found = await self._devices.find_one(org_id, live(_id=device_id, **POLLED), fields=FIELDS)
        return None if found is None else _device(found)

    async def move(self, seen: DueDevice, due_at: datetime, *, failures: int) -> bool:
        """Set the next time; return false if it has another time by now, or is not to be polled any more."""
        change = {"$set": {DUE: due_at, FAILURES: failures}}
        return await self._devices.update(seen.org_id, _as_seen(seen), change)

    async def align(self) -> None:
        """Take away the times that are further ahead than the interval: the database's clock was set back.

        The poller gives these devices new ones.
        """
        minutes = {"$ifNull": ["$poll_interval_minutes", DEFAULT_INTERVAL_MINUTES]}
        latest = {"$add": ["$$NOW", {"$multiply": [minutes, 60_000]}]}
        where = live(**POLLED, **{"$expr": {"$gt": [f"${DUE}", latest]}})
        await self._all.update_many(where, {"$set": {DUE: None}})

    async def move_many(self, moves: Sequence[tuple[DueDevice, datetime]]) -> None:
        """Set the next times of many devices, each with its failures as they were."""
        await self._all.update_batch(
            [({**_as_seen(seen), "org_id": seen.org_id}, {"$set": {DUE: at}}) for seen, at in moves]
        )


def _as_seen(seen: DueDevice) -> Document:
    return live(_id=seen.id, **POLLED, **{DUE: seen.due_at})


def _but(organizations: Collection[OrgId]) -> Document:
    return {"org_id": {"$nin": sorted(organizations)}} if organizations else {}


def _device(document: Document) -> DueDevice:
    return DueDevice(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        interval_minutes=document["poll_interval_minutes"],
        due_at=document.get(DUE),
        failures=document.get(FAILURES) or 0,
    )
