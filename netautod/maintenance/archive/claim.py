"""The claim of the one restore that may be at work on a database: a lease on its mark.

It is renewed while the process works, and may be taken over once it has run out and the process is gone: the
connections of one that was only stopped are still open, and what it had begun to send would arrive later. One
that was cut off from the database finds out before its next write that it was taken over.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from netautod.core.clock import SystemClock
from netautod.core.errors import Conflict, Unavailable
from netautod.core.work.deadlines import AWAY, BULK_SECONDS
from netautod.core.work.guard import LeaseLostError
from netautod.store.client import Collection, Database
from netautod.store.connection import APP_NAME
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import NEVER, Lease, LeaseTimes
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import COLLECTION, MARK_ID, UnfinishedRestore

_RUN_OUT: Final = {"$expr": {"$lt": ["$lease_until", "$$NOW"]}}
_LOST = (
    "Another restore has taken this database over, while this one was stopped or did not reach the database: "
    "this one has ended"
)


@dataclass(kw_only=True, eq=False)
class RestoreClaim:
    """A claim made by `claimed`. `mark` is as it was then. Everything raises LeaseLostError once it is
    another's.
    """

    mark: UnfinishedRestore
    lease: Lease
    marks: Collection
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    async def progress(self, frames: int) -> None:
        """Record the progress, acknowledged by the journal, and so is everything that was written before."""
        await self._set({"phase": "loading", "frames": frames})

    async def loaded(self) -> None:
        await self._set({"phase": "loaded"})

    async def confirm(self) -> None:
        """Let the database confirm that the claim is ours."""
        await self._set({"owner": self.lease.row["owner"]})

    async def end(self) -> None:
        """End the claim: the restore is finished, or was none; nothing keeps a service from starting any
        more.
        """
        self._require(await self.marks.delete(self.lease.fence))

    def guard(self) -> None:
        """Guard a write of a thread: what the database has confirmed lately is ours without a call."""
        while self.lease.lost or self.lease.expired(self.lease.clock.monotonic()):
            asyncio.run_coroutine_threadsafe(self._known(), self._loop).result()

    async def _known(self) -> None:
        try:
            async with asyncio.timeout(BULK_SECONDS):
                await self.lease.known()
        except TimeoutError as error:
            raise Unavailable(AWAY) from error

    async def _set(self, values: Mapping[str, Any]) -> None:
        self._require(await self.marks.update(self.lease.fence, {"$set": values}))

    def _require(self, ours: bool) -> None:
        if not ours:
            raise LeaseLostError(_LOST)


def app_name(owner: str) -> str:
    """Return the name of the connections of the restore that claims as `owner`."""
    return f"{APP_NAME} restore {owner}"


@asynccontextmanager
async def claimed(database: Database, owner: str, times: LeaseTimes) -> AsyncIterator[RestoreClaim]:
    """Hold the claim for the block; the database is marked. Waits for the claim of a dead restore to run out.

    Raises Conflict while another restore is at work, ArchiveError where another has taken it over meanwhile.
    """
    marks = database.collection(COLLECTION)
    keeper = LeaseKeeper(collection=marks, node_id=owner, clock=SystemClock(), times=times)
    async with keeper:
        lease = await _taken(database, marks, keeper)
        try:
            yield RestoreClaim(mark=UnfinishedRestore.of(lease.row), lease=lease, marks=marks)
        except LeaseLostError as error:
            raise ArchiveError(_LOST) from error
        finally:
            keeper.release(lease)
            with suppress(Unavailable):  # then it runs out by itself
                await marks.update(lease.fence, {"$set": {"lease_until": NEVER}})


async def _taken(database: Database, marks: Collection, keeper: LeaseKeeper) -> Lease:
    by = f"process {os.getpid()} on {socket.gethostname()}"
    while True:
        row = await marks.find_one({"_id": MARK_ID})
        if row is None:
            raise ArchiveError("Another restore into this database has ended just now")
        if row["lease_until"] != NEVER and await database.has_connections(app_name(row["owner"])):
            raise Conflict(
                f"Another restore is at work in this database, or was stopped ({row['by']}): wait until it "
                "has ended, let it go on, or end it"
            )
        held = await keeper.claim(MARK_ID, row["epoch"], _RUN_OUT, {"by": {"$literal": by}})
        if held is not None:
            return held
        await asyncio.sleep(keeper.times.heartbeat / 10)
