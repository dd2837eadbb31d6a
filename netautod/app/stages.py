"""The stages of `build`: each hands to its parts what they use of the settings and the installation."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from netautod.app.caller_services import SharedServices
from netautod.app.installation import Installation
from netautod.app.migrations import migrations_of
from netautod.app.parts.agents import AgentParts, agents_of
from netautod.app.parts.auth import AuthParts, auth_of, lockout_of, ssh_ca_of
from netautod.app.parts.configs import ConfigParts, configs_of
from netautod.app.parts.devices import DeviceParts, devices_of
from netautod.app.parts.discovery import DiscoveryParts, discovery_of
from netautod.app.parts.docs import documents_of, notes_of
from netautod.app.parts.events import EventParts, events_of
from netautod.app.parts.executions import chosen_of, environment_of, executions_of, node_of
from netautod.app.parts.http import refusal_log_of
from netautod.app.parts.inventory import InventoryParts, inventory_of
from netautod.app.parts.leases import named_leases
from netautod.app.parts.operations import DeviceOperations, operations_of, platforms_of
from netautod.app.parts.plugins import storages_of
from netautod.app.parts.sessions import SessionParts, sessions_of
from netautod.app.parts.tasks import rules_of, tasks_of
from netautod.app.parts.users import initial_password_watch_of
from netautod.app.parts.webhooks import WebhookParts, webhooks_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.run_services import acting_factory
from netautod.app.settings import Settings
from netautod.app.upkeep import (
    going_on,
    noting,
    retention_of,
    stale_backups_of,
    sweeping,
    unnoted_captures_of,
    watching,
)
from netautod.audit.refusals import RefusalLog
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.configs.capture.captures import CaptureObservers
from netautod.core.metrics import Metrics
from netautod.core.pauses import Pauses
from netautod.core.watch.board import Board
from netautod.devices.sessions.suspensions import SuspensionObservers
from netautod.docs.content_types import ContentTypes
from netautod.docs.notes.service import NotesVault
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.service import DocumentService
from netautod.executions.chosen import ChosenDevices
from netautod.executions.notifier import FinishNotifier
from netautod.executions.running.environment import RunEnvironment
from netautod.executions.running.node import ExecutionNode
from netautod.executions.service import ExecutionService
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import Executor
from netautod.store.leases.named import NamedLeases
from netautod.store.migrations.runner import MigrationRunner
from netautod.system.heartbeat import NodeHeartbeat
from netautod.system.plugin_storage.service import PluginStorages
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.service import TaskService


@dataclass(frozen=True, kw_only=True)
class Logins:
    sessions: SessionParts
    ssh_ca: SshAuthority
    auth: AuthParts


@dataclass(frozen=True, kw_only=True)
class DeviceWork:
    """What is done with devices: their records, what is done on them, and the configs that they hand out.

    `slugs` are what inventories call the platforms: the device type of each.
    """

    devices: DeviceParts
    operations: DeviceOperations
    configs: ConfigParts
    slugs: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Runs:
    node: ExecutionNode
    tasks: TaskService
    executions: ExecutionService
    chosen: ChosenDevices


def leases(
    settings: Settings, installation: Installation, node_id: str
) -> AbstractAsyncContextManager[NamedLeases]:
    return named_leases(
        database=installation.database,
        node_id=node_id,
        clock=installation.clock,
        settings=settings.executions,
    )


async def logins(settings: Settings, installation: Installation, plugins: PluginManager) -> Logins:
    stores, vault, clock = installation.stores, installation.vault, installation.clock
    sessions = await sessions_of(
        stores=stores, vault=vault, clock=clock, users=installation.people.users, settings=settings
    )
    ssh_ca = ssh_ca_of(
        stores=stores, vault=vault, clock=clock, audit=installation.audit, settings=settings.ssh_ca
    )
    auth = auth_of(
        stores=stores,
        vault=installation.vault,
        clock=clock,
        audit=installation.audit,
        people=installation.people,
        sessions=sessions,
        lockout=await lockout_of(
            database=installation.database, vault=vault, clock=clock, settings=settings.auth
        ),
        ssh_ca=ssh_ca,
        directories=plugins.auth_providers().values(),
        settings=settings.auth,
    )
    return Logins(sessions=sessions, ssh_ca=ssh_ca, auth=auth)


def events(settings: Settings, installation: Installation, logins: Logins) -> EventParts:
    return events_of(
        database=installation.database,
        stores=installation.stores,
        clock=installation.clock,
        standings=logins.sessions.standings,
        settings=settings.events,
    )


def storages(settings: Settings, installation: Installation) -> PluginStorages:
    """What plugins keep in the database."""
    return storages_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        settings=settings.plugins,
    )


def refusals(installation: Installation) -> AbstractAsyncContextManager[RefusalLog]:
    return refusal_log_of(
        audit=installation.audit,
        default_org=installation.people.organizations.default_id,
        clock=installation.clock,
    )


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


def environment(
    settings: Settings,
    installation: Installation,
    executors: Mapping[str, Executor],
    work: DeviceWork,
    agents: AgentParts,
    shared: SharedServices,
    metrics: Metrics,
    board: Board,
) -> RunEnvironment:
    acting = acting_factory(shared=shared, snapshots=work.configs.snapshots, desk=agents.desk)
    return environment_of(
        stores=installation.stores,
        clock=installation.clock,
        metrics=metrics,
        executors=executors,
        owners=installation.people.users,
        acting=acting,
        settings=settings.executions,
        board=board,
        tracer=installation.tracer,
    )


def runs(
    settings: Settings,
    installation: Installation,
    node_id: str,
    environment: RunEnvironment,
    devices: DeviceParts,
    observers: Observers,
    pauses: Pauses,
) -> Runs:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    ticks, notifier = NextTicks(), FinishNotifier(store=stores.executions, observers=observers)
    node = node_of(
        node_id=node_id,
        stores=stores,
        environment=environment,
        ticks=ticks,
        notifier=notifier,
        pauses=pauses,
        settings=settings.scheduler,
    )
    tasks = tasks_of(
        stores=stores,
        clock=clock,
        audit=audit,
        rules=rules_of(environment.executors, devices.credentials),
        ticks=ticks,
    )
    executions = executions_of(
        stores=stores,
        clock=clock,
        audit=audit,
        tasks=tasks,
        runs=node.runner,
        notifier=notifier,
        users=installation.people.users,
    )
    chosen = chosen_of(
        stores=stores, executions=executions, tasks=tasks, audit=audit, clock=clock, runs=node.runner
    )
    return Runs(node=node, tasks=tasks, executions=executions, chosen=chosen)


@asynccontextmanager
async def documents(
    settings: Settings, installation: Installation, types: ContentTypes
) -> AsyncIterator[tuple[NotesVault, DocumentService]]:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    notes = notes_of(
        stores=stores, vault=installation.vault, clock=clock, audit=audit, settings=settings.vault
    )
    async with RenderPool(processes=settings.docs.render_processes) as renderer:
        made = documents_of(
            stores=stores, notes=notes, renderer=renderer, types=types, clock=clock, audit=audit
        )
        async with made.upkeep:
            yield notes, made.documents


def webhooks(
    settings: Settings,
    installation: Installation,
    http: GuardedClient,
    leases: NamedLeases,
    plugin_events: Iterable[str],
) -> WebhookParts:
    return webhooks_of(
        stores=installation.stores,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        metrics=installation.metrics,
        http=http,
        leases=leases,
        settings=settings.webhooks,
        instance_name=settings.server.instance_name,
        plugin_events=plugin_events,
    )


def heartbeat(
    settings: Settings, installation: Installation, node_id: str, node: ExecutionNode
) -> NodeHeartbeat:
    return NodeHeartbeat(
        store=installation.stores.system,
        node_id=node_id,
        slots=settings.executions.slots,
        running=lambda: node.runner.running,
    )


@asynccontextmanager
async def upkeep(
    settings: Settings,
    installation: Installation,
    work: DeviceWork,
    inventory: InventoryParts,
    leases: NamedLeases,
    observers: Observers,
) -> AsyncIterator[None]:
    stores, clock, devices = installation.stores, installation.clock, work.devices.devices
    sweeps = retention_of(
        stores=stores,
        clock=clock,
        audit=installation.audit,
        devices=devices,
        configs=work.configs,
        settings=settings.retention,
    )
    unnoted = unnoted_captures_of(stores, clock)
    stale = stale_backups_of(
        stores=stores,
        clock=clock,
        unnoted=unnoted,
        leases=leases,
        observers=observers,
        settings=settings.backups,
    )
    initial_password = initial_password_watch_of(installation.people, settings.data_dir)
    known = migrations_of(installation.database, stores, settings.auth)
    migrations = MigrationRunner(installation.database, known, leases=leases)
    async with (
        watching(initial_password),
        going_on(migrations),
        sweeping(sweeps, leases=leases, settings=settings.retention),
        noting(unnoted, leases),
        stale or nullcontext(),
        inventory.auto,
        inventory.background,
    ):
        yield
