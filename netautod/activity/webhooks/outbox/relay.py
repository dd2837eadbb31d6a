"""The relay of the outboxes: makes deliveries of undelivered events, so that a crash loses none of them.

A change that a webhook wants to know of is written together with its event, in the same document. Each pass
of the relay finds these events, makes the deliveries, and then clears the events. If the node dies in
between, the events are still there, and the next pass of any node makes the same deliveries again: a
delivery's id is made of those of webhook and event.

One node at a time does it, oldest events first: a delivery of a later event of a device is never there
without those of the earlier ones.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.models import Delivery, Event, Webhook, delivery_id
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.activity.webhooks.store import WebhookStore
from netautod.activity.webhooks.subscriptions import Subscriptions
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.transport.outbound.signed import SignedMessage

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
AT_ONCE = 500  # events of one outbox
LEASE = "webhooks:intake"
# An event may have been written while other outboxes were read: what is younger waits for the next pass.
SETTLED = timedelta(milliseconds=50)
NO_HORIZON = datetime.max.replace(tzinfo=UTC)


class OutboxRelay:
    """A relay from the outboxes to the deliveries; `kick` gets the webhooks that have new ones."""

    def __init__(
        self,
        *,
        webhooks: WebhookStore,
        deliveries: DeliveryStore,
        subscriptions: Subscriptions,
        leases: NamedLeases,
        clock: Clock,
        instance_name: str,
        kick: Callable[[Iterable[str]], None],
        outboxes: Sequence[Outbox],
    ) -> None:
        self._webhooks = webhooks
        self._deliveries = deliveries
        self._subscriptions = subscriptions
        self._leases = leases
        self._clock = clock
        self._instance_name = instance_name
        self._kick = kick
        self._outboxes = outboxes
        self._loop = Periodic(
            self.collect, name="the look for events that webhooks want", seconds=LOOK_SECONDS, at_once=True
        )

    async def __aenter__(self) -> Self:
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()

    async def publish(self, event: Event) -> None:
        """Deliver an event that has no record of its own, such as one of a plugin.

        It counts as happened when this returns. Raises Unavailable if it has not happened; publish it again
        under the same id.
        """
        if self._subscriptions.wants(event.org_id, event.name):
            await self._deliver([event])

    async def collect(self) -> None:
        """Make passes until nothing is left; without events, or webhooks, it costs next to nothing."""
        if not self._subscriptions.any or not await self._has_undelivered():
            return
        held = await self._leases.acquire(LEASE)
        if held is None:
            return
        try:
            while await self._pass():
                held.guard()
        finally:
            await self._leases.release(held)

    async def _has_undelivered(self) -> bool:
        before = self._clock.now() - SETTLED
        looks = (outbox.undelivered(before=before, limit=1) for outbox in self._outboxes)
        return any(await asyncio.gather(*looks))

    async def _pass(self) -> bool:
        """Make one pass; return whether there may be more."""
        before = self._clock.now() - SETTLED
        found = [await outbox.undelivered(before=before, limit=AT_ONCE) for outbox in self._outboxes]
        full = [events for events in found if len(events) == AT_ONCE]
        # Later events of a full outbox are not known yet: no event of another one may overtake them.
        horizon = min((events[-1].at for events in full), default=NO_HORIZON)
        now = [[event for event in events if event.at <= horizon] for events in found]
        await self._deliver(sorted((event for events in now for event in events), key=lambda one: one.at))
        for outbox, events in zip(self._outboxes, now, strict=True):
            if events:
                # If the node dies here, they stay undelivered, and the next pass finds their deliveries
                # there already.
                await outbox.mark_delivered(events)
        return bool(full)

    async def _deliver(self, events: Sequence[Event]) -> None:
        if not events:
            return
        of_org: dict[OrgId, list[Webhook]] = {}
        for webhook in await self._webhooks.enabled_of({event.org_id for event in events}):
            of_org.setdefault(webhook.org_id, []).append(webhook)
        made = [
            _delivery(webhook, event, self._instance_name)
            for event in events
            for webhook in of_org.get(event.org_id, ())
            if event.name in webhook.events and self._happened_since(webhook, event)
        ]
        if made and await self._deliveries.insert(made):
            self._kick({one.webhook_id for one in made})

    def _happened_since(self, webhook: Webhook, event: Event) -> bool:
        """Return whether the event is not of before the webhook.

        A webhook of a later time than now was made before the clock was set back: all comes after it.
        """
        return event.at >= webhook.created_at or webhook.created_at > self._clock.now()


def _delivery(webhook: Webhook, event: Event, instance_name: str) -> Delivery:
    own_id = delivery_id(webhook.id, event.id)
    data: dict[str, Any] = dict(event.data)
    message = SignedMessage.of(event.name, data, id=own_id, at=event.at, instance=instance_name)
    return Delivery(
        id=own_id,
        org_id=event.org_id,
        webhook_id=webhook.id,
        event=event.name,
        subject=event.subject,
        at=event.at,
        attempts=0,
        status="waiting",
        next_at=None,
        response_status=None,
        error=None,
        body=message.body,
    )
