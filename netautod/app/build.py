"""The only composition root: settings, database and plugins become services, routes and a node."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from tornado.web import Application

from netautod.app.foundation import Foundation
from netautod.app.parts.auth import AuthParts
from netautod.app.parts.configs import config_service, retention, stale_backups
from netautod.app.parts.devices import DeviceOperations, DeviceParts, device_sessions
from netautod.app.parts.docs import documents_of
from netautod.app.parts.inventory import InventoryParts
from netautod.app.parts.plugins import observers_of
from netautod.app.parts.system import system_service
from netautod.app.parts.tasks import executions_of, owners_of, tasks_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.run_services import acting_factory
from netautod.auth.authenticator import Authenticator
from netautod.auth.ssh_ca import service as ssh_ca
from netautod.auth.tokens import signing_keys
from netautod.configs import handlers as config_handlers
from netautod.configs.service import ConfigService
from netautod.configs.texts import store as config_texts
from netautod.core.metrics import Metrics
from netautod.credentials import handlers as credential_handlers
from netautod.credentials import store as credential_store
from netautod.devices import handlers as device_handlers
from netautod.discovery import handlers as discovery_handlers
from netautod.discovery.service import DiscoveryService
from netautod.docs import handlers as document_handlers
from netautod.docs.notes import handlers as vault_handlers
from netautod.docs.notes import store as notes_store
from netautod.docs.notes.service import NotesVault
from netautod.docs.service import DocumentService
from netautod.executions import handlers as execution_handlers
from netautod.executions.running.attempt import ActingFactory
from netautod.executions.running.node import ExecutionNode, lease_times
from netautod.executions.service import ExecutionService
from netautod.http import docs_page, openapi
from netautod.http.context import HttpContext, networks
from netautod.http.health import Health
from netautod.http.health import routes as health_routes
from netautod.http.limits import RateLimiter
from netautod.http.routes import Route, application
from netautod.inventory import store as inventory_store
from netautod.inventory.imports import handlers as import_handlers
from netautod.plugin_api import Executor
from netautod.sites import handlers as site_handlers
from netautod.store.leases import named
from netautod.store.leases.keeper import LeaseKeeper
from netautod.system import handlers as system_handlers
from netautod.system.pauses import Pauses
from netautod.system.service import SystemService
from netautod.tasks import handlers as task_handlers
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.service import TaskService


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running parts of one node."""

    application: Application
    node: ExecutionNode
    metrics: Metrics
    plugins: PluginManager
    device_parts: DeviceParts
    tasks: TaskService


SEALED_FIELDS = (
    *credential_store.SEALED_FIELDS,
    *signing_keys.SEALED_FIELDS,
    *ssh_ca.SEALED_FIELDS,
    *config_texts.SEALED_FIELDS,
    *inventory_store.SEALED_FIELDS,
    *notes_store.SEALED_FIELDS,
)


# Which features of auth/capabilities.py there are; `sso` is told by the auth providers.
INSTALLED: Mapping[str, bool] = {
    "scheduled_tasks": True,
    "rbac": True,
    "shared_docs": True,
    "audit_logging": True,
    "central_ai": False,
}


@asynccontextmanager
async def build(base: Foundation, health: Callable[[], Awaitable[Health]]) -> AsyncIterator[Service]:
    """Builds everything and starts what runs in the background; the caller listens and drains."""
    chosen = base.settings.plugins
    plugins = PluginManager.load(required=chosen.required, disabled=chosen.disabled)
    executors = plugins.executors()
    metrics, ticks = Metrics(), NextTicks()
    device_parts = DeviceParts.build(base)
    node_id = str(uuid4())
    async with AsyncExitStack() as stack:
        observers = await stack.enter_async_context(observers_of(base, plugins, metrics))
        leases = await named_leases(stack, base, node_id)
        auth = await AuthParts.build(base, plugins=plugins, installed=INSTALLED)
        stack.push_async_callback(auth.auth.providers.close)
        configs, operations = await _device_work(stack, base, device_parts, plugins, leases, auth, observers)
        pauses = await stack.enter_async_context(Pauses(base.database))
        inventory = InventoryParts.build(base, device_parts, plugins, leases, pauses.paused)
        acting = acting_factory(
            devices=device_parts.devices, configs=configs, commands=operations.commands, http=base.http
        )
        node = _node(base, node_id, metrics, ticks, executors, acting, observers, pauses)
        tasks = tasks_of(base, device_parts, ticks, executors)
        executions = executions_of(base, tasks, node)
        notes, documents = await documents_of(stack, base)
        routes = _routes(
            auth=auth,
            configs=configs,
            discovery=DiscoveryService(devices=device_parts.devices, clock=base.clock),
            documents=documents,
            executions=executions,
            health=health,
            device_parts=device_parts,
            inventory=inventory,
            notes=notes,
            operations=operations,
            system=await system_service(
                stack, base, node_id=node_id, node=node, plugins=plugins, pauses=pauses
            ),
            tasks=tasks,
        )
        await _begin(
            stack,
            resuming=(device_parts, inventory.sources, auth),
            background=(
                node,
                retention(base, device_parts.devices, configs, leases),
                stale_backups(base, device_parts.devices, leases, observers),
                inventory.auto,
            ),
        )
        yield Service(
            application=application(
                [*routes, openapi.route(routes)], _http_context(base, auth.authenticator)
            ),
            node=node,
            metrics=metrics,
            plugins=plugins,
            device_parts=device_parts,
            tasks=tasks,
        )


async def _device_work(
    stack: AsyncExitStack,
    base: Foundation,
    parts: DeviceParts,
    plugins: PluginManager,
    leases: named.NamedLeases,
    auth: AuthParts,
    observers: Observers,
) -> tuple[ConfigService, DeviceOperations]:
    """What is done over sessions on devices."""
    sessions = device_sessions(base, parts, plugins, leases, auth.ssh_ca.sign_for_device)
    sessions.suspensions.observe(observers.credential_suspended)
    configs = config_service(base, parts.devices, sessions, observers.config_changed)
    operations = DeviceOperations.build(base, parts, sessions)
    return await stack.enter_async_context(configs), operations


class _Resuming(Protocol):
    async def resume(self) -> None: ...


async def _begin(
    stack: AsyncExitStack,
    *,
    resuming: Iterable[_Resuming],
    background: Iterable[AbstractAsyncContextManager[object] | None],
) -> None:
    """First what a crash interrupted, then what runs in the background."""
    for service in resuming:
        await service.resume()
    for worker in background:
        if worker is not None:
            await stack.enter_async_context(worker)


def _node(
    base: Foundation,
    node_id: str,
    metrics: Metrics,
    ticks: NextTicks,
    executors: Mapping[str, Executor],
    acting: ActingFactory,
    observers: Observers,
    pauses: Pauses,
) -> ExecutionNode:
    return ExecutionNode(
        node_id=node_id,
        database=base.database,
        clock=base.clock,
        metrics=metrics,
        ticks=ticks,
        executors=executors,
        owners=owners_of(base.users),
        acting=acting,
        finished=observers.execution_finished,
        observed=lambda: observers.wanted("netautod_execution_finished"),
        runs=base.settings.executions,
        schedule=base.settings.scheduler,
        paused=pauses.paused,
    )


def _routes(
    *,
    auth: AuthParts,
    configs: ConfigService,
    discovery: DiscoveryService,
    documents: DocumentService,
    executions: ExecutionService,
    health: Callable[[], Awaitable[Health]],
    device_parts: DeviceParts,
    inventory: InventoryParts,
    notes: NotesVault,
    operations: DeviceOperations,
    system: SystemService,
    tasks: TaskService,
) -> list[Route]:
    return [
        *auth.routes(),
        *config_handlers.routes(configs),
        *credential_handlers.routes(device_parts.credentials),
        *device_handlers.routes(device_parts.devices),
        *discovery_handlers.routes(discovery),
        docs_page.route(),
        *document_handlers.routes(documents),
        *execution_handlers.routes(executions),
        *health_routes(health),
        *import_handlers.routes(device_parts.imports),
        *operations.routes(),
        *inventory.routes(),
        *site_handlers.routes(device_parts.sites),
        *system_handlers.routes(system),
        *task_handlers.routes(tasks),
        *vault_handlers.routes(notes),
    ]


def description() -> dict[str, Any]:
    """The OpenAPI description without a running service: it depends on the handlers alone."""
    nothing: Any = None
    device_parts = DeviceParts(sites=nothing, credentials=nothing, devices=nothing, imports=nothing)
    routes = _routes(
        auth=AuthParts.of(nothing),
        configs=nothing,
        discovery=nothing,
        documents=nothing,
        executions=nothing,
        health=nothing,
        device_parts=device_parts,
        inventory=InventoryParts(sources=nothing, sync=nothing, auto=nothing),
        notes=nothing,
        operations=DeviceOperations(commands=nothing, tests=nothing, devices=nothing),
        system=nothing,
        tasks=nothing,
    )
    served: dict[str, Any] = openapi.route(routes).services["description"]
    return served


async def named_leases(stack: AsyncExitStack, base: Foundation, node_id: str) -> named.NamedLeases:
    """The leases of one node, or of a command beside it; renewed as long as the stack is open."""
    keeper = LeaseKeeper(
        collection=base.database.collection(named.COLLECTION),
        node_id=node_id,
        clock=base.clock,
        times=lease_times(base.settings.executions),
    )
    return named.NamedLeases(await stack.enter_async_context(keeper))


def _http_context(base: Foundation, authenticator: Authenticator) -> HttpContext:
    settings = base.settings
    limits = settings.limits
    return HttpContext(
        authenticate=authenticator.authenticate,
        limiter=RateLimiter(clock=base.clock, rate=limits.requests_per_second, burst=limits.burst),
        trusted_proxies=networks(settings.server.trusted_proxies),
        cors_origins=frozenset(settings.server.cors_origins),
    )
