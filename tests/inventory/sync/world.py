"""The parts of the service that synchronise, wired by the composition root, on a test's database."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from netautod.app.parts.devices import DeviceParts, devices_of
from netautod.app.parts.inventory import InventoryParts, inventory_of
from netautod.app.parts.leases import named_leases
from netautod.app.plugins.loading import LoadedPlugins
from netautod.app.plugins.manager import PluginManager
from netautod.app.settings import Settings
from netautod.app.stores import INDEXES, Stores
from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.identity import Caller, OrgId
from netautod.core.pages import Page
from netautod.core.pauses import FixedPauses
from netautod.core.retention import RetentionSettings
from netautod.devices.bindings.service import SyncedDevices
from netautod.devices.models import Device, DeviceFilter
from netautod.inventory.settings import InventorySettings
from netautod.inventory.sync.automatic import AutoSync
from netautod.inventory.sync.models import SyncOptions, SyncResult
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from netautod.store.leases.named import COLLECTION as LEASES
from netautod.store.scoped import scoped
from netautod.store.server_clock import ServerClock
from netautod.vault.vault import Vault
from tests.inventory.sync.fake_inventory import TOKEN, URL, FakeInventory, InventoryPlugin
from tests.support.client import Tenant
from tests.support.serving import Serve

SOURCES = "/api/devices/sources/inventory"
AD_HOC = "/api/devices/sync/inventory"
HISTORY = "/api/devices/sync/history"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of the service; `caller` is an administrator of the organization under test."""

    stores: Stores
    vault: Vault
    clock: Clock
    devices: DeviceParts
    inventory: InventoryParts
    caller: Caller

    async def sync(self, source_id: str, **options: Any) -> SyncResult:
        return await self.inventory.sync.sync_source(self.caller, source_id, SyncOptions(**options))

    async def all(self) -> dict[str, Device]:
        """The live devices by name."""
        found: dict[str, Device] = {}
        async for batch in self.devices.devices.matching(self.caller.org_id):
            found.update({device.name: device for device in batch})
        return found

    async def total(self) -> int:
        return (await self.devices.devices.page(self.caller.org_id, DeviceFilter(), Page())).total


@dataclass(frozen=True, kw_only=True)
class World(Tenant):
    """A node that is served, the inventory that its plugin reads, and more nodes on the same database."""

    database: Database
    remote: FakeInventory
    settings: Settings
    node: Node

    async def source(self, **fields: Any) -> Any:
        body = {"name": "netbox", "url": URL, "token": TOKEN, **fields}
        return (await self.api.post(SOURCES, body)).expect(201)

    async def sync(self, source: Any, body: Any = None, query: str = "") -> Any:
        return (await self.api.post(f"{SOURCES}/{source['id']}/sync{query}", body)).expect()

    async def device(self, **fields: Any) -> Any:
        body = {"name": "sw1", "host": "192.0.2.1", "device_type": "cisco_ios", **fields}
        return (await self.api.post("/api/devices", body)).expect(201)

    async def names(self) -> list[str]:
        return sorted(await self.node.all())

    async def history(self) -> list[Any]:
        listed: list[Any] = (await self.api.get(HISTORY)).json["history"]
        return listed

    async def audited(self, action: str) -> list[dict[str, Any]]:
        found = await scoped(self.database, "audit_events").find(
            self.org_id, {"action": action}, sort=[("at", 1)]
        )
        return [document["details"] for document in found]

    async def text(self) -> str:
        """Everything that the database holds in clear of the organization."""
        found = []
        for name in ("devices", "inventory_sources", "sync_history", "audit_events"):
            found += await scoped(self.database, name).find(self.org_id, {})
        return repr(found)

    @asynccontextmanager
    async def another_node(self, clock: Clock | None = None) -> AsyncIterator[Node]:
        async with started(self.database, self.settings, self.remote, self.node.caller, clock) as node:
            yield node

    async def forget_leases(self) -> None:
        """As if the leases of dead nodes had run out."""
        await self.database.collection(LEASES).delete_many({})


@asynccontextmanager
async def started(
    database: Database, settings: Settings, remote: FakeInventory, caller: Caller, clock: Clock | None = None
) -> AsyncIterator[Node]:
    await create_indexes(database, INDEXES)
    vault = await Vault.open(database, data_dir=settings.data_dir, environ={})
    stores = Stores.of(database, settings.retention)
    plugins = PluginManager(LoadedPlugins.of({"fake": InventoryPlugin({"fake": remote.open})}))
    async with AsyncExitStack() as stack:
        if clock is None:
            clock = await stack.enter_async_context(ServerClock(database))
        audit = AuditLog(store=stores.audit, clock=clock)
        leasing = named_leases(
            database=database, node_id=uuid4().hex, clock=clock, settings=settings.executions
        )
        devices = devices_of(stores=stores, vault=vault, clock=clock, audit=audit)
        inventory = inventory_of(
            stores=stores,
            vault=vault,
            clock=clock,
            audit=audit,
            http=GuardedClient(AddressRules.allowing(settings.outbound.allow)),
            leases=await stack.enter_async_context(leasing),
            devices=devices.synced,
            openers=plugins.inventory_sources(),
            pauses=FixedPauses(),
            settings=settings.inventory,
        )
        await devices.resume()
        await inventory.sources.resume()
        yield Node(
            stores=stores, vault=vault, clock=clock, devices=devices, inventory=inventory, caller=caller
        )


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A database and a node on it, for many tests: each has an organization of its own."""

    database: Database
    settings: Settings
    remote: FakeInventory
    node: Node

    async def world(self, serve: Serve) -> World:
        vars(self.remote).update(vars(FakeInventory()))
        caller = administrator()
        node = replace(self.node, caller=caller)
        served = await serve(*node.devices.services, *node.inventory.services)
        api, _ = served.client("*", org_id=caller.org_id, user_id=caller.user_id)
        return World(
            database=self.database,
            remote=self.remote,
            settings=self.settings,
            node=node,
            served=served,
            api=api,
            caller=caller,
        )


def administrator() -> Caller:
    """Of a new organization."""
    return Caller(
        user_id=str(uuid4()), org_id=OrgId(str(uuid4())), username="ann", permissions=frozenset({"*"})
    )


@asynccontextmanager
async def installed(database: Database, data_dir: Path, **inventory: Any) -> AsyncIterator[Installation]:
    settings = Settings(
        data_dir=data_dir,
        inventory=InventorySettings(**inventory),
        retention=RetentionSettings(sync_history=5),
    )
    remote = FakeInventory()
    async with started(database, settings, remote, administrator()) as node:
        yield Installation(database=database, settings=settings, remote=remote, node=node)


def automatic(node: Node, paused: Collection[OrgId] = (), **settings: Any) -> AutoSync:
    """The automatic syncs of a node with settings of its own."""
    return AutoSync(
        sync=node.inventory.sync,
        sources=node.stores.sources,
        clock=node.clock,
        settings=InventorySettings(**settings),
        caller_of=lambda org_id: replace(node.caller, org_id=org_id),
        pauses=FixedPauses(frozenset(paused)),
    )


def after_the_plan(monkeypatch: pytest.MonkeyPatch, edit: Callable[[], Awaitable[Any]]) -> None:
    """Calls `edit` between the reading of the devices and the first write."""
    real = SyncedDevices.known

    async def read_then_edit(self: SyncedDevices, *args: Any, **options: Any) -> Any:
        found = await real(self, *args, **options)
        await edit()
        return found

    monkeypatch.setattr(SyncedDevices, "known", read_then_edit)


def counts(result: Any) -> tuple[int, int, int, int, int]:
    """Added, updated, unchanged, failed and removed."""
    return tuple(result[name] for name in ("added", "updated", "unchanged", "failed", "removed"))
