"""Events that wait in the documents of their records until they are delivered.

A change and its event are one write, so that a crash loses neither (transactional outbox). Each owner of a
collection chooses the names of the stored fields; how they are read and cleared is the same for all.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from netautod.store.client import Collection, Document
from netautod.store.indexes import Index


class Pending(Protocol):
    """The documents of one collection that have events which are not delivered yet."""

    async def find(self, *, before: datetime, limit: int, after: datetime | None = None) -> list[Document]:
        """Return documents of all organizations whose first event is older than `before`, oldest first.

        `after`: and what is later than that, which the clock has shown before it was set back.
        """
        ...

    async def clear(self, delivered: Mapping[str, Sequence[str]]) -> None:
        """Clear events that are delivered: their ids by the id of the document."""
        ...

    async def discard(self) -> None:
        """Clear all events of all organizations without delivering them. For a restore."""
        ...


def pending_index(collection: str, at: str) -> Index:
    """Return the index that finds the documents; `at` is the field with the moment of the first event."""
    return Index(collection=collection, keys=((at, 1),), partial={at: {"$type": "date"}})


class PendingEvent:
    """An event that a document can have once.

    `field` is there as long as the event is pending; `at` is or holds its moment. `event_id` holds the id of
    the event if a later one may take its place: then only the delivered one is cleared. `fields`: the
    projection of a read, None for whole documents.
    """

    def __init__(
        self,
        collection: Collection,
        *,
        field: str,
        at: str,
        event_id: str | None = None,
        fields: Mapping[str, int] | None = None,
    ) -> None:
        self._collection = collection
        self._field = field
        self._at = at
        self._event_id = event_id
        self._fields = fields

    async def find(self, *, before: datetime, limit: int, after: datetime | None = None) -> list[Document]:
        return await _find(self._collection, self._at, (before, after), fields=self._fields, limit=limit)

    async def clear(self, delivered: Mapping[str, Sequence[str]]) -> None:
        gone = {"$unset": {self._field: ""}}
        if self._event_id is None:
            await self._collection.update_many({"_id": {"$in": list(delivered)}}, gone)
            return
        await self._collection.update_batch(
            [({"_id": record, self._event_id: {"$in": list(ids)}}, gone) for record, ids in delivered.items()]
        )

    async def discard(self) -> None:
        await self._collection.update_many(_marked(self._at), {"$unset": {self._field: ""}})


class PendingEvents:
    """A list of events in a document, the oldest first, each with `id` and `at`.

    `field` is the list, and `at` the moment of its first event, there as long as the list has any.
    """

    def __init__(self, collection: Collection, *, field: str, at: str) -> None:
        self._collection = collection
        self._field = field
        self._at = at

    async def find(self, *, before: datetime, limit: int, after: datetime | None = None) -> list[Document]:
        fields = {"org_id": 1, self._field: 1}
        return await _find(self._collection, self._at, (before, after), fields=fields, limit=limit)

    async def clear(self, delivered: Mapping[str, Sequence[str]]) -> None:
        # The change does not write the list that was read: events that came meanwhile stay.
        await self._collection.update_batch(
            [({"_id": record}, self._without(ids)) for record, ids in delivered.items()]
        )

    async def discard(self) -> None:
        gone = {"$unset": {self._at: "", self._field: ""}}
        await self._collection.update_many(_marked(self._at), gone)

    def _without(self, ids: Sequence[str]) -> list[Document]:
        others = {"$not": [{"$in": ["$$event.id", list(ids)]}]}
        events = {"$ifNull": [f"${self._field}", []]}
        left = {"$filter": {"input": events, "as": "event", "cond": others}}
        some = {"$gt": [{"$size": f"${self._field}"}, 0]}
        first = {"$ifNull": [{"$arrayElemAt": [f"${self._field}.at", 0]}, f"${self._at}"]}
        kept = {self._field: f"${self._field}", self._at: first}
        return [
            {"$set": {self._field: left}},
            {"$set": {name: {"$cond": [some, value, "$$REMOVE"]} for name, value in kept.items()}},
        ]


def _marked(at: str) -> Document:
    return {at: {"$type": "date"}}


async def _find(
    collection: Collection,
    at: str,
    bounds: tuple[datetime, datetime | None],
    *,
    fields: Mapping[str, int] | None,
    limit: int,
) -> list[Document]:
    before, after = bounds
    older: Document = {"$lt": before} if after is None else {"$not": {"$gte": before, "$lte": after}}
    where = {at: {"$type": "date", **older}}
    return await collection.find(where, fields=fields, sort=[(at, 1)], limit=limit)
