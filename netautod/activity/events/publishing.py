"""Publishes events that have no record of their own: those of plugins, by the name PLUGIN.NAME."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from netautod.activity.events.models import Event, key_of
from netautod.activity.events.store import COLLECTION, PublishedEvents
from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.json import values as json_values

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){1,3}")
MOST_BYTES = 64 * 1024


class EventPublisher:
    def __init__(self, *, store: PublishedEvents, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def publish(
        self, *, org_id: str, name: str, data: Mapping[str, Any], permission: str | None
    ) -> None:
        """Send an event to the organization's listeners, on all nodes, that hold `permission` (None: to all).

        `data` is JSON, and goes out as it is: no secret may be in it. Raises InvalidInput for a name that is
        not PLUGIN.NAME, and for data that are no JSON or more than 64 KiB of it; Unavailable.
        """
        if not NAME.fullmatch(name):
            raise InvalidInput(f"name: {name[:200]!r} is not of the form PLUGIN.NAME")
        value = _json(data)
        event_id = str(uuid4())
        event = Event(
            at=self._clock.now(),
            key=key_of(COLLECTION, event_id, 0),
            name=name,
            org_id=OrgId(org_id),
            permission=permission,
            data=value,
        )
        await self._store.insert(event_id, event)


def _json(data: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        body = json_values.encode(dict(data))
    except TypeError as error:
        raise InvalidInput(f"data: Not JSON: {error}") from error
    if len(body) > MOST_BYTES:
        raise InvalidInput(f"data: More than {MOST_BYTES // 1024} KiB as JSON")
    value: Mapping[str, Any] = json_values.decode(body)
    return value
