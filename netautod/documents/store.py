"""Documents in MongoDB; every write of a document is a compare-and-set.

A deleted document leaves an empty row with `deleted_at` for a while: a running write on another node may
still add a version, and the row makes the upkeep look for it.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.pages import in_turns
from netautod.core.schema.bulk_values import made
from netautod.documents import version_store
from netautod.documents.contents import COLLECTION
from netautod.documents.models import NOTES, Document, DocumentFilter, ListedDocument
from netautod.documents.version_store import content_fields, to_content
from netautod.store.client import Database
from netautod.store.client import Document as Row
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

ALIVE = {"deleted_at": None}
LISTED = (("category", 1), ("name", 1), ("_id", 1))
# Not for sorting: the fields that a list needs of each document without reading it.
FACTS = (("revision", 1), ("updated_at", 1))
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), *LISTED, *FACTS)),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("parent_folder", 1), *LISTED, *FACTS)),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("content_type", 1), *LISTED, *FACTS)),
    Index(collection=COLLECTION, keys=(("deleted_at", 1),), partial={"deleted_at": {"$type": "date"}}),
    Index(collection=COLLECTION, keys=(("resealing", 1),), partial={"resealing": {"$gt": ""}}),
    *version_store.INDEXES,
)
METADATA = ("name", "category", "content_type", "parent_folder", "session_id", "created_at", "updated_at")
_STORED = (*METADATA, "revision")
_stored = itemgetter(*_STORED)
_WITHOUT_CONTENT = {"text": 0, "sealed": 0}


class DocumentStore:
    """A store of documents. A row has `resealing` while its versions are converted to its new category."""

    def __init__(self, database: Database) -> None:
        self._documents = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)

    async def insert(self, org_id: OrgId, document: Document) -> None:
        await self._documents.insert(org_id, {"_id": document.id, **_row(document)})

    async def get(self, org_id: OrgId, document_id: str, *, content: bool = True) -> Document | None:
        fields = None if content else _WITHOUT_CONTENT
        found = await self._documents.find_one(org_id, {"_id": document_id, **ALIVE}, fields=fields)
        return None if found is None else _document(found, content=content)

    async def listed(
        self, org_id: OrgId, filters: DocumentFilter, *, limit: int | None, offset: int
    ) -> list[ListedDocument]:
        """List the documents by category and name; limit None: all. An index alone answers this."""
        found = await self._documents.find(
            org_id,
            _where(filters),
            fields={"category": 1, "revision": 1, "updated_at": 1},
            sort=LISTED,
            limit=limit or 0,
            offset=offset,
        )
        return await in_turns(_listed, found)

    async def first(
        self, org_id: OrgId, filters: DocumentFilter, *, limit: int, offset: int, up_to: int
    ) -> list[tuple[Document, int]]:
        """Return the first documents of the list as `some` does, sorted by category and name."""
        found = await self._documents.find(
            org_id, _where(filters), fields=_with_small(up_to), sort=LISTED, limit=limit, offset=offset
        )
        return [_part(row) for row in found]

    async def some(
        self, org_id: OrgId, filters: DocumentFilter, document_ids: Sequence[str], *, up_to: int
    ) -> list[tuple[Document, int]]:
        """Return the documents with these ids that still match, in the order of the ids.

        Contents of more than `up_to` bytes are left out (-1: all of them). Each document comes with the bytes
        that were left out; 0 where `up_to` is -1.
        """
        where = {**_where(filters), "_id": {"$in": list(document_ids)}}
        found = await self._documents.find(org_id, where, fields=_with_small(up_to))
        rows = {row["_id"]: row for row in found}
        return [_part(rows[one]) for one in document_ids if one in rows]

    async def count(self, org_id: OrgId, filters: DocumentFilter) -> int:
        """Count the documents of a list on all of its pages."""
        return await self._documents.count(org_id, _where(filters))

    async def with_contents(self, org_id: OrgId, document_ids: Sequence[str]) -> list[Document]:
        """Return the documents in the order of the ids, without those that are gone."""
        found = await self._documents.find(org_id, {"_id": {"$in": list(document_ids)}, **ALIVE})
        rows = {row["_id"]: row for row in found}
        return [_document(rows[one], content=True) for one in document_ids if one in rows]

    async def swap(
        self, org_id: OrgId, old: Document, new: Document, *, resealing: str | None = None
    ) -> bool:
        """Write `new` if the document is still at the revision of `old`; return False if it is not, or is
        gone.
        """
        row = _row(new)
        if new.content is old.content:
            for name in ("text", "sealed", "size"):
                del row[name]
        if resealing is not None:
            row["resealing"] = resealing
        where = {"_id": old.id, "revision": old.revision, **ALIVE}
        return await self._documents.update(org_id, where, {"$set": row})

    async def mark_deleted(
        self, org_id: OrgId, document_id: str, at: datetime, *, revision: int | None = None
    ) -> bool:
        """Mark the document as deleted: from now on it is gone for all callers.

        Returns False if it was deleted before, or is at another revision than the given one.
        """
        emptied = dict.fromkeys((*METADATA, "text", "sealed", "resealing"), "")
        change = {"$set": {"deleted_at": at}, "$unset": emptied}
        wanted = {} if revision is None else {"revision": revision}
        return await self._documents.update(org_id, {**wanted, "_id": document_id, **ALIVE}, change)

    async def deleted(self) -> list[tuple[OrgId, str, datetime]]:
        """List (organization, id, time of deletion) of the deleted ones whose rows are still there."""
        where = {"deleted_at": {"$type": "date"}}
        found = await self._all.find(where, fields={"org_id": 1, "deleted_at": 1})
        return [(OrgId(row["org_id"]), row["_id"], row["deleted_at"]) for row in found]

    async def forget(self, org_id: OrgId, document_id: str) -> None:
        where = {"_id": document_id, "deleted_at": {"$type": "date"}}
        await self._documents.delete(org_id, where)

    async def resealing(self, org_id: OrgId, document_id: str) -> tuple[Document, str] | None:
        """Return the document without content and the token of its change of category; None if none is
        open."""
        where = {"_id": document_id, "resealing": {"$gt": ""}, **ALIVE}
        found = await self._documents.find_one(org_id, where, fields=_WITHOUT_CONTENT)
        return None if found is None else (_document(found, content=False), found["resealing"])

    async def all_resealing(self) -> list[tuple[OrgId, str]]:
        found = await self._all.find({"resealing": {"$gt": ""}}, fields={"org_id": 1})
        return [(OrgId(row["org_id"]), row["_id"]) for row in found]

    async def resealed(self, org_id: OrgId, document_id: str, token: str) -> bool:
        """Remove the token; return False if the category has changed again meanwhile."""
        where = {"_id": document_id, "resealing": token}
        return await self._documents.update(org_id, where, {"$unset": {"resealing": ""}})

    async def reopen_resealing(self, org_id: OrgId, document_id: str, *, unless: str, token: str) -> None:
        """Begin the conversion anew under the token, unless the change of category is still the one of
        `unless`.
        """
        where = {"_id": document_id, "resealing": {"$ne": unless}, **ALIVE}
        await self._documents.update(org_id, where, {"$set": {"resealing": token}})


def _where(filters: DocumentFilter) -> Row:
    # A deleted document has no name. In this form the index of the list answers the query.
    where: Row = {"name": {"$gte": ""}}
    if filters.q:
        where["name"] = {"$regex": re.escape(filters.q), "$options": "i"}
    if filters.content_type is not None:
        where["content_type"] = filters.content_type
    if not filters.notes:
        where["category"] = {"$ne": NOTES}
    if filters.category is not None:
        where["category"] = {"$eq": filters.category, **where.get("category", {})}
    if filters.parent_folder is not None:
        where["parent_folder"] = filters.parent_folder or None
    return where


def _listed(row: Row) -> ListedDocument:
    return ListedDocument(
        id=row["_id"], category=row["category"], revision=row["revision"], updated_at=row["updated_at"]
    )


def _row(document: Document) -> Row:
    assert document.content is not None
    metadata = {name: getattr(document, name) for name in METADATA}
    return {**metadata, "revision": document.revision, **content_fields(document.content)}


def _with_small(up_to: int) -> Row:
    """Return the projection that `_part` reads."""
    if up_to < 0:
        return dict.fromkeys((*METADATA, "revision"), 1)
    small = {"$lte": ["$size", up_to]}
    contents = {name: {"$cond": [small, f"${name}", "$$REMOVE"]} for name in ("text", "sealed")}
    return {**dict.fromkeys((*METADATA, "revision", "size"), 1), **contents}


def _part(row: Row) -> tuple[Document, int]:
    content = "text" in row
    return _document(row, content=content), 0 if content else row.get("size", 0)


def _document(row: Row, *, content: bool) -> Document:
    fields: dict[str, Any] = dict(zip(_STORED, _stored(row), strict=True))
    fields["id"] = row["_id"]
    fields["content"] = to_content(row) if content else None
    return made(Document, fields)
