"""The records of devices: sites, credentials, devices, their imports and bindings."""

from collections.abc import Set
from dataclasses import dataclass

from netautod.assembly.identity import build_lockout
from netautod.assembly.installation import Installation
from netautod.http.routing.services import Services
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.bindings.revival import Revival
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.devices.bulk_creation import DeviceBatches
from netautod.network.devices.creation.links import Links
from netautod.network.devices.service import DeviceService, alone
from netautod.network.devices.vouching.service import Vouching
from netautod.network.inventory.imports.service import ImportService
from netautod.network.sites.service import SiteService
from netautod.transport.ssh.platform.registry import PlatformRegistry


@dataclass(frozen=True, kw_only=True)
class DeviceRecords(Services):
    """The sites, credentials and devices, which refer to each other through their registries."""

    sites: SiteService
    credentials: CredentialService
    devices: DeviceService
    imports: ImportService
    synced: SyncedDevices
    vouching: Vouching

    async def resume(self) -> None:
        """Finish what a crash interrupted; the registries must be full."""
        for service in (self.sites, self.credentials, self.devices):
            await service.resume()


def build_devices(
    installation: Installation,
    *,
    platforms: PlatformRegistry | None = None,
    transports: Set[str] | None = None,
) -> DeviceRecords:
    """Build the records. A command that neither filters nor writes devices needs no `platforms` and
    `transports`; the latter are those that collectors have registered.
    """
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    sites = SiteService(store=stores.sites, clock=clock, audit=audit)
    credentials = CredentialService(
        store=stores.credentials,
        vault=installation.vault,
        clock=clock,
        audit=audit,
        lockout=build_lockout(installation),
    )
    links = Links(
        store=stores.devices,
        credentials=credentials,
        sites=sites,
        allow_telnet=installation.settings.devices.allow_telnet,
        transports=transports,
    )
    devices = DeviceService(
        store=stores.devices,
        links=links,
        sites=sites,
        clock=clock,
        audit=audit,
        synonyms=alone if platforms is None else platforms.synonyms,
    )
    credentials.references.register(devices.using_credential)
    credentials.references.register(stores.tasks.using_credential)
    sites.references.register(devices.using_site)
    sites.renamed.register(devices.follow_site)
    batches = DeviceBatches(store=stores.devices, links=links, clock=clock)
    return DeviceRecords(
        sites=sites,
        credentials=credentials,
        devices=devices,
        imports=ImportService(batches=batches, audit=audit, known=platforms),
        synced=SyncedDevices(
            bindings=stores.bindings,
            store=stores.devices,
            devices=devices,
            revival=Revival(store=stores.devices, links=links, clock=clock),
            clock=clock,
            audit=audit,
        ),
        vouching=Vouching(store=stores.devices, clock=clock, audit=audit),
    )
