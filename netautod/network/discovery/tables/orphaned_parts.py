"""Deletes parts that no header names: polls that died have left them, or polls of a device just deleted."""

from collections.abc import Sequence
from datetime import datetime

from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables.event_outbox import HEADERS
from netautod.network.discovery.tables.kinds import KINDS
from netautod.network.discovery.tables.part_store import BY_DEVICE, LEFT_OVER, PARTS
from netautod.network.discovery.tables.store import named_parts
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

AT_ONCE = 500


class LeftOvers:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(PARTS)
        self._headers = scoped(database, HEADERS)
        self._parts = scoped(database, PARTS)

    async def sweep(self, *, now: datetime) -> None:
        """Delete orphaned parts of all organizations. It reads the index of the parts, not their rows."""
        before = now - LEFT_OVER
        waiting: list[Document] = []
        fields = {"org_id": 1, "device_id": 1, "_id": 1}
        # With a condition on its first field the server finds the time in the index, else in each document.
        where = {"org_id": {"$gt": ""}, "made_at": {"$lt": before}}
        async for part in self._all.stream(where, fields=fields, sort=BY_DEVICE.keys):
            if waiting and (len(waiting) >= AT_ONCE or part["org_id"] != waiting[0]["org_id"]):
                await self._drop_unnamed(waiting)
                waiting = []
            waiting.append(part)
        if waiting:
            await self._drop_unnamed(waiting)

    async def _drop_unnamed(self, parts: Sequence[Document]) -> None:
        """Read headers after the parts: a part that is not named now is never named again."""
        org_id = OrgId(parts[0]["org_id"])
        fields = {"former": 1} | {f"tables.{name}.{key}.id": 1 for name in KINDS for key in ("parts", "gone")}
        named: set[str] = set()
        for header in await self._headers.find(
            org_id, {"_id": {"$in": sorted({part["device_id"] for part in parts})}}, fields=fields
        ):
            named |= named_parts(header.get("tables", {}))
            named.update(header.get("former", ()))  # a reader may still look for them
        left = [part["_id"] for part in parts if part["_id"] not in named]
        if left:
            await self._parts.delete_many(org_id, {"_id": {"$in": left}})
