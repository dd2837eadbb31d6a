"""The parts of the service that synchronise, on a test's database."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.base import open_command_base
from netautod.assembly.network.devices import DeviceRecords, build_devices
from netautod.assembly.network.inventory import Inventories, build_inventories
from netautod.assembly.settings import Settings
from netautod.core.identity.caller import Caller, OrgId, system_caller
from netautod.core.pages import Page
from netautod.core.settings.retention import RetentionSettings
from netautod.core.work.pauses import FixedPauses
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.devices.models import Device, DeviceFilter
from netautod.network.inventory.settings import InventorySettings
from netautod.network.inventory.sync.automatic import AutoSync
from netautod.network.inventory.sync.models import SyncOptions, SyncResult
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.store.client import Database
from netautod.store.leases.named import COLLECTION as LEASES
from netautod.store.scoped import scoped
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, FakeInventory
from tests.support.client import Tenant
from tests.support.installation import Installation, open_installation
from tests.support.serving import Serve

SOURCES = "/api/devices/sources/inventory"
AD_HOC = "/api/devices/sync/inventory"
HISTORY = "/api/devices/sync/history"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of the service; `caller` is an administrator of the organization under test."""

    installation: Installation
    devices: DeviceRecords
    inventory: Inventories
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
    async def another_node(self, **changes: Any) -> AsyncIterator[Node]:
        async with started(self.node.installation.on_another_node(**changes), self.remote) as node:
            yield replace(node, caller=self.caller)

    async def forget_leases(self) -> None:
        """As if the leases of dead nodes had run out."""
        await self.database.collection(LEASES).delete_many({})


@asynccontextmanager
async def started(installation: Installation, remote: FakeInventory) -> AsyncIterator[Node]:
    """A node whose plugin reads the inventory."""
    plugins = PluginManager(LoadedPlugins.of({"fake": remote}))
    async with open_command_base(installation, plugins) as base:
        devices = build_devices(base)
        inventory = build_inventories(base, devices.synced, platforms={})
        await devices.resume()
        await inventory.sources.resume()
        nobody = system_caller(OrgId("none"), "nobody")
        yield Node(installation=installation, devices=devices, inventory=inventory, caller=nobody)


MakeWorld = Callable[[Serve], Awaitable[World]]


@asynccontextmanager
async def worlds(database: Database, data_dir: Path, **inventory: Any) -> AsyncIterator[MakeWorld]:
    """`world = await make(serve)`: they share a database and a node, but no organization."""
    remote = FakeInventory()
    settings = Settings(
        data_dir=data_dir,
        inventory=InventorySettings(**inventory),
        retention=RetentionSettings(sync_history=5),
    )
    async with started(await open_installation(database, data_dir, settings=settings), remote) as node:

        async def make(serve: Serve) -> World:
            vars(remote).update(vars(FakeInventory()))
            served = await serve(*node.devices.services, *node.inventory.services)
            fields = served.administrator()
            return World(
                database=database,
                remote=remote,
                settings=settings,
                node=replace(node, caller=fields["caller"]),
                **fields,
            )

        yield make


def automatic(node: Node, paused: Collection[OrgId] = (), **settings: Any) -> AutoSync:
    """The automatic syncs of a node with settings of its own."""
    return AutoSync(
        sync=node.inventory.sync,
        sources=node.installation.stores.sources,
        clock=node.installation.clock,
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
