"""Which devices are without a good capture and nobody was told, as fields of the devices' documents.

They stand with the state of the backup (network/devices/backups/queries.py): `fresh_at` is the last good
capture, or the creation of a device that had none; `stale_at` is when the staleness since then was
reported, and `owed` is that report until there are deliveries of it to the webhooks that want to know.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.activity.webhooks.names import BACKUP_STALE
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.network.configs.texts import learned_noise_store as learned_store
from netautod.network.devices.backups.queries import FRESH_AT, OWED, OWED_AT, TOLD_AT
from netautod.network.devices.records.documents import BACKUP
from netautod.network.devices.records.queries import COLLECTION, live
from netautod.store.client import Database, Document

FIELDS = dict.fromkeys(("org_id", "name", FRESH_AT, "backup.success_at"), 1)


@dataclass(frozen=True, kw_only=True)
class Overdue:
    """A device that was not reported yet; `last_success_at` None: it never had a good capture."""

    org_id: OrgId
    device_id: str
    name: str
    fresh_at: datetime
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

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._devices = database.collection(COLLECTION)
        self._earlier = database.collection(learned_store.COLLECTION)

    async def overdue(
        self, before: datetime, *, limit: int, without: Collection[OrgId] = ()
    ) -> list[Overdue]:
        """Some of the devices that were not captured since `before`, the longest ones first.

        `without`: organizations that are paused.
        """
        others = {"org_id": {"$nin": sorted(without)}} if without else {}
        wanted = live(**{TOLD_AT: None, FRESH_AT: {"$lt": before}}, **others)
        found = await self._devices.find(wanted, fields=FIELDS, sort=[(FRESH_AT, 1)], limit=limit)
        return [
            Overdue(
                org_id=OrgId(row["org_id"]),
                device_id=row["_id"],
                name=row["name"],
                fresh_at=row[BACKUP]["fresh_at"],
                last_success_at=row[BACKUP].get("success_at"),
            )
            for row in found
        ]

    async def take(self, overdue: Overdue, *, at: datetime, told: Mapping[str, Any]) -> bool:
        """Notes that it is reported; false if another node does it, or a capture has succeeded meanwhile.

        `told`: what is reported. Where a webhook wants it, the same write marks it as owed.
        """
        change: dict[str, Any] = {TOLD_AT: at}
        if self._wanted(overdue.org_id, BACKUP_STALE):
            change[OWED] = {"id": str(uuid4()), "at": at, "told": told}
        return await self._devices.update(_unchanged(overdue), {"$set": change})

    async def owed(self, *, before: datetime, limit: int) -> list[OwedReport]:
        """Reports that a webhook is owed, oldest first; of all organizations."""
        where = {OWED_AT: {"$type": "date", "$lt": before}}
        found = await self._devices.find(
            where, fields={"org_id": 1, OWED: 1}, sort=[(OWED_AT, 1)], limit=limit
        )
        return [
            OwedReport(org_id=OrgId(row["org_id"]), device_id=row["_id"], **row[BACKUP]["owed"])
            for row in found
        ]

    async def paid(self, reports: Mapping[str, str]) -> None:
        """There are deliveries of these: ids of reports by device."""
        changes = [
            ({"_id": at, f"{OWED}.id": report}, {"$unset": {OWED: ""}}) for at, report in reports.items()
        ]
        await self._devices.update_batch(changes)

    async def drop_owed(self) -> None:
        """Of all organizations, without telling anybody. For a restore."""
        await self._devices.update_many({OWED_AT: {"$type": "date"}}, {"$unset": {OWED: ""}})
        # Of a backup of an earlier release, which is migrated after it is restored.
        await self._earlier.update_many({"owed.at": {"$type": "date"}}, {"$unset": {"owed": ""}})


def _unchanged(overdue: Overdue) -> Document:
    return live(
        _id=overdue.device_id,
        org_id=overdue.org_id,
        **{TOLD_AT: None, FRESH_AT: overdue.fresh_at},
    )
