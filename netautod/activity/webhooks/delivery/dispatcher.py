"""Gives each webhook with waiting deliveries to one node: whichever gets its lease.

A receiver that is down holds up its own lane, and no other one. A node that dies keeps its lanes until the
leases run out; then any other node continues them.
"""

import asyncio
import logging
import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Self

from netautod.activity.webhooks.delivery.lane import Lanes
from netautod.activity.webhooks.subscriptions import Subscriptions
from netautod.core.errors import Unavailable
from netautod.core.logs.folding import repeats
from netautod.core.loop.repeating import Repeating
from netautod.core.work.guard import LeaseLostError
from netautod.store.leases.named import NamedLeases

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
# The next look comes after this at the latest: another node may have added deliveries.
LONGEST_WAKE = timedelta(seconds=15)
TAKEN = timedelta(seconds=2)  # pause before the next try for a lease that another node holds
MOST_LANES = 100  # at a time, on one node
STOP_SECONDS = 5.0  # for requests under way at the stop


class Dispatcher:
    """A dispatcher that delivers between `async with`.

    At the end requests under way may still be answered.
    """

    def __init__(self, *, lanes: Lanes, subscriptions: Subscriptions, leases: NamedLeases) -> None:
        self._lanes = lanes
        self._subscriptions = subscriptions
        self._leases = leases
        self._running: dict[str, asyncio.Task[None]] = {}
        # On the monotonic clock: nothing is sent for a webhook before.
        self._wake: dict[str, float] = {}
        self._kicked: set[str] = set()
        self._stopping = False
        self._loop = Repeating(self._look, name="the look for deliveries of webhooks", seconds=LOOK_SECONDS)

    async def __aenter__(self) -> Self:
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping = True
        await self._loop.stop()
        lanes = list(self._running.values())
        if lanes:
            await asyncio.wait(lanes, timeout=STOP_SECONDS)
        for task in lanes:
            task.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)

    def kick(self, webhook_ids: Iterable[str]) -> None:
        """Wake up for these webhooks: something new waits for them."""
        for webhook_id in webhook_ids:
            self._wake.pop(webhook_id, None)
            self._kicked.add(webhook_id)
        self._loop.kick()

    async def _look(self) -> None:
        if not self._subscriptions.any:
            self._wake.clear()
            return
        for webhook_id in await self._lanes.deliveries.webhooks_waited_for():
            if len(self._running) >= MOST_LANES:
                return
            if webhook_id not in self._running and self._is_due(webhook_id):
                name = f"deliveries of webhook {webhook_id}"
                self._running[webhook_id] = asyncio.create_task(self._deliver(webhook_id), name=name)

    def _is_due(self, webhook_id: str) -> bool:
        now, known = self._lanes.clock.now(), self._subscriptions.get(webhook_id)
        if known is not None and not known.enabled:
            return False
        if known is not None and known.resume_at is not None and known.resume_at > now:
            return False
        return self._wake.get(webhook_id, -math.inf) <= self._lanes.clock.monotonic()

    async def _deliver(self, webhook_id: str) -> None:
        self._kicked.discard(webhook_id)
        now = self._lanes.clock.now()
        wake: datetime | None = now + LONGEST_WAKE
        try:
            wake = await self._with_lease(webhook_id)
        except LeaseLostError:
            wake = now + TAKEN
        except Unavailable as error:
            wake = now + TAKEN
            text = "deliveries of webhook %s wait for the database: %s"
            logger.warning(text, webhook_id, error, extra=repeats("deliveries"))
        except Exception:  # one webhook must not keep the others back
            logger.exception("deliveries of webhook %s failed", webhook_id)
        finally:
            del self._running[webhook_id]
            # Deliveries that came while the lane was about to end may be due at once.
            if wake is not None and webhook_id not in self._kicked:
                pause = min(wake - self._lanes.clock.now(), LONGEST_WAKE)
                self._wake[webhook_id] = self._lanes.clock.monotonic() + pause.total_seconds()

    async def _with_lease(self, webhook_id: str) -> datetime | None:
        held = await self._leases.acquire(f"webhook:{webhook_id}")
        if held is None:
            return self._lanes.clock.now() + TAKEN
        try:
            return await self._lanes.run(webhook_id, guard=held.guard, stopping=lambda: self._stopping)
        finally:
            await self._leases.release(held)
