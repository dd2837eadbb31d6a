"""The inventories: their saved sources and synchronisations."""

from collections.abc import Mapping
from dataclasses import dataclass

from netautod.assembly.base import Base
from netautod.core.identity.caller import Caller, OrgId, system_caller
from netautod.http.routing.services import Services
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.inventory.service import SourceService
from netautod.network.inventory.sync.automatic import AutoSync
from netautod.network.inventory.sync.background import BackgroundSyncs
from netautod.network.inventory.sync.reader import InventoryReader
from netautod.network.inventory.sync.recorder import SyncRecorder
from netautod.network.inventory.sync.service import SyncService


@dataclass(frozen=True, kw_only=True)
class Inventories(Services):
    """The saved sources of devices and the services that synchronise with them."""

    sources: SourceService
    sync: SyncService
    auto: AutoSync
    background: BackgroundSyncs


def build_inventories(base: Base, devices: SyncedDevices, platforms: Mapping[str, str]) -> Inventories:
    """Build the services; nothing is synchronised for an organization that is paused.

    `platforms` are the device types by the platform names of inventories.
    """
    stores, clock, audit, settings = base.stores, base.clock, base.audit, base.settings.inventory
    sources = SourceService(
        store=stores.sources,
        vault=base.vault,
        clock=clock,
        audit=audit,
        http=base.http,
        leases=base.leases,
        devices=devices,
    )
    sources.deleted.register(stores.sync_history.detach_source)
    openers = base.plugins.inventory_sources()
    sync = SyncService(
        sources=sources,
        recorder=SyncRecorder(history=stores.sync_history, sources=stores.sources, clock=clock, audit=audit),
        reader=InventoryReader(openers, platforms=platforms, http=base.http, settings=settings),
        devices=devices,
        leases=base.leases,
        clock=clock,
        settings=settings,
        pauses=base.pauses,
    )
    auto = AutoSync(
        sync=sync,
        sources=stores.sources,
        clock=clock,
        settings=settings,
        caller_of=_auto_sync_caller,
        pauses=base.pauses,
    )
    sources.became_due = auto.kick
    return Inventories(sources=sources, sync=sync, auto=auto, background=BackgroundSyncs(sync))


def _auto_sync_caller(org_id: OrgId) -> Caller:
    return system_caller(org_id, "auto-sync")
