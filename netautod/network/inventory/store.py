"""Saved inventory sources as documents, their sealed tokens, and which of them are due."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.network.devices.records.vouched import VOUCHED
from netautod.network.inventory.models import SavedSource
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.removal import VISIBLE
from netautod.store.scoped import scoped

COLLECTION = "inventory_sources"
TOKEN = "token"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=TOKEN),)
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), unique=True),
    Index(collection=COLLECTION, keys=(("next_sync_at", 1),), partial={"auto_sync_enabled": True}),
    Index(collection=COLLECTION, keys=(("removal", 1),), partial={"removal": True}),
)
UNCONFIRMED = "unconfirmed_removals"
PLAIN = (
    "name",
    "url",
    "verify_ssl",
    "device_filters",
    "auto_sync_enabled",
    "sync_interval_hours",
    "last_sync_at",
    "last_sync_status",
    "last_sync_result",
    "next_sync_at",
    "revision",
    "vouched",
    "created_at",
    "updated_at",
)


class SourceStore:
    """A source whose removal has begun is in no read but that of `removals`."""

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._sources = scoped(database, COLLECTION)

    def require_room(self) -> None:
        """Raise DiskFull while nothing can be added to the database."""
        self._all.require_room()

    async def insert(self, org_id: OrgId, source: SavedSource) -> None:
        """Insert a source. Raises Duplicate if the name is taken."""
        plain = {name: getattr(source, name) for name in PLAIN}
        await self._sources.insert(org_id, {"_id": source.id, **plain, TOKEN: source.sealed_token})

    async def get(self, org_id: OrgId, source_id: str) -> SavedSource | None:
        found = await self._sources.find_one(org_id, {"_id": source_id, **VISIBLE})
        return None if found is None else _source(found)

    async def by_name(self, org_id: OrgId, name: str) -> SavedSource | None:
        found = await self._sources.find_one(org_id, {"name": name, **VISIBLE})
        return None if found is None else _source(found)

    async def all(self, org_id: OrgId) -> list[SavedSource]:
        """Return all sources by name."""
        found = await self._sources.find(org_id, VISIBLE, sort=[("name", 1)])
        return [_source(document) for document in found]

    async def change(
        self, org_id: OrgId, before: SavedSource, values: Mapping[str, Any], *, at: datetime
    ) -> SavedSource | None:
        """Change a source only if no user changed anything since `before` was read. Raises Duplicate for a
        taken name.
        """
        where = {"_id": before.id, "revision": before.revision, **VISIBLE}
        change = {"$set": {**values, "updated_at": at}, "$inc": {"revision": 1}}
        found = await self._sources.find_and_update(org_id, where, change)
        return None if found is None else _source(found)

    async def record_sync(
        self,
        org_id: OrgId,
        source_id: str,
        *,
        at: datetime,
        status: str,
        result: Mapping[str, Any],
        unconfirmed: int | None,
    ) -> None:
        """Record the result of the last synchronisation; `updated_at` is about what users set.

        `unconfirmed` None: how many devices wait for a confirmation stays as it was.
        """
        last: Document = {"last_sync_at": at, "last_sync_status": status, "last_sync_result": dict(result)}
        if unconfirmed is not None:
            last[UNCONFIRMED] = unconfirmed
        await self._sources.update(org_id, {"_id": source_id}, {"$set": last})

    async def due(self, now: datetime, limit: int, *, without: Collection[OrgId] = ()) -> list[SavedSource]:
        """Return due sources of all organizations but `without`; the one that waits longest first."""
        where: Document = {"auto_sync_enabled": True, "next_sync_at": {"$lte": now}, **VISIBLE}
        if without:
            where["org_id"] = {"$nin": list(without)}
        found = await self._all.find(where, sort=[("next_sync_at", 1)], limit=limit)
        return [_source(document) for document in found]

    async def postpone(self, source: SavedSource, until: datetime) -> bool:
        """Compare and set the time that the source is due at: of all nodes one gets true."""
        where = {
            "_id": source.id,
            "auto_sync_enabled": True,
            "next_sync_at": source.next_sync_at,
            **VISIBLE,
        }
        return await self._sources.update(OrgId(source.org_id), where, {"$set": {"next_sync_at": until}})

    async def align(self) -> None:
        """Let no source wait for longer than its interval: the database's clock was set back."""
        latest = {"$add": ["$$NOW", {"$multiply": ["$sync_interval_hours", 3_600_000]}]}
        where = {"auto_sync_enabled": True, "$expr": {"$gt": ["$next_sync_at", latest]}, **VISIBLE}
        await self._all.update_many(where, [{"$set": {"next_sync_at": latest}}])

    async def hide(self, org_id: OrgId, source_id: str) -> bool:
        """Start a removal, which only goes forward from here."""
        # Its name is free at once, although the document stays until the devices know no more of it.
        gone = {"removal": True, "auto_sync_enabled": False, "name": f"deleted {source_id}"}
        change = {"$set": gone, "$unset": {TOKEN: ""}}
        return await self._sources.update(org_id, {"_id": source_id, **VISIBLE}, change)

    async def removals(self) -> list[tuple[OrgId, str]]:
        found = await self._all.find({"removal": True}, fields={"org_id": 1})
        return [(OrgId(document["org_id"]), str(document["_id"])) for document in found]

    async def delete(self, org_id: OrgId, source_id: str) -> None:
        await self._sources.delete(org_id, {"_id": source_id})


def _source(document: Document) -> SavedSource:
    plain = {name: document[name] for name in PLAIN if name != VOUCHED}
    return SavedSource(
        id=document["_id"],
        org_id=document["org_id"],
        sealed_token=document.get(TOKEN),
        vouched=document.get(VOUCHED, False),  # documents of earlier releases lack it until the first start
        unconfirmed_removals=document.get(UNCONFIRMED, 0),  # only a synchronisation sets it
        **plain,
    )
