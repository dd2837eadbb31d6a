"""The history of synchronisations: an entry is made before the first request and completed at the end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.network.inventory.sync.models import SyncEntry
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "sync_history"
NEWEST = (("started_at", -1), ("_id", 1))
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), *NEWEST)),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("shelf", 1), *NEWEST)),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("source_id", 1), *NEWEST)),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("key", 1)), partial={"open": True}),
)
AD_HOC, DELETED = "ad hoc", "deleted"
NOTHING: Mapping[str, Any] = {
    "added": 0,
    "updated": 0,
    "unchanged": 0,
    "failed": 0,
    "removed": 0,
    "errors": [],
    "duration_ms": 0,
}


class HistoryStore:
    """A store of the history. At most `keep` entries of each shelf are kept.

    An entry's `shelf` is the id of its source; all ad hoc synchronisations share one, and so do all
    sources that are gone.
    """

    def __init__(self, database: Database, *, keep: int) -> None:
        self._entries = scoped(database, COLLECTION)
        self._keep = keep

    async def begin(self, org_id: OrgId, entry: SyncEntry, key: str) -> None:
        group_id = entry.source_id or AD_HOC
        await self._entries.insert(org_id, {**_document(entry), "key": key, "shelf": group_id, "open": True})

    async def complete(
        self,
        org_id: OrgId,
        entry_id: str,
        *,
        result: Mapping[str, Any],
        at: datetime,
        error: str | None = None,
    ) -> None:
        change = {"result": dict(result), "completed_at": at, "success": error is None, "error": error}
        where = {"_id": entry_id, "open": True}
        await self._entries.update(org_id, where, {"$set": change, "$unset": {"open": ""}})

    async def open_entries(self, org_id: OrgId, key: str) -> list[SyncEntry]:
        """Return the entries that were started and not completed."""
        found = await self._entries.find(org_id, {"key": key, "open": True})
        return [_entry(document) for document in found]

    async def page(self, org_id: OrgId, page: Page, source_id: str | None) -> PageOf[SyncEntry]:
        """Return one page, newest first."""
        where = {} if source_id is None else {"source_id": source_id}
        found = await self._entries.find(
            org_id, where, sort=list(NEWEST), limit=page.limit, offset=page.offset
        )
        total = await self._entries.count(org_id, where)
        return PageOf(items=[_entry(document) for document in found], total=total, page=page)

    async def trim(self, org_id: OrgId, source_id: str | None) -> None:
        """Delete all but the newest entries of the source's shelf."""
        await self._trim(org_id, source_id or AD_HOC)

    async def detach_source(self, org_id: OrgId, source_id: str) -> None:
        """Move the source's entries to the shelf of the sources that are gone."""
        await self._entries.update_many(org_id, {"shelf": source_id}, {"$set": {"shelf": DELETED}})
        await self._trim(org_id, DELETED)

    async def _trim(self, org_id: OrgId, group_id: str) -> None:
        while rows := await self._entries.find(
            org_id, {"shelf": group_id}, fields={"_id": 1}, sort=list(NEWEST), offset=self._keep, limit=500
        ):
            await self._entries.delete_many(org_id, {"_id": {"$in": [row["_id"] for row in rows]}})


def _document(entry: SyncEntry) -> Document:
    return {
        "_id": entry.id,
        "source_id": entry.source_id,
        "source_name": entry.source_name,
        "inventory_url": entry.inventory_url,
        "triggered_by": entry.triggered_by,
        "result": dict(entry.result),
        "started_at": entry.started_at,
        "completed_at": entry.completed_at,
        "success": entry.success,
        "error": entry.error,
    }


def _entry(document: Document) -> SyncEntry:
    return SyncEntry(
        id=document["_id"],
        source_id=document["source_id"],
        source_name=document["source_name"],
        inventory_url=document["inventory_url"],
        triggered_by=document["triggered_by"],
        result=document["result"],
        started_at=document["started_at"],
        completed_at=document["completed_at"],
        success=document["success"],
        error=document["error"],
    )
