"""Since when each device is without a good capture, as documents: fields of the backup facts, and a mark.

`watched_from` is the last good capture (written with the backup facts), or the creation of a device that
had none (written by `begin`); `stale_at` is when the staleness since then was reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from netautod.configs.backups.facts import COLLECTION
from netautod.core.identity import OrgId
from netautod.devices.models import Creation
from netautod.store.client import Database
from netautod.store.expressions import literal

MARKS = "stale_watch"
DEVICES = "devices"


@dataclass(frozen=True, kw_only=True)
class Overdue:
    """A device, deleted or not, that was not reported yet; `last_success_at` as the captures noted it."""

    org_id: OrgId
    device_id: str
    watched_from: datetime
    last_success_at: datetime | None


class StaleWatch:
    def __init__(self, database: Database) -> None:
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

    async def take(self, overdue: Overdue, *, at: datetime) -> bool:
        """Notes that it is reported; false if another node does it, or a capture has succeeded meanwhile."""
        return await self._facts.update(_unchanged(overdue), {"$set": {"stale_at": at}})

    async def put_off(self, overdue: Overdue, *, until: datetime) -> None:
        """Watches the device as from `until` on."""
        await self._facts.update(_unchanged(overdue), {"$set": {"watched_from": until}})


def _begin(one: Creation) -> tuple[dict[str, object], list[dict[str, object]]]:
    watched = {"$ifNull": ["$watched_from", {"$literal": one.created_at}]}
    return {"_id": one.id, "org_id": one.org_id}, [{"$set": {"watched_from": watched}}]


def _unchanged(overdue: Overdue) -> dict[str, object]:
    return {"_id": overdue.device_id, "stale_at": None, "watched_from": overdue.watched_from}
