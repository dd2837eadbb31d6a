"""The outboxes of new versions and of stale backups. Their order is kept by device."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from netautod.activity.webhooks.models import Event, derived_event_id
from netautod.activity.webhooks.names import BACKUP_STALE, CONFIG_CHANGED
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.queries import EVENT
from netautod.network.configs.backups.stale_store import EVENT_DATA, StaleWatch
from netautod.network.configs.capture.captures import changed
from netautod.network.configs.store import UNDELIVERED, ConfigStore
from netautod.network.devices.records.documents import BACKUP
from netautod.store.client import Document


def version_outbox(store: ConfigStore) -> Outbox:
    """Build the outbox of new versions; its events have the data that observers get (ConfigCapture)."""
    return Outbox(store.undelivered, partial(_version_events, store))


def stale_backup_outbox(store: StaleWatch) -> Outbox:
    """Build the outbox of stale backups; its events have the data that observers get (StaleBackups)."""
    return Outbox(store.undelivered, _stale_events)


async def _version_events(store: ConfigStore, document: Document) -> Sequence[Event]:
    config, stored = store.to_config(document), document[UNDELIVERED]
    data = changed(config, device_name=stored["device_name"], execution_id=stored["execution_id"])
    event = Event(
        id=derived_event_id(config.id, CONFIG_CHANGED),
        org_id=OrgId(config.org_id),
        name=CONFIG_CHANGED,
        subject=f"device:{config.device_id}",
        at=stored["at"],
        data={**asdict(data), "config_hash": config.shown.config_hash},
        record=config.id,
    )
    return [event]


async def _stale_events(document: Document) -> Sequence[Event]:
    stored = document[BACKUP][EVENT]
    event = Event(
        id=stored["id"],
        org_id=OrgId(document["org_id"]),
        name=BACKUP_STALE,
        subject=f"device:{document['_id']}",
        at=stored["at"],
        data=stored[EVENT_DATA],
        record=document["_id"],
    )
    return [event]
