"""Blocked tasks as fields of the tasks' documents.

`blocked_for` is the owner for whose absence the block was reported, which keeps it from being reported twice,
and `blocked_report` the id of that report; `blocked_event` is its event until it is delivered to the webhooks
that want it.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from netautod.activity.webhooks.names import TASK_BLOCKED
from netautod.activity.webhooks.outbox.pending import PendingEvent, pending_index
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.automation.tasks.owners.models import BlockReport, TaskBlocked, UnreportedBlock
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "tasks"
REPORTED_FOR, REPORT, UNDELIVERED = "blocked_for", "blocked_report", "blocked_event"
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("owner_id", 1))),
    Index(collection=COLLECTION, keys=(("owner_id", 1), (REPORTED_FOR, 1))),
    pending_index(COLLECTION, f"{UNDELIVERED}.at"),
)
# The number of owners in one query, so that its plan stays small.
OWNERS_AT_ONCE = 500


class TaskOwnerStore:
    """A store of who owns tasks. `wanted` returns whether a webhook wants an event."""

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._tasks = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)
        self.undelivered = PendingEvent(
            self._all,
            field=UNDELIVERED,
            at=f"{UNDELIVERED}.at",
            event_id=f"{UNDELIVERED}.id",
            fields={"org_id": 1, UNDELIVERED: 1},
        )

    async def owners(self, org_id: OrgId) -> list[str]:
        """Return the users who own tasks of the organization."""
        return await self._tasks.distinct(org_id, "owner_id", {})

    async def all_owners(self) -> list[str]:
        """Return the users who own tasks of any organization."""
        return await self._all.distinct("owner_id", {})

    async def count(self, org_id: OrgId, owner_ids: Collection[str]) -> int:
        """Count the tasks of these owners."""
        if not owner_ids:
            return 0
        return await self._tasks.count(
            org_id, {"owner_id": {"$in": sorted(owner_ids)}}, index=INDEXES[0].name
        )

    async def unreported(
        self, owner_ids: Sequence[str], *, limit: int, without: Collection[OrgId] = ()
    ) -> list[UnreportedBlock]:
        """Return some tasks of these owners whose block was not reported.

        `without`: organizations that are being deleted.
        """
        others = {"org_id": {"$nin": sorted(without)}} if without else {}
        found: list[Document] = []
        for start in range(0, len(owner_ids), OWNERS_AT_ONCE):
            some = owner_ids[start : start + OWNERS_AT_ONCE]
            where = {"$or": [{"owner_id": one, REPORTED_FOR: {"$ne": one}} for one in some], **others}
            fields = {"org_id": 1, "name": 1, "owner_id": 1}
            found += await self._all.find(where, fields=fields, limit=limit - len(found))
            if len(found) >= limit:
                break
        return [
            UnreportedBlock(
                org_id=OrgId(row["org_id"]),
                task_id=row["_id"],
                task_name=row["name"],
                owner_id=row["owner_id"],
            )
            for row in found
        ]

    async def take(self, event: TaskBlocked, *, at: datetime) -> bool:
        """Record that the block is reported; return False if another node does it, or the owner is another
        one by now.

        Where a webhook wants it, the same write adds the event to the outbox.
        """
        org_id, owner_id = OrgId(event.org_id), event.owner_id
        report = str(uuid4())
        change: Document = {REPORTED_FOR: owner_id, REPORT: report}
        if self._wanted(org_id, TASK_BLOCKED):
            change[UNDELIVERED] = {"id": report, "at": at, "data": asdict(event)}
        where = {"_id": event.task_id, "owner_id": owner_id, REPORTED_FOR: {"$ne": owner_id}}
        return await self._tasks.update(org_id, where, {"$set": change})

    async def reports(self, owner_ids: Sequence[str]) -> list[BlockReport]:
        """Return the reports of tasks of these owners."""
        found: list[Document] = []
        for start in range(0, len(owner_ids), OWNERS_AT_ONCE):
            some = owner_ids[start : start + OWNERS_AT_ONCE]
            where = {"owner_id": {"$in": list(some)}, REPORTED_FOR: {"$type": "string"}}
            found += await self._all.find(where, fields={"org_id": 1, "owner_id": 1, REPORT: 1})
        return [
            BlockReport(
                org_id=OrgId(row["org_id"]), task_id=row["_id"], owner_id=row["owner_id"], id=row.get(REPORT)
            )
            for row in found
        ]

    async def clear(self, reports: Sequence[BlockReport]) -> None:
        """Forget these reports, and none that came after them: the next block is reported anew."""
        gone = {"$unset": {REPORTED_FOR: "", REPORT: ""}}
        await self._all.update_batch(
            [
                ({"_id": one.task_id, "org_id": one.org_id, "owner_id": one.owner_id, REPORT: one.id}, gone)
                for one in reports
            ]
        )
