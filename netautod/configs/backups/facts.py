"""How the last capture of each device went, one small document per device, written by every capture.

It tells what the versions cannot: that a capture failed, when, and why. What a success stored is told by the
versions themselves, so the two can never disagree (BackupInfo in info.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity import OrgId
from netautod.core.work import Work
from netautod.store.batching import batched_changes
from netautod.store.client import Database
from netautod.store.expressions import literal
from netautod.store.indexes import Index
from netautod.store.leases.lease import NEVER
from netautod.store.scoped import scoped

COLLECTION = "backup_facts"
# Devices of all organizations without a recent success, for the look for stale backups.
OWED, OWED_AT = "owed", "owed.at"  # see stale_store.py
INDEXES = (
    Index(collection=COLLECTION, keys=(("stale_at", 1), ("watched_from", 1))),
    Index(collection=COLLECTION, keys=((OWED_AT, 1),), partial={OWED_AT: {"$type": "date"}}),
)
MOST_ERROR_CHARACTERS = 1000


@dataclass(frozen=True, kw_only=True)
class BackupFacts:
    """`error` is None exactly if the last capture was a success."""

    last_at: datetime
    error: str | None
    last_success_at: datetime | None


class BackupFactsStore:
    def __init__(self, database: Database) -> None:
        self._facts = scoped(database, COLLECTION)
        self._upserts = batched_changes(self._facts, upsert=True)

    async def record(self, work: Work, device_id: str, *, at: datetime, error: str | None) -> None:
        """Notes how a capture ended; one that ended before the noted one changes nothing but last_success_at.

        One write, so that captures on two nodes may be noted in any order. It is made even if the run is lost
        by now: the capture has happened.
        """
        newer = {"$gte": [at, {"$ifNull": ["$last_at", NEVER]}]}
        text = None if error is None else error[:MOST_ERROR_CHARACTERS]
        noted = literal({"last_at": at, "error": text})
        change: dict[str, Any] = {name: {"$cond": [newer, new, f"${name}"]} for name, new in noted.items()}
        earlier = {"$ifNull": ["$last_success_at", None]}
        if error is None:
            change["last_success_at"] = {"$max": [earlier, at]}
            change |= {"watched_from": {"$max": ["$watched_from", at]}, "stale_at": None}
        else:
            change["last_success_at"] = earlier
        noting = ({"_id": device_id}, [{"$set": change}])
        try:
            await self._upserts.ask(work.org_id, noting, work.unguarded())
        except Duplicate:  # another capture made the document at the same moment
            await self._facts.update(work.org_id, *noting)

    async def of(self, org_id: OrgId, device_ids: Sequence[str]) -> Mapping[str, BackupFacts]:
        """By device; a device that was never captured has none."""
        captured = {"_id": {"$in": list(device_ids)}, "last_at": {"$ne": None}}
        found = await self._facts.find(org_id, captured)
        return {
            row["_id"]: BackupFacts(
                last_at=row["last_at"], error=row["error"], last_success_at=row["last_success_at"]
            )
            for row in found
        }

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        await self._facts.delete(org_id, {"_id": device_id})
