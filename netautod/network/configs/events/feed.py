"""The feed of changed configurations for listeners. An imported version is no news.

All listeners get the hash and the size of the text as those see it who see no secrets.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from netautod.activity.events.models import CONFIG, DEVICES, Event, key_of
from netautod.core.identity.caller import OrgId
from netautod.network.configs.models import FROM_DEVICE
from netautod.network.configs.store import COLLECTION, SHOWN_PARTS, ConfigStore
from netautod.store.client import Database, Document


class ConfigFeed:
    """A feed as activity/events/feed.py describes it."""

    collection = COLLECTION
    watched = None
    unneeded: Sequence[str] = ("parts", SHOWN_PARTS)

    def __init__(self, database: Database, store: ConfigStore) -> None:
        self._all = database.collection(COLLECTION)
        self._store = store

    def derive(self, document: Document) -> Iterable[Event]:
        config = self._store.to_config(document)
        as_made = replace(config, notes=None, last_seen_at=config.created_at)
        if config.source == FROM_DEVICE:
            yield Event(
                at=config.created_at,
                key=key_of(COLLECTION, config.id, 0),
                name=CONFIG,
                org_id=OrgId(config.org_id),
                permission=DEVICES,
                data=as_made.to_json(),
            )

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        where = {"created_at": {"$gte": moment}, "org_id": {"$in": list(orgs)}}
        return self._all.stream(where, fields=dict.fromkeys(self.unneeded, 0))
