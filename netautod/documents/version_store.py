"""The versions of documents in MongoDB, each added once."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.schema.bulk_values import made
from netautod.documents.models import Content, Document, DocumentVersion
from netautod.store.client import Database
from netautod.store.client import Document as Row
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

VERSIONS = "document_versions"
NEWEST_FIRST = {"revision": -1}
INDEXES = (
    # Covers the list: 10,000 versions are listed without reading one of their contents.
    Index(
        collection=VERSIONS,
        keys=(("org_id", 1), ("document_id", 1), ("revision", -1), ("created_at", 1), ("_id", 1)),
    ),
)


class VersionStore:
    """A store with one version for each write. The id is derived from the document and the replaced revision.

    Two writers that replace the same revision, or one that repeats its write after a crash, therefore add one
    version; and the revisions are the total order of the versions, also of several in one millisecond.
    """

    def __init__(self, database: Database) -> None:
        self._versions = scoped(database, VERSIONS)
        self._all = database.collection(VERSIONS)

    async def add(self, org_id: OrgId, current: Document, at: datetime) -> datetime:
        """Copy the stored content of `current`; return the time of the version of this revision."""
        assert current.content is not None
        version_id = _version_id(current)
        row = {
            "_id": version_id,
            "document_id": current.id,
            "revision": current.revision,
            "created_at": at,
            **content_fields(current.content),
        }
        try:
            await self._versions.insert(org_id, row)
        except Duplicate:
            found = await self._versions.find_one(org_id, {"_id": version_id}, fields={"created_at": 1})
            # None: the document was deleted in between, as the writer is about to notice.
            return at if found is None else found["created_at"]
        return at

    async def listed(self, org_id: OrgId, document_id: str) -> list[Row]:
        """List `{id, document_id, created_at}` of all, newest first, with the times as text.

        The database formats them, as json_values.to_text does: 10,000 formatted here would block the loop.
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

    async def get(self, org_id: OrgId, version_id: str) -> DocumentVersion | None:
        found = await self._versions.find_one(org_id, {"_id": version_id})
        return None if found is None else _version(found)

    async def remove_all(self, org_id: OrgId, document_id: str) -> None:
        await self._versions.delete_many(org_id, {"document_id": document_id})

    async def remove_sealed(self, org_id: OrgId) -> int:
        """Remove all sealed versions of an organization; return how many there were."""
        return await self._versions.delete_many(org_id, {"sealed": {"$ne": None}})

    async def of_other_kind(
        self, org_id: OrgId, document_id: str, *, sealed: bool, below: int | None, limit: int
    ) -> list[tuple[str, int, int]]:
        """List (id, revision, size) of those whose `sealed` differs, by falling revision."""
        where: Row = {"document_id": document_id, "sealed": None if sealed else {"$ne": None}}
        if below is not None:
            where["revision"] = {"$lt": below}
        fields = {"revision": 1, "size": 1}
        sort = [("revision", -1)]
        found = await self._versions.find(org_id, where, fields=fields, sort=sort, limit=limit)
        return [(row["_id"], row["revision"], row["size"]) for row in found]

    async def some(self, org_id: OrgId, version_ids: Sequence[str]) -> list[DocumentVersion]:
        found = await self._versions.find(org_id, {"_id": {"$in": list(version_ids)}})
        return [_version(row) for row in found]

    async def replace_contents(self, org_id: OrgId, contents: Sequence[tuple[str, Content]]) -> None:
        """Replace contents by version id, in one round trip; ids that are gone stay gone."""
        await self._all.update_batch(
            [
                ({"_id": version_id, "org_id": org_id}, {"$set": content_fields(content)})
                for version_id, content in contents
            ]
        )


def _version_id(current: Document) -> str:
    return str(uuid5(UUID(current.id), f"revision {current.revision}"))


def _version(row: Row) -> DocumentVersion:
    return DocumentVersion(
        id=row["_id"],
        document_id=row["document_id"],
        revision=row["revision"],
        created_at=row["created_at"],
        content=to_content(row),
    )


def content_fields(content: Content) -> Row:
    """Return the fields of both kinds, so that a change of kind leaves nothing of the other one behind."""
    return {"text": content.text, "sealed": content.sealed, "size": content.size}


def to_content(row: Row) -> Content:
    return made(Content, {"size": row["size"], "text": row["text"], "sealed": row["sealed"]})
