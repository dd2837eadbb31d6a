"""New versions and stale backups that webhooks are owed, as their events."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from netautod.activity.webhooks.models import Event, derived_event_id
from netautod.activity.webhooks.names import BACKUP_STALE, CONFIG_CHANGED
from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.stale_store import StaleWatch
from netautod.network.configs.capture.captures import changed
from netautod.network.configs.store import ConfigStore


class OwedVersions:
    """What they say is what observers are told (ConfigCapture). Their order is kept by device."""

    def __init__(self, store: ConfigStore) -> None:
        self._store = store

    async def owed(self, *, before: datetime, limit: int) -> list[Event]:
        events = []
        for config, owed in await self._store.owed(before=before, limit=limit):
            told = changed(config, device_name=owed["device_name"], execution_id=owed["execution_id"])
            events.append(
                Event(
                    id=derived_event_id(config.id, CONFIG_CHANGED),
                    org_id=OrgId(config.org_id),
                    name=CONFIG_CHANGED,
                    subject=f"device:{config.device_id}",
                    at=owed["at"],
                    data=asdict(told),
                    record=config.id,
                )
            )
        return events

    async def paid(self, events: Sequence[Event]) -> None:
        await self._store.paid([event.record for event in events])


class OwedStaleness:
    """What they say is what observers are told (StaleBackups)."""

    def __init__(self, store: StaleWatch) -> None:
        self._store = store

    async def owed(self, *, before: datetime, limit: int) -> list[Event]:
        return [
            Event(
                id=one.id,
                org_id=one.org_id,
                name=BACKUP_STALE,
                subject=f"device:{one.device_id}",
                at=one.at,
                data=one.told,
                record=one.device_id,
            )
            for one in await self._store.owed(before=before, limit=limit)
        ]

    async def paid(self, events: Sequence[Event]) -> None:
        await self._store.paid({event.record: event.id for event in events})
