"""The outbox of changes that polls have found. The order of its events is kept by device."""

from collections.abc import Sequence
from dataclasses import asdict

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.changes.service import change_event
from netautod.network.discovery.tables.event_outbox import UNDELIVERED
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.store.client import Document


def change_outbox(tables: DiscoveredStore) -> Outbox:
    """Build the outbox; its events have the data that observers get (Changes)."""
    return Outbox(tables.undelivered, _events)


async def _events(header: Document) -> Sequence[Event]:
    org_id, device_id = OrgId(header["org_id"]), header["_id"]
    return [
        Event(
            id=stored["id"],
            org_id=org_id,
            name=stored["kind"],
            subject=f"device:{device_id}",
            at=stored["at"],
            data=asdict(change_event(org_id, device_id, stored)),
            record=device_id,
        )
        for stored in header[UNDELIVERED]
    ]
