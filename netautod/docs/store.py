"""Documents as documents of the database, with their contents; every write is a compare-and-set.

A deleted document leaves an empty row with `deleted_at` for a while: a write that was under way on another
node may still add a snapshot, and the row tells the upkeep to look for it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity import OrgId
from netautod.core.pages import Page
from netautod.docs import versions
from netautod.docs.contents import COLLECTION, from_row, to_row
from netautod.docs.models import Document, Filters
from netautod.docs.notes import store as notes_store
from netautod.store.client import Database
from netautod.store.client import Document as Row
from netautod.store.indexes import Index

ALIVE = {"deleted_at": None}
BY_NAME = [("name", 1), ("_id", 1)]
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("category", 1), ("name", 1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("parent_folder", 1), ("name", 1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("deleted_at", 1),), partial={"deleted_at": {"$type": "date"}}),
    Index(collection=COLLECTION, keys=(("resealing", 1),), partial={"resealing": {"$gt": ""}}),
    *versions.INDEXES,
    *notes_store.INDEXES,
)
METADATA = ("name", "category", "content_type", "parent_folder", "session_id", "created_at", "updated_at")
_WITHOUT_CONTENT = {"text": 0, "sealed": 0}


class DocumentStore:
    """`resealing` of a row is there while its snapshots are brought over to its new category."""

    def __init__(self, database: Database) -> None:
        self._documents = database.scoped(COLLECTION)
        self._all = database.collection(COLLECTION)

    async def insert(self, org_id: OrgId, document: Document) -> None:
        await self._documents.insert(org_id, {"_id": document.id, **_row(document)})

    async def get(self, org_id: OrgId, document_id: str, *, content: bool = True) -> Document | None:
        fields = None if content else _WITHOUT_CONTENT
        found = await self._documents.find_one(org_id, {"_id": document_id, **ALIVE}, fields=fields)
        return None if found is None else _document(found, content=content)

    async def page(self, org_id: OrgId, filters: Filters, page: Page) -> tuple[list[Document], int]:
        """Sorted by name, without contents; and how many bytes those are together."""
        where: Row = dict(ALIVE)
        if filters.category is not None:
            where["category"] = filters.category
        if filters.parent_folder is not None:
            where["parent_folder"] = filters.parent_folder or None
        found = await self._documents.find(
            org_id, where, fields=_WITHOUT_CONTENT, sort=BY_NAME, limit=page.limit, offset=page.offset
        )
        return [_document(row, content=False) for row in found], sum(row["size"] for row in found)

    async def with_contents(self, org_id: OrgId, document_ids: Sequence[str]) -> dict[str, Document]:
        found = await self._documents.find(org_id, {"_id": {"$in": list(document_ids)}, **ALIVE})
        return {row["_id"]: _document(row, content=True) for row in found}

    async def swap(
        self, org_id: OrgId, old: Document, new: Document, *, resealing: str | None = None
    ) -> bool:
        """Writes `new` if the document is still at the revision of `old`; false if it is not, or is gone."""
        row = _row(new)
        if new.content is old.content:
            for name in ("text", "sealed", "size"):
                del row[name]
        if resealing is not None:
            row["resealing"] = resealing
        where = {"_id": old.id, "revision": old.revision, **ALIVE}
        return await self._documents.update(org_id, where, {"$set": row})

    async def mark_deleted(self, org_id: OrgId, document_id: str, at: datetime) -> bool:
        """From here on the document is gone for everybody; false if it was before."""
        emptied = dict.fromkeys((*METADATA, "text", "sealed", "resealing"), "")
        change = {"$set": {"deleted_at": at}, "$unset": emptied}
        return await self._documents.update(org_id, {"_id": document_id, **ALIVE}, change)

    async def deleted(self) -> list[tuple[OrgId, str, datetime]]:
        """(organization, id, since when) of the deleted ones whose rows are still there."""
        where = {"deleted_at": {"$type": "date"}}
        found = await self._all.find(where, fields={"org_id": 1, "deleted_at": 1})
        return [(OrgId(row["org_id"]), row["_id"], row["deleted_at"]) for row in found]

    async def forget(self, org_id: OrgId, document_id: str) -> None:
        where = {"_id": document_id, "deleted_at": {"$type": "date"}}
        await self._documents.delete(org_id, where)

    async def resealing(self, org_id: OrgId, document_id: str) -> tuple[Document, str] | None:
        """The document without content and the token of its change of category; None if none is open."""
        where = {"_id": document_id, "resealing": {"$gt": ""}, **ALIVE}
        found = await self._documents.find_one(org_id, where, fields=_WITHOUT_CONTENT)
        return None if found is None else (_document(found, content=False), found["resealing"])

    async def all_resealing(self) -> list[tuple[OrgId, str]]:
        found = await self._all.find({"resealing": {"$gt": ""}}, fields={"org_id": 1})
        return [(OrgId(row["org_id"]), row["_id"]) for row in found]

    async def resealed(self, org_id: OrgId, document_id: str, token: str) -> bool:
        """False if the category has changed again meanwhile."""
        where = {"_id": document_id, "resealing": token}
        return await self._documents.update(org_id, where, {"$unset": {"resealing": ""}})


def _row(document: Document) -> Row:
    assert document.content is not None
    metadata = {name: getattr(document, name) for name in METADATA}
    return {**metadata, "revision": document.revision, **to_row(document.content)}


def _document(row: Row, *, content: bool) -> Document:
    metadata: dict[str, Any] = {name: row[name] for name in METADATA}
    return Document(
        id=row["_id"],
        revision=row["revision"],
        content=from_row(row) if content else None,
        **metadata,
    )
