"""The events in the headers of devices, until observers are notified and webhooks have their deliveries."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.activity.webhooks.outbox.pending import PendingEvents, pending_index
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

HEADERS = "discovered"
# The stored names of both lists of events, and of the moment of the first one in each.
UNNOTIFIED, UNNOTIFIED_AT = "untold", "untold_at"
UNDELIVERED, UNDELIVERED_AT = "owed", "owed_at"
INDEXES = (pending_index(HEADERS, UNNOTIFIED_AT), pending_index(HEADERS, UNDELIVERED_AT))
# Of one device. More than that waits only if no node has notified for weeks: the newest are kept.
MOST_WAITING = 1000


class HeaderEvents:
    """The part of the store of headers that keeps their events.

    `unnotified` are those that observers have not got, `undelivered` those that webhooks have not got.
    `wanted` returns whether a webhook wants an event; only then it waits for webhooks.
    """

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        headers = database.collection(HEADERS)
        self._headers = scoped(database, HEADERS)
        self.unnotified = PendingEvents(headers, field=UNNOTIFIED, at=UNNOTIFIED_AT)
        self.undelivered = PendingEvents(headers, field=UNDELIVERED, at=UNDELIVERED_AT)

    def _first_events(self, org_id: OrgId, events: Sequence[Mapping[str, Any]], *, at: datetime) -> Document:
        """Return the fields of a new header with these events."""
        wanted = self._wanted_of(org_id, events)
        first: Document = {UNNOTIFIED: list(events), UNNOTIFIED_AT: at} if events else {}
        return first | ({UNDELIVERED: wanted, UNDELIVERED_AT: at} if wanted else {})

    def _with_events(
        self, org_id: OrgId, change: Document, events: Sequence[Mapping[str, Any]], *, at: datetime
    ) -> Document:
        """Return the change of a header that also adds these events to those that wait.

        It does not write the list that was read: events that were reported meanwhile would be reported again.
        """
        if not events:
            return change
        waiting = {UNNOTIFIED: list(events), UNDELIVERED: self._wanted_of(org_id, events)}
        added = {name: {"$each": each, "$slice": -MOST_WAITING} for name, each in waiting.items() if each}
        return {**change, "$push": added, "$min": {f"{name}_at": at for name in added}}

    def _wanted_of(self, org_id: OrgId, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [event for event in events if self._wanted(org_id, event["kind"])]
