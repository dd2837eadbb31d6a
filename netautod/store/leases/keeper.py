"""Keeps the leases that this node holds on rows of one collection: claim, heartbeat, loss.

A leased row carries `owner` (node id), `epoch` (grows with every claim) and `lease_until`. All times
are the server's (`$$NOW`), so the clocks of the nodes do not matter; a node's own judgement of "may I still
act" uses its monotonic clock only.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Unavailable, UnknownOutcome
from netautod.core.logs.folding import Failing
from netautod.store.client import Collection, Document, Filter
from netautod.store.leases.lease import NEVER, Lease, LeaseTimes
from netautod.store.leases.unreleased import UnreleasedClaims

logger = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False)
class LeaseKeeper:
    """A keeper of leases: it claims rows for `node_id` and renews all that it holds in one round trip per
    heartbeat.

    `settled` returns whether the database's clock has not jumped for the length of a lease: after a jump
    forward the leases of living nodes look as if they had run out, until their next heartbeat. None: nobody
    follows that clock.
    """

    collection: Collection
    node_id: str
    clock: Clock
    times: LeaseTimes
    settled: Callable[[], Awaitable[bool]] | None = None
    _held: dict[str, Lease] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _hurry: asyncio.Event = field(default_factory=asyncio.Event)
    failed_at: float | None = None

    def __post_init__(self) -> None:
        self._unreleased = UnreleasedClaims(
            collection=self.collection, monotonic=self.clock.monotonic, seconds=self.times.lease
        )

    async def __aenter__(self) -> "LeaseKeeper":
        self._tasks = [asyncio.create_task(self._beat()), asyncio.create_task(self._watch())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def holds(self, row_id: str, epoch: int) -> bool:
        """Return whether this node holds that claim; without heartbeats, too, its end is still to be
        written."""
        held = self._held.get(row_id)
        return held is not None and held.epoch == epoch

    async def claim(self, row_id: str, epoch: int, where: Filter, change: Mapping[str, Any]) -> Lease | None:
        """Claim a row by compare-and-set on its id, `epoch` and `where`; `change` is merged into the
        pipeline's `$set`.

        Returns None if another node was faster. Raises Duplicate where a unique index forbids the claim. A
        claim that was sent and not acknowledged is looked up until the database answers.
        """
        sent_at, token = self.clock.monotonic(), uuid4().hex
        taking = {**change, **self._taking(), "claim": {"$literal": token}}
        try:
            row = await self.collection.find_and_update(
                {"_id": row_id, "epoch": epoch, **where}, [{"$set": taking}]
            )
        except UnknownOutcome as error:
            logger.warning("it is not known yet whether %s is claimed: %s", row_id, error)
            row = await self._settled(row_id, epoch, token)
        return None if row is None else self._hold(row, sent_at)

    async def _settled(self, row_id: str, epoch: int, token: str) -> Document | None:
        """Return the row if that claim has taken it and no other claim since.

        If it has not, it never will: a server that hung may get to it at any time, when no one waits for it.
        """
        while True:
            with suppress(Unavailable):
                row = await self.collection.find_one({"_id": row_id})
                if row is None or row["epoch"] != epoch:
                    ours = row is not None and (row.get("claim"), row["owner"]) == (token, self.node_id)
                    return row if ours else None
                if await self.collection.update({"_id": row_id, "epoch": epoch}, {"$inc": {"epoch": 1}}):
                    return None
                continue  # it came, or another's did
            await asyncio.sleep(self.times.heartbeat / 10)

    async def claim_free(self, row_id: str) -> Lease | None:
        """Claim a row that does not exist, in one round trip, or whose lease ran out; return None if it is
        held.

        A claim of unknown outcome is not waited for: it is given back.
        """
        # The token tells whether it was this call that took the row (the holder may be this very node).
        sent_at, token = self.clock.monotonic(), uuid4().hex
        row = await self._take_free(row_id, token, expired=self.settled is None)
        if not _is_claim(row, token) and await self._has_ended(row):
            sent_at = self.clock.monotonic()
            row = await self._take_free(row_id, token, expired=True)
        return self._hold(row, sent_at) if row is not None and row["claim"] == token else None

    async def _has_ended(self, row: Document | None) -> bool:
        """Return whether the lease of another claim has run out, and not by a clock that was set forward."""
        if self.settled is None or row is None:
            return False
        return bool(row["lease_until"] < self.clock.now()) and await self.settled()

    async def _take_free(self, row_id: str, token: str, *, expired: bool) -> Document | None:
        """Return the row after a claim, which takes it if it is new, or if its lease ran out and `expired`
        is true.
        """
        # An upsert may not filter with $expr, so the condition stands in the update.
        until = {"$ifNull": ["$lease_until", {"$literal": NEVER}]}
        free = {"$lt": [until, "$$NOW"]} if expired else {"$eq": [until, {"$literal": NEVER}]}
        taking = {**self._taking(), "claim": {"$literal": token}}
        change = {key: {"$cond": [free, value, f"${key}"]} for key, value in taking.items()}
        try:
            return await self.collection.find_and_update({"_id": row_id}, [{"$set": change}], upsert=True)
        except (UnknownOutcome, asyncio.CancelledError):
            self._give_back(row_id, token)
            raise

    def _taking(self) -> Document:
        return {
            "owner": {"$literal": self.node_id},
            "epoch": {"$add": [{"$ifNull": ["$epoch", 0]}, 1]},
            "lease_until": self._lease_end(),
        }

    def _hold(self, row: Document, sent_at: float) -> Lease:
        held = Lease(
            row_id=row["_id"],
            epoch=row["epoch"],
            row=row,
            clock=self.clock,
            times=self.times,
            acknowledged_at=sent_at,
            hurry=self._hurry.set,
        )
        if held.row_id in self._held:
            # Our earlier lease was taken away and given up before a heartbeat noticed: no later one would.
            self._held[held.row_id].lose()
        self._held[held.row_id] = held
        return held

    def release(self, held: Lease) -> None:
        """Stop renewing; the caller has written the row's end, or lets the lease run out."""
        if self._held.get(held.row_id) is held:
            del self._held[held.row_id]

    def discard(self, held: Lease) -> None:
        """Give back a row that exists only while it is held, as soon as the database answers."""
        self.release(held)
        self._give_back(held.row_id, held.row["claim"])

    def _give_back(self, row_id: str, token: str) -> None:
        self._unreleased.note(row_id, token)
        self._hurry.set()

    async def want(self, row_id: str) -> None:
        """Notify the holder that the row is wanted: one of this node at once, another with its next
        heartbeat.
        """
        held = self._held.get(row_id)
        if held is not None:
            held.on_wanted()
        else:
            await self.collection.update({"_id": row_id}, [{"$set": {"wanted": "$epoch"}}])

    async def align(self, where: Filter = MappingProxyType({})) -> None:
        """Shorten the leases that last longer than a new one: the database's clock was set back.

        Those of living nodes are renewed as ever, and those of dead ones run out in time.
        """
        too_late = {"$gt": ["$lease_until", self._lease_end()]}
        change = [{"$set": {"lease_until": self._lease_end()}}]
        await self.collection.update_many({**where, "$expr": too_late}, change)

    async def delete(self, fences: Sequence[Filter]) -> None:
        """Delete rows that are still held, each by its fence, in one round trip."""
        await self.collection.delete_batch(fences)

    async def _beat(self) -> None:
        pause: float | None = None
        failing = Failing(logger, f"the heartbeat of {self.collection.name} failed")
        while True:
            await self._next_beat(pause)
            pause = None
            try:
                async with asyncio.timeout(self.times.heartbeat):
                    await self.renew()
                    await self._unreleased.give_back()
                failing.over()
            except (Unavailable, TimeoutError) as error:
                self.failed_at = self.clock.monotonic()
                # Soon again: with the next regular one the leases would be as old as `abandon`.
                pause = self.times.heartbeat / 10
                failing.failed(repr(error))
            except Exception:  # without heartbeats this node would lose every lease from now on
                self.failed_at = self.clock.monotonic()
                logger.exception("heartbeat of %s failed", self.collection.name, extra=failing.again())

    async def _next_beat(self, pause: float | None) -> None:
        """Wait for the next regular heartbeat, or an urgent one; after a failure, for `pause`."""
        if pause is not None:
            await asyncio.sleep(pause)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.times.heartbeat):
                await self._hurry.wait()

    async def _watch(self) -> None:
        """Give up expired leases, apart from the heartbeat, so that a database that hangs cannot delay it."""
        while True:
            await asyncio.sleep(self.times.abandon / 20)
            now = self.clock.monotonic()
            for held in list(self._held.values()):
                if held.expired(now):
                    held.stop()

    async def renew(self) -> None:
        """Send one heartbeat: renew what is still ours and notify the holders of what is not."""
        self._hurry.clear()
        if not self._held:
            return
        held = dict(self._held)
        sent_at = self.clock.monotonic()
        ids = list(held)
        await self.collection.update_many(
            {"_id": {"$in": ids}, "owner": self.node_id}, [{"$set": {"lease_until": self._lease_end()}}]
        )
        rows = await self.collection.find(
            {"_id": {"$in": ids}, "owner": self.node_id}, fields={"epoch": 1, "wanted": 1}
        )
        wanted = {row["_id"] for row in rows if row.get("wanted") == row["epoch"]}
        epochs = {row["_id"]: row["epoch"] for row in rows}
        for row_id, lease in held.items():
            if epochs.get(row_id) == lease.epoch:
                lease.confirm(sent_at)
                if row_id in wanted and self._held.get(row_id) is lease:  # not given up meanwhile
                    lease.on_wanted()
            elif self._held.get(row_id) is lease:
                lease.lose()

    def _lease_end(self) -> Document:
        return {"$add": ["$$NOW", int(self.times.lease * 1000)]}


def _is_claim(row: Document | None, token: str) -> bool:
    return row is not None and row["claim"] == token
