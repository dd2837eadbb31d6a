"""What works with devices in the name of a user: agents, plugins, commands."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from netautod.assembly.acting.caller_services import SharedServices
from netautod.assembly.installation import Installation
from netautod.assembly.parts.agents import AgentParts, agents_of
from netautod.assembly.parts.auth import ssh_ca_of
from netautod.assembly.parts.discovery import DiscoveryParts
from netautod.assembly.settings import Settings
from netautod.assembly.stages.around import leases
from netautod.assembly.stages.devices import DeviceWork, device_work
from netautod.documents.service import DocumentService
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.observers import Observers
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient


def agents(
    installation: Installation,
    work: DeviceWork,
    discovery: DiscoveryParts,
    documents: DocumentService,
    plugins: PluginManager,
    http: GuardedClient,
) -> AgentParts:
    return agents_of(
        stores=installation.stores,
        clock=installation.clock,
        audit=installation.audit,
        owners=installation.people.users,
        devices=work.devices,
        operations=work.operations,
        configs=work.configs.service,
        discovery=discovery.discovery,
        documents=documents,
        models=plugins.models(),
        tools=plugins.tools(),
        http=http,
    )


def shared_services(installation: Installation, work: DeviceWork, http: GuardedClient) -> SharedServices:
    """What plugins work with in the name of a user."""
    return SharedServices(
        devices=work.devices.devices,
        backups=work.configs.backups,
        captures=work.configs.captures,
        sessions=work.operations.sessions,
        commands=work.operations.commands,
        audit=installation.audit,
        http=http,
    )


@asynccontextmanager
async def services_of_commands(
    settings: Settings, installation: Installation, plugins: PluginManager
) -> AsyncIterator[SharedServices]:
    """The same without a service: nobody observes what is done with them."""
    ssh_ca = ssh_ca_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        settings=settings.ssh_ca,
    )
    nobody = Observers(plugins, installation.metrics)
    http = GuardedClient(AddressRules.allowing(settings.outbound.allow))
    async with (
        leases(settings, installation, str(uuid4())) as held,
        device_work(settings, installation, plugins, held, ssh_ca, nobody) as work,
    ):
        yield shared_services(installation, work, http)
