"""Polls as documents: the queue, those that run, and the history of each device, which is bounded.

`open` is true of polls that wait or run. A device has one of each at most, by a unique index: a request
for a device whose poll waits already gets that poll. `attempt` is the fence of one that runs: a node that
was given up for lost finds that it has grown.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.polling.models import QUEUED, RUNNING, Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "polls"
OPEN = {"open": True}
HISTORY = (("org_id", 1), ("device_id", 1), ("queued_at", -1), ("_id", -1))
NEWEST_FIRST = (("queued_at", -1), ("_id", -1))
INDEXES = (
    Index(collection=COLLECTION, keys=(("device_id", 1), ("state", 1)), unique=True, partial=OPEN),
    Index(collection=COLLECTION, keys=(("state", 1), ("queued_at", 1)), partial=OPEN),
    Index(collection=COLLECTION, keys=HISTORY),
    Index(collection=COLLECTION, keys=(("completed_at", 1),), partial={"completed_at": {"$type": "date"}}),
)
PLAIN = (
    *("org_id", "device_id", "state", "triggered_by", "queued_at", "method", "error", "started_at"),
    *("completed_at", "duration_ms", "detect", "requested_by", "attempt"),
)


class PollStore:
    """A store of polls. `keep`: polls in the history of one device."""

    def __init__(self, database: Database, *, keep: int) -> None:
        self._all = database.collection(COLLECTION)
        self._polls = scoped(database, COLLECTION)
        self._keep = keep

    def require_room(self) -> None:
        """Raise DiskFull where a poll could not be started."""
        self._all.require_room()

    async def queue(self, poll: Poll) -> Poll:
        """Return the poll that waits then: this one, or an earlier one, which detects, too, if this
        one does.
        """
        while True:
            try:
                await self._polls.insert(poll.org_id, _document(poll))
            except Duplicate:
                waiting = {"device_id": poll.device_id, "state": QUEUED, **OPEN}
                change = {"$set": {"detect": True}} if poll.detect else {"$set": {"state": QUEUED}}
                found = await self._polls.find_and_update(poll.org_id, waiting, change)
                if found is None:
                    continue  # it was begun at this moment
                return to_poll(found)
            return poll

    async def waiting(self) -> int:
        """Count the waiting polls of all organizations."""
        return await self._all.count({"state": QUEUED, **OPEN})

    async def waiting_of(self, org_id: OrgId) -> int:
        return await self._polls.count(org_id, {"state": QUEUED, **OPEN})

    async def queued(self, *, without: Collection[OrgId], limit: int) -> list[Poll]:
        """Return waiting polls of all organizations but some, the oldest first."""
        wanted: Document = {"state": QUEUED, **OPEN}
        if without:
            wanted["org_id"] = {"$nin": sorted(without)}
        found = await self._all.find(wanted, sort=[("queued_at", 1)], limit=limit)
        return [to_poll(document) for document in found]

    async def running(self, *, limit: int) -> list[Poll]:
        """Return running polls on all nodes, the oldest first."""
        found = await self._all.find({"state": RUNNING, **OPEN}, sort=[("queued_at", 1)], limit=limit)
        return [to_poll(document) for document in found]

    async def insert_running(self, poll: Poll, *, at: datetime) -> Poll:
        """Insert a running poll. Raises Duplicate if a poll of the device runs."""
        started = replace(poll, state=RUNNING, started_at=at, attempt=poll.attempt + 1)
        await self._polls.insert(poll.org_id, _document(started))
        return started

    async def begin(self, poll: Poll, *, at: datetime) -> Poll | None:
        """Start a poll that was read before, queued or left by a lost node; return None if it has changed
        since.

        Raises Duplicate if another poll of the device runs.
        """
        started = {"state": RUNNING, "started_at": at, "attempt": poll.attempt + 1}
        found = await self._polls.find_and_update(poll.org_id, _as_seen(poll), {"$set": started})
        return None if found is None else to_poll(found)

    async def give_back(self, poll: Poll) -> None:
        """Take the attempt back of a poll that was interrupted through no fault of its own."""
        await self._polls.update(poll.org_id, _as_seen(poll), {"$inc": {"attempt": -1}})

    async def discard_open(self) -> int:
        """Delete the waiting and running polls of all organizations, while no node lives; return how many."""
        return await self._all.delete_many(OPEN)

    async def discard(self, poll: Poll) -> None:
        """Delete a poll that was not to be started."""
        await self._polls.delete(poll.org_id, _as_seen(poll))

    async def end(self, poll: Poll, outcome: Outcome, *, at: datetime) -> bool:
        """End a poll; return false if it is another node's by now, or forgotten with its device."""
        started = poll.started_at or at
        ended = {
            "state": outcome.state,
            "method": outcome.method,
            "sources": dict(outcome.sources),
            "error": outcome.error,
            "counts": dict(outcome.counts),
            "completed_at": at,
            "duration_ms": max(0, (at - started) // timedelta(milliseconds=1)),
        }
        return await self._polls.update(poll.org_id, _as_seen(poll), {"$set": ended, "$unset": {"open": ""}})

    async def trim(self, org_id: OrgId, device_id: str) -> None:
        """Delete the polls beyond those that the history keeps."""
        of_device = {"device_id": device_id}
        first_too_many = await self._polls.find(
            org_id, of_device, fields={"queued_at": 1}, sort=NEWEST_FIRST, offset=self._keep, limit=1
        )
        for found in first_too_many:
            old = {**of_device, "queued_at": {"$lte": found["queued_at"]}, "open": {"$ne": True}}
            await self._polls.delete_many(org_id, old)

    async def page(self, org_id: OrgId, device_id: str, *, limit: int, offset: int = 0) -> list[Poll]:
        """Return one page of polls, newest first."""
        where = {"device_id": device_id}
        found = await self._polls.find(org_id, where, sort=NEWEST_FIRST, limit=limit, offset=offset)
        return [to_poll(document) for document in found]

    async def total(self, org_id: OrgId, device_id: str) -> int:
        return await self._polls.count(org_id, {"device_id": device_id})

    async def forget_device(self, org_id: OrgId, device_id: str) -> None:
        await self._polls.delete_many(org_id, {"device_id": device_id})


def _as_seen(poll: Poll) -> Document:
    return {"_id": poll.id, "state": poll.state, "attempt": poll.attempt, **OPEN}


def _document(poll: Poll) -> Document:
    document: dict[str, Any] = {name: getattr(poll, name) for name in PLAIN}
    return {"_id": poll.id, **document, "sources": dict(poll.sources), "counts": dict(poll.counts), **OPEN}


def to_poll(document: Document) -> Poll:
    return Poll(
        id=document["_id"],
        sources=document["sources"],
        counts=document["counts"],
        **{name: document[name] for name in PLAIN},
    )
