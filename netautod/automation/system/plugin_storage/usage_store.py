"""The amounts that plugins have stored for organizations, in MongoDB: the collection `plugin_usage`.

What a write adds is reserved before it and settled after it, so that many at once never exceed the quota. A
reservation that is never settled, since its node died or the database did not answer, stays counted until all
is counted anew. That count adds what is under way: it is never less than there is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from netautod.automation.system.plugin_storage.models import Amount, Owner, Quota, Usage
from netautod.core.errors import Duplicate
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

COLLECTION = "plugin_usage"
MOST_PENDING = 100
# Longer than any write can take: an older reservation is not under way any more.
STALE = timedelta(minutes=2)


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """A reservation of one write; `change` is what the write changes."""

    id: str
    change: Amount


class PluginUsageStore:
    def __init__(self, database: Database) -> None:
        self._usage = scoped(database, COLLECTION)

    async def get(self, owner: Owner, now: datetime) -> Usage | None:
        """Return the usage, None if nothing has been counted yet."""
        found = await self._usage.find_one(owner.org_id, {"_id": str(owner)})
        return None if found is None else _usage(found, now)

    async def reserve(self, owner: Owner, reservation: Reservation, quota: Quota, now: datetime) -> bool:
        """Reserve what grows.

        False if that would exceed the quota, too much is under way, or nothing has been counted yet.
        """
        growth = reservation.change.growth
        where: Document = {"_id": str(owner), f"pending.{MOST_PENDING - 1}": {"$exists": False}}
        if growth.records:
            where["records"] = {"$lte": quota.records - growth.records}
        if growth.bytes:
            where["bytes"] = {"$lte": quota.bytes - growth.bytes}
        pending = {"id": reservation.id, "records": growth.records, "bytes": growth.bytes, "at": now}
        change = {
            "$inc": {"records": growth.records, "bytes": growth.bytes, "revision": 1},
            "$push": {"pending": {**pending, "counted": False}},
        }
        return await self._usage.update(owner.org_id, where, change)

    async def settle(self, owner: Owner, reservation: Reservation, *, done: bool) -> None:
        """Settle a reservation after the write.

        What shrank is given back, or all that was reserved if the write was not `done`. What shrank while all
        was counted anew is not given back: it may not have been counted.
        """
        freed = reservation.change.shrinkage if done else -reservation.change.growth
        if freed.records or freed.bytes:
            mine: Document = {"id": reservation.id}
            if done:
                mine["counted"] = False
            where = {"_id": str(owner), "pending": {"$elemMatch": mine}}
            amount = {"records": freed.records, "bytes": freed.bytes, "revision": 1}
            if await self._usage.update(owner.org_id, where, {"$inc": amount, **_pull(reservation)}):
                return
        where = {"_id": str(owner), "pending.id": reservation.id}
        await self._usage.update(owner.org_id, where, {"$inc": {"revision": 1}, **_pull(reservation)})

    async def replace(self, owner: Owner, usage: Usage, stored: Amount, now: datetime) -> bool:
        """Store a new count if nothing has begun or ended since `usage` was read."""
        found = await self._usage.find_one(owner.org_id, {"_id": str(owner), "revision": usage.revision})
        if found is None:
            return False
        kept = [{**one, "counted": True} for one in found["pending"] if not _is_stale(one, now)]
        values = {
            "records": stored.records + _sum(kept).records,
            "bytes": stored.bytes + _sum(kept).bytes,
            "pending": kept,
            "loose": bool(kept),
        }
        where = {"_id": str(owner), "revision": usage.revision}
        return await self._usage.update(owner.org_id, where, {"$set": values, "$inc": {"revision": 1}})

    async def delete(self, owner: Owner) -> None:
        await self._usage.delete(owner.org_id, {"_id": str(owner)})

    async def begin(self, owner: Owner, stored: Amount) -> None:
        """Store the first count, if there is none yet."""
        row: Document = {"_id": str(owner), "plugin": owner.plugin, "revision": 0, "loose": False}
        counted = {"records": stored.records, "bytes": stored.bytes, "pending": []}
        try:
            await self._usage.insert(owner.org_id, {**row, **counted})
        except Duplicate:
            return


def _pull(reservation: Reservation) -> Document:
    return {"$pull": {"pending": {"id": reservation.id}}}


def _sum(pending: Iterable[Any]) -> Amount:
    records, size = 0, 0
    for one in pending:
        records, size = records + one["records"], size + one["bytes"]
    return Amount(records=records, bytes=size)


def _is_stale(pending: Any, now: datetime) -> bool:
    return bool(now - pending["at"] > STALE)


def _usage(found: Document, now: datetime) -> Usage:
    pending: Sequence[Any] = found["pending"]
    return Usage(
        stored=Amount(records=found["records"], bytes=found["bytes"]),
        pending=_sum(one for one in pending if not _is_stale(one, now)),
        revision=found["revision"],
        loose=found["loose"] or any(_is_stale(one, now) for one in pending),
    )
