"""The composition root: settings, plugins and an open installation become services, routes and a node."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from uuid import uuid4

from tornado.web import Application

from netautod.app.installation import Installation
from netautod.app.parts.auth import AuthParts, auth_of, lockout_of, ssh_ca_of
from netautod.app.parts.configs import ConfigParts, configs_of
from netautod.app.parts.devices import DeviceParts, devices_of
from netautod.app.parts.docs import documents_of, notes_of
from netautod.app.parts.executions import environment_of, executions_of
from netautod.app.parts.inventory import InventoryParts, inventory_of
from netautod.app.parts.leases import named_leases
from netautod.app.parts.operations import DeviceOperations, operations_of, platforms_of
from netautod.app.parts.plugins import observers_of, plugins_of
from netautod.app.parts.sessions import SessionParts, sessions_of
from netautod.app.parts.system import capabilities_of, system_of
from netautod.app.parts.tasks import tasks_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.routes import ROUTES, description
from netautod.app.run_services import acting_factory
from netautod.app.settings import Settings
from netautod.app.upkeep import retention_of, stale_backups_of, sweeping
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics
from netautod.core.pauses import Pauses
from netautod.discovery.service import DiscoveryService
from netautod.docs.notes.service import NotesVault
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.service import DocumentService
from netautod.executions.notifier import FinishNotifier
from netautod.executions.running.environment import ActingFactory, RunEnvironment
from netautod.executions.running.node import ExecutionNode
from netautod.executions.service import ExecutionService
from netautod.http.context import HttpContext, networks
from netautod.http.docs_page import DocsPage
from netautod.http.health import Health, HealthCheck
from netautod.http.limits import RateLimiter
from netautod.http.openapi import Description
from netautod.http.routes import application
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.store.leases.named import NamedLeases
from netautod.system.heartbeat import NodeHeartbeat
from netautod.system.pauses import FollowedPauses
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.service import TaskService


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running parts of one node."""

    application: Application
    node: ExecutionNode
    metrics: Metrics
    plugins: PluginManager
    devices: DeviceParts
    tasks: TaskService


@dataclass(frozen=True, kw_only=True)
class _Logins:
    sessions: SessionParts
    ssh_ca: SshAuthority
    auth: AuthParts


@dataclass(frozen=True, kw_only=True)
class _DeviceWork:
    """What is done with devices: their records, what is done on them, and the configs that they hand out."""

    devices: DeviceParts
    operations: DeviceOperations
    configs: ConfigParts


@dataclass(frozen=True, kw_only=True)
class _Runs:
    node: ExecutionNode
    tasks: TaskService
    executions: ExecutionService


@asynccontextmanager
async def build(
    settings: Settings, installation: Installation, health: Callable[[], Awaitable[Health]]
) -> AsyncIterator[Service]:
    """Builds everything and starts what runs in the background; the caller listens and drains."""
    http = GuardedClient(AddressRules.allowing(settings.outbound.allow))
    plugins = plugins_of(settings, http, required=settings.plugins.required)
    executors = plugins.executors()
    metrics, node_id = Metrics(), str(uuid4())
    people, clock = installation.people, installation.clock
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        observers = await enter(observers_of(plugins, metrics))
        leases = await enter(
            named_leases(
                database=installation.database, node_id=node_id, clock=clock, settings=settings.executions
            )
        )
        logins = await _logins(settings, installation, plugins)
        stack.push_async_callback(logins.auth.providers.close)
        work = await enter(_device_work(settings, installation, plugins, leases, logins.ssh_ca, observers))
        pauses = await enter(FollowedPauses(installation.stores.system))
        inventory = _inventory(settings, installation, work.devices, plugins, http, leases, pauses)
        environment = environment_of(
            stores=installation.stores,
            clock=clock,
            metrics=metrics,
            executors=executors,
            owners=people.users,
            acting=_acting(work, http),
            settings=settings.executions,
        )
        runs = _runs(settings, installation, node_id, environment, work.devices, observers, pauses)
        documents = await enter(_documents(settings, installation))
        await enter(_heartbeat(settings, installation, node_id, runs.node))
        for resuming in (work.devices, inventory.sources, people.roles, logins.auth.api_tokens):
            await resuming.resume()
        await enter(runs.node)
        await enter(_upkeep(settings, installation, work, leases, observers))
        await enter(inventory.auto)
        services = (
            *_services(settings, installation, logins, work, plugins, pauses),
            *inventory.services,
            *documents,
            runs.tasks,
            runs.executions,
            HealthCheck(health),
        )
        yield Service(
            application=application(ROUTES, _http_context(settings, clock, logins), services),
            node=runs.node,
            metrics=metrics,
            plugins=plugins,
            devices=work.devices,
            tasks=runs.tasks,
        )


async def _logins(settings: Settings, installation: Installation, plugins: PluginManager) -> _Logins:
    stores, vault, clock = installation.stores, installation.vault, installation.clock
    sessions = await sessions_of(
        stores=stores, vault=vault, clock=clock, users=installation.people.users, settings=settings
    )
    ssh_ca = ssh_ca_of(
        stores=stores, vault=vault, clock=clock, audit=installation.audit, settings=settings.ssh_ca
    )
    auth = auth_of(
        stores=stores,
        clock=clock,
        audit=installation.audit,
        people=installation.people,
        sessions=sessions,
        lockout=await lockout_of(
            database=installation.database, vault=vault, clock=clock, settings=settings.auth
        ),
        ssh_ca=ssh_ca,
        directories=plugins.auth_providers().values(),
    )
    return _Logins(sessions=sessions, ssh_ca=ssh_ca, auth=auth)


@asynccontextmanager
async def _device_work(
    settings: Settings,
    installation: Installation,
    plugins: PluginManager,
    leases: NamedLeases,
    ssh_ca: SshAuthority,
    observers: Observers,
) -> AsyncIterator[_DeviceWork]:
    stores, vault = installation.stores, installation.vault
    clock, audit = installation.clock, installation.audit
    devices = devices_of(stores=stores, vault=vault, clock=clock, audit=audit)
    operations = operations_of(
        stores=stores,
        clock=clock,
        audit=audit,
        devices=devices,
        platforms=platforms_of(plugins, settings.devices),
        leases=leases,
        authority=ssh_ca,
        settings=settings.devices,
        observers=observers,
    )
    making = configs_of(
        database=installation.database,
        stores=stores,
        vault=vault,
        clock=clock,
        audit=audit,
        devices=devices.devices,
        sessions=operations.sessions,
        settings=settings.configs,
        observers=observers,
    )
    async with making as configs:
        yield _DeviceWork(devices=devices, operations=operations, configs=configs)


def _inventory(
    settings: Settings,
    installation: Installation,
    devices: DeviceParts,
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
        pauses=pauses,
        settings=settings.inventory,
    )


def _acting(work: _DeviceWork, http: GuardedClient) -> ActingFactory:
    return acting_factory(
        devices=work.devices.devices,
        captures=work.configs.captures,
        snapshots=work.configs.snapshots,
        sessions=work.operations.sessions,
        commands=work.operations.commands,
        http=http,
    )


def _runs(
    settings: Settings,
    installation: Installation,
    node_id: str,
    environment: RunEnvironment,
    devices: DeviceParts,
    observers: Observers,
    pauses: Pauses,
) -> _Runs:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    ticks, notifier = NextTicks(), FinishNotifier(store=stores.executions, observers=observers)
    node = ExecutionNode(
        node_id=node_id,
        environment=environment,
        store=stores.executions,
        tasks=stores.tasks,
        ticks=ticks,
        schedule=settings.scheduler,
        notifier=notifier,
        pauses=pauses,
    )
    tasks = tasks_of(
        stores=stores,
        clock=clock,
        audit=audit,
        credentials=devices.credentials,
        executors=environment.executors,
        ticks=ticks,
    )
    executions = executions_of(
        stores=stores, clock=clock, audit=audit, tasks=tasks, runs=node.runner, notifier=notifier
    )
    return _Runs(node=node, tasks=tasks, executions=executions)


@asynccontextmanager
async def _documents(
    settings: Settings, installation: Installation
) -> AsyncIterator[tuple[NotesVault, DocumentService]]:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    notes = notes_of(
        stores=stores, vault=installation.vault, clock=clock, audit=audit, settings=settings.vault
    )
    async with RenderPool(processes=settings.docs.render_processes) as renderer:
        made = documents_of(stores=stores, notes=notes, renderer=renderer, clock=clock, audit=audit)
        async with made.upkeep:
            yield notes, made.documents


def _heartbeat(
    settings: Settings, installation: Installation, node_id: str, node: ExecutionNode
) -> NodeHeartbeat:
    return NodeHeartbeat(
        installation.stores.system,
        node_id=node_id,
        slots=settings.executions.slots,
        running=lambda: node.runner.running,
    )


@asynccontextmanager
async def _upkeep(
    settings: Settings,
    installation: Installation,
    work: _DeviceWork,
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
    stale = stale_backups_of(
        stores=stores,
        clock=clock,
        devices=devices,
        leases=leases,
        observers=observers,
        settings=settings.backups,
    )
    async with sweeping(sweeps, leases=leases, settings=settings.retention), stale or nullcontext():
        yield


def _services(
    settings: Settings,
    installation: Installation,
    logins: _Logins,
    work: _DeviceWork,
    plugins: PluginManager,
    pauses: FollowedPauses,
) -> tuple[object, ...]:
    """What the handlers use, but for runs, inventories and documents."""
    return (
        installation.audit,
        installation.people.roles,
        installation.people.users,
        logins.ssh_ca,
        *logins.auth.services,
        *work.devices.services,
        *work.operations.services,
        *work.configs.services,
        DiscoveryService(devices=work.devices.devices, clock=installation.clock),
        capabilities_of(settings.server.instance_name, logins.auth.providers),
        system_of(
            stores=installation.stores,
            clock=installation.clock,
            audit=installation.audit,
            plugins=plugins,
            pauses=pauses,
        ),
        DocsPage.read(),
        Description(description()),
    )


def _http_context(settings: Settings, clock: Clock, logins: _Logins) -> HttpContext:
    limits = settings.limits
    return HttpContext(
        authenticate=logins.sessions.authenticator.authenticate,
        limiter=RateLimiter(clock=clock, rate=limits.requests_per_second, burst=limits.burst),
        trusted_proxies=networks(settings.server.trusted_proxies),
        cors_origins=frozenset(settings.server.cors_origins),
    )
