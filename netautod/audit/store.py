"""Audit events in MongoDB: the collection `audit_events`. They are never changed, and deleted only by age."""

from collections.abc import Sequence
from datetime import datetime

from netautod.audit.models import AuditEvent, AuditFilter
from netautod.core.identity import OrgId
from netautod.core.pages import Page, PageOf
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "audit_events"
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("at", 1),)),  # retention
)
DELETE_BATCH = 1000
EQUAL = ("action", "actor_id", "resource_type", "resource_id")


class AuditStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._events = scoped(database, COLLECTION)

    async def insert(self, event: AuditEvent) -> None:
        await self._events.insert(event.org_id, _document(event))

    async def insert_many(self, org_id: OrgId, events: Sequence[AuditEvent]) -> None:
        await self._events.insert_many(org_id, [_document(event) for event in events])

    async def page(self, org_id: OrgId, narrowed: AuditFilter, page: Page) -> PageOf[AuditEvent]:
        """Newest first."""
        where = _where(narrowed)
        total = await self._events.count(org_id, where)
        sort = [("at", -1), ("_id", 1)]
        found = await self._events.find(org_id, where, sort=sort, limit=page.limit, offset=page.offset)
        return PageOf(items=[_event(document) for document in found], total=total, page=page)

    async def delete_older(self, *, before: datetime) -> None:
        """In batches: one deletion of millions would outlast the time-out of its connection."""
        while old := await self._all.find({"at": {"$lt": before}}, fields={"_id": 1}, limit=DELETE_BATCH):
            await self._all.delete_many({"_id": {"$in": [event["_id"] for event in old]}})


def _where(narrowed: AuditFilter) -> Document:
    conditions = {name: getattr(narrowed, name) for name in EQUAL}
    where: Document = {name: value for name, value in conditions.items() if value is not None}
    bounds = {"$gte": narrowed.since, "$lt": narrowed.until}
    times = {operator: moment for operator, moment in bounds.items() if moment is not None}
    return {**where, "at": times} if times else where


def _document(event: AuditEvent) -> Document:
    return {
        "_id": event.id,
        "at": event.at,
        "actor_id": event.actor_id,
        "actor_name": event.actor_name,
        "action": event.action,
        "resource_type": event.resource_type,
        "resource_id": event.resource_id,
        "ip_address": event.ip_address,
        "request_id": event.request_id,
        "details": dict(event.details),
    }


def _event(document: Document) -> AuditEvent:
    return AuditEvent(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        at=document["at"],
        actor_id=document["actor_id"],
        actor_name=document["actor_name"],
        action=document["action"],
        resource_type=document["resource_type"],
        resource_id=document["resource_id"],
        ip_address=document["ip_address"],
        request_id=document["request_id"],
        details=document["details"],
    )
