"""Events of plugins, which have no record of their own, in the collection `events`. They expire."""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from datetime import datetime, timedelta

from netautod.activity.events.models import RESUMABLE, Event, key_of
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "events"
# The server deletes expired ones once a minute.
KEPT = RESUMABLE + timedelta(minutes=1)
INDEXES = (
    Index(collection=COLLECTION, keys=(("at", 1),), expire_seconds=int(KEPT.total_seconds())),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("at", 1))),
)


class PublishedEvents:
    """A store of published events, and their feed (feed.py)."""

    collection = COLLECTION
    watched = None
    unneeded: Sequence[str] = ()

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)
        self._events = scoped(database, COLLECTION)

    async def insert(self, event_id: str, event: Event) -> None:
        """Insert an event.

        `event_id` is the id of its document, which its key is made of.
        """
        document = {
            "_id": event_id,
            "at": event.at,
            "name": event.name,
            "permission": event.permission,
            "data": dict(event.data),
        }
        await self._events.insert(event.org_id, document)

    def derive(self, document: Document) -> Iterable[Event]:
        yield Event(
            at=document["at"],
            key=key_of(COLLECTION, document["_id"], 0),
            name=document["name"],
            org_id=OrgId(document["org_id"]),
            permission=document["permission"],
            data=document["data"],
        )

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        return self._all.stream({"org_id": {"$in": list(orgs)}, "at": {"$gte": moment}})
