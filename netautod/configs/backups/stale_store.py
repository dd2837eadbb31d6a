"""Since when each device is without a good capture, as documents: fields of the backup facts, and a mark.

`watched_from` is the last good capture (written with the backup facts), or the creation of a device that
had none (written by `begin`); `stale_at` is when the staleness since then was reported, and `owed` is that
report until there are deliveries of it to the webhooks that want to know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.configs.backups.facts import COLLECTION, OWED, OWED_AT
from netautod.core.identity import OrgId
from netautod.devices.models import Creation
from netautod.store.client import Database
from netautod.store.expressions import literal
from netautod.webhooks.names import BACKUP_STALE
from netautod.webhooks.subscriptions import Wanted, nobody

MARKS = "stale_watch"
DEVICES = "devices"


@dataclass(frozen=True, kw_only=True)
class Overdue:
    """A device, deleted or not, that was not reported yet; `last_success_at` as the captures noted it."""

    org_id: OrgId
    device_id: str
    watched_from: datetime
    last_success_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class OwedReport:
    """A report that a webhook is owed; `told` are the fields of its event."""

    id: str
    org_id: OrgId
    device_id: str
    at: datetime
    told: Mapping[str, Any]


class StaleWatch:
    """`wanted`: whether a webhook wants an event."""

    def __init__(self, database: Database, *, wanted: Wanted = nobody) -> None:
        self._wanted = wanted
        self._facts = database.collection(COLLECTION)
        self._marks = database.collection(MARKS)

    async def begun_until(self) -> tuple[datetime, str] | None:
        """The creation and id of the last device whose watch has begun."""
        mark = await self._marks.find_one({"_id": DEVICES})
        return None if mark is None else (mark["created_at"], mark["device_id"])

    async def begin(self, created: Sequence[Creation]) -> None:
        """Begins the watch of devices, in the order of their creation.

        The mark goes last: if we die before, the same devices are begun again, which changes nothing.
        """
        await self._facts.update_batch([_begin(one) for one in created], upsert=True)
        last = literal({"created_at": created[-1].created_at, "device_id": created[-1].id})
        await self._marks.update({"_id": DEVICES}, [{"$set": last}], upsert=True)

    async def overdue(self, before: datetime, *, limit: int) -> list[Overdue]:
        """Some of the devices that were not captured since `before`, the longest ones first."""
        found = await self._facts.find(
            {"stale_at": None, "watched_from": {"$lt": before}}, sort=[("watched_from", 1)], limit=limit
        )
        return [
            Overdue(
                org_id=OrgId(row["org_id"]),
                device_id=row["_id"],
                watched_from=row["watched_from"],
                last_success_at=row.get("last_success_at"),
            )
            for row in found
        ]

    async def take(self, overdue: Overdue, *, at: datetime, told: Mapping[str, Any]) -> bool:
        """Notes that it is reported; false if another node does it, or a capture has succeeded meanwhile.

        `told`: what is reported. Where a webhook wants it, the same write marks it as owed.
        """
        change: dict[str, Any] = {"stale_at": at}
        if self._wanted(overdue.org_id, BACKUP_STALE):
            change[OWED] = {"id": str(uuid4()), "at": at, "told": told}
        return await self._facts.update(_unchanged(overdue), {"$set": change})

    async def owed(self, *, before: datetime, limit: int) -> list[OwedReport]:
        """Reports that a webhook is owed, oldest first; of all organizations."""
        where = {OWED_AT: {"$type": "date", "$lt": before}}
        found = await self._facts.find(where, fields={"org_id": 1, OWED: 1}, sort=[(OWED_AT, 1)], limit=limit)
        return [OwedReport(org_id=OrgId(row["org_id"]), device_id=row["_id"], **row[OWED]) for row in found]

    async def paid(self, reports: Mapping[str, str]) -> None:
        """There are deliveries of these: ids of reports by device."""
        changes = [({"_id": at, "owed.id": report}, {"$unset": {OWED: ""}}) for at, report in reports.items()]
        await self._facts.update_batch(changes)

    async def drop_owed(self) -> None:
        """Of all organizations, without telling anybody. For a restore."""
        await self._facts.update_many({OWED_AT: {"$type": "date"}}, {"$unset": {OWED: ""}})

    async def put_off(self, overdue: Overdue, *, until: datetime) -> None:
        """Watches the device as from `until` on."""
        await self._facts.update(_unchanged(overdue), {"$set": {"watched_from": until}})


def _begin(one: Creation) -> tuple[dict[str, object], list[dict[str, object]]]:
    watched = {"$ifNull": ["$watched_from", {"$literal": one.created_at}]}
    return {"_id": one.id, "org_id": one.org_id}, [{"$set": {"watched_from": watched}}]


def _unchanged(overdue: Overdue) -> dict[str, object]:
    return {"_id": overdue.device_id, "stale_at": None, "watched_from": overdue.watched_from}
