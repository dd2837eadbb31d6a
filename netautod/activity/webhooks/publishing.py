"""Publishes events that have no record of their own, such as those of plugins, to the webhooks that want
them.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.outbox.relay import OutboxRelay
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId


class WebhookPublisher:
    def __init__(self, *, relay: OutboxRelay, clock: Clock) -> None:
        self._relay = relay
        self._clock = clock

    async def publish(
        self, *, org_id: str, name: str, data: Mapping[str, Any], permission: str | None
    ) -> None:
        """Publish an event: it counts as happened when this returns.

        Raises Unavailable if it has not happened. `data` is JSON. The order is kept by the device that `data`
        names as `device_id`, else by the event's name. A user who may manage webhooks sees every event, so
        `permission` has no effect here.
        """
        device_id = data.get("device_id")
        subject = f"device:{device_id}" if isinstance(device_id, str) else f"event:{name}"
        event = Event(
            id=str(uuid4()),
            org_id=OrgId(org_id),
            name=name,
            subject=subject,
            at=self._clock.now(),
            data=data,
        )
        await self._relay.publish(event)
