"""Looks for devices to poll, and has them polled: first those that users requested, then those that are due.

On all nodes together a device is polled once at a time: by the lease `poll:<id>`, which is held from before
the poll is marked as running until it has ended, and by an index that knows one running poll of a device. A
poll that is marked so and whose lease is free belongs to a node that died or stopped: it is taken up once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, Unavailable
from netautod.core.loop.repeating import Repeating
from netautod.core.metrics import Metrics
from netautod.core.work.guard import LeaseLostError
from netautod.core.work.pauses import Pauses
from netautod.network.devices.polls.models import DueDevice
from netautod.network.devices.polls.store import DuePolls
from netautod.network.discovery.polling.active_polls import Places
from netautod.network.discovery.polling.models import QUEUED, SCHEDULE, Poll
from netautod.network.discovery.polling.poll_run import Visiting
from netautod.network.discovery.polling.schedule import interval_of, next_due
from netautod.network.discovery.polling.store import PollStore
from netautod.store.leases.lease import Lease
from netautod.store.leases.named import NamedLeases

logger = logging.getLogger(__name__)
DRAIN_SECONDS = 5.0
UNTIMED = 500  # devices that are given their first time in one round trip
MOST_RUNNING = 1000
MOST_ATTEMPTS = 2
LOST_TWICE = "the node that polled the device was lost, and so was the one that took the poll up"
Begin = Callable[[], Awaitable[Poll | None]]


def lease_name(device_id: str) -> str:
    """Return the name of the lease that a poll of the device holds."""
    return f"poll:{device_id}"


@dataclass(kw_only=True, eq=False)
class Poller:
    """A poller: within `async with` it looks every `scan_seconds`, and at once after `kick`; `drain` ends it
    gently.

    `lost_seconds`: between two looks for polls of lost nodes.
    """

    polls: PollStore
    due: DuePolls
    visiting: Visiting
    leases: NamedLeases
    pauses: Pauses
    clock: Clock
    metrics: Metrics
    concurrency: int
    scan_seconds: float
    lost_seconds: float = 10.0

    def __post_init__(self) -> None:
        self._places = Places(self.concurrency, metrics=self.metrics)
        self._draining = False
        self._looking = Repeating(
            self.look, name="the look for due polls", seconds=self.scan_seconds, at_once=True
        )
        self._taking_up = Repeating(
            self.take_up, name="the look for lost polls", seconds=self.lost_seconds, at_once=True
        )

    async def __aenter__(self) -> "Poller":
        self._looking.start()
        self._taking_up.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._draining = True
        await asyncio.gather(self._looking.stop(), self._taking_up.stop())
        await self._places.clear()

    async def drain(self, seconds: float) -> None:
        """Start nothing more, and wait a moment for what runs: other nodes take up what has not
        ended then.
        """
        self._draining = True
        await self._places.idle(min(seconds, DRAIN_SECONDS))

    def kick(self) -> None:
        """Wake the poller, since a poll waits."""
        self._looking.kick()

    async def idle(self) -> None:
        """Wait until nothing runs here."""
        while self._places.taken:
            await asyncio.wait(list(self._places.taken.values()))

    async def look(self) -> None:
        """Start the polls that there is a place for."""
        if self._draining or self._places.free <= 0:
            return
        self.polls.require_room()  # else each device would fail by itself
        paused = self.pauses.paused()
        # What runs here may be among them: without more than there are places, they could hide the others.
        most = self._places.free + len(self._places.taken)
        for poll in await self.polls.queued(without=paused, limit=most):
            self._begin(poll.device_id, self._start_requested(poll))
        now = self.clock.now()
        untimed = await self.due.untimed(without=paused, limit=UNTIMED)
        await self.due.move_many([(seen, _first(seen, now)) for seen in untimed])
        if self._places.free > 0:
            for seen in await self.due.due(now, without=paused, limit=most):
                self._begin(seen.id, self._due(seen))

    async def take_up(self) -> None:
        """Start again what lost nodes have left."""
        if self._draining or self._places.free <= 0:
            return
        paused = self.pauses.paused()
        for poll in await self.polls.running(limit=MOST_RUNNING):
            if poll.org_id not in paused:
                self._begin(poll.device_id, self._left_behind(poll))

    def _begin(self, device_id: str, begin: Begin) -> None:
        if not self._draining and self._places.free > 0 and device_id not in self._places.taken:
            self._places.begin(device_id, self._poll(device_id, begin))

    async def _poll(self, device_id: str, begin: Begin) -> None:
        try:
            held = await self.leases.acquire(lease_name(device_id))
            if held is None:
                return
            try:
                poll = await begin()
                if poll is not None:
                    await self._run(poll, held)
                    self.kick()  # its place is free; one that could not begin waits for the next look
            finally:
                await self.leases.release(held)
        except LeaseLostError:
            logger.warning("the poll of %s belongs to another node now", device_id)
        except Unavailable as error:
            logger.warning("the poll of %s waits to be taken over: %s", device_id, error)
        except Exception:
            logger.exception("the poll of %s failed", device_id)

    async def _run(self, poll: Poll, held: Lease) -> None:
        self.metrics.add("polls_started")
        lost = asyncio.timeout(None)
        try:
            async with lost:
                held.on_lost = lambda: lost.reschedule(asyncio.get_running_loop().time())
                await self.visiting.run(poll, held)
        except TimeoutError as error:
            if not lost.expired():
                raise
            raise LeaseLostError("the lease of the poll was lost") from error
        except asyncio.CancelledError:
            with suppress(Unavailable):
                await self.polls.give_back(poll)
            raise

    def _start_requested(self, poll: Poll) -> Begin:
        async def begin() -> Poll | None:
            with suppress(Duplicate):  # one that a lost node has left: it is taken up first
                return await self.polls.begin(poll, at=self.clock.now())
            return None

        return begin

    def _due(self, seen: DueDevice) -> Begin:
        async def begin() -> Poll | None:
            now = self.clock.now()
            poll = Poll(
                id=str(uuid4()),
                org_id=seen.org_id,
                device_id=seen.id,
                state=QUEUED,
                triggered_by=SCHEDULE,
                queued_at=now,
            )
            started: Poll | None = None
            with suppress(Duplicate):
                started = await self.polls.insert_running(poll, at=now)
            # If we die here, the poll is taken up; the device is still due, and has its time from its end.
            next_at = next_due(seen.id, interval_of(seen.interval_minutes), after=now)
            moved = await self.due.move(seen, next_at, failures=seen.failures)
            if started is not None and not moved:  # polled by another node just now, edited, or deleted
                await self.polls.discard(started)
                return None
            return started

        return begin

    def _left_behind(self, poll: Poll) -> Begin:
        async def begin() -> Poll | None:
            if poll.attempt >= MOST_ATTEMPTS:
                await self.visiting.give_up(poll, LOST_TWICE)
                return None
            started = await self.polls.begin(poll, at=self.clock.now())
            if started is not None:
                self.metrics.add("polls_taken_over")
                logger.warning("the poll of %s is begun again: its node was lost", poll.device_id)
            return started

        return begin


def _first(seen: DueDevice, now: datetime) -> datetime:
    return next_due(seen.id, interval_of(seen.interval_minutes), after=now)
