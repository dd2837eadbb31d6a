"""The ownership of the documents of a collection: one organization each, or the whole installation."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document

PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class Owned:
    """A collection of organizations. `field` holds the id of the organization; of `_id` there is one document
    for each.
    """

    collection: str
    field: str = "org_id"


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A collection of the installation. `reason` says why nothing in it belongs to one organization, or what
    removes it.
    """

    collection: str
    reason: str


First = Callable[[Sequence[Document]], Awaitable[None]]
"""What goes before the documents of a page: it cannot be found without them."""


async def delete_owned(
    database: Database,
    owned: Owned,
    org_id: OrgId,
    *,
    first: First | None = None,
    fields: Sequence[str] = (),
    page: int = PAGE,
) -> int:
    """Delete what belongs to the organization, in one pass over the collection; return how much it was.

    `first` gets the documents of each page with `_id` and `fields`.
    """
    collection, deleted, rows = database.collection(owned.collection), 0, list[Document]()

    async def delete() -> int:
        if not rows:
            return 0
        if first is not None:
            await first(rows)
        return await collection.delete_many(
            {"_id": {"$in": [row["_id"] for row in rows]}, owned.field: org_id}
        )

    wanted = dict.fromkeys(("_id", *fields), 1)
    async for row in collection.stream({owned.field: org_id}, fields=wanted, batch=page):
        rows.append(row)
        if len(rows) == page:
            deleted += await delete()
            rows.clear()
    return deleted + await delete()
