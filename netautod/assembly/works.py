"""What a node works with and on: devices, inventories, discovered data, documents, agents, runs."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

from netautod.assembly import stages
from netautod.assembly.acting.caller_services import SharedServices
from netautod.assembly.base import Base
from netautod.assembly.parts.agents import AgentParts
from netautod.assembly.parts.discovery import DiscoveryParts
from netautod.assembly.parts.executions import aftermath_of
from netautod.assembly.parts.inventory import InventoryParts
from netautod.assembly.stages import DeviceWork, Runs
from netautod.assembly.surroundings import Surroundings
from netautod.automation.system.pauses import FollowedPauses
from netautod.core.work.deadlines import unhurried, waits
from netautod.documents.notes.service import NotesVault
from netautod.documents.service import DocumentService
from netautod.http.bodies.reader import BodyReader


@dataclass(frozen=True, kw_only=True)
class Works:
    """`shared` is what plugins work with in the name of a user."""

    devices: DeviceWork
    pauses: FollowedPauses
    inventory: InventoryParts
    discovery: DiscoveryParts
    notes: NotesVault
    documents: DocumentService
    agents: AgentParts
    shared: SharedServices
    runs: Runs
    bodies: BodyReader


async def works(stack: AsyncExitStack, base: Base, around: Surroundings) -> Works:
    """Nothing of it begins by itself before `begin`."""
    settings, installation, enter = base.settings, base.installation, stack.enter_async_context
    plugins, http, leases, observers = base.plugins, base.http, around.leases, around.observers
    devices = await enter(
        stages.device_work(settings, installation, plugins, leases, around.logins.ssh_ca, observers)
    )
    plugins.events.tell(around.events.publisher, around.webhooks.publisher)  # before runs begin
    pauses = await enter(FollowedPauses(store=installation.stores.system))
    inventory = stages.inventory(
        settings, installation, devices.devices, devices.slugs, plugins, http, leases, pauses
    )
    discovery = stages.discovery(
        settings, installation, devices, plugins, http, leases, pauses, base.metrics, observers
    )
    notes, documents = await enter(stages.documents(settings, installation, base.additions.content_types))
    agents = stages.agents(installation, devices, discovery, documents, plugins, http)
    shared = stages.shared_services(installation, devices, http)
    board, executors = base.watched.board, plugins.executors()
    environment = stages.environment(
        settings, installation, executors, devices, agents, shared, base.metrics, board
    )
    runs = stages.runs(settings, installation, base.node_id, environment, devices.devices, observers, pauses)
    return Works(
        devices=devices,
        pauses=pauses,
        inventory=inventory,
        discovery=discovery,
        notes=notes,
        documents=documents,
        agents=agents,
        shared=shared,
        runs=runs,
        bodies=await enter(BodyReader()),
    )


async def begin(stack: AsyncExitStack, base: Base, around: Surroundings, made: Works) -> None:
    """Finishes what a crash has left, then lets everything run until the `stack` is left."""
    settings, installation, enter = base.settings, base.installation, stack.enter_async_context
    node, discovery = made.runs.node, made.discovery
    await enter(stages.heartbeat(settings, installation, base.node_id, node))
    roles, tokens = installation.people.roles, around.logins.auth.api_tokens
    await _resume(made.devices.devices, made.inventory.sources, roles, tokens)
    await _settle(base, around)
    await enter(node)
    if discovery.poller is not None:
        await enter(discovery.poller)
    await enter(discovery.telling)
    leases, observers = around.leases, around.observers
    await enter(
        stages.upkeep(settings, installation, made.devices, made.inventory, leases, observers, made.pauses)
    )


class _Resuming(Protocol):
    async def resume(self) -> None: ...


@waits(unhurried)
async def _resume(*services: _Resuming) -> None:
    """Whoever is asked about uses must be registered by now."""
    for service in services:
        await service.resume()


async def _settle(base: Base, around: Surroundings) -> None:
    """Ends the runs of the processes before this one that were given up, before others take them over."""
    installation = base.installation
    aftermath = aftermath_of(
        database=installation.database,
        stores=installation.stores,
        observers=around.observers,
        clock=installation.clock,
    )
    await aftermath.settle(base.watched.given_up)
    base.watched.board.settle()
