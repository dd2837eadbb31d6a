"""The part of the composition root about inventories: saved sources and synchronisations."""

from collections.abc import Mapping
from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId, system_caller
from netautod.core.work.pauses import Pauses
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.inventory.service import SourceService
from netautod.network.inventory.settings import InventorySettings
from netautod.network.inventory.sync.automatic import AutoSync
from netautod.network.inventory.sync.background import BackgroundSyncs
from netautod.network.inventory.sync.reader import InventoryReader
from netautod.network.inventory.sync.recorder import SyncRecorder
from netautod.network.inventory.sync.service import SyncService
from netautod.plugin_api import OpenInventory
from netautod.secrets.vault.vault import Vault
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class InventoryParts:
    sources: SourceService
    sync: SyncService
    auto: AutoSync
    background: BackgroundSyncs

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.sources, self.sync, self.background


def inventory_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    http: GuardedClient,
    leases: NamedLeases,
    devices: SyncedDevices,
    openers: Mapping[str, OpenInventory],
    platforms: Mapping[str, str],
    pauses: Pauses,
    settings: InventorySettings,
) -> InventoryParts:
    """`openers` are what plugins register; nothing is synchronised for an organization that is paused."""
    sources = SourceService(
        store=stores.sources,
        vault=vault,
        clock=clock,
        audit=audit,
        http=http,
        leases=leases,
        devices=devices,
    )
    sources.deleted.register(stores.sync_history.detach_source)
    sync = SyncService(
        sources=sources,
        recorder=SyncRecorder(history=stores.sync_history, sources=stores.sources, clock=clock, audit=audit),
        reader=InventoryReader(openers, platforms=platforms, http=http, settings=settings),
        devices=devices,
        leases=leases,
        clock=clock,
        settings=settings,
        pauses=pauses,
    )
    auto = AutoSync(
        sync=sync,
        sources=stores.sources,
        clock=clock,
        settings=settings,
        caller_of=_automatic,
        pauses=pauses,
    )
    return InventoryParts(sources=sources, sync=sync, auto=auto, background=BackgroundSyncs(sync))


def _automatic(org_id: OrgId) -> Caller:
    return system_caller(org_id, "auto-sync")
