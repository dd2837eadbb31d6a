"""The records of devices, the sessions on them and their configs, for the service and for commands."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from netautod.assembly.base import Base
from netautod.assembly.network.configs import Configs, open_configs
from netautod.assembly.network.devices import DeviceRecords, build_devices
from netautod.assembly.network.sessions import DeviceOperations, build_operations, follow_platforms
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.plugin_api import Collector
from netautod.transport.ssh.platform.registry import PlatformRegistry


@dataclass(frozen=True, kw_only=True)
class DeviceServices:
    """The three groups of services that work with devices, and the collectors of plugins by transport."""

    devices: DeviceRecords
    operations: DeviceOperations
    configs: Configs
    collectors: Mapping[str, Collector]

    @property
    def services(self) -> tuple[object, ...]:
        """Return the services of all groups."""
        return *self.devices.services, *self.operations.services, *self.configs.services


@asynccontextmanager
async def open_devices(
    base: Base, ssh_ca: SshAuthority, platforms: PlatformRegistry | None = None
) -> AsyncIterator[DeviceServices]:
    """Build the services and run the text workers within the block."""
    if platforms is None:
        platforms = follow_platforms(base)
    collectors = base.plugins.collectors()
    devices = build_devices(base, platforms=platforms, transports=collectors.keys())
    operations = build_operations(base, devices, platforms, ssh_ca)
    async with open_configs(base, devices, operations) as configs:
        yield DeviceServices(devices=devices, operations=operations, configs=configs, collectors=collectors)
