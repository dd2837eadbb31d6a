"""The storage of plugins on a database, with an organization and another one."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from netautod.automation.system.plugin_storage.models import Quota
from netautod.automation.system.plugin_storage.service import PluginStorages
from netautod.automation.system.plugin_storage.store import PluginRecordStore
from netautod.automation.system.plugin_storage.usage_store import PluginUsageStore
from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import Organization
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.plugin_api import PluginStorage
from netautod.store.client import Database
from tests.support.clock import MovableClock
from tests.support.installation import Installation, open_installation

QUOTA = Quota(records=5, bytes=1000, value_bytes=300)
OURS, THEIRS = OrgId("ours"), OrgId("theirs")


@dataclass(kw_only=True)
class World:
    """A storage with two organizations, `ours` and `theirs`; the clock stands still."""

    installation: Installation
    storages: PluginStorages
    clock: MovableClock
    ours: OrgId = OURS
    theirs: OrgId = THEIRS

    @property
    def database(self) -> Database:
        return self.installation.database

    def lend(self, plugin: str = "acme", **quota: int) -> PluginStorage:
        changed = replace(self.storages, quota=replace(self.storages.quota, **quota))
        return changed.of(plugin)

    async def rows(self, collection: str) -> list[dict[str, Any]]:
        return await self.database.collection(collection).find({}, sort=[("_id", 1)])


@pytest.fixture
async def world(indexed: Database, hasher: PasswordHasher, clock: MovableClock, tmp_path: Path) -> World:
    made = await open_installation(indexed, tmp_path, clock=clock, hasher=hasher)
    organizations = made.stores.organizations
    for org_id in (OURS, THEIRS):
        organization = Organization(id=org_id, name=org_id, ready=True, created_at=clock.now())
        await organizations.insert(organization)
    return World(
        installation=made,
        storages=PluginStorages(
            records=PluginRecordStore(indexed),
            usages=PluginUsageStore(indexed),
            vault=made.vault,
            organizations=organizations,
            clock=clock,
            quota=QUOTA,
        ),
        clock=clock,
    )
