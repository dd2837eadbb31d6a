"""The clock step: the number of times that the database's clock was set back, in the collection `clock`.

A time of day that the clock shows a second time belongs to the next number, which keeps it apart from what
happened the first time. The number is raised by compare-and-set from the one under which a node saw
the clock last: however many nodes notice it, it grows by one.

The one document: `{_id, number, aligned, others_aligned, latest}`. `aligned` is the number for which tasks
and executions that wait for a time have been put in order, and `others_aligned` that for all else, missing
before the first step; a node that dies before is followed by one that does it again. `latest` is about the
latest time that the clock has shown under this number: by it nodes notice what happened while none ran.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from netautod.core.errors import Duplicate
from netautod.store.client import Database, Document
from netautod.store.clock.readings import NO_JUMP
from netautod.store.clock.server_clock import ServerClock

logger = logging.getLogger(__name__)
COLLECTION: Final = "clock"
_ID: Final = "steps"
_KEPT_EVERY: Final = timedelta(seconds=10)  # how old `latest` may get


@dataclass(frozen=True, kw_only=True)
class ClockStep:
    """The number that counts now.

    `aligned`: no task or execution waits any more for a time of the clock before; `others_aligned`: nor does
    anything else.
    """

    number: int
    aligned: bool
    others_aligned: bool


class ClockSteps:
    """The steps of the database's clock as this node sees them."""

    def __init__(self, database: Database, clock: ServerClock) -> None:
        self._rows = database.collection(COLLECTION)
        self._clock = clock
        self._seen: int | None = None
        self._set_back = clock.times_set_back
        # The number under which the clock was seen to be set back, until a higher one stands in the database.
        self._overtaken: int | None = None

    async def look(self) -> ClockStep:
        """Look at the clock and the number, and raise the number if the clock was set back."""
        row = await self._read()
        if self._overtaken is not None and row["number"] <= self._overtaken:
            await self._raise(self._overtaken)
            row = await self._read()
        self._overtaken, self._seen = None, row["number"]
        if row["now"] - row["latest"] > _KEPT_EVERY:
            await self._keep(row)
        return ClockStep(
            number=row["number"],
            aligned=row["aligned"] >= row["number"],
            others_aligned=row.get("others_aligned", row["aligned"]) >= row["number"],
        )

    async def number(self) -> int:
        """Return the number as it is now."""
        row = await self._rows.find_one({"_id": _ID}, fields={"number": 1})
        return 0 if row is None else int(row["number"])

    async def settled(self, seconds: float) -> bool:
        """Return whether the clock has not jumped for so long, as a look at it says now."""
        return await self._clock.settled(seconds)

    async def aligned(self, number: int) -> None:
        """Record that tasks and executions are in order for this number, unless it was raised again."""
        await self._rows.update({"_id": _ID, "number": number}, {"$set": {"aligned": number}})

    async def others_aligned(self, number: int) -> None:
        """Record that all else that waits for a time is in order, as `aligned` does."""
        await self._rows.update({"_id": _ID, "number": number}, {"$set": {"others_aligned": number}})

    async def _read(self) -> Document:
        fields = {"number": 1, "aligned": 1, "others_aligned": 1, "latest": 1, "now": "$$NOW"}
        look = self._clock.begin_look()
        row = await self._rows.find_one({"_id": _ID}, fields=fields)
        if row is None:
            await self._create()
            return await self._read()
        self._clock.observe(row["now"], look)
        noticed, self._set_back = self._clock.times_set_back - self._set_back, self._clock.times_set_back
        if row["latest"] - row["now"] > NO_JUMP:
            self._overtaken = row["number"]
        elif noticed:
            self._overtaken = row["number"] if self._seen is None else self._seen
        return row

    async def _create(self) -> None:
        change = {"number": {"$ifNull": ["$number", 0]}, "aligned": {"$ifNull": ["$aligned", 0]}}
        latest = {"latest": {"$ifNull": ["$latest", "$$NOW"]}}
        try:
            await self._rows.update({"_id": _ID}, [{"$set": {**change, **latest}}], upsert=True)
        except Duplicate:
            return  # another node was faster

    async def _raise(self, number: int) -> None:
        others = {"$ifNull": ["$others_aligned", "$aligned"]}
        change = {"number": number + 1, "latest": "$$NOW", "others_aligned": others}
        if await self._rows.update({"_id": _ID, "number": number}, [{"$set": change}]):
            logger.warning(
                "the database's clock was set back: schedules go on by its new time, as step %d", number + 1
            )

    async def _keep(self, row: Document) -> None:
        """Keep the time: by the first node that finds the last one old. It may get lost."""
        same = {"_id": _ID, "number": row["number"], "latest": row["latest"]}
        await self._rows.unacknowledged_by_others().update(same, {"$set": {"latest": row["now"]}})
