"""The part of the composition root about devices: sites, credentials, devices, their imports and sessions."""

from dataclasses import dataclass

from netautod.app.foundation import Foundation
from netautod.app.plugins.manager import PluginManager
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.credentials.service import CredentialService
from netautod.devices.bulk_creation import DeviceBatches
from netautod.devices.operations.commands import CommandRunner
from netautod.devices.operations.credential_tests import CredentialTests
from netautod.devices.service import DeviceService
from netautod.devices.sessions.service import DeviceSessions
from netautod.devices.sessions.suspensions import Suspensions
from netautod.devices.settings import DeviceSettings
from netautod.inventory.imports.service import ImportService
from netautod.sites.service import SiteService
from netautod.ssh.platform.model import CaptureItem
from netautod.ssh.platform.registry import PlatformRegistry
from netautod.store.leases.named import NamedLeases
from netautod.tasks.store import TaskStore


@dataclass(frozen=True, kw_only=True)
class DeviceParts:
    """Sites, credentials and devices, which point at one another through their registries."""

    sites: SiteService
    credentials: CredentialService
    devices: DeviceService
    imports: ImportService

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
        batches = DeviceBatches(base.database, clock=base.clock, credentials=credentials, sites=sites)
        imports = ImportService(batches=batches, audit=base.audit)
        return cls(sites=sites, credentials=credentials, devices=devices, imports=imports)

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.sites, self.credentials, self.devices, self.imports

    async def resume(self) -> None:
        """Finishes what a crash interrupted; the registries must be full."""
        for service in (self.sites, self.credentials, self.devices):
            await service.resume()


def platforms_of(plugins: PluginManager, settings: DeviceSettings) -> PlatformRegistry:
    """Those that ship, those of plugins, and what the operator lists for Linux hosts."""
    platforms = PlatformRegistry()
    plugins.register_platforms(platforms.register)
    entries = settings.linux_capture
    if entries:
        platforms.capture_instead("linux", [CaptureItem.parse(entry) for entry in entries])
    return platforms


def device_sessions(
    base: Foundation,
    parts: DeviceParts,
    plugins: PluginManager,
    leases: NamedLeases,
    authority: SshAuthority,
) -> DeviceSessions:
    """What opens sessions on devices, on this node."""
    platforms = platforms_of(plugins, base.settings.devices)
    suspensions = Suspensions(base.database, clock=base.clock)
    parts.devices.deleted.register(suspensions.store.forget_device)
    parts.credentials.deleted.register(suspensions.store.forget_credential)
    return DeviceSessions(
        devices=parts.devices,
        credentials=parts.credentials,
        platforms=platforms,
        leases=leases,
        audit=base.audit,
        suspensions=suspensions,
        authority=authority,
        settings=base.settings.devices,
    )


@dataclass(frozen=True, kw_only=True)
class DeviceOperations:
    """What is done on devices now, at the request of somebody who waits."""

    commands: CommandRunner
    tests: CredentialTests

    @classmethod
    def build(cls, base: Foundation, parts: DeviceParts, sessions: DeviceSessions) -> "DeviceOperations":
        devices = parts.devices
        return cls(
            commands=CommandRunner(sessions=sessions, devices=devices, audit=base.audit),
            tests=CredentialTests(sessions=sessions, devices=devices, audit=base.audit),
        )

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.commands, self.tests
