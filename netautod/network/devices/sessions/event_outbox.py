"""Suspensions that webhooks are owed, as their events."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.names import CREDENTIAL_SUSPENDED
from netautod.core.identity.caller import OrgId
from netautod.network.devices.sessions.store import SuspensionStore
from netautod.plugin_api.events import CredentialSuspended


class OwedSuspensions:
    """What they say is what observers are told (Suspensions). Their order is kept by device."""

    def __init__(self, store: SuspensionStore) -> None:
        self._store = store

    async def owed(self, *, before: datetime, limit: int) -> list[Event]:
        found = await self._store.owed(before=before, limit=limit)
        events = [_event(org_id, row, event) for org_id, row, events in found for event in events]
        # A row has several where nobody has looked for long: a later one stays behind those of other rows.
        return sorted((event for event in events if event.at < before), key=lambda one: one.at)[:limit]

    async def paid(self, events: Sequence[Event]) -> None:
        ids: dict[str, list[str]] = {}
        for event in events:
            ids.setdefault(event.record, []).append(event.id)
        await self._store.paid(ids)


def _event(org_id: OrgId, row: str, owed: Mapping[str, Any]) -> Event:
    told = {name: value for name, value in owed.items() if name not in ("id", "at")}
    return Event(
        id=owed["id"],
        org_id=org_id,
        name=CREDENTIAL_SUSPENDED,
        subject=f"device:{owed['device_id']}",
        at=owed["at"],
        data=asdict(CredentialSuspended(org_id=org_id, **told)),
        record=row,
    )
