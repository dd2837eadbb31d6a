"""The part of the composition root about devices: sites, credentials, devices, their imports and bindings."""

from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.bindings.revival import Revival
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.devices.bulk_creation import DeviceBatches
from netautod.network.devices.creation.links import Links
from netautod.network.devices.service import DeviceService, Synonyms, alone
from netautod.network.devices.settings import DeviceSettings
from netautod.network.devices.vouching.service import Vouching
from netautod.network.inventory.imports.service import ImportService
from netautod.network.sites.service import SiteService
from netautod.secrets.vault.vault import Vault


@dataclass(frozen=True, kw_only=True)
class DeviceParts:
    """Sites, credentials and devices, which point at one another through their registries."""

    sites: SiteService
    credentials: CredentialService
    devices: DeviceService
    imports: ImportService
    synced: SyncedDevices
    vouching: Vouching

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.sites, self.credentials, self.devices, self.imports, self.vouching

    async def resume(self) -> None:
        """Finishes what a crash interrupted; the registries must be full."""
        for service in (self.sites, self.credentials, self.devices):
            await service.resume()


def devices_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    settings: DeviceSettings,
    synonyms: Synonyms = alone,
) -> DeviceParts:
    sites = SiteService(store=stores.sites, clock=clock, audit=audit)
    credentials = CredentialService(store=stores.credentials, vault=vault, clock=clock, audit=audit)
    links = Links(
        store=stores.devices, credentials=credentials, sites=sites, allow_telnet=settings.allow_telnet
    )
    devices = DeviceService(
        store=stores.devices, links=links, sites=sites, clock=clock, audit=audit, synonyms=synonyms
    )
    credentials.references.register(devices.using_credential)
    credentials.references.register(stores.tasks.using_credential)
    sites.references.register(devices.using_site)
    sites.renamed.register(devices.follow_site)
    batches = DeviceBatches(store=stores.devices, links=links, clock=clock)
    synced = SyncedDevices(
        bindings=stores.bindings,
        store=stores.devices,
        devices=devices,
        revival=Revival(store=stores.devices, links=links, clock=clock),
        clock=clock,
        audit=audit,
    )
    return DeviceParts(
        sites=sites,
        credentials=credentials,
        devices=devices,
        imports=ImportService(batches=batches, audit=audit),
        synced=synced,
        vouching=Vouching(store=stores.devices, clock=clock, audit=audit),
    )
