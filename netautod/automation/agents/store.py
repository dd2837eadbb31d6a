"""Transcripts and begun changes of agents in MongoDB; both collections are append-only."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.automation.agents.models import Chained, Usage, event_json, event_of
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

TRANSCRIPTS = "agent_transcripts"
CHANGES = "agent_changes"
INDEXES = (
    Index(collection=TRANSCRIPTS, keys=(("execution_id", 1), ("seq", 1)), unique=True),
    Index(collection=TRANSCRIPTS, keys=(("org_id", 1), ("execution_id", 1), ("role", 1))),
    Index(collection=CHANGES, keys=(("org_id", 1), ("execution_id", 1))),
)


class TranscriptStore:
    def __init__(self, database: Database) -> None:
        self._events = scoped(database, TRANSCRIPTS)

    async def append(self, org_id: OrgId, execution_id: str, one: Chained) -> None:
        """Append an event, once: the same event again was stored by a write whose answer was lost.

        Raises Duplicate if another event has its number.
        """
        document = {
            "_id": f"{execution_id}:{one.event.seq}",
            "execution_id": execution_id,
            **event_json(one.event),
            "at": one.event.at,
            "previous": one.previous,
            "hash": one.hash,
        }
        try:
            await self._events.insert(org_id, document)
        except Duplicate:
            known = await self._events.find_one(org_id, {"_id": document["_id"]}, fields={"hash": 1})
            if known is None or known["hash"] != one.hash:
                raise

    async def read(self, org_id: OrgId, execution_id: str) -> list[Chained]:
        found = await self._events.find(org_id, {"execution_id": execution_id}, sort=[("seq", 1)])
        return [_to_chained(document) for document in found]

    async def usages(self, org_id: OrgId, execution_ids: Sequence[str]) -> dict[str, Usage]:
        """Count turns and tool calls of the runs that have any; read from the index alone."""
        if not execution_ids:
            return {}
        grouped = await self._events.aggregate(
            org_id,
            [
                {"$match": {"execution_id": {"$in": list(execution_ids)}}},
                {
                    "$group": {
                        "_id": "$execution_id",
                        "turns": {"$sum": {"$cond": [{"$eq": ["$role", "assistant"]}, 1, 0]}},
                        "tool_calls": {"$sum": {"$cond": [{"$eq": ["$role", "tool"]}, 1, 0]}},
                    }
                },
            ],
        )
        return {one["_id"]: Usage(turns=one["turns"], tool_calls=one["tool_calls"]) for one in grouped}

    async def delete_of(self, org_id: OrgId, execution_id: str) -> None:
        await self._events.delete_many(org_id, {"execution_id": execution_id})


class ChangeStore:
    """A store of begun changes.

    An approval begins one change only, on whichever node, and before the first line is sent.
    """

    def __init__(self, database: Database) -> None:
        self._changes = scoped(database, CHANGES)

    async def begin(
        self, org_id: OrgId, execution_id: str, call_id: str, details: Mapping[str, Any], at: datetime
    ) -> bool:
        """Record that a change begins.

        False if it was begun before: then its result is unknown.
        """
        document = {"_id": f"{execution_id}:{call_id}", "execution_id": execution_id, "at": at, **details}
        try:
            await self._changes.insert(org_id, document)
        except Duplicate:
            return False
        return True

    async def delete_of(self, org_id: OrgId, execution_id: str) -> None:
        await self._changes.delete_many(org_id, {"execution_id": execution_id})


def _to_chained(document: Document) -> Chained:
    return Chained(
        event=event_of(document, document["at"]), previous=document["previous"], hash=document["hash"]
    )
