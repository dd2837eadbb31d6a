"""What retention asks of the versions: where there are many, which are old, who names a text; and deletes."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from netautod.configs.models import Config
from netautod.configs.store import COLLECTION, NEWEST_FIRST, to_config
from netautod.core.identity import OrgId
from netautod.store.client import Database, Document

BATCH = 500
DEVICE = {"org_id": "$org_id", "device_id": "$device_id"}


class OldVersions:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._configs = database.scoped(COLLECTION)

    async def crowded(self, most: int) -> list[tuple[OrgId, str]]:
        """The devices of all organizations with more versions."""
        return await self._devices(
            [
                # In this order the server counts the keys of the index and reads no document.
                {"$sort": {"org_id": 1, "device_id": 1, "version": 1}},
                {"$group": {"_id": DEVICE, "count": {"$sum": 1}}},
                {"$match": {"count": {"$gt": most}}},
            ]
        )

    async def with_unseen(self, since: datetime) -> list[tuple[OrgId, str]]:
        """The devices of all organizations with versions that have not been seen since."""
        # A version is seen when it is made: what was made since need not be looked at.
        old = {"created_at": {"$lt": since}, "last_seen_at": {"$lt": since}}
        return await self._devices([{"$match": old}, {"$group": {"_id": DEVICE}}])

    async def nth_newest(self, org_id: OrgId, device_id: str, count: int) -> int | None:
        """The version that `count - 1` newer ones follow, None if there are fewer."""
        found = await self._configs.find(
            org_id,
            {"device_id": device_id},
            fields={"version": 1},
            sort=NEWEST_FIRST,
            offset=count - 1,
            limit=1,
        )
        return found[0]["version"] if found else None

    async def batches(
        self,
        org_id: OrgId,
        device_id: str,
        *,
        below: int | None = None,
        unseen_since: datetime | None = None,
    ) -> AsyncIterator[list[Config]]:
        """Versions of a device, oldest first: all, or those before `below`, not seen since then."""
        conditions: Document = {"device_id": device_id}
        if unseen_since is not None:
            conditions["last_seen_at"] = {"$lt": unseen_since}
        upper = {} if below is None else {"$lt": below}
        after = 0
        while True:
            where = {**conditions, "version": {"$gt": after, **upper}}
            found = await self._configs.find(org_id, where, sort=[("version", 1)], limit=BATCH)
            if found:
                yield [to_config(document) for document in found]
            if len(found) < BATCH:
                return
            after = found[-1]["version"]

    async def delete(self, org_id: OrgId, config_ids: Sequence[str]) -> int:
        return await self._configs.delete_many(org_id, {"_id": {"$in": list(config_ids)}})

    async def name_text(self, org_id: OrgId, text_id: str) -> bool:
        """Whether a version names the text."""
        return await self._configs.find_one(org_id, {"text_id": text_id}, fields={"_id": 1}) is not None

    async def _devices(self, pipeline: Sequence[Document]) -> list[tuple[OrgId, str]]:
        found = await self._all.aggregate(pipeline)
        return [(OrgId(row["_id"]["org_id"]), row["_id"]["device_id"]) for row in found]
