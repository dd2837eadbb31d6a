"""The outbox of suspended logins. The order of its events is kept by device."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.names import CREDENTIAL_SUSPENDED
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.core.identity.caller import OrgId
from netautod.network.devices.sessions.store import UNDELIVERED, SuspensionStore
from netautod.plugin_api.events import CredentialSuspended
from netautod.store.client import Document


def suspension_outbox(store: SuspensionStore) -> Outbox:
    """Build the outbox; its events have the data that observers get (Suspensions)."""
    return Outbox(store.undelivered, _events)


async def _events(document: Document) -> Sequence[Event]:
    org_id = OrgId(document["org_id"])
    return [_event(org_id, document["_id"], stored) for stored in document[UNDELIVERED]]


def _event(org_id: OrgId, row: str, stored: Mapping[str, Any]) -> Event:
    data = {name: value for name, value in stored.items() if name not in ("id", "at")}
    return Event(
        id=stored["id"],
        org_id=org_id,
        name=CREDENTIAL_SUSPENDED,
        subject=f"device:{stored['device_id']}",
        at=stored["at"],
        data=asdict(CredentialSuspended(org_id=org_id, **data)),
        record=row,
    )
