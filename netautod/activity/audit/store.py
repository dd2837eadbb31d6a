"""Audit events in MongoDB: the collection `audit_events`. They are never changed, and deleted only by age.

Events are read here; they are written, and deleted, as links of a chain (activity/audit/chain/store.py).
"""

from datetime import datetime

from netautod.activity.audit.chain import store as chain
from netautod.activity.audit.chain.store import ChainStore
from netautod.activity.audit.documents import COLLECTION, event_of
from netautod.activity.audit.models import AuditEvent, AuditFilter
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

EQUAL = ("action", "actor_id", "resource_type", "resource_id")
INDEXES = (
    *chain.INDEXES,
    Index(collection=COLLECTION, keys=(("org_id", 1), ("at", -1), ("_id", 1))),
    *(
        Index(collection=COLLECTION, keys=(("org_id", 1), (name, 1), ("at", -1), ("_id", 1)))
        for name in EQUAL
    ),
    Index(collection=COLLECTION, keys=(("at", 1),)),  # retention of events without a place in a chain
)
DELETE_BATCH = 1000


class AuditStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._events = scoped(database, COLLECTION)
        self.chains = ChainStore(database)

    async def page(self, org_id: OrgId, narrowed: AuditFilter, page: Page) -> PageOf[AuditEvent]:
        """Return one page of events, newest first."""
        where = _where(narrowed)
        total = await self._events.count(org_id, where)
        sort = [("at", -1), ("_id", 1)]
        found = await self._events.find(org_id, where, sort=sort, limit=page.limit, offset=page.offset)
        return PageOf(items=[event_of(document) for document in found], total=total, page=page)

    async def delete_unchained(self, *, before: datetime) -> None:
        """Delete, in batches, events of a node of an earlier version that ran beside this one."""
        if not await self.chains.is_adopted():
            return  # a number that is given to an event that is deleted meanwhile would be missing
        where = {"at": {"$lt": before}, "seq": None}
        while old := await self._all.find(where, fields={"_id": 1}, limit=DELETE_BATCH):
            await self._all.delete_many({"_id": {"$in": [event["_id"] for event in old]}})


def _where(narrowed: AuditFilter) -> Document:
    conditions = {name: getattr(narrowed, name) for name in EQUAL}
    where: Document = {name: value for name, value in conditions.items() if value is not None}
    bounds = {"$gte": narrowed.since, "$lt": narrowed.until}
    times = {operator: moment for operator, moment in bounds.items() if moment is not None}
    return {**where, "at": times} if times else where
