"""The documents with the parts of tables: put there, read and taken away. Headers say which of them count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import Pace
from netautod.network.discovery.tables.kinds import searched_by
from netautod.network.discovery.tables.parts import Fields, Part, in_loads
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

PARTS = "discovered_parts"
# Longer than any poll takes: what it puts there is not named before its end.
LEFT_OVER = timedelta(hours=1)
BY_DEVICE = Index(collection=PARTS, keys=(("org_id", 1), ("device_id", 1), ("made_at", 1), ("_id", 1)))
PART_INDEXES = (
    Index(collection=PARTS, keys=(("macs", 1), ("org_id", 1))),
    Index(collection=PARTS, keys=(("addresses", 1), ("org_id", 1))),
    # With the id in it, parts that no header names are found without reading rows.
    BY_DEVICE,
)


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The owner of parts: a device, a table, and a poll."""

    org_id: OrgId
    device_id: str
    table: str
    at: datetime


class PartStore:
    def __init__(self, database: Database) -> None:
        self._parts = scoped(database, PARTS)

    async def put(
        self, owner: Owner, parts: Sequence[Part], *, there: Mapping[str, str], searched: bool
    ) -> list[Document]:
        """Insert the parts that are not `there` (ids by digest); return what a header says of each.

        `searched`: whether addresses of the rows are found. A part of history is not.
        """
        named: list[Document] = []
        waiting: dict[str, Part] = {}
        for part in parts:
            part_id = there.get(part.digest)
            if part_id is None:
                part_id = uuid4().hex
                waiting[part_id] = part
            rows = len(part.rows)
            named.append({"id": part_id, "digest": part.digest, "rows": rows, "weight": part.weight})
        for batch in in_loads([part for part in named if part["id"] in waiting]):
            pace = Pace()
            documents = []
            for part_id in batch:
                documents.append(_document(owner, part_id, waiting[part_id], searched))
                await pace.breathe()
            await self._parts.insert_many(owner.org_id, documents)
        return named

    async def rows(
        self, org_id: OrgId, named: Sequence[Mapping[str, Any]], *, of_rows: Sequence[str] = ()
    ) -> dict[str, list[Fields]]:
        """Return the rows of each part by its id, but for parts that are gone; `of_rows`: only these
        fields.
        """
        found: dict[str, list[Fields]] = {}
        fields = {f"rows.{name}": 1 for name in of_rows} or {"rows": 1}
        for batch in in_loads(named):
            for part in await self._parts.find(org_id, {"_id": {"$in": batch}}, fields=fields):
                found[part["_id"]] = part["rows"]
        return found

    async def there(self, org_id: OrgId, device_id: str, named: Sequence[Mapping[str, Any]]) -> set[str]:
        """Return the ids of those parts that exist, by the index alone."""
        ids = [part["id"] for part in named]
        if not ids:
            return set()
        found = await self._parts.find(
            org_id, {"device_id": device_id, "_id": {"$in": ids}}, fields={"_id": 1}, index=BY_DEVICE.name
        )
        return {part["_id"] for part in found}

    async def drop(self, org_id: OrgId, device_id: str, ids: set[str]) -> None:
        if ids:
            await self._parts.delete_many(org_id, {"device_id": device_id, "_id": {"$in": sorted(ids)}})

    async def drop_unnamed(self, org_id: OrgId, device_id: str, named: set[str], *, before: datetime) -> None:
        """Delete what a poll that ended long before that moment has left, and no header names."""
        left_over = {"made_at": {"$lt": before}, "_id": {"$nin": sorted(named)}}
        await self._parts.delete_many(org_id, {"device_id": device_id, **left_over})

    async def drop_all(self, org_id: OrgId, device_id: str) -> None:
        await self._parts.delete_many(org_id, {"device_id": device_id})


def _document(owner: Owner, part_id: str, part: Part, searched: bool) -> Document:
    return {
        "_id": part_id,
        "device_id": owner.device_id,
        "table": owner.table,
        "made_at": owner.at,
        "rows": part.rows,
        **(searched_by(owner.table, part.rows) if searched else {}),
    }
