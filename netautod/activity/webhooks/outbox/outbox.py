"""An outbox: the pending events of one resource in the form that webhooks deliver."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.outbox.pending import Pending
from netautod.store.client import Document
from netautod.store.clock.readings import NO_JUMP


class Outbox:
    """The undelivered events of one resource.

    `events_of` builds the events of a document; each names the document as its `record`.
    """

    def __init__(self, pending: Pending, events_of: Callable[[Document], Awaitable[Sequence[Event]]]) -> None:
        self._pending = pending
        self._events_of = events_of

    async def undelivered(self, *, before: datetime, limit: int) -> list[Event]:
        """Return events of all organizations that happened before then, oldest first.

        What is of a much later time happened before the clock was set back.
        """
        after = before + NO_JUMP
        found = await self._pending.find(before=before, limit=limit, after=after)
        events = [event for document in found for event in await self._events_of(document)]
        # A document may have several events, if they have waited: they are sorted among those of other
        # documents.
        older = (event for event in events if event.at < before or event.at > after)
        return sorted(older, key=lambda one: one.at)[:limit]

    async def mark_delivered(self, events: Sequence[Event]) -> None:
        """Clear the events: there are deliveries of them now, or no webhook wants them."""
        ids: dict[str, list[str]] = {}
        for event in events:
            ids.setdefault(event.record, []).append(event.id)
        await self._pending.clear(ids)
