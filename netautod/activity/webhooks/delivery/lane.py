"""The deliveries of one webhook, by the one node that holds its lease: in order for each subject.

A delivery may arrive twice, since a node can die between the answer and the write that records it; it is
never recorded before it was accepted. The write is a compare-and-set on the number of tries: a node that
stalled in the middle, and continues when another one has taken over, changes nothing.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from netautod.activity.webhooks.delivery import decision as decide
from netautod.activity.webhooks.delivery.decision import GONE, TROUBLED
from netautod.activity.webhooks.delivery.sender import Sender
from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.models import Delivery, Status, Webhook
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.activity.webhooks.store import WebhookStore
from netautod.core.clock import Clock
from netautod.core.logs.folding import repeats
from netautod.core.loop.each import for_each
from netautod.core.metrics import Metrics
from netautod.core.work.guard import Guard
from netautod.transport.outbound.signed import SignedMessage

logger = logging.getLogger(__name__)
BATCH = 200
# Subjects that wait for another try: with more of them the lane ends until the first one is due.
MOST_LATER = 2000
LINGER = timedelta(seconds=2)  # a lane waits so long for another try before it ends
GONE_REASON = "the receiver answered 410 (Gone): it wants no more deliveries"


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """The things that all lanes of a node use."""

    webhooks: WebhookStore
    deliveries: DeliveryStore
    sender: Sender
    clock: Clock
    metrics: Metrics
    settings: WebhooksSettings

    async def run(self, webhook_id: str, *, guard: Guard, stopping: Callable[[], bool]) -> datetime | None:
        """Deliver until nothing is due soon; return when something is, None if nothing waits to be sent.

        `guard` raises when the lease of the webhook is lost.
        """
        later: dict[str, datetime] = {}
        while not stopping() and len(later) < MOST_LATER:
            guard()
            webhook = await self.webhooks.of_any(webhook_id)
            if webhook is None:
                # The webhook was deleted, and a node that did not know it yet has made a delivery.
                await self.deliveries.delete_waiting(webhook_id)
                return None
            now = self.clock.now()
            if not webhook.enabled:
                return None
            if webhook.resume_at is not None and webhook.resume_at > now:
                return webhook.resume_at
            later = {subject: moment for subject, moment in later.items() if moment > now}
            waiting = await self.deliveries.front(webhook, but=later, limit=BATCH)
            if not waiting:
                soonest = min(later.values(), default=now)
                if soonest == now or soonest > now + LINGER:
                    break
                await asyncio.sleep((soonest - now).total_seconds())
                continue
            ready, delayed = decide.chains(waiting, now)
            later.update(delayed)
            if not ready:
                continue
            if webhook.failures >= TROUBLED:
                ready = [ready[0][:1]]
            a_round = Round(lanes=self, webhook=webhook, guard=guard, stopping=stopping)
            await a_round.run(ready)
            later.update(a_round.later)
            if a_round.is_overtaken:
                return self.clock.now()
        return min(later.values(), default=None)


@dataclass(kw_only=True)
class Round:
    """A batch of deliveries of one webhook; it ends early when the receiver is in trouble, or gone."""

    lanes: Lanes
    webhook: Webhook
    guard: Guard
    stopping: Callable[[], bool]
    later: dict[str, datetime] = field(default_factory=dict)
    # Another node has tried the same meanwhile, so it has the lease: this node stalled and lost its own.
    is_overtaken: bool = False
    _in_a_row: int = 0
    _retry_after_seconds: float = 0.0
    _is_gone: bool = False
    _last: Status | None = None

    async def run(self, ready: Sequence[Sequence[Delivery]]) -> None:
        """Send each list of `ready`, which is of one subject, in order.

        Raises what the guard raises, and Unavailable.
        """
        self._in_a_row = self.webhook.failures
        try:
            await for_each(ready, self._send_all, at_once=self.lanes.settings.concurrency)
        finally:
            if self._last is not None:
                await self._note(self._last)

    async def _send_all(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            if self._is_over() or not await self._send(delivery):
                return

    def _is_over(self) -> bool:
        # A receiver that was in trouble before the round is tried once, to see whether it still is.
        in_trouble = self._in_a_row >= max(TROUBLED, self.webhook.failures + 1)
        return (
            self.is_overtaken
            or self._is_gone
            or self._retry_after_seconds > 0
            or in_trouble
            or self.stopping()
        )

    async def _send(self, delivery: Delivery) -> bool:
        """Send one delivery; return whether the next one of its subject may follow."""
        lanes = self.lanes
        message = SignedMessage(id=delivery.id, event=delivery.event, body=delivery.body or b"")
        tried = await lanes.sender.send(self.webhook, message, guard=self.guard)
        now = lanes.clock.now()
        settled = decide.settled(
            tried, delivery.attempts + 1, now=now, settings=lanes.settings, chance=random.random()
        )
        if not await lanes.deliveries.settle(delivery, settled, at=now):
            logger.info("delivery %s belongs to another node now: its result is dropped", delivery.id)
            self.is_overtaken = True
            return False
        self._last = settled.status
        lanes.metrics.add("webhook_deliveries", 1, _outcome(settled.status))
        if tried.error is None:
            self._in_a_row = 0
            return True
        self._in_a_row += 1
        self._retry_after_seconds = max(self._retry_after_seconds, tried.retry_after_seconds)
        self._is_gone = self._is_gone or tried.response_status == GONE
        if settled.next_at is not None:
            self.later[delivery.subject] = settled.next_at
        text = "delivery %s to webhook %s: %s"
        logger.info(text, delivery.id, self.webhook.id, tried.error, extra=repeats(("hook", self.webhook.id)))
        return False

    async def _note(self, last: Status) -> None:
        lanes, now = self.lanes, self.lanes.clock.now()
        if self._is_gone and await lanes.webhooks.disable(self.webhook, GONE_REASON, at=now):
            logger.warning("webhook %s is disabled: %s", self.webhook.id, GONE_REASON)
        resume_at = decide.resume_at(
            self._in_a_row,
            self._retry_after_seconds,
            now=now,
            settings=lanes.settings,
            chance=random.random(),
        )
        await lanes.webhooks.note(
            self.webhook, at=now, status=last, failures=self._in_a_row, resume_at=resume_at
        )


def _outcome(status: Status) -> str:
    """Return the metric's name of a status: a delivery that waits after a try will be retried."""
    return "retried" if status == "waiting" else status
