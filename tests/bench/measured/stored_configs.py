"""Devices with stored configs for a benchmark, put in without visiting any."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from netautod.assembly.data.stores import INDEXES, Stores
from netautod.assembly.network.configs import Configs
from netautod.assembly.network.devices import DeviceRecords
from netautod.assembly.settings import Settings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.work.context import Work
from netautod.network.configs.models import FROM_DEVICE, TEXT_FORMAT, Config
from netautod.network.configs.settings import ConfigSettings
from netautod.network.configs.texts.store import measure
from netautod.network.devices.records.queries import COLLECTION
from netautod.store.client import Database
from netautod.store.scoped import scoped
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.bench.measuring.databases import fresh_database
from tests.network.configs.fleet import Told, device_work
from tests.network.devices.inventory import DEVICE
from tests.support.installation import open_installation

DEVICE_TYPE = "cisco_ios"


@dataclass(frozen=True, kw_only=True)
class Stored:
    database: Database
    stores: Stores
    services: DeviceRecords
    configs: Configs
    caller: Caller

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    async def devices(self, names: Sequence[str]) -> list[str]:
        """The first by the rules, the others as copies of its document."""
        first = await self.services.devices.create(self.caller, {**DEVICE, "name": names[0]})
        rows = scoped(self.database, COLLECTION)
        found = await rows.find_one(self.org_id, {"_id": first.id})
        assert found is not None
        copies = [{**found, "_id": str(uuid4()), "name": name} for name in names[1:]]
        await rows.insert_many(self.org_id, copies)
        return [first.id, *(copy["_id"] for copy in copies)]

    async def version(self, device_id: str, version: int, text: str) -> Config:
        work = Work(caller=self.caller)
        keys = await self.configs.texts.keys(self.org_id)
        reading = measure(text, PlatformRegistry().get(DEVICE_TYPE), keys, device_id)
        await self.configs.texts.save(work, reading)
        now = SystemClock().now()
        config = Config(
            id=str(uuid4()),
            org_id=self.org_id,
            device_id=device_id,
            version=version,
            config_hash=reading.config_hash,
            config_format=TEXT_FORMAT,
            source=FROM_DEVICE,
            pulled_via="task",
            created_by=self.caller.user_id,
            created_at=now,
            last_seen_at=now,
            size=reading.size,
            notes=None,
            text_id=reading.text_id,
            platform=DEVICE_TYPE,
        )
        await self.stores.configs.insert(config, work)
        return config


@asynccontextmanager
async def stored_configs(uri: str) -> AsyncIterator[Stored]:
    """The service below HTTP on a fresh database, with an organization of its own."""
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with (
            fresh_database(uri, INDEXES) as database,
            stored_in(database, Path(folder), OrgId(str(uuid4()))) as stored,
        ):
            yield stored


@asynccontextmanager
async def stored_in(database: Database, folder: Path, org_id: OrgId) -> AsyncIterator[Stored]:
    """The same on a database and with the keys of a service that may be running beside it."""
    settings = Settings(configs=ConfigSettings(search_seconds=300.0))
    installation = await open_installation(database, folder, settings=settings)
    everything = frozenset({"*"})
    caller = Caller(user_id=str(uuid4()), org_id=org_id, username="bench", permissions=everything)
    async with device_work(installation, installation.ssh_ca(), Told()) as parts:
        yield Stored(
            database=database,
            stores=installation.stores,
            services=parts.devices,
            configs=parts.configs,
            caller=caller,
        )
