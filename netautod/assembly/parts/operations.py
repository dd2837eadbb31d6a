"""The part of the composition root about sessions on devices, and what is done over them at once."""

from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.devices import DeviceParts
from netautod.core.clock import Clock
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.sessions.caller_suspensions import CallerSuspensions
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.network.devices.sessions.suspension_list import SuspendedLogins
from netautod.network.devices.sessions.suspensions import SuspensionObservers, Suspensions
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.network.devices.settings import DeviceSettings
from netautod.plugin_host.manager import PluginManager
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.ssh.platform.model import CaptureItem
from netautod.transport.ssh.platform.registry import PlatformRegistry


@dataclass(frozen=True, kw_only=True)
class DeviceOperations:
    suspensions: Suspensions
    sessions: DeviceSessions
    commands: CommandRunner
    tests: CredentialTests
    host_keys: HostKeys
    suspended: SuspendedLogins

    @property
    def services(self) -> tuple[object, ...]:
        """What the handlers use."""
        return self.commands, self.tests, self.host_keys, self.suspended, self.sessions.platforms


def platforms_of(plugins: PluginManager, settings: DeviceSettings) -> PlatformRegistry:
    """Those that ship, those of plugins, and what the operator lists for Linux hosts."""
    platforms = PlatformRegistry()
    plugins.register_platforms(platforms.register)
    entries = settings.linux_capture
    if entries:
        platforms.capture_instead("linux", [CaptureItem.parse(entry) for entry in entries])
    _ = platforms.of_readers  # now, since it would hold up the first request that needs it
    return platforms


def operations_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    devices: DeviceParts,
    platforms: PlatformRegistry,
    leases: NamedLeases,
    authority: SshAuthority,
    settings: DeviceSettings,
    addresses: AddressRules,
    observers: SuspensionObservers,
    metrics: Metrics,
    tracer: Tracer | None = None,
) -> DeviceOperations:
    suspensions = Suspensions(store=stores.suspensions, clock=clock, observers=observers)
    for refused in (stores.suspensions, stores.caller_suspensions):
        devices.devices.deleted.register(refused.forget_device)
        devices.credentials.deleted.register(refused.forget_credential)
    host_keys = HostKeys(store=stores.host_keys, clock=clock, audit=audit)
    sessions = DeviceSessions(
        devices=devices.devices,
        credentials=devices.credentials,
        platforms=platforms,
        leases=leases,
        audit=audit,
        suspensions=suspensions,
        caller_suspensions=CallerSuspensions(store=stores.caller_suspensions, clock=clock),
        host_keys=host_keys,
        authority=authority,
        settings=settings,
        reach=DeviceReach(rules=addresses),
        metrics=metrics,
        tracer=tracer,
    )
    return DeviceOperations(
        suspensions=suspensions,
        sessions=sessions,
        commands=CommandRunner(sessions=sessions, devices=devices.devices, audit=audit),
        tests=CredentialTests(
            sessions=sessions, devices=devices.devices, credentials=devices.credentials, audit=audit
        ),
        host_keys=host_keys,
        suspended=SuspendedLogins(
            background=stores.suspensions,
            callers=stores.caller_suspensions,
            devices=devices.devices,
            clock=clock,
        ),
    )
