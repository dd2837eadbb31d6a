"""Makes deliveries of what has happened, so that nothing that a webhook wants is lost by a crash.

A change that a webhook wants to know of is written together with a mark, in the same document: its event is
owed. The pass here finds the marks, makes the deliveries, and takes the marks away then. Who dies in between
has left the mark, and the next pass of any node makes the same deliveries again: their ids are made of those
of webhook and event.

One node at a time does it, oldest marks first: a delivery of a later event of a device is never there without
those of the earlier ones.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, Self

from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.models import Delivery, Event, Webhook, delivery_id
from netautod.activity.webhooks.store import WebhookStore
from netautod.activity.webhooks.subscriptions import Subscriptions
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.transport.outbound.signed import SignedMessage

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
AT_ONCE = 500  # marks of one source
LEASE = "webhooks:intake"
# A mark may have been written while other sources were read: what is younger waits for the next pass.
SETTLED = timedelta(milliseconds=50)


class OwedEvents(Protocol):
    """Events that are marked in the documents of one resource."""

    async def owed(self, *, before: datetime, limit: int) -> Sequence[Event]:
        """Those that were marked before then, of all organizations, oldest first."""
        ...

    async def paid(self, events: Sequence[Event]) -> None:
        """Takes the marks away: there are deliveries of these events now, or nobody wants them."""
        ...


class Intake:
    """`sources` are filled by app/. `kick` is told for which webhooks something new waits."""

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
        sources: Sequence[OwedEvents],
    ) -> None:
        self._webhooks = webhooks
        self._deliveries = deliveries
        self._subscriptions = subscriptions
        self._leases = leases
        self._clock = clock
        self._instance_name = instance_name
        self._kick = kick
        self._sources = sources
        self._loop = Periodic(
            self.collect, name="the look for events that webhooks want", seconds=LOOK_SECONDS, at_once=True
        )

    async def __aenter__(self) -> Self:
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()

    async def publish(self, event: Event) -> None:
        """An event that has no record of its own, such as one of a plugin: it has happened when this returns.

        Raises Unavailable; then it has not, unless it is published again under the same id.
        """
        if self._subscriptions.wants(event.org_id, event.name):
            await self._deliver([event])

    async def collect(self) -> None:
        """One look; without marks, or webhooks, it costs next to nothing."""
        if not self._subscriptions.any or not await self._anything_owed():
            return
        held = await self._leases.acquire(LEASE)
        if held is None:
            return
        try:
            while await self._pass():
                held.guard()
        finally:
            await self._leases.release(held)

    async def _anything_owed(self) -> bool:
        before = self._clock.now() - SETTLED
        looks = (source.owed(before=before, limit=1) for source in self._sources)
        return any(await asyncio.gather(*looks))

    async def _pass(self) -> bool:
        """Whether there may be more."""
        before = self._clock.now() - SETTLED
        found = [await source.owed(before=before, limit=AT_ONCE) for source in self._sources]
        full = [events for events in found if len(events) == AT_ONCE]
        # Of a source with more, later events than the last one are not known yet: nothing may overtake them.
        horizon = min((events[-1].at for events in full), default=before)
        now = [[event for event in events if event.at <= horizon] for events in found]
        await self._deliver(sorted((event for events in now for event in events), key=lambda one: one.at))
        for source, events in zip(self._sources, now, strict=True):
            if events:
                # If we die here they are owed still, and the same deliveries are there already.
                await source.paid(events)
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
            if event.name in webhook.events and event.at >= webhook.created_at
        ]
        if made and await self._deliveries.insert(made):
            self._kick({one.webhook_id for one in made})


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
