"""The only composition root: settings, database and plugins become services, routes and a node."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from tornado.web import Application

from netautod.app.foundation import Foundation
from netautod.app.parts.auth import AuthParts
from netautod.app.parts.configs import config_service, retention, stale_backups
from netautod.app.parts.devices import DeviceOperations, DeviceParts, device_sessions
from netautod.app.parts.docs import documents_of
from netautod.app.parts.inventory import InventoryParts
from netautod.app.parts.plugins import observers_of, plugins_of
from netautod.app.parts.system import system_service
from netautod.app.parts.tasks import executions_of, node_of, notifier_of, tasks_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.routes import ROUTES, description
from netautod.app.run_services import acting_factory
from netautod.auth.authenticator import Authenticator
from netautod.auth.ssh_ca import store as ssh_ca
from netautod.auth.tokens import store as token_store
from netautod.configs.service import ConfigService
from netautod.configs.texts import store as config_texts
from netautod.core.metrics import Metrics
from netautod.credentials import store as credential_store
from netautod.discovery.service import DiscoveryService
from netautod.docs.notes import store as notes_store
from netautod.executions.running.node import ExecutionNode, lease_times
from netautod.http.context import HttpContext, networks
from netautod.http.docs_page import DocsPage
from netautod.http.health import Health, HealthCheck
from netautod.http.limits import RateLimiter
from netautod.http.openapi import Description
from netautod.http.routes import application
from netautod.inventory import store as inventory_store
from netautod.store.leases import named
from netautod.store.leases.keeper import LeaseKeeper
from netautod.system.pauses import FollowedPauses
from netautod.system.store import SystemStore
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
    *token_store.SEALED_FIELDS,
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
    plugins = plugins_of(base.settings, base.http, required=base.settings.plugins.required)
    executors = plugins.executors()
    metrics, ticks = Metrics(), NextTicks()
    device_parts = DeviceParts.build(base)
    node_id = str(uuid4())
    async with AsyncExitStack() as stack:
        observers = await stack.enter_async_context(observers_of(plugins, metrics))
        leases = await named_leases(stack, base, node_id)
        auth = await AuthParts.build(base, plugins=plugins, installed=INSTALLED)
        stack.push_async_callback(auth.auth.providers.close)
        configs, operations = await _device_work(stack, base, device_parts, plugins, leases, auth, observers)
        pauses = await stack.enter_async_context(FollowedPauses(SystemStore(base.database)))
        inventory = InventoryParts.build(base, device_parts, plugins, leases, pauses)
        acting = acting_factory(
            devices=device_parts.devices, configs=configs, commands=operations.commands, http=base.http
        )
        notifier = notifier_of(base, observers)
        node = node_of(
            base,
            node_id=node_id,
            executors=executors,
            acting=acting,
            metrics=metrics,
            ticks=ticks,
            notifier=notifier,
            pauses=pauses,
        )
        tasks = tasks_of(base, device_parts, ticks, executors)
        executions = executions_of(base, tasks, node.runner, notifier)
        documents = await documents_of(stack, base)
        system = await system_service(stack, base, node_id=node_id, node=node, plugins=plugins, pauses=pauses)
        discovery = DiscoveryService(devices=device_parts.devices, clock=base.clock)
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
                ROUTES,
                _http_context(base, auth.authenticator),
                (
                    *auth.services,
                    *device_parts.services,
                    *inventory.services,
                    *operations.services,
                    configs,
                    discovery,
                    documents.documents,
                    executions,
                    documents.notes,
                    system,
                    tasks,
                    HealthCheck(health),
                    DocsPage.read(),
                    Description(description()),
                ),
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
    sessions = device_sessions(base, parts, plugins, leases, auth.ssh_ca)
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
