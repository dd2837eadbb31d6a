"""The feed of polls for listeners: queued, started, ended."""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from netautod.activity.events.models import DEVICES, POLL, Event, key_of
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.network.discovery.polling.models import QUEUED, RUNNING, SCHEDULE, Poll
from netautod.network.discovery.polling.store import COLLECTION, OPEN, to_poll
from netautod.store.client import Database, Document

LAST = 0xFFFE


class PollFeed:
    """A feed as activity/events/feed.py describes it."""

    collection = COLLECTION
    watched = "state"
    unneeded: Sequence[str] = ()

    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)

    def derive(self, document: Document) -> Iterable[Event]:
        poll = to_poll(document)
        queued = replace(
            poll, state=QUEUED, method=None, sources={}, error=None, counts={}, started_at=None,
            completed_at=None, duration_ms=None,
        )  # fmt: skip
        if poll.triggered_by != SCHEDULE:  # one that is due is begun without having been queued
            yield _event(queued, 0, poll.queued_at)
        if poll.started_at is not None:
            running = replace(queued, state=RUNNING, started_at=poll.started_at)
            yield _event(running, max(1, poll.attempt), poll.started_at)
        if poll.completed_at is not None:
            yield _event(poll, LAST, poll.completed_at)

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        where = {
            "org_id": {"$in": list(orgs)},
            "$or": [
                {"state": QUEUED, "queued_at": {"$gte": moment}, **OPEN},
                {"state": RUNNING, **OPEN},
                # The type, or the server does not use the partial index.
                {"completed_at": {"$type": "date", "$gte": moment}},
            ],
        }
        return self._all.stream(where)


def _event(poll: Poll, step: int, at: datetime) -> Event:
    return Event(
        at=at,
        key=key_of(COLLECTION, poll.id, step),
        name=POLL,
        org_id=poll.org_id,
        permission=DEVICES,
        data={**poll.to_json(), "at": to_text(at)},
    )
