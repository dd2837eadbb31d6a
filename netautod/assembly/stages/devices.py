"""What is done with devices, what inventories say of them, and what they say themselves."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from netautod.assembly.installation import Installation
from netautod.assembly.parts.configs import ConfigParts, configs_of
from netautod.assembly.parts.devices import DeviceParts, devices_of
from netautod.assembly.parts.discovery import DiscoveryParts, discovery_of
from netautod.assembly.parts.inventory import InventoryParts, inventory_of
from netautod.assembly.parts.operations import DeviceOperations, operations_of, platforms_of
from netautod.assembly.settings import Settings
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import Pauses
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.configs.capture.captures import CaptureObservers
from netautod.network.devices.sessions.suspensions import SuspensionObservers
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.observers import Observers
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class DeviceWork:
    """What is done with devices: their records, what is done on them, and the configs that they hand out.

    `slugs` are what inventories call the platforms: the device type of each.
    """

    devices: DeviceParts
    operations: DeviceOperations
    configs: ConfigParts
    slugs: Mapping[str, str]


class DeviceObservers(CaptureObservers, SuspensionObservers, Protocol):
    """Whom the work with devices tells of what it has done."""


@asynccontextmanager
async def device_work(
    settings: Settings,
    installation: Installation,
    plugins: PluginManager,
    leases: NamedLeases,
    ssh_ca: SshAuthority,
    observers: DeviceObservers,
) -> AsyncIterator[DeviceWork]:
    stores, vault = installation.stores, installation.vault
    clock, audit = installation.clock, installation.audit
    platforms = platforms_of(plugins, settings.devices)
    devices = devices_of(
        stores=stores,
        vault=vault,
        clock=clock,
        audit=audit,
        settings=settings.devices,
        synonyms=platforms.synonyms,
    )
    operations = operations_of(
        stores=stores,
        clock=clock,
        audit=audit,
        devices=devices,
        platforms=platforms,
        leases=leases,
        authority=ssh_ca,
        settings=settings.devices,
        addresses=AddressRules.allowing(settings.outbound.allow),
        observers=observers,
        metrics=installation.metrics,
        tracer=installation.tracer,
    )
    opening = configs_of(
        database=installation.database,
        stores=stores,
        vault=vault,
        clock=clock,
        audit=audit,
        devices=devices.devices,
        sessions=operations.sessions,
        settings=settings.configs,
        backups=settings.backups,
        observers=observers,
    )
    async with opening as configs:
        yield DeviceWork(devices=devices, operations=operations, configs=configs, slugs=platforms.slugs)


def inventory(
    settings: Settings,
    installation: Installation,
    devices: DeviceParts,
    slugs: Mapping[str, str],
    plugins: PluginManager,
    http: GuardedClient,
    leases: NamedLeases,
    pauses: Pauses,
) -> InventoryParts:
    return inventory_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        http=http,
        leases=leases,
        devices=devices.synced,
        openers=plugins.inventory_sources(),
        platforms=slugs,
        pauses=pauses,
        settings=settings.inventory,
    )


def discovery(
    settings: Settings,
    installation: Installation,
    work: DeviceWork,
    plugins: PluginManager,
    http: GuardedClient,
    leases: NamedLeases,
    pauses: Pauses,
    metrics: Metrics,
    observers: Observers,
) -> DiscoveryParts:
    return discovery_of(
        stores=installation.stores,
        clock=installation.clock,
        audit=installation.audit,
        metrics=metrics,
        devices=work.devices.devices,
        credentials=work.devices.credentials,
        sessions=work.operations.sessions,
        collectors=plugins.collectors(),
        http=http,
        leases=leases,
        pauses=pauses,
        settings=settings.polling,
        observers=observers,
    )
