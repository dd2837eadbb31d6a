"""The events that wait in the headers of devices until observers were told of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

HEADERS = "discovered"
BY_WAITING = Index(collection=HEADERS, keys=(("untold_at", 1),), partial={"untold_at": {"$type": "date"}})
# Of one device. More than that waits only where nobody has told for weeks: the newest are kept.
MOST_WAITING = 1000


class UntoldEvents:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(HEADERS)
        self._headers = scoped(database, HEADERS)

    async def told(self, org_id: OrgId, device_id: str, ids: Sequence[str]) -> None:
        """These events need not be told any more."""
        left = {
            "$filter": {
                "input": {"$ifNull": ["$untold", []]},
                "as": "event",
                "cond": {"$not": [{"$in": ["$$event.id", list(ids)]}]},
            }
        }
        some = {"$gt": [{"$size": "$untold"}, 0]}
        ended = {"$cond": [some, "$untold_at", "$$REMOVE"]}
        await self._headers.update(
            org_id, {"_id": device_id}, [{"$set": {"untold": left}}, {"$set": {"untold_at": ended}}]
        )

    async def drop_all(self) -> int:
        """Of all organizations, without telling anybody; returns of how many devices."""
        return await self._all.update_many(
            {"untold_at": {"$type": "date"}}, {"$unset": {"untold_at": ""}, "$set": {"untold": []}}
        )

    async def untold(self, *, before: datetime, limit: int) -> list[tuple[OrgId, str, list[Document]]]:
        """Events of all organizations that wait since before that moment, by device."""
        found = await self._all.find(
            {"untold_at": {"$type": "date", "$lt": before}}, fields={"org_id": 1, "untold": 1}, limit=limit
        )
        return [(OrgId(header["org_id"]), header["_id"], header["untold"]) for header in found]


def with_events(change: Document, events: Sequence[Mapping[str, Any]], *, at: datetime) -> Document:
    """The change of a header that also adds these events to those that wait.

    It adds them, and does not write the list that was read: what was told meanwhile would be told again.
    """
    if not events:
        return change
    added = {"$each": list(events), "$slice": -MOST_WAITING}
    return {**change, "$push": {"untold": added}, "$min": {"untold_at": at}}
