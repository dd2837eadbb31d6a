"""Devices without a good capture that were not reported yet, as fields of the devices' documents.

They stand with the state of the backup (queries.py): `fresh_at` is the last good capture, or the creation of
a device that had none; `stale_at` is when the staleness since then was reported, and `owed` is that event
until it is delivered to the webhooks that want it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.activity.webhooks.names import BACKUP_STALE
from netautod.activity.webhooks.outbox.pending import PendingEvent
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.queries import FRESH_AT, REPORTED_AT, UNDELIVERED, UNDELIVERED_AT
from netautod.network.configs.texts import learned_noise_store as learned_store
from netautod.network.devices.records.documents import BACKUP
from netautod.network.devices.records.queries import COLLECTION, live
from netautod.store.client import Database, Document

# The fields of the event, within it.
EVENT_DATA = "told"
FIELDS = dict.fromkeys(("org_id", "name", FRESH_AT, "backup.success_at"), 1)


@dataclass(frozen=True, kw_only=True)
class Overdue:
    """A device that was not reported yet; `last_success_at` None: it never had a good capture."""

    org_id: OrgId
    device_id: str
    name: str
    fresh_at: datetime
    last_success_at: datetime | None


class StaleWatch:
    """A store of stale devices. `wanted` returns whether a webhook wants an event."""

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._devices = database.collection(COLLECTION)
        self.undelivered = PendingEvent(
            self._devices,
            field=UNDELIVERED,
            at=UNDELIVERED_AT,
            event_id=f"{UNDELIVERED}.id",
            fields={"org_id": 1, UNDELIVERED: 1},
        )
        # Of a backup of an earlier release, which is migrated after it is restored.
        earlier = database.collection(learned_store.COLLECTION)
        self.undelivered_of_earlier = PendingEvent(earlier, field="owed", at="owed.at")

    async def overdue(
        self, before: datetime, *, limit: int, without: Collection[OrgId] = ()
    ) -> list[Overdue]:
        """Return some of the devices that were not captured since `before`, the longest ones first.

        `without` are organizations that are paused.
        """
        others = {"org_id": {"$nin": sorted(without)}} if without else {}
        wanted = live(**{REPORTED_AT: None, FRESH_AT: {"$lt": before}}, **others)
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

    async def take(self, overdue: Overdue, *, at: datetime, data: Mapping[str, Any]) -> bool:
        """Record that the staleness is reported; return false if another node does it, or a capture has
        succeeded meanwhile.

        `data` is what is reported. Where a webhook wants it, the same write adds the event to the outbox.
        """
        change: dict[str, Any] = {REPORTED_AT: at}
        if self._wanted(overdue.org_id, BACKUP_STALE):
            change[UNDELIVERED] = {"id": str(uuid4()), "at": at, EVENT_DATA: data}
        return await self._devices.update(_unchanged(overdue), {"$set": change})


def _unchanged(overdue: Overdue) -> Document:
    return live(
        _id=overdue.device_id,
        org_id=overdue.org_id,
        **{REPORTED_AT: None, FRESH_AT: overdue.fresh_at},
    )
