"""Settings, plugins and an open installation become a running service."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tornado.web import Application

from netautod.activity.events.service import EventService
from netautod.assembly.acting.agents import build_agents
from netautod.assembly.acting.caller_services import SharedServices, caller_services, share_services
from netautod.assembly.acting.run_services import acting_factory
from netautod.assembly.activity import Activity, open_activity
from netautod.assembly.automation import Automation, build_automation
from netautod.assembly.base import Base, open_base
from netautod.assembly.configuration import Configuration
from netautod.assembly.documents import Documents, open_documents
from netautod.assembly.identity import Identity, open_identity
from netautod.assembly.installation import Installation
from netautod.assembly.network.device_services import DeviceServices, open_devices
from netautod.assembly.network.devices import DeviceRecords
from netautod.assembly.network.discovery import Discovery, build_discovery
from netautod.assembly.network.inventory import Inventories, build_inventories
from netautod.assembly.network.sessions import follow_platforms
from netautod.assembly.routes import ROUTES, description
from netautod.assembly.upkeep import upkeep
from netautod.automation.executions.abandoned.watched import Watched
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.tasks.service import TaskService
from netautod.console.base.pages import UnknownPageHandler
from netautod.console.base.rendering import Renderer
from netautod.console.base.static import StaticFiles
from netautod.console.help.pages import ManualPages
from netautod.console.routes import PAGES, chapters
from netautod.console.runs.previews import Previews
from netautod.core.json import values as json_values
from netautod.core.metrics import Metrics
from netautod.core.work.deadlines import unhurried, waits
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, Shares, networks
from netautod.http.description.docs_page import DocsPage
from netautod.http.description.openapi import Description
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.limits import Rate, RequestLimits
from netautod.http.routing.routes import application
from netautod.http.routing.unknown_route import UnknownRouteHandler
from netautod.http.status.health import Health, HealthCheck
from netautod.manual.library import Manual
from netautod.network.discovery.polling.poller import Poller
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers.routes import PluginCalls


class Draining(Protocol):
    """A part of a node that runs executions, polls, or streams events."""

    async def drain(self, seconds: float) -> None: ...


class Resuming(Protocol):
    """A service whose deletions a crash may have interrupted."""

    async def resume(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Wings:
    """The services of all wings; `shared` are those that plugins use in the name of a user."""

    identity: Identity
    activity: Activity
    devices: DeviceServices
    inventories: Inventories
    discovery: Discovery
    documents: Documents
    shared: SharedServices
    automation: Automation

    @property
    def services(self) -> tuple[object, ...]:
        """Return all that handlers may get."""
        return (
            *self.identity.services,
            *self.activity.services,
            *self.devices.services,
            *self.inventories.services,
            *self.discovery.services,
            *self.documents.services,
            *self.automation.services,
            Previews(tasks=self.automation.tasks, devices=self.devices.devices.devices),
            PluginCalls(partial(caller_services, self.shared)),
        )


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running parts of one node; `poller` is None if it polls no devices."""

    application: Application
    node: ExecutionNode
    poller: Poller | None
    events: EventService
    metrics: Metrics
    plugins: PluginManager
    devices: DeviceRecords
    tasks: TaskService

    @property
    def drained(self) -> Sequence[Draining]:
        """Return the parts that have to end before the node stops."""
        running: tuple[Draining, ...] = (self.events, self.node)
        return running if self.poller is None else (*running, self.poller)


@asynccontextmanager
async def build(
    configuration: Configuration,
    installation: Installation,
    health: Callable[[], Awaitable[Health]],
    watched: Watched,
) -> AsyncIterator[Service]:
    """Build everything and run what works in the background; the caller listens and drains."""
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(open_base(configuration, installation, watched))
        wings = await _open_wings(stack, base)
        bodies = await stack.enter_async_context(BodyReader())
        await _start(stack, base, wings)
        yield Service(
            application=_build_application(base, wings, bodies, HealthCheck(health)),
            node=wings.automation.node,
            poller=wings.discovery.poller,
            events=wings.activity.events.streams,
            metrics=base.metrics,
            plugins=base.plugins,
            devices=wings.devices.devices,
            tasks=wings.automation.tasks,
        )


async def _open_wings(stack: AsyncExitStack, base: Base) -> Wings:
    """Build the wings, each from those below it; no run, poll or synchronization begins before `_start`."""
    enter = stack.enter_async_context
    identity = await enter(open_identity(base))
    # Before events of configs are delivered: what they tell depends on what is hidden.
    platforms = follow_platforms(base)
    activity = await enter(open_activity(base, identity.sessions.token_states))
    devices = await enter(open_devices(base, identity.ssh_ca, platforms))
    # Before runs begin, whose plugins may publish.
    base.plugins.events.publish_to(activity.events.publisher, activity.webhooks.publisher)
    inventories = build_inventories(base, devices.devices.synced, devices.operations.platforms.slugs)
    discovery = build_discovery(base, devices)
    documents = await enter(open_documents(base, base.additions.content_types))
    agents = build_agents(base, devices, discovery.service, documents.documents)
    shared = share_services(base, devices)
    acting = acting_factory(shared=shared, snapshots=devices.configs.snapshots, desk=agents.desk)
    return Wings(
        identity=identity,
        activity=activity,
        devices=devices,
        inventories=inventories,
        discovery=discovery,
        documents=documents,
        shared=shared,
        automation=build_automation(base, acting, devices, agents.service, identity.providers),
    )


async def _start(stack: AsyncExitStack, base: Base, wings: Wings) -> None:
    """Finish what a crash has left, then let everything run until the `stack` is left."""
    enter, automation, discovery = stack.enter_async_context, wings.automation, wings.discovery
    await enter(automation.heartbeat)
    await _resume(
        wings.devices.devices, wings.inventories.sources, base.people.roles, wings.identity.api_tokens
    )
    # The runs of given-up processes before this one end before other nodes take them over.
    await automation.aftermath.settle(base.watched.given_up)
    base.watched.board.settle()
    await enter(automation.node)
    await enter(automation.block_watch)
    if discovery.poller is not None:
        await enter(discovery.poller)
    await enter(discovery.notices)
    await enter(upkeep(base, wings.devices))
    await enter(wings.inventories.auto)
    await enter(wings.inventories.background)


@waits(unhurried)
async def _resume(*services: Resuming) -> None:
    """Finish interrupted deletions; everything that may refer to a record is registered by now."""
    for service in services:
        await service.resume()


def _build_application(base: Base, wings: Wings, bodies: BodyReader, health: HealthCheck) -> Application:
    """Build the application of all routes and pages, with the services that their handlers annotate."""
    routes, static = (*ROUTES, *base.additions.routes), StaticFiles.read()
    services = (
        base.audit,
        *base.people.services,
        *wings.services,
        health,
        DocsPage.read(),
        Description(json_values.encode(description(wings.automation.tasks.known_types, base.additions))),
        static,
        Renderer(static, chapters()),
        ManualPages(Manual.installed()),
    )
    with_console = base.settings.console.enabled
    pages = PAGES if with_console else ()
    unknown = UnknownPageHandler if with_console else UnknownRouteHandler
    context = _build_context(base, wings, bodies)
    return application((*routes, *pages), context, services, unknown=unknown)


def _build_context(base: Base, wings: Wings, bodies: BodyReader) -> HttpContext:
    server, limits, identity = base.settings.server, base.settings.limits, wings.identity
    return HttpContext(
        authenticate=identity.sessions.authenticator.authenticate,
        limits=RequestLimits(
            clock=base.clock,
            callers=Rate(per_second=limits.requests_per_second, burst=limits.burst),
            anonymous=Rate(per_second=limits.anonymous_per_second, burst=limits.anonymous_burst),
        ),
        bodies=bodies,
        trusted_proxies=networks(server.trusted_proxies),
        cors_origins=frozenset(server.cors_origins),
        hosts=server.host_names(server.host),
        behind_unknown_proxy=server.behind_unknown_proxy,
        hsts_seconds=server.hsts_seconds,
        database_seconds=base.settings.mongodb.timeout_seconds,
        refusals=wings.activity.refusals,
        shares=Shares.within(limits),
        room=base.database.room,
        metrics=base.metrics,
        tracer=base.tracer,
        idempotency=IdempotencyKeys(
            store=base.stores.idempotency, vault=base.vault, settled=base.clock_steps.settled
        ),
        page_caller=identity.page_callers.caller_of if base.settings.console.enabled else None,
    )
