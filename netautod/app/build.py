"""The composition root: settings, plugins and an open installation become services, routes and a node."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from uuid import uuid4

from tornado.web import Application

from netautod.app import stages
from netautod.app.caller_services import caller_services
from netautod.app.configuration import Configuration
from netautod.app.draining import Draining
from netautod.app.installation import Installation
from netautod.app.parts.devices import DeviceParts
from netautod.app.parts.executions import aftermath_of, background_pulls_of, history_of
from netautod.app.parts.http import http_context_of
from netautod.app.parts.plugins import (
    additions_of,
    filled_in,
    observers_of,
    plugins_of,
)
from netautod.app.parts.system import capabilities_of, system_of
from netautod.app.parts.users import initial_password_watch_of
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.plugins.serving import PluginCalls
from netautod.app.routes import ROUTES
from netautod.app.settings import Settings
from netautod.app.stages import DeviceWork, Logins
from netautod.app.watch.watched import Watched
from netautod.console.base.pages import UnknownPageHandler
from netautod.console.base.rendering import Renderer
from netautod.console.base.static import StaticFiles
from netautod.console.routes import PAGES
from netautod.console.runs.previews import Previews
from netautod.core import json_values
from netautod.core.disk import MIB, Space
from netautod.core.metrics import Metrics
from netautod.core.refusals import Refusals
from netautod.core.waiting import unhurried, waits
from netautod.core.watch.loop import Ticker
from netautod.discovery.polling.poller import Poller
from netautod.events.service import EventService
from netautod.executions.running.node import ExecutionNode
from netautod.http.bodies.reader import BodyReader
from netautod.http.docs_page import DocsPage
from netautod.http.handler import UnknownRouteHandler
from netautod.http.health import Health, HealthCheck
from netautod.http.openapi import Description, document
from netautod.http.routes import Route, application
from netautod.idempotency.service import IdempotencyKeys
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.summary.service import Summaries
from netautod.system.pauses import FollowedPauses
from netautod.system.service import SystemService
from netautod.tasks.service import TaskService


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running parts of one node; `poller` is None if it polls no devices."""

    application: Application
    node: ExecutionNode
    poller: Poller | None
    events: EventService
    metrics: Metrics
    plugins: PluginManager
    devices: DeviceParts
    tasks: TaskService

    @property
    def drained(self) -> Sequence[Draining]:
        """What has to end before the node stops."""
        running: tuple[Draining, ...] = (self.events, self.node)
        return running if self.poller is None else (*running, self.poller)


@asynccontextmanager
async def build(
    configuration: Configuration,
    installation: Installation,
    health: Callable[[], Awaitable[Health]],
    watched: Watched,
) -> AsyncIterator[Service]:
    """Builds everything and starts what runs in the background; the caller listens and drains."""
    configuration = await filled_in(configuration, installation.secrets)
    settings = configuration.settings
    http = GuardedClient(AddressRules.allowing(settings.outbound.allow))
    plugins = plugins_of(
        configuration,
        http,
        required=settings.plugins.required,
        clock=installation.clock,
        storage=stages.storages(settings, installation).of,
    )
    additions = additions_of(plugins, installation.people.permissions)
    executors = plugins.executors()
    metrics, node_id = installation.metrics, str(uuid4())
    metrics.set("executions_slots", settings.executions.slots)
    installation.database.room.follow(partial(_note_space, metrics))
    watched.board.begin(node_id)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        await enter(
            Ticker(
                watched.board,
                partial(metrics.set, "loop_stalls"),
                late=partial(metrics.observe, "loop_lag_seconds"),
            )
        )
        observers = await enter(observers_of(plugins, metrics))
        leases = await enter(stages.leases(settings, installation, node_id))
        await enter(installation.stores.subscriptions)
        webhooks = stages.webhooks(settings, installation, http, leases, additions.events)
        for part in (webhooks.dispatcher, webhooks.intake, webhooks.expiring):
            await enter(part)
        logins = await stages.logins(settings, installation, plugins)
        stack.push_async_callback(logins.auth.providers.close)
        await enter(logins.sessions.activity)
        await enter(logins.auth.lookups)
        events = stages.events(settings, installation, logins)
        await enter(events.streams)
        refusals = await enter(stages.refusals(installation))
        work = await enter(
            stages.device_work(settings, installation, plugins, leases, logins.ssh_ca, observers)
        )
        plugins.events.tell(events.publisher, webhooks.publisher)  # before runs begin
        pauses = await enter(FollowedPauses(store=installation.stores.system))
        inventory = stages.inventory(
            settings, installation, work.devices, work.slugs, plugins, http, leases, pauses
        )
        discovery = stages.discovery(
            settings, installation, work, plugins, http, leases, pauses, metrics, observers
        )
        documents = await enter(stages.documents(settings, installation, additions.content_types))
        agents = stages.agents(installation, work, discovery, documents[1], plugins, http)
        shared = stages.shared_services(installation, work, http)
        environment = stages.environment(
            settings, installation, executors, work, agents, shared, metrics, watched.board
        )
        runs = stages.runs(settings, installation, node_id, environment, work.devices, observers, pauses)
        bodies = await enter(BodyReader())
        await enter(stages.heartbeat(settings, installation, node_id, runs.node))
        await _resume(work.devices, inventory.sources, installation.people.roles, logins.auth.api_tokens)
        await _settle(installation, observers, watched)
        await enter(runs.node)
        if discovery.poller is not None:
            await enter(discovery.poller)
        await enter(discovery.telling)
        await enter(stages.upkeep(settings, installation, work, inventory, leases, observers))
        routes = (*ROUTES, *additions.routes)
        pages = PAGES if settings.console.enabled else ()
        system = _system(configuration, installation, plugins, pauses, metrics)
        services = (
            *_services(installation, logins, work, routes),
            system,
            Summaries(
                backups=work.configs.backups,
                executions=runs.executions,
                system=system,
                changes=work.configs.recent,
            ),
            *inventory.services,
            discovery.discovery,
            discovery.places,
            *documents,
            runs.tasks,
            runs.executions,
            runs.chosen,
            Previews(tasks=runs.tasks, devices=work.devices.devices),
            background_pulls_of(runs.chosen, runs.executions),
            agents.agents,
            webhooks.service,
            capabilities_of(
                settings.server.instance_name,
                logins.auth.providers,
                installation.people.permissions,
                has_model=agents.agents.has_model,
            ),
            PluginCalls(partial(caller_services, shared)),
            history_of(installation.stores, runs.executions, agents.agents),
            HealthCheck(health),
            events.streams,
        )
        yield Service(
            application=_application(
                settings, installation, logins, bodies, refusals, (*routes, *pages), services
            ),
            node=runs.node,
            poller=discovery.poller,
            events=events.streams,
            metrics=metrics,
            plugins=plugins,
            devices=work.devices,
            tasks=runs.tasks,
        )


def _note_space(metrics: Metrics, space: Space) -> None:
    metrics.set("database_disk_free_mb", space.free // MIB)
    metrics.set("database_disk_free_bytes", space.free)


async def _settle(installation: Installation, observers: Observers, watched: Watched) -> None:
    """Ends the runs of the processes before this one that were given up, before others take them over."""
    aftermath = aftermath_of(
        database=installation.database,
        stores=installation.stores,
        observers=observers,
        clock=installation.clock,
    )
    await aftermath.settle(watched.given_up)
    watched.board.settle()


class _Resuming(Protocol):
    async def resume(self) -> None: ...


@waits(unhurried)
async def _resume(*services: _Resuming) -> None:
    """Finishes what a crash interrupted; whoever is asked about uses must be registered by now."""
    for service in services:
        await service.resume()


def _system(
    configuration: Configuration,
    installation: Installation,
    plugins: PluginManager,
    pauses: FollowedPauses,
    metrics: Metrics,
) -> SystemService:
    watch = initial_password_watch_of(installation.people, configuration.settings.data_dir)
    return system_of(
        stores=installation.stores,
        clock=installation.clock,
        audit=installation.audit,
        plugins=plugins,
        pauses=pauses,
        metrics=metrics,
        schedule=configuration.settings.scheduler,
        risks=configuration.risks.warned,
        lookouts=(watch.risks,),
    )


def _services(
    installation: Installation, logins: Logins, work: DeviceWork, routes: Iterable[Route]
) -> tuple[object, ...]:
    """What the handlers use, but for the system, runs, inventories and documents."""
    return (
        installation.audit,
        installation.people.roles,
        installation.people.users,
        logins.ssh_ca,
        *logins.auth.services,
        *work.devices.services,
        *work.operations.services,
        *work.configs.services,
        DocsPage.read(),
        Description(json_values.encode(document(routes))),
        static := StaticFiles.read(),
        Renderer(static),
    )


def _application(
    settings: Settings,
    installation: Installation,
    logins: Logins,
    bodies: BodyReader,
    refusals: Refusals,
    routes: Iterable[Route],
    services: Collection[object],
) -> Application:
    context = http_context_of(
        authenticator=logins.sessions.authenticator,
        page_callers=logins.auth.page_callers if settings.console.enabled else None,
        bodies=bodies,
        clock=installation.clock,
        server=settings.server,
        limits=settings.limits,
        refusals=refusals,
        room=installation.database.room,
        metrics=installation.metrics,
        tracer=installation.tracer,
        idempotency=IdempotencyKeys(store=installation.stores.idempotency, vault=installation.vault),
        database_seconds=settings.mongodb.timeout_seconds,
    )
    unknown = UnknownPageHandler if settings.console.enabled else UnknownRouteHandler
    return application(routes, context, services, unknown=unknown)
