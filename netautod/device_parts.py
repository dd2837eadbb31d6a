"""The part of the composition root about devices: sites, credentials, devices and sessions on them."""

from dataclasses import dataclass

from netautod.credentials.service import CredentialService
from netautod.devices.service import DeviceService
from netautod.devices.sessions import DeviceSessions
from netautod.foundation import Foundation
from netautod.leases.named import NamedLeases
from netautod.plugin_manager import PluginManager
from netautod.sites.service import SiteService
from netautod.ssh.platform_model import CaptureItem
from netautod.ssh.platforms import PlatformRegistry
from netautod.tasks.store import TaskStore


@dataclass(frozen=True, kw_only=True)
class DeviceParts:
    """Sites, credentials and devices, which point at one another through their registries."""

    sites: SiteService
    credentials: CredentialService
    devices: DeviceService

    @classmethod
    def build(cls, base: Foundation) -> "DeviceParts":
        sites = SiteService(base.database, clock=base.clock, audit=base.audit)
        credentials = CredentialService(base.database, vault=base.vault, clock=base.clock, audit=base.audit)
        devices = DeviceService(
            base.database, clock=base.clock, audit=base.audit, credentials=credentials, sites=sites
        )
        credentials.references.register(devices.using_credential)
        credentials.references.register(TaskStore(base.database).using_credential)
        sites.references.register(devices.using_site)
        sites.renamed.register(devices.follow_site)
        return cls(sites=sites, credentials=credentials, devices=devices)

    async def resume(self) -> None:
        """Finishes what a crash interrupted; the registries must be full."""
        for service in (self.sites, self.credentials, self.devices):
            await service.resume()


def device_sessions(
    base: Foundation, parts: DeviceParts, plugins: PluginManager, leases: NamedLeases
) -> DeviceSessions:
    platforms = PlatformRegistry()
    plugins.register_platforms(platforms.register)
    entries = base.settings.devices.linux_capture
    if entries:
        platforms.capture_instead("linux", [CaptureItem.parse(entry) for entry in entries])
    return DeviceSessions(
        devices=parts.devices,
        credentials=parts.credentials,
        platforms=platforms,
        leases=leases,
        audit=base.audit,
        settings=base.settings.devices,
    )
