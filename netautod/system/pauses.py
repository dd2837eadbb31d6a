"""Which organizations rest: written once, followed by every node.

A node asks once a second and never waits for the database to know it: while the database is away, what was
known last holds. What runs when a pause begins is allowed to finish.
"""

import asyncio
import logging

from netautod.core.errors import Unavailable
from netautod.core.identity import OrgId
from netautod.store.client import Database
from netautod.system.models import Pause

logger = logging.getLogger(__name__)
COLLECTION = "pauses"


class FollowedPauses:
    """`async with` knows the pauses before anything is started, and follows them from then on."""

    def __init__(self, database: Database, *, refresh_seconds: float = 1.0) -> None:
        self._pauses = database.collection(COLLECTION)
        self._refresh_seconds = refresh_seconds
        self._paused: frozenset[OrgId] = frozenset()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "FollowedPauses":
        await self.refresh()
        self._task = asyncio.create_task(self._follow(), name="pauses")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def paused(self) -> frozenset[OrgId]:
        """The organizations for which this node begins no work."""
        return self._paused

    async def get(self, org_id: OrgId) -> Pause | None:
        """As the database has it."""
        found = await self._pauses.find_one({"_id": org_id})
        return None if found is None else Pause(reason=found["reason"], by=found["by"], at=found["at"])

    async def begin(self, org_id: OrgId, pause: Pause) -> None:
        """Begins a pause, or gives one that is on another reason; this node keeps to it at once."""
        values = {"reason": pause.reason, "by": pause.by, "at": pause.at}
        await self._pauses.update({"_id": org_id}, {"$set": values}, upsert=True)
        await self.refresh()

    async def end(self, org_id: OrgId) -> bool:
        """True if it was paused."""
        ended = await self._pauses.delete({"_id": org_id})
        await self.refresh()
        return ended

    async def refresh(self) -> None:
        found = await self._pauses.find({}, fields={"_id": 1})
        self._paused = frozenset(OrgId(document["_id"]) for document in found)

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_seconds)
            try:
                await self.refresh()
            except Unavailable as error:
                logger.debug("the pauses could not be read, the old ones hold: %s", error)
