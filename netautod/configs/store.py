"""Versions as documents: numbered from 1 per device, never changed but for when they were last seen."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from netautod.configs import snapshots
from netautod.configs.models import Config
from netautod.store.client import Database, Document, OrgId
from netautod.store.indexes import Index
from netautod.store.paging import Page, PageOf

COLLECTION = "configs"
INDEXES = (
    # Read backwards it is also the order of every list, and the way to the newest.
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("device_id", 1), ("version", 1)),
        unique=True,
    ),
    *snapshots.INDEXES,
)
NEWEST_FIRST = [("version", -1)]
_PLAIN = tuple(name for name in Config.__dataclass_fields__ if name != "id")


class ConfigStore:
    """Texts are kept apart (texts.py): a version only names its text."""

    def __init__(self, database: Database) -> None:
        self._configs = database.scoped(COLLECTION)

    async def insert(self, config: Config) -> None:
        """Raises Duplicate if the device has that version already."""
        document = {name: getattr(config, name) for name in _PLAIN}
        await self._configs.insert(config.org_id, {"_id": config.id, **document})

    async def newest(self, org_id: OrgId, device_id: str, *, below: int | None = None) -> Config | None:
        """The newest version of a device, or the newest one before the version `below`."""
        where: dict[str, Any] = {"device_id": device_id}
        if below is not None:
            where["version"] = {"$lt": below}
        found = await self._configs.find_one(org_id, where, sort=NEWEST_FIRST)
        return None if found is None else _config(found)

    async def get(self, org_id: OrgId, device_id: str, version: int) -> Config | None:
        found = await self._configs.find_one(org_id, {"device_id": device_id, "version": version})
        return None if found is None else _config(found)

    async def page(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[Config]:
        """Newest first."""
        where = {"device_id": device_id}
        total = await self._configs.count(org_id, where)
        found = await self._configs.find(
            org_id, where, sort=NEWEST_FIRST, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[_config(document) for document in found], total=total, page=page)

    async def seen(self, config: Config, *, at: datetime, config_hash: str) -> Config:
        """The device still had this content. The hash moves when a release changed what is noise."""
        change = {"$max": {"last_seen_at": at}, "$set": {"config_hash": config_hash}}
        await self._configs.update(config.org_id, {"_id": config.id}, change)
        return replace(config, last_seen_at=max(config.last_seen_at, at), config_hash=config_hash)


def _config(document: Document) -> Config:
    return Config(id=document["_id"], **{name: document[name] for name in _PLAIN})
