"""Snapshots as documents of the database: one for each write, found again by the revision it replaced.

The id is made from document and revision. Two writers that replace the same revision, or one that repeats
after a crash what it had begun, therefore make one snapshot; and the revisions are the total order of the
snapshots, also of several in one millisecond.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from netautod.core.identity import OrgId
from netautod.docs.contents import from_row, to_row
from netautod.docs.models import Content, Document, Snapshot
from netautod.store.client import Database, Duplicate
from netautod.store.client import Document as Row
from netautod.store.indexes import Index

COLLECTION = "document_versions"
INDEXES = (
    # Covers the list: 10,000 snapshots are listed without reading one of their contents.
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("document_id", 1), ("revision", -1), ("created_at", 1), ("_id", 1)),
    ),
)
NEWEST_FIRST = {"revision": -1}


class VersionStore:
    def __init__(self, database: Database) -> None:
        self._versions = database.scoped(COLLECTION)
        self._all = database.collection(COLLECTION)

    async def add(self, org_id: OrgId, current: Document, at: datetime) -> datetime:
        """Snapshots what `current` holds, as stored; when the snapshot of this revision was taken."""
        assert current.content is not None
        snapshot_id = snapshot_id_of(current)
        row = {
            "_id": snapshot_id,
            "document_id": current.id,
            "revision": current.revision,
            "created_at": at,
            **to_row(current.content),
        }
        try:
            await self._versions.insert(org_id, row)
        except Duplicate:
            found = await self._versions.find_one(org_id, {"_id": snapshot_id}, fields={"created_at": 1})
            # None: the document was deleted in between, as the writer is about to notice.
            return at if found is None else found["created_at"]
        return at

    async def listed(self, org_id: OrgId, document_id: str) -> list[Row]:
        """`{id, document_id, created_at}` of all, newest first, ready to be answered.

        The server writes the times (clock.to_text's form): 10,000 values made here would hold up the loop.
        """
        return await self._versions.aggregate(
            org_id,
            [
                {"$match": {"document_id": document_id}},
                {"$sort": NEWEST_FIRST},
                {
                    "$project": {
                        "_id": 0,
                        "id": "$_id",
                        "document_id": 1,
                        "created_at": {
                            "$dateToString": {"date": "$created_at", "format": "%Y-%m-%dT%H:%M:%S.%LZ"}
                        },
                    }
                },
            ],
        )

    async def get(self, org_id: OrgId, version_id: str) -> Snapshot | None:
        found = await self._versions.find_one(org_id, {"_id": version_id})
        return None if found is None else _snapshot(found)

    async def remove_all(self, org_id: OrgId, document_id: str) -> None:
        await self._versions.delete_many(org_id, {"document_id": document_id})

    async def of_other_kind(
        self, org_id: OrgId, document_id: str, *, sealed: bool, below: int | None, limit: int
    ) -> list[tuple[str, int, int]]:
        """(id, revision, size) of those that are not `sealed` as they should be, by falling revision."""
        where: Row = {"document_id": document_id, "sealed": None if sealed else {"$ne": None}}
        if below is not None:
            where["revision"] = {"$lt": below}
        fields = {"revision": 1, "size": 1}
        sort = [("revision", -1)]
        found = await self._versions.find(org_id, where, fields=fields, sort=sort, limit=limit)
        return [(row["_id"], row["revision"], row["size"]) for row in found]

    async def some(self, org_id: OrgId, version_ids: Sequence[str]) -> list[Snapshot]:
        found = await self._versions.find(org_id, {"_id": {"$in": list(version_ids)}})
        return [_snapshot(row) for row in found]

    async def replace_contents(self, org_id: OrgId, contents: Sequence[tuple[str, Content]]) -> None:
        """By snapshot id, all in one round trip; ids that are gone stay gone."""
        await self._all.update_batch(
            [
                ({"_id": version_id, "org_id": org_id}, {"$set": to_row(content)})
                for version_id, content in contents
            ]
        )


def snapshot_id_of(current: Document) -> str:
    return str(uuid5(UUID(current.id), f"revision {current.revision}"))


def _snapshot(row: Row) -> Snapshot:
    return Snapshot(
        id=row["_id"],
        document_id=row["document_id"],
        revision=row["revision"],
        created_at=row["created_at"],
        content=from_row(row),
    )
