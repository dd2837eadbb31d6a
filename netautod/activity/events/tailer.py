"""Follows the records of one database and hands on what is new: one tailer for all listeners of a node.

Where the database has change streams it gets each change; else it looks every second. Both lead to the same
result: a document of which something is new is derived anew (feed.py), and those of its events that are not
known yet are handed on. So it does not matter that a look overlaps the one before (clocks differ, and a write
becomes visible later than the moment in it), nor that the state of a document is newer than the change.

Writers know nothing of it and pay nothing for it.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import Context
from datetime import datetime, timedelta
from typing import Any

from netautod.activity.events.feed import Feed
from netautod.activity.events.models import RESUMABLE, Event, Position
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.logs.folding import Failing
from netautod.store.client import Database, Document
from netautod.store.driver.changes import Changes, HistoryLost, NoChangeStreams

logger = logging.getLogger(__name__)
OVERLAP = timedelta(seconds=5)
WAIT_SECONDS, LOOK_SECONDS, PAUSE_SECONDS = 0.5, 1.0, 0.25
SET_BACK = timedelta(seconds=5)
PRUNED_EVERY = timedelta(seconds=2)


class Tailer:
    """A follower of records that runs from `start` to `stop`.

    `found` gets new events, `orgs` returns the organizations to follow; `lost` is called when events may be
    missing for good. `streams` False: it looks every second and uses no change streams.
    """

    def __init__(
        self,
        *,
        database: Database,
        feeds: Sequence[Feed],
        clock: Clock,
        streams: bool,
        orgs: Callable[[], Collection[OrgId]],
        found: Callable[[Sequence[Event]], None],
        lost: Callable[[], None],
    ) -> None:
        self._database = database
        self._feeds = {feed.collection: feed for feed in feeds}
        self._clock = clock
        self._streams = streams
        self._orgs = orgs
        self._found = found
        self._lost = lost
        self._failing = Failing(logger, "following events failed")
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._ready = asyncio.Event()
        self._token: Any = None
        self._place: datetime | None = None
        self._seen: set[Position] = set()
        self._pruned: datetime | None = None

    @property
    def place(self) -> datetime | None:
        """Return the moment up to which everything visible has been handed on; None before the first look."""
        return self._place

    async def start(self) -> None:
        """Start following; returns when it follows, at once if it does already."""
        if self._task is None or self._task.done():
            self._stopping = False
            self._ready.clear()
            self._token = self._place = self._pruned = None
            self._seen.clear()
            # Not in the context of the first request: the loop serves all.
            self._task = asyncio.create_task(self._run(), name="the events", context=Context())
        await self._ready.wait()

    async def stop(self) -> None:
        """Stop after the call to the database that is under way."""
        self._stopping = True
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        while not self._stopping:
            try:
                await (self._follow() if self._streams else self._look_on())
            except HistoryLost as error:
                logger.warning("%s: the events since then are read from the records", error)
                self._token = None
            except NoChangeStreams as error:
                logger.info("%s: the records are read every second instead", error)
                self._streams = False
            except Unavailable as error:
                self._failing.failed(error)
                await asyncio.sleep(PAUSE_SECONDS)
            except Exception:  # listeners wait for it, whatever went wrong
                logger.exception("following events failed", extra=self._failing.again())
                await asyncio.sleep(LOOK_SECONDS)

    async def _follow(self) -> None:
        """Follow by a change stream."""
        changes = await self._database.changes(stages_of(self._feeds.values()), after=self._token)
        try:
            if self._token is None:
                await self._catch_up()
            while not self._stopping:
                await self._take(changes)
        finally:
            await changes.close()

    async def _take(self, changes: Changes) -> None:
        looked_at = self._clock.now()
        changed = await changes.next(WAIT_SECONDS)
        self._failing.over()
        orgs = self._orgs()
        for change in changed:
            document = change.get("fullDocument")
            if document is not None and document["org_id"] in orgs:
                self._report(self._feeds[change["ns"]["coll"]], [document])
        self._token = changes.token
        # All changes up to the last one have been read; if none came, those up to the beginning of the read.
        self._advance(changed[-1]["clusterTime"].as_datetime() if changed else looked_at)

    async def _look_on(self) -> None:
        """Follow without change streams, by looking every second."""
        while not self._stopping:
            await self._catch_up()
            self._failing.over()
            await asyncio.sleep(LOOK_SECONDS)

    async def _catch_up(self) -> None:
        """Read what happened since the place up to which all is known; at first only find that place."""
        looked_at = self._clock.now()
        if self._place is not None:
            if looked_at - self._place > RESUMABLE:
                self._lost()
                self._place = looked_at - RESUMABLE
            since, orgs = self._place - OVERLAP, self._orgs()
            for feed in self._feeds.values():
                async for document in feed.since(since, orgs):
                    self._report(feed, [document])
        self._advance(looked_at)
        self._ready.set()

    def _report(self, feed: Feed, documents: Iterable[Document]) -> None:
        floor = (self._place or self._clock.now()) - OVERLAP
        new = []
        for document in documents:
            for event in feed.derive(document):
                position = event.position
                if event.at >= floor and position not in self._seen:
                    self._seen.add(position)
                    new.append(event)
        if new:
            self._found(new)

    def _advance(self, place: datetime) -> None:
        now = self._clock.now()
        if self._place is not None and self._place - now > SET_BACK:
            # The database's clock was set back: what happens from now on would be taken for old.
            self._place = self._pruned = None
        place = min(place, now)  # the time of the change stream goes on meanwhile from where it was
        self._place = max(place, self._place or place)
        if self._pruned is None or self._place - self._pruned >= PRUNED_EVERY:
            self._pruned = self._place
            oldest = Position.before(self._place - OVERLAP)
            self._seen = {position for position in self._seen if position >= oldest}


def stages_of(feeds: Iterable[Feed]) -> Sequence[Mapping[str, Any]]:
    """Return the stages of a change stream that lets through only events, without large fields."""
    wanted: list[Mapping[str, Any]] = []
    hidden: dict[str, int] = {"updateDescription": 0, "documentKey": 0}
    for feed in feeds:
        kinds: list[Mapping[str, Any]] = [{"operationType": "insert"}]
        if feed.watched is not None:
            changed = {f"updateDescription.updatedFields.{feed.watched}": {"$exists": True}}
            # The server reports a change that is longer than the document as a replacement.
            kinds += [{"operationType": "update", **changed}, {"operationType": "replace"}]
        wanted.append({"ns.coll": feed.collection, "$or": kinds})
        hidden |= {f"fullDocument.{name}": 0 for name in feed.unneeded}
    return [{"$match": {"$or": wanted}}, {"$project": hidden}]
