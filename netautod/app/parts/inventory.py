"""The part of the composition root about inventories: saved sources and synchronisations."""

from dataclasses import dataclass

from netautod.app.foundation import Foundation
from netautod.app.parts.devices import DeviceParts
from netautod.app.plugins.manager import PluginManager
from netautod.core.identity import Caller, OrgId, system_caller
from netautod.core.pauses import Pauses
from netautod.devices.bindings.revival import Revival
from netautod.devices.bindings.service import SyncedDevices
from netautod.devices.links import Links
from netautod.devices.store import DeviceStore
from netautod.inventory.service import SourceService
from netautod.inventory.store import SourceStore
from netautod.inventory.sync.automatic import AutoSync
from netautod.inventory.sync.reader import InventoryReader
from netautod.inventory.sync.recorder import SyncRecorder
from netautod.inventory.sync.service import SyncService
from netautod.inventory.sync.store import HistoryStore
from netautod.store.leases.named import NamedLeases


@dataclass(frozen=True, kw_only=True)
class InventoryParts:
    sources: SourceService
    sync: SyncService
    auto: AutoSync

    @classmethod
    def build(
        cls,
        base: Foundation,
        devices: DeviceParts,
        plugins: PluginManager,
        leases: NamedLeases,
        pauses: Pauses,
    ) -> "InventoryParts":
        """Nothing is synchronised for an organization that is paused."""
        settings = base.settings
        synced = _synced(base, devices)
        store = SourceStore(base.database)
        history = HistoryStore(base.database, keep=settings.retention.sync_history)
        sources = SourceService(
            store=store,
            history=history,
            vault=base.vault,
            clock=base.clock,
            audit=base.audit,
            http=base.http,
            leases=leases,
            devices=synced,
        )
        sync = SyncService(
            sources=sources,
            recorder=SyncRecorder(history=history, sources=store, clock=base.clock, audit=base.audit),
            reader=InventoryReader(plugins.inventory_sources(), http=base.http, settings=settings.inventory),
            devices=synced,
            leases=leases,
            clock=base.clock,
            settings=settings.inventory,
            pauses=pauses,
        )
        auto = AutoSync(
            sync=sync,
            sources=store,
            clock=base.clock,
            settings=settings.inventory,
            caller_of=_automatic,
            pauses=pauses,
        )
        return cls(sources=sources, sync=sync, auto=auto)

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.sources, self.sync


def _synced(base: Foundation, parts: DeviceParts) -> SyncedDevices:
    store = DeviceStore(base.database)
    links = Links(store=store, credentials=parts.credentials, sites=parts.sites)
    return SyncedDevices(
        base.database,
        devices=parts.devices,
        revival=Revival(store=store, links=links, clock=base.clock),
        clock=base.clock,
        audit=base.audit,
    )


def _automatic(org_id: OrgId) -> Caller:
    return system_caller(org_id, "auto-sync")
