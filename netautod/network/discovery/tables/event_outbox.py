"""The events that wait in the headers of devices until observers were told of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

HEADERS = "discovered"
BY_WAITING = Index(collection=HEADERS, keys=(("untold_at", 1),), partial={"untold_at": {"$type": "date"}})
# Of one device. More than that waits only where nobody has told for weeks: the newest are kept.
MOST_WAITING = 1000


OWED, OWED_AT = "owed", "owed_at"
BY_OWED = Index(collection=HEADERS, keys=((OWED_AT, 1),), partial={OWED_AT: {"$type": "date"}})


class UntoldEvents:
    """`wanted`: whether a webhook wants an event; then it waits for those, too, apart from the observers."""

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._all = database.collection(HEADERS)
        self._headers = scoped(database, HEADERS)

    async def told(self, org_id: OrgId, device_id: str, ids: Sequence[str]) -> None:
        """These events need not be told any more."""
        await self._headers.update(org_id, {"_id": device_id}, _without("untold", "untold_at", ids))

    async def owed(self, *, before: datetime, limit: int) -> list[tuple[OrgId, str, list[Document]]]:
        """(organization, device, events) of what a webhook is owed, oldest first."""
        where = {OWED_AT: {"$type": "date", "$lt": before}}
        found = await self._all.find(where, fields={"org_id": 1, OWED: 1}, sort=[(OWED_AT, 1)], limit=limit)
        return [(OrgId(header["org_id"]), header["_id"], header[OWED]) for header in found]

    async def paid(self, ids: Mapping[str, Sequence[str]]) -> None:
        """There are deliveries of these events: their ids by device."""
        changes = [({"_id": header}, _without(OWED, OWED_AT, paid)) for header, paid in ids.items()]
        await self._all.update_batch(changes)

    async def drop_all(self) -> int:
        """Of all organizations, without telling anybody; returns of how many devices."""
        await self._all.update_many(
            {OWED_AT: {"$type": "date"}}, {"$unset": {OWED_AT: ""}, "$set": {OWED: []}}
        )
        return await self._all.update_many(
            {"untold_at": {"$type": "date"}}, {"$unset": {"untold_at": ""}, "$set": {"untold": []}}
        )

    async def untold(self, *, before: datetime, limit: int) -> list[tuple[OrgId, str, list[Document]]]:
        """Events of all organizations that wait since before that moment, by device."""
        found = await self._all.find(
            {"untold_at": {"$type": "date", "$lt": before}}, fields={"org_id": 1, "untold": 1}, limit=limit
        )
        return [(OrgId(header["org_id"]), header["_id"], header["untold"]) for header in found]

    def _with_events(
        self, org_id: OrgId, change: Document, events: Sequence[Mapping[str, Any]], *, at: datetime
    ) -> Document:
        """The change of a header that also adds these events to those that wait.

        It adds them, and does not write the list that was read: what was told meanwhile would be told again.
        """
        if not events:
            return change
        waiting = {"untold": list(events), OWED: self._owed_of(org_id, events)}
        added = {name: {"$each": each, "$slice": -MOST_WAITING} for name, each in waiting.items() if each}
        return {**change, "$push": added, "$min": {f"{name}_at": at for name in added}}

    def _owed_of(self, org_id: OrgId, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [event for event in events if self._wanted(org_id, event["kind"])]


def _without(events: str, waiting_at: str, ids: Sequence[str]) -> list[Document]:
    """The change that takes events out of a list, and the mark away with the last one."""
    others = {"$not": [{"$in": ["$$event.id", list(ids)]}]}
    left = {"$filter": {"input": {"$ifNull": [f"${events}", []]}, "as": "event", "cond": others}}
    some = {"$gt": [{"$size": f"${events}"}, 0]}
    ended = {"$cond": [some, f"${waiting_at}", "$$REMOVE"]}
    return [{"$set": {events: left}}, {"$set": {waiting_at: ended}}]
