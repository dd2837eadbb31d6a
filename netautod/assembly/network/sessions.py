"""The sessions on devices, and the commands and tests that run in them at once."""

from dataclasses import dataclass

from netautod.assembly.base import Base
from netautod.assembly.network.devices import DeviceRecords
from netautod.http.routing.services import Services
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.sessions.caller_suspensions import CallerSuspensions
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.network.devices.sessions.suspension_list import SuspendedLogins
from netautod.network.devices.sessions.suspensions import Suspensions
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.network.devices.settings import DeviceSettings
from netautod.plugin_host.manager import PluginManager
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.ssh.platform.model import CaptureItem
from netautod.transport.ssh.platform.redaction_rules import redaction_rules
from netautod.transport.ssh.platform.registry import PlatformRegistry


@dataclass(frozen=True, kw_only=True)
class DeviceOperations(Services):
    """The sessions on devices and the services that open one for a request."""

    platforms: PlatformRegistry
    suspensions: Suspensions
    sessions: DeviceSessions
    commands: CommandRunner
    tests: CredentialTests
    host_keys: HostKeys
    suspended: SuspendedLogins


def build_platforms(plugins: PluginManager, settings: DeviceSettings) -> PlatformRegistry:
    """Register the platforms that ship, those of plugins, and the capture list of the settings for Linux."""
    platforms = PlatformRegistry()
    plugins.register_platforms(platforms.register)
    entries = settings.linux_capture
    if entries:
        platforms.replace_capture("linux", [CaptureItem.parse(entry) for entry in entries])
    _ = platforms.for_readers  # now, since it would hold up the first request that needs it
    return platforms


def follow_platforms(base: Base) -> PlatformRegistry:
    """Build the platforms of the installation; from then on its stores tell what was made by their rules."""
    platforms = build_platforms(base.plugins, base.settings.devices)
    stores = base.stores
    stores.configs.rules = stores.execution_results.rules = redaction_rules(platforms.for_readers)
    return platforms


def build_operations(
    base: Base, records: DeviceRecords, platforms: PlatformRegistry, authority: SshAuthority
) -> DeviceOperations:
    stores, clock, audit = base.stores, base.clock, base.audit
    devices, credentials = records.devices, records.credentials
    suspensions = Suspensions(store=stores.suspensions, clock=clock, observers=base.observers)
    for refused in (stores.suspensions, stores.caller_suspensions):
        devices.deleted.register(refused.forget_device)
        credentials.deleted.register(refused.forget_credential)
    host_keys = HostKeys(store=stores.host_keys, clock=clock, audit=audit)
    sessions = DeviceSessions(
        devices=devices,
        credentials=credentials,
        platforms=platforms,
        leases=base.leases,
        audit=audit,
        suspensions=suspensions,
        caller_suspensions=CallerSuspensions(store=stores.caller_suspensions, clock=clock),
        host_keys=host_keys,
        authority=authority,
        settings=base.settings.devices,
        reach=DeviceReach(rules=AddressRules.allowing(base.settings.outbound.allow)),
        metrics=base.metrics,
        tracer=base.tracer,
    )
    return DeviceOperations(
        platforms=platforms,
        suspensions=suspensions,
        sessions=sessions,
        commands=CommandRunner(sessions=sessions, devices=devices, audit=audit),
        tests=CredentialTests(sessions=sessions, devices=devices, credentials=credentials, audit=audit),
        host_keys=host_keys,
        suspended=SuspendedLogins(
            background=stores.suspensions,
            callers=stores.caller_suspensions,
            devices=devices,
            clock=clock,
        ),
    )
