"""The chained events of organizations and the ends of each chain: `audit_events` and `audit_chains`.

An organization's document in `audit_chains` holds the `head` (the newest event; written after it, so at worst
behind) and the `anchor` (the last event that retention deleted; written before the deletion).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.activity.audit.chain.links import START, ChainedEvent, Link
from netautod.activity.audit.documents import COLLECTION, document_of, event_of
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document, Filter
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

CHAINS = "audit_chains"
ADOPTED = "adopted"  # the id of the document that says that the events of earlier versions are chained
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("seq", 1)),
        unique=True,
        partial={"seq": {"$exists": True}},  # events of earlier versions have none
    ),
)


@dataclass(frozen=True, kw_only=True)
class ChainEnds:
    """The beginning and the end of a chain as its document states them.

    `anchored_at` None: nothing was deleted yet.
    """

    anchor: Link = START
    anchored_at: datetime | None = None
    head: Link = START


class ChainStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._events = scoped(database, COLLECTION)
        self._chains = database.collection(CHAINS)
        # The head may be lost in a fail-over: it is behind then. Waiting for the disk twice would double
        # the time of every event.
        self._heads = self._chains.unacknowledged_by_others()

    async def newest(self, org_id: OrgId) -> Link:
        """Return the link that the next event follows: the head, even if its event was cut off."""
        found = await self._events.find(org_id, {"seq": {"$gt": 0}}, sort=[("seq", -1)], limit=1)
        last = _link(found[0]) if found else START
        ends = await self.ends(org_id)
        return max(last, ends.anchor, ends.head, key=lambda link: link.seq)

    async def ends(self, org_id: OrgId) -> ChainEnds:
        found = await self._chains.find_one({"_id": org_id}) or {}
        anchor = found.get("anchor")
        return ChainEnds(
            anchor=_link(anchor) if anchor else START,
            anchored_at=anchor["at"] if anchor else None,
            head=_link(found["head"]) if "head" in found else START,
        )

    async def insert(self, events: Sequence[ChainedEvent]) -> int:
        """Insert events in order, up to the first whose number another node has taken; return how many."""
        return await self._all.insert_in_order([_document(event) for event in events])

    async def note_head(self, org_id: OrgId, link: Link) -> None:
        head = {"seq": link.seq, "hash": link.hash}
        await self._heads.update(
            {"_id": org_id},
            [{"$set": {"head": {"$cond": [{"$lt": ["$head.seq", link.seq]}, head, "$head"]}}}],
            upsert=True,
        )

    async def anchor(self, org_id: OrgId, link: Link, *, at: datetime) -> None:
        """Record that everything up to this link is about to be deleted. An anchor never moves back."""
        anchor = {"seq": link.seq, "hash": link.hash, "at": at}
        await self._chains.update(
            {"_id": org_id},
            [{"$set": {"anchor": {"$cond": [{"$lt": ["$anchor.seq", link.seq]}, anchor, "$anchor"]}}}],
            upsert=True,
        )

    async def delete_anchored(self, org_id: OrgId) -> int:
        """Delete everything up to the anchor; also what a crash has left of it."""
        ends = await self.ends(org_id)
        return await self._events.delete_many(org_id, {"seq": {"$gt": 0, "$lte": ends.anchor.seq}})

    async def oldest(self, org_id: OrgId, after: int, limit: int) -> list[tuple[Link, datetime]]:
        """Return the first events behind that number, with their moments."""
        fields = {"seq": 1, "hash": 1, "at": 1}
        found = await self._events.find(
            org_id, {"seq": {"$gt": after}}, fields=fields, sort=[("seq", 1)], limit=limit
        )
        return [(_link(document), document["at"]) for document in found]

    async def stream(
        self, org_id: OrgId, *, after: int, through: int | None = None
    ) -> AsyncIterator[ChainedEvent | int]:
        """Yield the events in the order of their numbers; for an event that cannot be read any more its
        number.
        """
        wanted: dict[str, Any] = {"$gt": after} if through is None else {"$gt": after, "$lte": through}
        async for document in self._events.stream(org_id, {"seq": wanted}, sort=[("seq", 1)]):
            yield _chained(document)

    async def span(self, org_id: OrgId, since: datetime | None, until: datetime | None) -> tuple[int, int]:
        """Return the numbers of the first and the last event of that time; (1, 0) if there is none."""
        bounds = {"$gte": since, "$lt": until}
        times = {operator: moment for operator, moment in bounds.items() if moment is not None}
        where: Filter = {"seq": {"$gt": 0}, "at": times} if times else {"seq": {"$gt": 0}}
        first = await self._events.find_one(org_id, where, sort=[("seq", 1)])
        last = await self._events.find_one(org_id, where, sort=[("seq", -1)])
        return (first["seq"], last["seq"]) if first and last else (1, 0)

    async def outside(self, org_id: OrgId) -> int:
        """Count the events that have no place in the chain."""
        return await self._events.count(org_id, {"seq": None})

    async def organizations(self) -> list[OrgId]:
        """Return the organizations that have events or a chain."""
        with_events = await self._all.distinct("org_id", {})
        with_chain = await self._chains.distinct("_id", {"_id": {"$ne": ADOPTED}})
        return sorted({OrgId(org_id) for org_id in (*with_events, *with_chain)})

    async def is_adopted(self) -> bool:
        return await self._chains.find_one({"_id": ADOPTED}) is not None

    async def note_adopted(self) -> None:
        await self._chains.update({"_id": ADOPTED}, {"$set": {"done": True}}, upsert=True)

    async def unchained(self, org_id: OrgId, limit: int, *, since: datetime | None) -> list[Document]:
        """Return the first events of an earlier version from then on, by their moments."""
        where: Filter = {"seq": None} if since is None else {"seq": None, "at": {"$gte": since}}
        # The order of an index, read backwards: nothing is sorted.
        return await self._events.find(org_id, where, sort=[("at", 1), ("_id", -1)], limit=limit)

    async def adopt(self, events: Sequence[ChainedEvent]) -> None:
        """Give stored events their places, in order, up to a number that is taken by now."""
        await self._all.update_in_order(
            [
                (
                    {"_id": chained.event.id, "org_id": chained.event.org_id, "seq": None},
                    {"$set": _place(chained)},
                )
                for chained in events
            ]
        )


def _link(document: Mapping[str, Any]) -> Link:
    return Link(seq=document["seq"], hash=document["hash"])


def _document(chained: ChainedEvent) -> Document:
    return {**document_of(chained.event), "org_id": chained.event.org_id, **_place(chained)}


def _place(chained: ChainedEvent) -> Document:
    return {"seq": chained.seq, "prev": chained.previous, "hash": chained.hash}


def _chained(document: Document) -> ChainedEvent | int:
    try:
        found = ChainedEvent(
            event=event_of(document),
            seq=document["seq"],
            previous=document["prev"],
            hash=document["hash"],
        )
        found.line()
    except (KeyError, TypeError, ValueError, AttributeError):  # the document was changed by hand
        return int(document["seq"])
    return found
